"""Measure whether a recall packs the turn that answers, for LoCoMo's conversations and people's chats.

Each conversation is imported into a separate memory and asked its development questions with budgets of 250, 500 and
1,000 tokens. Each figure is compared with greedy packing: the hits of a plain search, in order, each that fits.
Unanswerable questions show how much noise a recall packs.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.engines import opened
from bench.program import Home, model_cache, needed_model, new_home
from bench.report import Report, arguments, eval_folder, finish
from donna_tui.engine.engine import Engine
from donna_tui.memory.listing import memory_of_hit
from donna_tui.memory.recall import pack
from donna_tui.memory.tokens import PromptTokens, prompt_tokens
from donna_tui.types.memory import MemoryChunk
from donna_tui.types.search import SearchRequest

BUDGETS = (250, 500, 1_000)
TARGETS = {250: 0.68, 500: 0.80, 1_000: 0.84}
SEARCHED = 100
"""The hits of the plain search that greedy packing may use."""

SMALL_CONVERSATIONS = ("conv-30",)

Turn = tuple[str, int]
"""A session, and the number of a turn in it."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the turns that answer it; none if it is unanswerable."""

    text: str
    gold: frozenset[Turn]


@dataclass(frozen=True, slots=True)
class Conversation:
    """The memory of one person, as lines of turns, and the questions about it."""

    name: str
    turns: tuple[str, ...]
    questions: tuple[Question, ...]


Figures = dict[int, Counter[str]]
"""Counts for each budget, over the answerable questions and over the unanswerable ones, `noise`."""


def locomo() -> list[Conversation]:
    """Read LoCoMo's conversations. Raises UnavailableError without them."""
    folder = eval_folder("locomo")
    lines = _lines(folder / "turns.jsonl")
    place = {(turn["user_id"], turn["dia_id"]): (turn["session_id"], turn["turn"]) for turn in map(json.loads, lines)}

    def gold(question: Mapping[str, Any]) -> frozenset[Turn]:
        keys = ((question["vault"], item.get("dia_id")) for item in question["gold"])
        return frozenset(place[key] for key in keys if key in place)

    return _conversations(lines, folder, gold)


def chats() -> list[Conversation]:
    """Read people's chats with an assistant. Raises UnavailableError without them."""
    folder = eval_folder("chats_mit")

    def gold(question: Mapping[str, Any]) -> frozenset[Turn]:
        return frozenset((place["session_id"], turn) for place in question["gold"] for turn in place["turns"])

    return _conversations(_lines(folder / "turns.jsonl"), folder, gold)


def _conversations(
    lines: Sequence[str], folder: Path, gold: Callable[[Mapping[str, Any]], frozenset[Turn]]
) -> list[Conversation]:
    turns: dict[str, list[str]] = {}
    for line in lines:
        turns.setdefault(json.loads(line)["user_id"], []).append(line)
    questions: dict[str, list[Question]] = {}
    for question in map(json.loads, _lines(folder / "queries.dev.jsonl")):
        answerable = question.get("answerable", True)
        gold_turns = gold(question) if answerable else frozenset()
        if gold_turns or not answerable:
            questions.setdefault(question["vault"], []).append(Question(question["query"], gold_turns))
    return [Conversation(name, tuple(turns[name]), tuple(own_questions)) for name, own_questions in questions.items()]


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


def build(home: Home, conversation: Conversation) -> Path:
    """Return the folder of a space with a conversation, imported unless a kept home already has it."""
    vault = home.folder.parent / "spaces" / conversation.name
    marker = vault.with_suffix(".done")
    if not marker.exists():
        vault.mkdir(parents=True, exist_ok=True)
        file = vault.with_suffix(".jsonl")
        file.write_text("\n".join(conversation.turns), encoding="utf-8")
        home.donna("chat", "import", file, "--user", conversation.name, "--space", vault, "--json")
        marker.touch()
    return vault


async def ask(home: Home, conversation: Conversation) -> Figures:
    """Measure one conversation."""
    counter = prompt_tokens()
    figures: Figures = {budget: Counter() for budget in BUDGETS}
    async with opened(home, build(home, conversation), long_running=True) as engine:
        for question in conversation.questions:
            plain = await _plain(engine, question.text)
            for budget in BUDGETS:
                figures[budget].update(await _ask(engine, question, plain, budget, counter))
    return figures


async def _plain(engine: Engine, question: str) -> list[MemoryChunk]:
    outcome = await engine.context.searcher.search(SearchRequest(text=question, k=SEARCHED), SEARCHED)
    return [memory_of_hit(hit, None) for hit in outcome.hits]


async def _ask(
    engine: Engine,
    question: Question,
    plain: Sequence[MemoryChunk],
    budget: int,
    counter: PromptTokens,
) -> dict[str, int]:
    recalled = await engine.memory.recall(question.text, token_budget=budget)
    if not question.gold:
        return {
            "noise": 1,
            "noise: empty": not recalled.memories,
            "noise: memories": len(recalled.memories),
            "noise: tokens": recalled.total_tokens,
        }
    greedy = pack((), plain, top_k=len(plain), budget=budget, counter=counter)
    return {
        "answerable": 1,
        "right": holds(recalled.memories, question.gold),
        "greedy": holds(greedy.memories, question.gold),
        "empty": not recalled.memories,
        "tokens": recalled.total_tokens,
    }


def holds(memories: Iterable[MemoryChunk], gold: frozenset[Turn]) -> bool:
    """Return whether one of the right turns is among the memories."""
    return any(
        memory.session_id == session and memory.start_line <= turn <= memory.end_line
        for memory in memories
        for session, turn in gold
    )


def measure(*, small: bool = False, keep: Path | None = None) -> Report:
    """Run the benchmark. Raises UnavailableError without the evaluation data or a model."""
    needed_model()
    dialogues, people = locomo(), [] if small else chats()
    if small:
        dialogues = [talk for talk in dialogues if talk.name in SMALL_CONVERSATIONS]
    with _home(keep) as home:
        of_dialogues = [asyncio.run(ask(home, talk)) for talk in dialogues]
        of_people = [asyncio.run(ask(home, talk)) for talk in people]
    report = Report("Recall: the right turn is in the prompt", peer="greedy")
    for talk, figures in zip(dialogues, of_dialogues, strict=True):
        _add(report, talk.name, figures)
    _add(report, "LoCoMo", _total(of_dialogues))
    if people:
        _add(report, "chats", _total(of_people))
    report.remarks.append("“greedy” packs the hits of a plain search in order. Prompts are counted in tokens.")
    return report


def _total(conversations: Iterable[Figures]) -> Figures:
    total: Figures = {budget: Counter() for budget in BUDGETS}
    for figures in conversations:
        for budget, counts in figures.items():
            total[budget].update(counts)
    return total


def _add(report: Report, name: str, figures: Figures) -> None:
    for budget, counts in figures.items():
        number = max(1, counts["answerable"])
        report.add(
            f"{name}, {budget:,} tokens ({counts['answerable']} questions)",
            counts["right"] / number,
            "",
            TARGETS[budget],
            at_least=True,
            peer=counts["greedy"] / number,
        )
    middle = figures[BUDGETS[1]]
    report.add(f"{name}, empty", middle["empty"] / max(1, middle["answerable"]), "")
    report.add(f"{name}, tokens used of {BUDGETS[1]}", middle["tokens"] / max(1, middle["answerable"]), "")
    for what in ("empty", "memories", "tokens") if middle["noise"] else ():
        report.add(f"{name}, unanswerable: {what}", middle[f"noise: {what}"] / middle["noise"], "")


@contextlib.contextmanager
def _home(keep: Path | None) -> Iterator[Home]:
    """Create a home that is deleted at the end, or one that is kept with its indexes for the next run."""
    if keep is None:
        with new_home() as home:
            yield home
        return
    home = Home(keep.resolve() / "home")
    models, linked = model_cache(), home.paths.cache / "models"
    if models and not linked.exists():
        linked.symlink_to(models / "models", target_is_directory=True)
    yield home


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the indexes in this folder, and reuse them")
    finish(measure, parser)
