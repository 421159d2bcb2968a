"""Choose the quotations of a note: its decisions, notes, action items, open questions and open check boxes.

A later statement replaces an earlier one about the same subject. Quotations are verbatim, a nested bullet below its
parents.
"""

from __future__ import annotations

import contextlib
import datetime
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePosixPath

from donna_tui.drafts.blocks import (
    LONGEST_BLOCK,
    ONLY_NAMES,
    SPEAKER,
    Block,
    Role,
    blocks_of,
    heading_role,
    is_generic,
)
from donna_tui.drafts.drafters import MIN_WORDS, is_self_contained
from donna_tui.drafts.passages import IndexedNote
from donna_tui.drafts.promises import DAY_OF_MONTH, FROM_NOW, PLAN
from donna_tui.drafts.quotable import is_quotable
from donna_tui.drafts.series import day_in, day_of
from donna_tui.safety.classify import Sensitivity
from donna_tui.search.ranking import stems_of
from donna_tui.text.dates import ANY_WEEKDAY, MONTH, MONTHS, month_number
from donna_tui.text.markdown import split_sections
from donna_tui.types.drafts import Evidence
from donna_tui.types.search import MemorySource
from donna_tui.vault.client import VaultClient
from donna_tui.vault.note.read import is_by_donna

MAX_DECISIONS, MAX_ACTIONS, MAX_QUESTIONS, MAX_TOPICS = 25, 12, 8, 12
MAX_NOTES, MAX_NOTES_BESIDE_DECISIONS, MAX_SENTENCES = 12, 8, 5
FEW_MORE = 4
"""Number of notes above the limit that are quoted as well if these are all."""

FEW = 3
"""Number of lines below which the topics of a note are listed as well."""

OUTCOME, DECIDED = 2, 3
"""Worth of the outcome of a topic, and what is added if it is a decision."""

LONG = 240
"""Characters from which a statement of the notes counts as discussion."""

LONG_PAST = datetime.timedelta(days=60)
"""Time after which the day of an open check box no longer says what is to be done."""

MIN_WORDS_OF_DAY = 2
"""Minimum number of content words of a sentence in a daily note, which is often short."""

MAX_PROSE = 25
"""Maximum number of sentences of a note without bullets; of a longer one, a transcript, only topics are listed."""

_DECIDED = (
    r"agreed|decided|conclusion|resolved|approved|rejected(?=:)|no (?:\w+/)?(?:concerns|objections|comments)"
    r"|(?:is|was|were|reached|had|have|general) (?:an? )?(?:consensus|agreement)"
    r"|(?:consensus|agreement) (?:is|was|that|to)"
)
_DECIDED_GERMAN = r"beschlossen|entschieden(?! zu\b)|vereinbart|geeinigt"
_NO_ACTOR = (
    r"(?!(?:Answer|Changes?|Congrats|Equivalent|Hard|How|Introduction|Nothing|Related|Thanks|Wanted|Wants|Way"
    r"|Welcome)\b)"
)
"""Words that begin a line with “to” in which nobody is asked to do anything."""

_OUTCOME = re.compile(
    rf"\b(?i:{_DECIDED}|(?:we|all) agree|(?<!the )decision|the decision (?:is|was)|concluded?"
    r"|(?<!being )(?:landed|merged|closed|shipped|released)"
    r"|postponed|cancelled|deferred|moved to|moves to|deadline|next steps?|volunteered|action item|blocked"
    rf"|plan(?:s|s? is)? to|by (?:{ANY_WEEKDAY}))\b"
    rf"|^\W*(?:{_NO_ACTOR}[A-ZÀ-Þ][\w.'’-]*(?:,? (?:and )?{_NO_ACTOR}[A-ZÀ-Þ][\w.'’-]*){{0,3}}[:,]? (?:-+ |– )?)?"
    r"(?i:will|to(?! (?:clarify|be clear|add on)\b)|still needs? to|(?:is|are) going to)\b"
)
_CANCELLED = re.compile(
    r"(?:no (?:meeting|call)|kein (?:treffen|termin)|pas de réunion|no hubo reunión|skipped(?: for [^,;:]{1,40})?"
    r"|(?:the |this |das |der |la )?(?:meeting |call |treffen |termin |réunion |séance |reunión )?"
    r"(?:(?:was|is|has been|wurde|ist|est|a été|fue) )?"
    r"(?:cancell?ed|called off|postponed|rescheduled|did(?: not|n['’]t) (?:take place|happen)"
    r"|abgesagt|ausgefallen|verschoben|fiel aus|fand nicht statt|fällt(?: heute)? aus|entfällt|entfiel"
    r"|annulée?|reportée?|cancelad[ao]|aplazad[ao]))"
    r"(?: (?:at short notice|today|this week|heute|diese woche|kurzfristig))?"
    r"(?:,? (?:to|until|auf|au|al) .{1,40}|[,;]? (?:because|due to|since|wegen|weil)\b.*|[,;] .*| [(–—-].*)?\W*",
    re.IGNORECASE,
)
"""A note that a meeting did not take place, perhaps with the reason."""

_CANCELLED_NAME = re.compile(
    r"(?:^|[(\[:,–—-]\s*)(?:cancell?ed|abgesagt|ausgefallen|entfällt|annulée?|cancelad[ao])\W*$"
    r"|^[\d\W]*(?:cancell?ed|abgesagt|annulée?|cancelad[ao])\s*[:–—-]",
    re.IGNORECASE,
)
"""The name of a cancelled meeting, such as “Retro (cancelled)”, but not “Cancelled orders”."""

_DONE = re.compile(
    r"\W*(?:(?:the |this )?(?:PR|issue) )?(?:(?:is|was) )?(?:closed|landed|merged|released|shipped)\W*$", re.IGNORECASE
)
"""An outcome without a next step or a subject."""

_STALE = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|this (?:morning|afternoon|evening|meeting))\b"
    rf"|\b(?:this|diese[nrs]?) (?:{ANY_WEEKDAY})\b",
    re.IGNORECASE,
)
"""Words for days that mean another day at the next meeting."""

_DUE = re.compile(
    rf"\b(?:deadline|due (?:on|by|date)|by (?:{ANY_WEEKDAY})|by (?:the )?end of)\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    rf"(?!.*\?)(?:{FROM_NOW}\W+)?(?:[\w'’-]+[^\w'’-]+){{1,4}}?"
    r"(?:it|them|him|her|ihn|ihm|ihnen|davon|dafür|damit|dagegen|daran|darüber)\b"
    r"|(?:We|It|Wir|Es)\b.{1,60}\b(?:that|dass) (?:he|she|they|er|sie)\b",
    re.IGNORECASE,
)
"""A sentence with a pronoun for what the sentence before it is about."""
_CHOSEN = (
    r"\bwe(?:['’](?:re|ll)| are| will)? (?:go|going) (?:ahead )?with\b"
    r"|\bwir (?:gehen mit|nehmen(?! [^.,;:]*\b(?:an|teil|auf|mit|ab|zu|vor|ernst)\b))\b"
    r"|(?:^|[:.] )(?!(?:so|and|but|i|what|whatever|how|who|where|when|which|if|that|here|there|now)\b)"
    r"(?:[\w'’-]+ ){1,3}?(?<!\bas )(?<!\bwhat )(?<!\bhow )(?<!\bthan )it is(?=[.,;!]|$)"
)
"""A choice: “we go with the blue one”, “the blue one it is”."""

_STRICT_OUTCOME = re.compile(
    rf"\b(?:{_DECIDED}|(?:haben?|hat|wurden?)\b[^.,;:]{{0,60}} (?:{_DECIDED_GERMAN}))\b|{_CHOSEN}", re.IGNORECASE
)
_OPENS = re.compile(
    r"(?::|\b(?:next steps?|consensus|decision|conclusion|agreed|objections|options|vote)(?: is| are| was)?)\W*$",
    re.IGNORECASE,
)
"""The end of a bullet that only introduces those below it."""

_MAYBE = re.compile(
    rf"\b(?:nicht|nichts|nie|niemals|kein\w*|noch|ob|soll\w*|muss|müssen|wird|werden)\b[^.,;:]{{0,60}}"
    rf"\b(?:{_DECIDED_GERMAN})\b|\b(?:not?|\w+n['’]t|if|whether|until|needs? to|requires?|should|to be|maybe|perhaps"
    rf"|probably|assum\w+)\b[^.,;:]{{0,60}}\b(?:{_DECIDED})\b|\?\W*$",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(
    r"\b(?:decision|vote|entscheidung)\b:? (?:(?:is|was|were|still|has been|ist|wurde|noch) )*"
    r"(?:pending|open|outstanding|postponed|deferred|delayed|tb[ad]|needed|offen|vertagt|verschoben)\b"
    r"|\bno (?:decisions?|agreement|consensus)(?: on [^.,;:]{1,60})?"
    r" (?:yet|(?:was |were |has been )?(?:reached|made|taken))\b"
    r"|\b(?:agreed|decided) (?:(?:to|on) )?nothing\b|\bnothing (?:was |has been )?(?:agreed|decided)\b"
    r"|\b(?:did not|could not|cannot|didn['’]t|couldn['’]t|can['’]t) (?:yet )?(?:agree|decide)\b"
    r"|\b(?:not (?:yet )?|un)decided\b|\b(?:keine|noch keine) (?:entscheidung|einigung|beschlüsse)\b"
    r"|\b(?:nichts|nicht|noch nicht) (?:beschlossen|entschieden|vereinbart|geeinigt)\b"
    r"|^\W*(?:(?:still|noch) )?(?:pending|postponed|deferred|open|tb[ad]|offen|vertagt|verschoben)\W*$",
    re.IGNORECASE,
)
"""A line below a heading of decisions that says that there is none yet."""

_FILLER = re.compile(
    r"^(?:(?:ok(?:ay)?|so|well|um|uh|and|also|then|alors|donc|bueno|entonces)\b(?!-)[ ,]*)+", re.IGNORECASE
)
"""Words with which somebody who dictates begins a sentence."""

MIN_STEMS = 5
"""Minimum number of content words of an outcome that ends with the number or address of an issue."""

LINKS = re.compile(r"\[\[[^\[\]\n]{1,200}\]\]")
_NUMBERED = re.compile(r"#\d+\W*$")
_REFERENCE = re.compile(r"(?:#\d+|\S+/\S+/\d+|\]\))\W*$")
_REPLACES = re.compile(
    r"\b(?:instead(?: of)?|no longer|not any ?more|replac(?:es?|ed|ing)|supersed(?:es?|ed)|rather than|revert(?:s|ed)?"
    r"|overrul(?:es?|ed)|cancel(?:s|led|ed)|chang(?:es|ed) to|mov(?:es|ed) to|postpon(?:es|ed)|withdrawn|scrap(?:s|ped)"
    r"|push(?:es|ed) (?:back )?to|delay(?:s|ed)|after all|stattdessen|verschoben)\b",
    re.IGNORECASE,
)
_DATE = re.compile(
    rf"\b(?:{DAY_OF_MONTH}|\d{{4}}-\d\d-\d\d"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:next|this) (?:week|month|year|quarter)|tomorrow|today|q[1-4]"
    rf"|(?:{'|'.join(MONTHS)})\b|\d{{1,2}}:\d\d|the \d{{1,2}}(?:st|nd|rd|th))\b",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    rf"(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th|\.)? )?(?P<month>{MONTH})\b\.?(?(before)| (?P<after>\d{{1,2}})\b)",
    re.IGNORECASE,
)
"""The day with which an entry of a schedule begins."""

_NUMBER = re.compile(r"\d[\d.,]*")
_CHANGING = stems_of(
    "move moves moved change changes changed postpone postponed delay delayed now instead new update updated decided"
    " decide agreed agree set go goes planned plan happens date start starts begin begins replace replaced replaces use"
    " keep keeps uses stay stays until till from remain remains need needs needed only"
)
"""Stems that express a change, not its subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A note with its blocks, as it is on disk now."""

    note: IndexedNote
    text: str
    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, client: VaultClient, note: IndexedNote) -> Read | None:
        """Read a note; None if it can no longer be read."""
        found = client.try_read(note.path)
        if found is None:
            return None
        own = is_by_donna(found.frontmatter.data)
        text = found.text if note.section is None else _only_section(found.text, found.body_start, note.section)
        blocks = blocks_of(text, found.body_start, own=own)
        is_private = found.sensitivity is not Sensitivity.PUBLIC
        return cls(note=replace(note, sensitive=is_private), text=found.text, blocks=tuple(blocks))

    def evidence(self, block: Block) -> Evidence:
        return Evidence(
            number=0, source_type=MemorySource.VAULT.value, path=self.note.path, title=self.note.title,
            heading_path=block.heading_path, start_line=block.start_line, end_line=block.end_line, text=block.raw,
        )  # fmt: skip

    def sections(self) -> list[Evidence]:
        """Return the quotable content of each section as a passage."""
        found: dict[tuple[tuple[str, ...], str], list[Block]] = {}
        for block in self.blocks:
            if not (block.box and not block.is_open_box) and (block.box or is_quotable(block)):
                found.setdefault((block.heading_path, block.topic), []).append(block)
        return [
            Evidence(
                number=0, source_type=MemorySource.VAULT.value, path=self.note.path, title=self.note.title,
                heading_path=path, start_line=blocks[0].start_line, end_line=blocks[-1].end_line,
                text="\n".join((
                    *((f"{topic}:",) if topic else ()),
                    *(f"{'  ' * each.depth}- {f'[{each.box}] ' if each.box else ''}{each.text}" for each in blocks),
                )),
            )
            for (path, topic), blocks in found.items()
        ]  # fmt: skip


_BLANKED = re.compile(r"[^\r\n]")


def _only_section(text: str, start: int, wanted: datetime.date | str) -> str:
    """Replace what is outside the section with a heading, or a day in its heading, and this heading by spaces."""
    kept, at = [text[:start]], start
    for section in split_sections(text, start):
        is_wanted = [wanted in (heading, day_of(heading)) for heading in section.heading_path]
        if any(is_wanted):
            low = section.body_start if is_wanted[-1] else section.start
            kept += [_BLANKED.sub(" ", text[at:low]), text[low : section.end]]
            at = section.end
    return "".join((*kept, _BLANKED.sub(" ", text[at:])))


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """The quotations of a note, each part in display order. `topics` are headings of a transcript."""

    decisions: tuple[Block, ...] = ()
    notes: tuple[Block, ...] = ()
    actions: tuple[Block, ...] = ()
    questions: tuple[Block, ...] = ()
    topics: tuple[tuple[str, ...], ...] = ()


def points_of(blocks: Sequence[Block], agenda: Sequence[str] = (), *, is_daily: bool = False) -> Points:
    """Choose the quotations of the last meeting, in the order of the agenda if there is one.

    Of a daily note, sentences beside bullets are quoted as well; it does not count as a transcript, however long.
    """
    quotable = {
        number
        for number, block in enumerate(blocks)
        if is_quotable(block) and not any(blocks[each].box for each in (*_above(blocks, number), number))
    }
    quotable -= replaced_statements(blocks, quotable)
    by_role = {role: [number for number in sorted(quotable) if blocks[number].role is role] for role in Role}
    undecided = [number for number in by_role[Role.DECISIONS] if _UNDECIDED.search(blocks[number].text)]
    by_role[Role.DECISIONS] = [number for number in by_role[Role.DECISIONS] if number not in undecided]
    by_role[Role.QUESTIONS] = sorted((*by_role[Role.QUESTIONS], *undecided))
    decided = by_role[Role.DECISIONS][:MAX_DECISIONS]
    most = MAX_NOTES_BESIDE_DECISIONS if len(decided) > 1 else MAX_NOTES
    points = [stems_of(point) for point in agenda]
    notes = _chosen_notes(blocks, by_role[Role.NOTES], points, most, is_daily=is_daily)
    listed = {*decided, *notes}
    blocks = _in_context(blocks, listed, frozenset(by_role[Role.NOTES]))
    decided, notes = ([each for each in part if each in listed] for part in (decided, notes))
    others = [block for number, block in enumerate(blocks) if number not in listed]
    return Points(
        decisions=_in_order(blocks, decided, points),
        notes=_in_order(blocks, notes, points),
        actions=_in_order(blocks, by_role[Role.ACTIONS][:MAX_ACTIONS], points),
        questions=_in_order(blocks, by_role[Role.QUESTIONS][:MAX_QUESTIONS], points),
        topics=tuple(_topics_of(others, MAX_TOPICS)) if len(decided) + len(notes) < FEW else (),
    )


def _in_context(blocks: Sequence[Block], listed: set[int], notes: Collection[int]) -> Sequence[Block]:
    """Return the blocks with each listed sentence joined to the notes of its paragraph that belong to it: those before
    it that say what its pronoun stands for, what follows a decision or a plan, and the question or answer of somebody
    else. Sentences that became part of another are removed from `listed`.
    """
    joined, end = list(blocks), 0
    for number in [each for each in sorted(listed) if not blocks[each].is_bullet]:
        if number < end:
            listed.remove(number)
            continue
        low = _beginning(blocks, number, notes) if _POINTS_BACK.match(blocks[number].text) else number
        if number - 1 in notes and _is_answered(blocks, number - 1):
            low = number - 1
        low, end = (low if low >= end else number), number + 1
        if end in notes and _is_answered(blocks, number):
            end += 1
        is_plan = _is_plan(blocks[number])
        while end in notes:
            longer = blocks[low : end + 1]
            if end in listed and not (_is_one(longer, LONGEST_BLOCK) and _POINTS_BACK.match(blocks[end].text)):
                break
            if end not in listed and not (is_plan and _is_one(longer, LONG, apart=0)):
                break
            end += 1
        part = blocks[low:end]
        joined[number] = replace(
            blocks[number],
            text=" ".join(each.text for each in part),
            raw=" ".join(each.raw for each in part),
            start_line=part[0].start_line,
            end_line=part[-1].end_line,
        )
    return joined


def _beginning(blocks: Sequence[Block], number: int, notes: Collection[int]) -> int:
    """Return the number of the sentence from which on another one of its paragraph is clear, its own or that of a note
    before it; -1 if there is none.
    """
    low = number
    while not is_self_contained(SPEAKER.sub("", blocks[low].text)) or _POINTS_BACK.match(blocks[low].text):
        low -= 1
        if low not in notes or not _is_one(blocks[low : number + 1], LONGEST_BLOCK):
            return -1
    return low


def _is_answered(blocks: Sequence[Block], number: int) -> bool:
    """Check whether a statement is a question, and what somebody else says in the next line its answer."""
    asks, says = blocks[number : number + 2]
    is_said = bool(SPEAKER.match(says.text)) and not (asks.is_bullet or says.is_bullet or says.text.endswith("?"))
    is_next = says.start_line <= asks.end_line + 1 and len(asks.text + says.text) <= LONG
    return is_said and is_next and asks.text.endswith("?")


def _is_one(part: Sequence[Block], most: int, apart: int = 1) -> bool:
    """Check whether blocks are sentences of one paragraph and speaker, whose lines are at most `apart`, with at most
    `most` characters.
    """
    return (
        not any(each.is_bullet for each in part)
        and not any(SPEAKER.match(each.text) for each in part[1:])
        and all(late.start_line - early.end_line <= apart for early, late in pairwise(part))
        and sum(len(each.text) for each in part) <= most
    )


def was_cancelled(read: Read) -> bool:
    """Check whether a meeting did not take place by its name or its status, or because its note says nothing else."""
    status = str(read.note.front.get("status") or "")
    if any(map(says_cancelled, (status, PurePosixPath(read.note.path).stem))):
        return True
    said = [each for each in read.blocks if each.box or is_quotable(each) or _CANCELLED.fullmatch(each.text)]
    return len(said) == 1 and bool(_CANCELLED.fullmatch(said[0].text))


def says_cancelled(name: str) -> bool:
    """Check whether the status or the name of a note says that what it is about was cancelled."""
    return bool(_CANCELLED_NAME.search(name))


def outcomes_of(blocks: Sequence[Block]) -> list[tuple[Block, ...]]:
    """Return the outcomes in the notes of a meeting, each below its topic, the main one first; none with decisions."""
    points = points_of(blocks)
    depths = [*(block.depth for block in points.notes[1:]), 0]
    lines = [block for block, below in zip(points.notes, depths, strict=False) if below <= block.depth]
    worthy = [] if points.decisions else [block for block in lines if _worth(block, ()) >= OUTCOME]
    return [
        _with_topics(points.notes[: points.notes.index(block) + 1])
        for block in sorted(worthy, key=lambda block: (-_worth(block, ()), -block.start_line))
    ]


def _with_topics(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return the last of some blocks below its topics."""
    found = [blocks[-1]]
    for block in reversed(blocks[:-1]):
        if block.depth < found[0].depth:
            found.insert(0, block)
    return tuple(found)


def open_boxes(
    reads: Iterable[Read],
    most: int,
    on: datetime.date | None = None,
    is_done: Callable[[Read, Block], bool] = lambda _read, _block: False,
) -> list[tuple[Read, Block]]:
    """Return the open check boxes of notes, which are given latest first. Each is returned once, and not at all if it
    `is_done`, or a later note closed it.

    An item of a schedule, which begins with its day, is left out if that day is long before `on`, unless it is in the
    latest note. A task stays, however long it has been due.
    """
    found: dict[str, tuple[Read, Block]] = {}
    closed: set[str] = set()
    for place, read in enumerate(reads):
        here: dict[str, tuple[Read, Block]] = {}
        long_past = on - LONG_PAST if on and place else datetime.date.min
        for block in read.blocks:
            if block.box:
                key = " ".join(sorted(stems_of(block.text))) or block.text.casefold()
                if block.is_open_box and key not in closed and key not in found:
                    if _day_of(read, block) >= long_past and not is_done(read, block):
                        here.setdefault(key, (read, block))
                elif not block.is_open_box:
                    here.pop(key, None)
                    closed.add(key)
        found.update(here)
    return list(found.values())[:most]


def _day_of(read: Read, block: Block) -> datetime.date:
    """Return the day with which a box begins, near the day of its note; far ahead without one."""
    with contextlib.suppress(ValueError):
        return datetime.date.fromisoformat(block.text[:10])
    written, found = day_in(read.note.path, read.note.front), _BEGINS.match(block.text)
    if written and found:
        for year in (written.year, written.year + 1):
            with contextlib.suppress(ValueError):
                day = datetime.date(year, month_number(found["month"]), int(found["before"] or found["after"]))
                if day > written - LONG_PAST:
                    return day
    return datetime.date.max


SAME_SUBJECT, MAX_COMPARED = 0.6, 400
"""Minimum share of the stems of the shorter statement for which both have one subject, since a few words always differ;
and the number of later statements with which each is compared, so that the time is linear in the length of the note.
"""


def replaced_statements(blocks: Sequence[Block], candidates: Collection[int]) -> set[int]:
    """Return the statements that a later one about the same subject replaces."""
    ordered = sorted(number for number in candidates if blocks[number].role in (Role.DECISIONS, Role.NOTES))
    compared = [(number, _Statement.of(blocks[number])) for number in ordered]
    return {
        number
        for place, (number, early) in enumerate(compared)
        if any(late.replaces(early) for _, late in compared[place + 1 : place + MAX_COMPARED])
    }


@dataclass(frozen=True, slots=True)
class _Statement:
    """The subject of a statement, with its days and numbers."""

    role: Role
    subject: frozenset[str]
    days: frozenset[str]
    numbers: frozenset[str]
    is_change: bool

    @classmethod
    def of(cls, block: Block) -> _Statement:
        days = frozenset(found[0].casefold() for found in _DATE.finditer(block.text))
        rest = _REPLACES.sub(" ", _DATE.sub(" ", block.text))
        numbers = frozenset(found.rstrip(".,") for found in _NUMBER.findall(rest))
        subject = frozenset(stem for stem in stems_of(_NUMBER.sub(" ", rest)) if stem not in _CHANGING)
        return cls(block.role, subject, days, numbers, bool(_REPLACES.search(block.text)))

    def replaces(self, early: _Statement) -> bool:
        """Check whether this replaces an earlier statement: another day for the same subject, or a change of it.

        In doubt it does not.
        """
        if not self.subject or not early.subject or (self.numbers - early.numbers and early.numbers - self.numbers):
            return False
        common = len(self.subject & early.subject)
        if common < SAME_SUBJECT * min(len(self.subject), len(early.subject)):
            return False
        has_other_day = bool(self.days and early.days and self.days != early.days)
        if self.is_change:
            return has_other_day or common >= 2  # one common word may be chance
        if self.role is Role.DECISIONS and early.role is Role.NOTES:
            return has_other_day
        return self.role is early.role is Role.DECISIONS and has_other_day and self.subject == early.subject


def _topics_of(blocks: Sequence[Block], most: int) -> list[tuple[str, ...]]:
    """Return the heading paths with the most notes, in order: the deepest ones, below the title."""
    counts = Counter(
        block.heading_path for block in blocks if block.role is Role.NOTES and block.heading_path and not block.box
    )
    found = [path for path, count in counts.items() if count > 1 and not is_generic(path[-1])]
    topics = [
        path for path in found if len(path) > 1 and not any(other[: len(path)] == path != other for other in found)
    ]
    longest = sorted(topics, key=lambda path: -counts[path])[:most]
    return [path for path in topics if path in longest]


def _chosen_notes(
    blocks: Sequence[Block], candidates: list[int], agenda: Sequence[frozenset[str]], most: int, *, is_daily: bool
) -> list[int]:
    """Return the notes worth quoting: the best line of each topic first, of several outcomes the last."""
    bullets = [number for number in candidates if blocks[number].is_bullet]
    sentences = [number for number in candidates if not blocks[number].is_bullet]
    begin_small = sum(blocks[number].text[:1].islower() for number in sentences)
    is_dictated = not bullets and 2 * begin_small > len(sentences)
    is_list = not bullets and 2 * sum(_is_line(blocks[number]) for number in sentences) > len(sentences)
    prose = [
        number
        for number in sentences
        if is_self_contained(_as_written(blocks[number].text) if is_dictated else blocks[number].text)
        and len(stems_of(blocks[number].text))
        >= (
            MIN_WORDS_OF_DAY
            if is_daily or (is_list and not ONLY_NAMES.fullmatch(blocks[number].text)) or _is_plan(blocks[number])
            else MIN_WORDS
        )
    ]
    if len(prose) > MAX_PROSE and len(prose) > len(bullets) and not is_daily:
        listed = bullets if _topics_of(blocks, 1) else [*bullets, *prose]
        chosen, most = [each for each in listed if _is_decided(blocks[each])], min(most, MAX_SENTENCES)
    elif bullets:
        parents = {block.parent for block in blocks if block.role is not Role.SKIPPED}
        chosen = [
            each for each in bullets if _is_meaningful(blocks, each, is_parent=each in parents, is_daily=is_daily)
        ]
        known = frozenset(candidates)
        alone = _without_bullets(blocks, bullets, prose)
        chosen += [
            each
            for each in prose
            if is_daily
            or blocks[each].in_callout
            or each in alone
            or _is_decided(blocks[each])
            or (_is_plan(blocks[each]) and _beginning(blocks, each, known) >= 0)
        ]
    else:
        chosen, most = prose, most if is_list else min(most, MAX_NOTES_BESIDE_DECISIONS)
    worth: dict[int, int] = {}
    topics: dict[tuple[int, tuple[str, ...]], list[int]] = {}
    for number in chosen:
        parent = blocks[number].parent
        worth[number] = _worth(blocks[number], agenda)
        if parent >= 0 and (_OPENS.search(blocks[parent].text) or _is_decided(blocks[parent])):
            worth[number] = max(worth[number], _worth(blocks[parent], agenda))
        topic = (_above(blocks, number) or [-1])[0], blocks[number].heading_path
        topics.setdefault(topic, []).append(number)
    ranks: dict[int, tuple[int, int]] = {}
    for (root, _), lines in topics.items():
        best = sorted(lines, key=lambda each: (-worth[each], -each if worth[each] >= OUTCOME else each))
        if root >= 0 and worth[best[0]] >= OUTCOME + DECIDED:
            best = [each for each in best if worth[each] >= OUTCOME]
        ranks.update({number: (place - worth[number], number) for place, number in enumerate(best)})
    every_line = {each for number in ranks for each in (number, *_above(blocks, number))}
    if len(every_line) <= most + FEW_MORE and most >= MAX_NOTES:
        return sorted(every_line)
    chosen_lines: set[int] = set()
    for number in sorted(ranks, key=ranks.__getitem__):
        line = {number, *_above(blocks, number)}
        if len(chosen_lines | line) <= most:
            chosen_lines |= line
    return sorted(chosen_lines)


def _without_bullets(blocks: Sequence[Block], bullets: Iterable[int], prose: Iterable[int]) -> list[int]:
    """Return the statements of sections without bullets, beside those with bullets; none if they are many, as in a
    document that was discussed.
    """
    listed = {blocks[each].heading_path for each in bullets}
    found = [each for each in prose if blocks[each].heading_path not in listed and not blocks[each].text.endswith("?")]
    return found if len(found) <= MAX_NOTES_BESIDE_DECISIONS else []


def _is_line(block: Block) -> bool:
    """Check whether a statement is a line without a full stop, such as those that are typed in place of bullets."""
    return not (block.text.endswith((".", "!", "?", ":")) or len(block.text) > LONG or ONLY_NAMES.fullmatch(block.text))


def _as_written(text: str) -> str:
    """Return a dictated sentence as one that is written: without “okay so” at its beginning, which is in upper case."""
    said = _FILLER.sub("", text)
    return said[:1].upper() + said[1:]


def _worth(block: Block, agenda: Sequence[frozenset[str]]) -> int:
    """Score a line: outcomes, deadlines and agenda items higher, long statements lower."""
    is_on_agenda = _place(block, agenda) < len(agenda)
    said = _answer(block)
    is_outcome = _OUTCOME.search(said) or PLAN.match(SPEAKER.sub("", said))
    says = 0 if said.endswith("?") or _DONE.match(said) else OUTCOME * bool(is_outcome)
    is_open = "? " in block.text and not block.is_bullet
    outcome = DECIDED * _is_decided(block) + says + bool(_DUE.search(block.text)) + is_open
    return max(0, outcome + is_on_agenda - (len(block.text) > LONG))


def _is_plan(block: Block) -> bool:
    """Check whether a sentence beside bullets is worth quoting: it reports a decision or a plan, or names a day."""
    is_sentence = block.text.rstrip('"”’)').endswith((".", "!"))
    is_plan = PLAN.match(SPEAKER.sub("", block.text))
    return bool(is_sentence and is_plan and not _STALE.search(block.text)) or _is_decided(block)


def _is_decided(block: Block) -> bool:
    """Check whether a statement reports an agreement, and not a possible one."""
    return bool(_STRICT_OUTCOME.search(_answer(block))) and not _MAYBE.search(_answer(block))


def _answer(block: Block) -> str:
    """Return what is said after the last question of a statement."""
    return block.text.rpartition("? ")[2]


def _is_meaningful(blocks: Sequence[Block], number: int, *, is_parent: bool, is_daily: bool) -> bool:
    """Check whether a bullet is meaningful alone: more than the name of a topic, or the beginning of a list. The day
    that “today” names is clear in a daily note.
    """
    block = blocks[number]
    if block.text.endswith(":") or (is_parent and _OPENS.search(block.text)):
        return False
    if _is_decided(block) and not _NUMBERED.search(block.text):
        return True
    if is_parent and not _OUTCOME.search(block.text):
        return False
    if _STALE.search(block.text) and not is_daily:
        return False
    if _REFERENCE.search(block.text):  # most such lines are the title of an issue
        return bool(_OUTCOME.search(block.text)) and len(stems_of(_REFERENCE.sub("", block.text))) >= MIN_STEMS
    above = blocks[block.parent].text if block.parent >= 0 else ""
    if above.endswith("?") or _OPENS.search(above):
        return True
    return len(stems_of(f"{block.topic} {block.text}")) > 1 and bool(stems_of(LINKS.sub(" ", block.raw)))


def _above(blocks: Sequence[Block], number: int) -> list[int]:
    """Return the bullets that enclose a bullet, from the top."""
    found = []
    while (number := blocks[number].parent) >= 0:
        found.append(number)
    return found[::-1]


def _in_order(blocks: Sequence[Block], chosen: list[int], agenda: Sequence[frozenset[str]]) -> tuple[Block, ...]:
    """Return blocks with their enclosing ones, in the order of the agenda; `depth` is relative to the chosen blocks.

    A bullet that only names their section, such as “Agreed:”, is left out, since a draft names it.
    """
    wanted = dict.fromkeys(
        each
        for number in chosen
        for each in (*_above(blocks, number), number)
        if each == number or heading_role(blocks[each].text) is not blocks[number].role
    )
    roots = {number: _above(blocks, number)[0] if blocks[number].parent >= 0 else number for number in wanted}
    places: dict[int, int] = {}
    for number, root in roots.items():
        places[root] = min(places.get(root, len(agenda)), _place(blocks[number], agenda))
    ordered = sorted(wanted, key=lambda number: (places[roots[number]], number))
    return tuple(
        replace(blocks[number], depth=sum(each in wanted for each in _above(blocks, number))) for number in ordered
    )


def _place(block: Block, agenda: Sequence[frozenset[str]]) -> int:
    """Return the agenda item that a block is about, or the number of items if there is none."""
    stems = stems_of(block.text) | stems_of(" ".join(block.heading_path[1:]))
    common = [len(stems & point) for point in agenda]
    best = max(common, default=0)
    return common.index(best) if best else len(agenda)
