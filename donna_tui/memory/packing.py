"""Fits memories into a token budget: preferences first, then the best that fit (seed 002 §2.6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from donna_tui.memories import Cut, CutReason, MemoryChunk
from donna_tui.memory.prompt import CLOSING, OPENING, assemble, memory_line
from donna_tui.memory.tokens import PromptTokens
from donna_tui.records import dataclass


@dataclass(frozen=True, slots=True)
class Packed:
    """What fits, in the order of the prompt, the tokens of the whole block, and what was left out."""

    memories: tuple[MemoryChunk, ...]
    tokens: int
    cut: tuple[Cut, ...]


def pack(
    procedural: Iterable[MemoryChunk],
    others: Sequence[MemoryChunk],
    *,
    top_k: int | None,
    budget: int,
    counter: PromptTokens,
) -> Packed:
    """Take every procedural memory that fits, then of the others, best first, each that fits until there are `top_k`,
    or with None until the budget is full.

    The budget is for the block as it is pasted: labels and the two lines around the memories count.
    """
    packing = _Packing(budget, counter)
    for memory in procedural:
        packing.offer(memory)
    taken = 0
    for memory in others:
        if top_k is not None and taken >= top_k:
            packing.leave(memory, CutReason.COUNT)
        elif packing.offer(memory):
            taken += 1
    return packing.done()


class _Packing:
    def __init__(self, budget: int, counter: PromptTokens) -> None:
        self._budget, self._counter = budget, counter
        self._frame = counter.count(f"{OPENING}\n{CLOSING}")
        self._used = self._frame
        self._memories: list[MemoryChunk] = []
        self._cut: list[Cut] = []

    def offer(self, memory: MemoryChunk) -> bool:
        """Take a memory if it fits."""
        counted = replace(memory, tokens=self._counter.count(f"\n{memory_line(memory)}"))
        if self._used + counted.tokens > self._budget:
            self.leave(counted, CutReason.BUDGET)
            return False
        self._used += counted.tokens
        self._memories.append(counted)
        return True

    def leave(self, memory: MemoryChunk, why: CutReason) -> None:
        """Leave a memory out."""
        self._cut.append(Cut(memory, why))

    def done(self) -> Packed:
        """The result. Tokens may count otherwise at the seams of a whole: the last ones go while it has too many."""
        while self._memories and (total := self._counter.count(assemble(self._memories))) > self._budget:
            self.leave(self._memories.pop(), CutReason.BUDGET)
        return Packed(tuple(self._memories), total if self._memories else 0, tuple(self._cut))
