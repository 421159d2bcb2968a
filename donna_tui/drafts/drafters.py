"""Compose a draft: by extraction from its sources, or by a language model with the same schema.

Extraction ranks sentences by how frequent their words are in the passages (as Luhn, “The automatic creation of
literature abstracts”, 1958); words of the subject count `ABOUT` times. It skips a sentence that has `SAME` of its words
in common with a better one (overlap coefficient).
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from donna_tui.config.routes import Alias
from donna_tui.drafts.promises import PLAN, is_promise
from donna_tui.drafts.renderer import ENDING, VaultTemplateRenderer
from donna_tui.drafts.text import words_only
from donna_tui.memory.checkboxes import parse_task
from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.payload import Payload, Segment
from donna_tui.search.ranking import stems_of
from donna_tui.search.sections import TASKS
from donna_tui.text.sentences import sentence_spans
from donna_tui.types.drafts import Evidence
from donna_tui.types.search import MemorySource

if TYPE_CHECKING:
    from donna_tui.llm.router import ModelRouter


LONGEST_STATEMENT = 600

StatementText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_STATEMENT)]
"""One sentence. `[1]` or `[1][3]` at its end cites passages."""

Statements = Annotated[list[StatementText], Field(max_length=25)]


_CITED_AFTER = re.compile(r"([.!?])((?:\s*\[\d{1,3}\])+)(?=\s|$)")
"""Citations after the end of a sentence."""


def _as_statements(texts: Any) -> Any:
    """Split a text of several sentences into a list; models return either."""
    if not isinstance(texts, str):
        return texts
    text = _CITED_AFTER.sub(r"\2\1", " ".join(texts.split()))
    return [text[start : min(end, start + LONGEST_STATEMENT)] for start, end in sentence_spans(text)][:25]


Summary = Annotated[Statements, BeforeValidator(_as_statements)]
"""A text, one sentence per item."""


class Answer(BaseModel):
    """Base of all answers: unknown keys are left out, wrong types are errors.

    The docstring of an answer is part of the schema that a model is sent.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)


class MeetingNoteAnswer(Answer):
    """`draft_meeting_note`."""

    summary: Summary = Field(description="What is known about the subject from the passages, in up to six sentences.")
    action_item_candidates: Statements = Field(description="What somebody may have to do, one sentence each.")
    open_questions: Statements = Field(description="What is not decided, one sentence each.")
    links_suggested: Statements = Field(description="Paths of notes among the passages that belong to the meeting.")


class DailyReflectionAnswer(Answer):
    """`draft_daily_reflection`."""

    summary: Summary = Field(description="What the day was about.")
    highlights: Statements = Field(description="What went well or was finished.")
    open_questions: Statements = Field(description="What stays open.")


class CommitmentsAnswer(Answer):
    """`extract_commitments`."""

    commitments: Statements = Field(description="Explicit promises: who promised what to whom, by when.")


class WeeklyReviewAnswer(Answer):
    """`draft_weekly_review`."""

    summary: Summary = Field(description="What the week was about.")
    highlights: Statements = Field(description="What was finished or decided.")
    carried_over: Statements = Field(description="Promises that are still open.")
    open_questions: Statements = Field(description="What stays open.")


class PersonProfileAnswer(Answer):
    """`draft_person_profile`."""

    summary: Summary = Field(description="Who the person is.")
    facts: Statements = Field(description="What is known of them, one sentence each.")
    open_threads: Statements = Field(description="What is open between them and the user.")


MIN_WORDS, SENTENCE_CHARS = 4, 480

_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[(.)\]\s+)?")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s|\||>|```|~~~|---|===|%%|\$\$)")
_LEADING = re.compile(r"^[\s*_\-–—:;,.#>|]+")

SOMEBODY = re.compile(r"(?:[Hh]e|[Ss]he|[Tt]hey|[Hh]is|[Hh]er|[Tt]heir|[Ee]r|[Ss]ie|[Ss]eine?|[Ii]hre?)\b")
"""The pronoun with which a sentence begins that is about somebody whom the one before it names."""

_LEANING = re.compile(
    r"^(?:It(?! (?:was|is|has been) (?:also )?(?:agreed|decided|resolved))|This|That|These|Those|But|And|So"
    rf"|Also|Then|Which|Not|Don['’]t|{SOMEBODY.pattern})\b"
)
_OPEN = re.compile(
    r"\b(?:open question|unclear|undecided|not (?:yet )?(?:clear|decided)|no (?:clear )?(?:conclusion|consensus)|"
    r"no decision|to be (?:decided|discussed|determined)|tbd|pending|whether|still waiting|unresolved)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage. `stems` are those of its content words, `box` is the mark of its check box, if any."""

    text: str
    evidence: int
    stems: frozenset[str]
    box: str = ""

    @property
    def promises(self) -> bool:
        if self.box:
            return self.box == " "
        if self.text.rstrip("\"'”’)").endswith("?") or _OPEN.search(self.text):
            return False
        return bool(PLAN.match(self.text) or TASKS.line.match(self.text)) or is_promise(self.text)


def is_self_contained(text: str) -> bool:
    """Check whether a sentence is self-contained: it does not begin in lower case or with a pronoun."""
    return not text[:1].islower() and not _LEANING.match(text)


def _sentences(passage: Evidence) -> Iterator[Sentence]:
    for block, box in _blocks(passage.text):
        bare = parse_task(box, block).title if box else block
        for start, end in sentence_spans(bare):
            text = _LEADING.sub("", words_only(bare[start:end], SENTENCE_CHARS))
            stems = stems_of(text)
            if len(stems) >= MIN_WORDS or (box and stems):
                yield Sentence(text, passage.number, stems, box)


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield paragraphs and list items with the mark of their check box. Wrapped lines are joined."""
    block, box = "", ""
    for line in text.splitlines():
        item = _ITEM.match(line)
        if item or not line.strip() or _HEADING.match(line):
            if block:
                yield block, box
            block, box = "", ""
        if item:
            block, box = line[item.end() :], item[1] or ""
        elif line.strip() and not _HEADING.match(line):
            block = f"{block} {line.strip()}".strip()
    if block:
        yield block, box


SAME = 0.6
"""Share of common words from which two sentences count as duplicates."""

ABOUT = 2.0
"""Weight of a word of the subject, relative to other words."""

LEANING = 0.6
"""Weight of a sentence that is not self-contained."""

MAX_SOURCE_SENTENCES = 2_000


def extracted(passages: Sequence[Evidence], about: str, most: int, *, promised: bool = False) -> list[str]:
    """Return the most representative sentences, in their order; no two are alike.

    With `promised`, return what somebody has to do instead, open check boxes first.
    """
    distinct: dict[frozenset[str], Sentence] = {}
    for sentence in (sentence for passage in passages for sentence in _sentences(passage)):
        distinct.setdefault(sentence.stems, sentence)
    sentences = list(distinct.values())[:MAX_SOURCE_SENTENCES]
    often = Counter(stem for sentence in sentences for stem in sentence.stems)
    subject = stems_of(about)

    def weight(sentence: Sentence) -> float:
        words = math.fsum(math.log1p(often[stem]) * (ABOUT if stem in subject else 1.0) for stem in sentence.stems)
        worth = 1.0 if is_self_contained(sentence.text) else LEANING
        return worth * words / math.sqrt(len(sentence.stems) + 4)

    found = [each for each in sentences if (each.promises if promised else each.box in ("", "x", "X"))]
    ranked = sorted(found, key=lambda each: (promised and each.box != " ", -weight(each)))
    chosen: list[Sentence] = []
    for sentence in ranked:
        common = (len(sentence.stems & other.stems) / min(len(sentence.stems), len(other.stems)) for other in chosen)
        if len(chosen) < most and max(common, default=0.0) < SAME:
            chosen.append(sentence)
    in_order = chosen if promised else [each for each in sentences if each in chosen]
    return [cited(each.text, each.evidence) for each in in_order]


def cited(text: str, *numbers: int) -> str:
    """Return a statement with the numbers of its passages, in the form of all answers."""
    return " ".join((text, "".join(f"[{number}]" for number in numbers)))


EXTRACTIVE = "extractive"

_CITES = re.compile(r"\s*\[(\d{1,3})\]")
_LINE = re.compile(r"^\s*(?:[-*+]\s+)?(?:\[.\]\s+)?")
NO_SOURCE = "no source"
"""Stands in place of the source of a statement of a model that cites no passage and rests on none."""

_CITED = re.compile(rf"\s*\((?:\[\[[^\[\]]*\]\]|{NO_SOURCE})\)")
_RESTS_ON = 0.5
"""Minimum share of a statement's words that a passage must contain to be its evidence, if it cites none."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """A correction of an earlier draft.

    `after` is empty if the text was removed; `private` text must not leave this machine.
    """

    before: str
    after: str
    private: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRequest:
    """A request for an answer. `private` are the numbers of passages that must not leave this machine."""

    task_type: str
    about: str
    schema: type[Answer]
    passages: tuple[Evidence, ...]
    private: frozenset[int] = frozenset()
    facts: tuple[str, ...] = ()
    """Plain lines about the occasion, such as the list of invitees."""
    dates: Mapping[int, str] = field(default_factory=dict)
    """The ISO days of passages, by their numbers."""
    me: str = ""
    """The name of the user, if known."""
    corrections: tuple[Corrected, ...] = ()
    """Corrections of earlier drafts of this kind."""


@dataclass(frozen=True, slots=True)
class Composed:
    """An answer, the drafter that gave it, and its cost in US dollars."""

    answer: Answer
    drafter: str = EXTRACTIVE
    cost: float = 0.0


class Drafter(Protocol):
    """Compose answers. Raises DonnaError."""

    remote: bool
    """Whether the passages leave this machine."""

    async def compose(self, task: AnswerRequest) -> Composed: ...


class ExtractiveDrafter:
    """Compose from sentences of chats, without a model, a key or the network. Skills quote notes themselves."""

    remote = False

    async def compose(self, task: AnswerRequest) -> Composed:
        return Composed(extract(task))


def extract(task: AnswerRequest) -> Answer:
    """Return the extractive answer from the passages, with earlier corrections applied; its other parts are empty."""
    chats = [passage for passage in task.passages if passage.source_type == MemorySource.CHAT.value]
    parts: dict[str, list[str]] = {name: [] for name in task.schema.model_fields}
    if task.schema is CommitmentsAnswer:
        parts["commitments"] = extracted(chats, task.about, 25, promised=True)
    elif task.schema is not PersonProfileAnswer:
        parts["summary" if task.schema is MeetingNoteAnswer else "highlights"] = extracted(chats, task.about, 3)
    return corrected(task.schema.model_validate(parts), task.corrections)


def corrected(answer: Answer, corrections: Iterable[Corrected]) -> Answer:
    """Apply earlier corrections to an answer: a corrected statement is replaced, or removed if the person removed it.

    The first of several corrections of a statement counts. Only whole statements are replaced, since a fragment may
    have another meaning in another sentence.
    """
    fix = correcting(corrections)
    changed = {name: list(filter(None, map(fix, texts))) for name, texts in answer.model_dump().items()}
    return type(answer).model_validate(changed)


def correcting(corrections: Iterable[Corrected]) -> Callable[[str], str]:
    """Return a function that maps a line to its earlier correction, which is empty if the line was removed."""
    known: dict[str, str] = {}
    for correction in corrections:  # one of several lines counts line by line, if the lines can be paired
        before, after = (
            [line for line in text.splitlines() if line.strip()] for text in (correction.before, correction.after)
        )
        after = after or [""] * len(before)
        if len(before) == len(after):
            for old, new in zip(before, after, strict=True):
                known.setdefault(_bare(old), new)
    return lambda line: _fixed(line, known)


def _fixed(statement: str, known: Mapping[str, str]) -> str:
    new = known.get(_bare(statement))
    if new is None:
        return statement
    words = _bare(new)
    return f"{words} {''.join(f'[{number}]' for number in _CITES.findall(statement))}".strip() if words else ""


def _bare(line: str) -> str:
    """Return the words of a line of a note or an answer, without list mark and citations."""
    return words_only(_LINE.sub("", _CITED.sub("", _CITES.sub("", line)))).replace("\\", "")


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of an answer as plain words, and the numbers of the passages that it cites."""

    text: str
    evidence: tuple[int, ...]


def statements(texts: Iterable[str], passages: Sequence[Evidence]) -> list[Statement]:
    """Parse the sentences of an answer.

    One without a citation is assigned the passage that contains most of its words.
    """
    known = {passage.number for passage in passages}
    found: dict[str, Statement] = {}
    for sentence in texts:
        named = tuple(dict.fromkeys(int(number) for number in _CITES.findall(sentence) if int(number) in known))
        text = words_only(_CITES.sub("", sentence))
        if text:
            found[text] = Statement(text, named or _resting_on(text, passages))
    return list(found.values())


def all_statements(answer: Answer, passages: Sequence[Evidence]) -> dict[str, list[Statement]]:
    parts: dict[str, Any] = answer.model_dump()
    return {name: statements(texts, passages) for name, texts in parts.items() if name != "links_suggested"}


def _resting_on(text: str, passages: Sequence[Evidence]) -> tuple[int, ...]:
    wanted = stems_of(text)
    if not wanted:
        return ()
    shares = [(len(wanted & stems_of(passage.text)) / len(wanted), passage.number) for passage in passages]
    best = max(shares, default=(0.0, 0))
    return (best[1],) if best[0] >= _RESTS_ON else ()


ALIAS: Alias = "reasoner"
PROMPT_CHARS = 48_000
"""Maximum number of characters of passages in one prompt, about 12,000 tokens."""


class ModelDrafter:
    def __init__(self, router: ModelRouter, prompts: Prompts, *, remote: bool) -> None:
        self._router, self._prompts, self.remote = router, prompts, remote

    async def compose(self, task: AnswerRequest) -> Composed:
        """Return the model's answer. Nothing private is sent to a remote model. Raises DonnaError."""
        payload = payload_of(task, await asyncio.to_thread(self._prompts.system, task))
        done = await self._router.complete(payload, task_type=task.task_type, schema=task.schema, alias=ALIAS)
        return Composed(done.output, done.metadata.model, done.metadata.cost_usd)


class Prompts:
    """The prompts, as template files: `rules.md.j2` for all, and one for each task type.

    A file in an earlier folder overrides later ones, so that users can change any of them.
    """

    def __init__(self, *folders: Path) -> None:
        self._folders = [folder for folder in folders if folder.is_dir()]

    def system(self, task: AnswerRequest) -> str:
        """Render the system prompt of a task. Blocks. Raises DonnaError (`template_error`)."""
        known = {"me": words_only(task.me, 80), "about": words_only(task.about, 200)}
        return "\n\n".join(self._rendered(name, known).strip() for name in ("rules", task.task_type))

    def _rendered(self, name: str, context: dict[str, str]) -> str:
        folder = next((each for each in self._folders if (each / f"{name}{ENDING}").exists()), self._folders[-1])
        return VaultTemplateRenderer(folder).render(name, context)[0]


def payload_of(task: AnswerRequest, system: str) -> Payload:
    """Build the prompt from the task and its passages with numbers and days, each segment with its sensitivity."""
    parts = [("\n".join(task.facts or (task.about,)), False)]
    for correction in task.corrections:
        change = f"Not: {correction.before}\nBut: {correction.after or '(left out)'}"
        parts.append((f"Earlier the person changed a draft of this kind.\n{change}", correction.private))
    room = PROMPT_CHARS
    for passage in task.passages:
        day, place = task.dates.get(passage.number, ""), " › ".join((passage.title, *passage.heading_path))
        text = f"[{passage.number}] {f'{day} · ' if day else ''}{place} ({passage.path})\n{passage.text}"
        room -= len(text)
        if room < 0:
            break
        parts.append((text, passage.number in task.private))
    segments = (
        Segment(text=text, sensitivity=Sensitivity.LOCAL_ONLY if private else Sensitivity.PUBLIC)
        for text, private in parts
    )
    return Payload(system=system, segments=tuple(segments))
