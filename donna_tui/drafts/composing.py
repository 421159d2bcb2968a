"""From a context to an answer: asked of a language model where one is configured, else taken from the passages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from donna_tui.drafting import Evidence
from donna_tui.drafts.answers import (
    Answer,
    CommitmentsAnswer,
    DailyReflectionAnswer,
    MeetingNoteAnswer,
    PersonProfileAnswer,
    WeeklyReviewAnswer,
)
from donna_tui.drafts.extractive import Extract
from donna_tui.drafts.plain import words_only
from donna_tui.drafts.sentences import stems_of
from donna_tui.memories import MemorySource
from donna_tui.records import dataclass

EXTRACTIVE = "extractive"

_CITES = re.compile(r"\s*\[(\d{1,3})\]")
_LINE = re.compile(r"^\s*(?:[-*+]\s+)?(?:\[.\]\s+)?")
_CITED = re.compile(r"\s*\(\[\[[^\[\]]*\]\]\)")
_RESTS_ON = 0.5
"""Share of a statement's words that a passage must hold to be its evidence, where it names none itself."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """What a draft said and what the person made of it, empty where they left it out; `private` must not leave."""

    before: str
    after: str
    private: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be composed. `private` are the numbers of passages that must not leave this machine."""

    task_type: str
    about: str
    schema: type[Answer]
    passages: tuple[Evidence, ...]
    private: frozenset[int] = frozenset()
    facts: tuple[str, ...] = ()
    """Plain lines about the occasion, such as who is invited."""
    dates: Mapping[int, str] = field(default_factory=dict)
    """The ISO days of passages, by their numbers."""
    me: str = ""
    """The name of the user, where it is known."""
    corrections: tuple[Corrected, ...] = ()
    """What people changed in earlier drafts of this kind."""


@dataclass(frozen=True, slots=True)
class Composed:
    """An answer, who gave it, and what it cost in US dollars."""

    answer: Answer
    drafter: str = EXTRACTIVE
    cost: float = 0.0


class Drafter(Protocol):
    """Composes answers. Raises DonnaError."""

    remote: bool
    """Whether what it reads leaves this machine."""

    async def compose(self, task: Task) -> Composed: ...


class ExtractiveDrafter:
    """Needs no model, no key and no network. Skills quote notes themselves; it adds sentences of chats."""

    remote = False

    async def compose(self, task: Task) -> Composed:
        """The passages' own sentences, as people corrected them before."""
        return Composed(corrected(extract(task), task.corrections))


def extract(task: Task) -> Answer:
    """The answer that the passages give by themselves."""
    chats = [passage for passage in task.passages if passage.source_type == MemorySource.CHAT.value]
    found = Extract(chats, task.about)
    if task.schema is MeetingNoteAnswer:
        return MeetingNoteAnswer(
            summary=found.summary(3), action_item_candidates=[], open_questions=[], links_suggested=[]
        )
    if task.schema is CommitmentsAnswer:
        return CommitmentsAnswer(commitments=found.promises(25))
    if task.schema is PersonProfileAnswer:
        return PersonProfileAnswer(summary=[], facts=[], open_threads=[])
    if task.schema is WeeklyReviewAnswer:
        return WeeklyReviewAnswer(summary=[], highlights=found.summary(3), carried_over=[], open_questions=[])
    return DailyReflectionAnswer(summary=[], highlights=found.summary(3), open_questions=[])


def corrected(answer: Answer, corrections: Iterable[Corrected]) -> Answer:
    """An answer in which what was corrected before says what people made of it, or is not said where they took it out.

    The first of several corrections of a statement counts. Only whole statements are replaced: what stands in a
    sentence may mean something else.
    """
    known = _known(corrections)
    changed: dict[str, Any] = {
        name: [fixed for one in said if (fixed := _fixed(one, known))] for name, said in answer.model_dump().items()
    }
    return type(answer).model_validate(changed)


def correcting(corrections: Iterable[Corrected]) -> Callable[[str], str]:
    """A function from a line to what people made of it before: the same line if nothing, empty if they left it out."""
    known = _known(corrections)
    return lambda line: _fixed(line, known)


def _known(corrections: Iterable[Corrected]) -> dict[str, str]:
    known: dict[str, str] = {}
    for old, new in (line for each in corrections for line in _by_line(each.before, each.after)):
        known.setdefault(_bare(old), new)
    return known


def _by_line(old: str, new: str) -> list[tuple[str, str]]:
    """A correction of several lines as one for each, where it is clear which line became which."""
    before, after = ([line for line in text.splitlines() if line.strip()] for text in (old, new))
    if not after:
        return [(line, "") for line in before]
    return list(zip(before, after, strict=True)) if len(before) == len(after) else []


def _fixed(statement: str, known: Mapping[str, str]) -> str:
    new = known.get(_bare(statement))
    if new is None:
        return statement
    return (
        f"{_bare(new)} {''.join(f'[{number}]' for number in _CITES.findall(statement))}".strip() if _bare(new) else ""
    )


def _bare(line: str) -> str:
    """The words of a line of a note or an answer, without its mark of a list and without what it cites."""
    return words_only(_LINE.sub("", _CITED.sub("", _CITES.sub("", line)))).replace("\\", "")


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of an answer as bare words, and the numbers of the passages that it rests on."""

    text: str
    evidence: tuple[int, ...]


def statements(said: Iterable[str], passages: Sequence[Evidence]) -> list[Statement]:
    """The sentences of an answer. One that names no passage gets those that hold most of its words."""
    found = [_statement(sentence, passages) for sentence in said]
    return list({each.text: each for each in found if each.text}.values())


def all_statements(answer: Answer, passages: Sequence[Evidence]) -> dict[str, list[Statement]]:
    """Every part of an answer by its name."""
    parts: dict[str, Any] = answer.model_dump()
    return {name: statements(said, passages) for name, said in parts.items() if name != "links_suggested"}


def _statement(sentence: str, passages: Sequence[Evidence]) -> Statement:
    known = {passage.number for passage in passages}
    named = tuple(dict.fromkeys(int(number) for number in _CITES.findall(sentence) if int(number) in known))
    text = words_only(_CITES.sub("", sentence))
    return Statement(text, named or _resting_on(text, passages))


def _resting_on(text: str, passages: Sequence[Evidence]) -> tuple[int, ...]:
    wanted = stems_of(text)
    if not wanted:
        return ()
    shares = [(len(wanted & stems_of(passage.text)) / len(wanted), passage.number) for passage in passages]
    best = max(shares, default=(0.0, 0))
    return (best[1],) if best[0] >= _RESTS_ON else ()
