"""Parse a note into the blocks that a draft may quote: whole bullets, sentences and check boxes, by section.

Every block keeps its line range, so that each quoted line can be shown with its source. A row of a table of decisions,
action items or questions is a block, and so is the text of a callout. Code, comments, other tables, quotations, lists
of attendees and Donna's generated text are not blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from donna_tui.drafts.drafters import MIN_WORDS, SOMEBODY
from donna_tui.drafts.text import words_only
from donna_tui.memory.checkboxes import parse_task
from donna_tui.search.ranking import stems_of
from donna_tui.search.sections import DECISION_LABEL, DECISIONS_HEADING, TASK_LABEL, TASK_LINE, TASKS_HEADING
from donna_tui.text.dates import ANY_WEEKDAY, MONTH, WEEKDAYS
from donna_tui.text.lines import line_of, line_starts
from donna_tui.text.markdown import CELL_END, CUE, DELIMITER_ROW, EMBEDDED_IMAGE, VOICE, Section, split_sections
from donna_tui.text.prose import HIDDEN, hidden, prose, without_comments
from donna_tui.text.sentences import sentence_spans, with_whole_quotations

LONGEST_BLOCK = 480
"""Maximum length of a block. A longer bullet is quoted by its sentences; a longer sentence is not quoted."""

LONGEST_NOTE, MAX_BLOCKS, LONGEST_LABEL = 1_000_000, 5_000, 60


class Role(StrEnum):
    DECISIONS = "decisions"
    NOTES = "notes"
    ACTIONS = "actions"
    QUESTIONS = "questions"
    AGENDA = "agenda"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A whole bullet or sentence.

    `text` is its words without markup, `raw` the source lines. `topic` is what the headings and the label above
    it say. `box` is the mark of a check box, empty for anything else; `parent` is the index of the enclosing bullet,
    or -1. Lines are 1-based and inclusive. `in_callout` means that its writer highlighted it.
    """

    text: str
    raw: str
    role: Role
    heading_path: tuple[str, ...]
    topic: str
    start_line: int
    end_line: int
    is_bullet: bool = False
    box: str = ""
    due: str = ""
    scheduled: str = ""
    parent: int = -1
    depth: int = 0
    in_callout: bool = False

    @property
    def is_open_box(self) -> bool:
        return bool(self.box) and self.box not in "xX-"


_LEADING = re.compile(r"^[^\w]*(?:\d{1,2}[.)]\s*)?")
_ROLES = (
    (
        Role.SKIPPED,
        r"present|attend(?:ees|ance|ing)|participants?|invited|apologies|roll ?call|registration|logistics|links?"
        r"|recordings?|upcoming meetings?|(?:schedule )?constraints|related(?: notes)?|see also|references|resources"
        r"|dates and reminders|reminders|meeting roles|agenda items for future meetings|next meeting"
        r"|teilnehm(?:er(?:innen)?|ende)|anwesende?|participants et invités|présents|excusés|asistentes|participantes",
    ),
    (Role.DECISIONS, rf"{DECISIONS_HEADING}|entscheidung|beschluss|décision|decisión|acuerdo"),
    (Role.ACTIONS, rf"{TASKS_HEADING}|aufgabe|tâche|tarea"),
    (
        Role.QUESTIONS,
        r"(?:open |unresolved |unanswered |outstanding )?questions|open (?:issues|points)|offene fragen?"
        r"|questions ouvertes|preguntas(?: abiertas)?",
    ),
    (Role.AGENDA, r"agenda(?: items)?|proposed agenda|tagesordnung|ordre du jour|orden del día"),
)
_ROLE_PATTERNS = tuple((role, re.compile(rf"(?:{pattern})\W*", re.IGNORECASE)) for role, pattern in _ROLES)
_OWN = re.compile(
    r"(?:last time|what is known|related|background|attendees|still open(?: from last time)?|open tasks|met|done"
    r"|decided|noted|planned last week|what (?:was on my mind|it was about|i know)|suggested (?:action items|questions)"
    r"|carried over|between us|promised|from chats|last week)\W*",
    re.IGNORECASE,
)
_OWN_CITED = re.compile(r"\(\[\[[^\[\]]{1,300}\]\](?:, [^()]{1,40})?\)\s*$")
_OWN_WHEN = re.compile(r"^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d{1,2} \w+ \d{4}, ")

_MARKER = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+$")
_BOX = re.compile(r"\[(.)\][ \t]+(?=\S)")
_BLOCK_ID = re.compile(r"(?<!\s)\s+\^[\w-]+\s*$")
_LABELS = (
    (Role.DECISIONS, DECISION_LABEL),
    (Role.ACTIONS, TASK_LABEL),
    (Role.QUESTIONS, r"open question|offene frage|question ouverte|pregunta abierta"),
)
_NAME = r"@?[A-ZÀ-Þ][\w.'’-]*(?: (?:(?:von|van|de|der|den|da|di) ){0,2}[A-ZÀ-Þ][\w.'’-]*){0,3}(?: \([^()]{0,40}\))?"
_SOME = r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn) [\w-]+"
_ANYBODY = rf"(?:{_NAME}|{_SOME}|me\b|myself\b|ich\b)"
_NAMES = rf"(?-i:{_ANYBODY}(?:(?:,? (?:and|und|et|y)|[,;/&+]| [/&+])\s?{_ANYBODY})*[.,;]?[ \t]*)"
ONLY_NAMES = re.compile(_NAMES)
"""A list of names or of numbers of people. A verb phrase has words in lower case."""

_DAY = rf"(?:(?:on|at|am|the|next|in) )*(?:\d|tb[ad]\b|(?:{ANY_WEEKDAY})\b|(?:{MONTH})\.? \d)"
_ON_A_DAY = (
    rf" (?:(?:is|ist|will be) )?(?=(?:on|at|am|the|next) ){_DAY}"
    rf"(?:[\W\d]|(?:{MONTH}|{'|'.join(WEEKDAYS)}|st|nd|rd|th|of|at|am|pm|um|uhr)\b)*$"
)
"""A day without anything else that is said about it."""

_IN_WEEKS = r" (?:is )?(?:in )?(?:\w+ ){1,2}weeks?(?: from now)?\W*$"
_ATTENDEES = (
    r"(?:(?:attendees|participants|pres(?:ent)?|apol(?:ogie)?s|absent|with|teilnehm(?:er(?:innen)?|ende)|anwesende?|mit"
    rf"|présents|excusés|asistentes|protokoll)\W{{0,3}}:\W*(?:none\b\W*|{_NAMES}))+$"
)
LISTS_ATTENDEES = re.compile(rf"^\W*{_ATTENDEES}", re.IGNORECASE)

_BY_SOMEBODY = r"(?:\W{0,3}| ?\([^()]{1,40}\))"
"""What may be between a label and its colon, as in “Decision (Kim): …”."""

LABEL_PATTERNS = (
    *(
        (role, re.compile(rf"^\W*(?:\d\d?:\d\d\W+)?(?:{words}){_BY_SOMEBODY}:\W*\w", re.IGNORECASE))
        for role, words in _LABELS
    ),
    (Role.ACTIONS, re.compile(TASK_LINE)),
    (
        Role.SKIPPED,
        re.compile(
            rf"^\W*(?:{_ATTENDEES}|(?:(?:date of (?:the )?)?next (?:meeting|mtg|review|session)|date next"
            rf"|nächste[rs]? (?:termin|meeting|treffen))(?!.*\?)(?:\W{{0,3}}:\W*{_DAY}|{_ON_A_DAY}|{_IN_WEEKS}))",
            re.IGNORECASE,
        ),
    ),
    (
        Role.DECISIONS,
        re.compile(
            r"^\W*(?:decided (?:to|that|on|against)\b|(?:decision|entscheidung|beschluss) [–—-] \w)"
            r"|.{0,300}[.!?] \W*(?:decision|entscheidung|beschluss)\W{0,3}: \w",
            re.IGNORECASE,
        ),
    ),
)
_IS_LABEL = re.compile("|".join(words for _, words in _LABELS), re.IGNORECASE)
_DECIDES = re.compile(
    r"^(?!.*\?\W*$)\W*(?:\d\d?:\d\d\W+)?(?:(?:(?:and |so |then )?(?:we|it was|it has been|all|everyone|everybody"
    r"|the (?:team|group|board|committee)) (?:(?:have|has|had|all|also|then|finally|unanimously) )*)?"
    r"(?:decided|agreed|resolved)(?:: \w|(?: with [\w ]{1,30})? (?:not )?(?:to|that|on|against|for)\b)"
    r"|(?:wir haben|es wurde)\b(?![^.;:]*\b(?:nicht|nichts|noch|kein\w*)\b)[^.;:]{0,80}"
    r"\b(?:beschlossen|entschieden|vereinbart|geeinigt)\b"
    r"|(?:nous avons|on a|il a été) (?:décidé|convenu)\b|hemos (?:decidido|acordado)\b|se (?:decidió|acordó)\b)",
    re.IGNORECASE,
)
"""A statement of a decision. Below a bullet it is an outcome of that, and no decision of its own."""

_SKIPPED_BELOW = re.compile(rf"\n.*(?:\n[ \t]*{_NAMES}\r?$)*\s*", re.MULTILINE)
"""Match the text of a label such as “Attendees:”: the line below it, and further lines of names."""

_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]*)+", re.MULTILINE)
_CALLOUT = re.compile(r"\[!([^\]|\n]{1,40})(?:\|[^\]\n]{0,40})?\][+-]?[ \t]*([^\r\n]*)")
"""The first line of a callout: its kind, perhaps a mark that it is folded, and its title."""

_OWN_KINDS = frozenset(
    "note abstract summary tldr info todo tip hint important success check done question help faq warning caution"
    " attention failure fail missing danger error bug example".split()
)
"""The documented kinds of callouts without quotations; of any other, the title or kind must name a section."""

_EMPTY_ITEM = " \t\r\n*+-[]"

_WHOLE = re.compile(r"\S.*", re.DOTALL)
_STATEMENT = re.compile(r"\S.*(?:(?<![.!?;:])\n[ \t]*[a-zß-ÿ].*)*")
"""A line, with those that continue it in lower case."""

_LEFT_OUT = re.compile(rf"~~.*?~~|\[\^[^\]\s]{{1,80}}\]|(?i:{EMBEDDED_IMAGE})", re.DOTALL)
"""Struck-through text, references to footnotes and embedded images."""

_KEY, _VALUE = r"([^\W\d][\w -]{0,39}):: ", r"((?! )(?:[^\[\]()\n]|\[\[[^\[\]\n]{1,200}\]\]){1,200})"
_FIELD = re.compile(rf"\[{_KEY}{_VALUE}\]|\({_KEY}{_VALUE}\)")
"""A field of Dataview inside a line, such as `[due:: 2026-03-12]`, which its plugin shows without the marks."""

_DROPPED = re.compile(
    r"\W{0,9}~~[^~]+~~\W{0,9}(?:done|finished|cancell?ed|dropped|obsolete|(?:not|no longer) needed|erledigt|fertig"
    r"|abgesagt|gestrichen|entfällt|hinfällig)(?:\W+(?:by|von|on|am)\s+[\w. ]{1,30})?\W*",
    re.IGNORECASE,
)
"""Struck-through text with a remark on it: `~~Book a band~~ Done by Bo`."""

SPEAKER = re.compile(r"^[A-ZÀ-Þ][\w.'’-]*(?: [A-ZÀ-Þ][\w.'’-]*){0,2}(?::| [-–]) +")
"""The name of a speaker at the beginning of a line."""

_CUE, _VOICE = re.compile(CUE, re.MULTILINE), re.compile(rf"{VOICE}|</v>")
_CLOCK = r"(?:\d\d?:)?\d\d?:\d\d(?:[.,]\d{1,3})?"
_STAMP = rf"(?:\[{_CLOCK}\]|\({_CLOCK}\)|\d\d?:\d\d:\d\d(?:[.,]\d{{1,3}})?)"
_PERSON = r"[A-ZÀ-Þ][\w.'’-]*(?: [A-ZÀ-Þ][\w.'’-]*){0,3}"
_SPEAKS_AT = re.compile(rf"^(?:{_STAMP}[-–\s]*)?({_PERSON})(?:\s+(?:{_STAMP}|{_CLOCK}))?(?=:\s)")
"""The speaker before what is said, in a transcript with times. “10:00 Standup: …” is none."""

_SPOKE_AT = re.compile(rf"^[^\w\n]*({_PERSON})[ \t]+(?:{_STAMP}|{_CLOCK})[^\w\n]*$", re.MULTILINE)
"""The speaker and the time in a line above what is said. Ignored in a note with fewer than `MIN_SPEAKER_LINES`."""

_TURN = re.compile(
    rf"^[^\w\n]{{0,9}}(?:{_STAMP})?[^\w\n]{{0,9}}({_PERSON})(?:\s+(?:{_STAMP}|{_CLOCK}))?[^\w\n]{{0,3}}:\W", re.M
)
"""The beginning of what somebody says, perhaps with the time."""

MIN_SPEAKER_LINES = 3
_FIRST_PERSON = re.compile(r"\b(?:I|[Ww]e|[Mm]y|[Oo]ur|[Ii]ch|[Ww]ir|[Mm]eine?[nmrs]?|[Uu]nsere?[nmrs]?)\b")
_SINGULAR = re.compile(r"\b(?:I|[Mm]y|[Ii]ch|[Mm]eine?[nmrs]?)\b")
SHORT_LINE = 60
"""Characters of a line from which its end may only be where a paragraph was wrapped."""

_ENDS = re.compile(r"\w{5}[.!?]$")
"""The end of a sentence, not of an abbreviation."""

LONGEST_MARKER = 8
"""Characters by which the text of an item may be indented, so that its first line is shorter than the others."""

_ARTICLES = frozenset("a an the das dem den der die ein eine einen".split())
_CONTINUED = _ARTICLES | frozenset(
    "and as at but by for from in into of on or than that to with am auf bei für im in mit oder und von vom zu zum"
    " zur".split()
)
"""Last words of a line that the next one continues."""

_TITLE = re.compile(
    rf"(?s)\A(?![^\n]* (?:[–-] |(?:{'|'.join(_CONTINUED)})\n))[^\n.!?:;,]{{3,40}}"
    r"(?=\n[ \t]*(?![^\n:]{1,40}:)[A-ZÀ-Þ\d].*[.!?]\s*$)"
)
"""The title of a bullet, in a line above its sentences."""

_INTRODUCES = re.compile(r"(?::|\b(?:the following|as follows|folgendes))$", re.IGNORECASE)
"""The end of a sentence that only introduces the next ones."""

_CONTINUES = _CONTINUED - _ARTICLES | frozenset("because which who so if weil dass wenn damit".split())
"""First words of a line in lower case that continues the one above."""

_BREAK = re.compile(r"\n[ \t]*(?=[^\s(])(?!\[[^\[\]\n]{0,80}\]\()")

IS_DONE = re.compile(
    r"^\W*(?:[✅☑✔]|(?:done|erledigt)\s*[:–—-](?!\s*(?:when|if|once|wenn|sobald)\b))"
    r"|(?:\s[–—-]+|[(\[;])\s*(?:(?:all|already|is|schon) )?(?:done|completed|finished|erledigt|fertig|fait|hecho)"
    rf"(?: (?:on|am|le|el))?(?:[\d\W]|\b(?:{MONTH})\b)*$|[✅☑✔][\d\W]*$",
    re.IGNORECASE,
)
"""An action item with a remark that it is done: “Kim: order it – done”, but not “Kim to say when it is done”."""

_ANSWER = re.compile(r"(?:yes|yeah|yep|yup|ja|nein)[,.:;!]|no(?:pe)?[,:;!]", re.IGNORECASE)
"""The beginning of an answer, which says nothing without the question before it."""


def blocks_of(text: str, body_start: int = 0, *, own: bool = False) -> list[Block]:
    """Return the blocks of a note in order; of a note written by Donna (`own`) only the person's additions."""
    text = without_comments(text, body_start)[:LONGEST_NOTE]
    text, cues = _CUE.subn(lambda cue: hidden(cue[0]), text)
    sections = [
        replace(section, heading_path=tuple(heading.replace(HIDDEN, "").strip() for heading in section.heading_path))
        for section in split_sections(text, body_start)
    ]
    roles = [_role(section.heading_path, own=own) for section in sections]
    has_minutes = own or any(
        role in (Role.NOTES, Role.DECISIONS, Role.ACTIONS)
        and any(map(_MINUTES.search, section.heading_path[1:] or section.heading_path))
        for role, section in zip(roles, sections, strict=True)
    )
    if not has_minutes:  # without other sections of minutes, the agenda contains the minutes
        roles = [Role.NOTES if role is Role.AGENDA else role for role in roles]
    is_transcript = cues > 0 or _is_transcript(text[body_start:])
    parser = _Parser(text, _title(sections), own=own, is_transcript=is_transcript)
    place = 0
    for low, high in prose(text, body_start):
        while place < len(sections) and low >= sections[place].end:
            place += 1
            parser.leave_section()
        if place == len(sections) or len(parser.blocks) >= MAX_BLOCKS:
            break
        section = sections[place]
        if low >= section.body_start:
            low, role = parser.enter_quotes(low, high, section, roles[place])
            add = parser.add_row if text.startswith("|", low) else parser.add
            if low < high:
                add(low, high, section, role)
    return parser.blocks


def _is_transcript(text: str) -> bool:
    """Check whether a note has the words of several people, or says at what time somebody said them."""
    turns = {turn[0]: turn[1] for turn in _TURN.finditer(text)}
    names = {name for name in turns.values() if not heading_role(name)}
    return len(names) > 1 or any(turn.count(":") > 1 for turn in turns)


def _without_left_out(text: str) -> str:
    """Hide struck-through text, references to footnotes and embedded images."""
    return _LEFT_OUT.sub(lambda match: hidden(match[0]), text)


@dataclass(frozen=True, slots=True)
class _Quote:
    """An open quotation or callout. `topic` is its title, `outside` the open list and the label around it."""

    depth: int
    role: Role
    topic: str
    outside: tuple[list[tuple[int, int, Role]], Role | None, str]


class _Parser:
    """Turn the paragraphs and list items of a note into blocks.

    `_items` is the stack of open items: the column of their text, the index of their block, and the role of the items
    below it. A paragraph or item that is the name of a section, such as “Agreed:”, gives its role to the items below;
    the first line of a paragraph also gives it to its other lines. Any other label above a list is the topic of its
    items.
    """

    def __init__(self, text: str, title: str, *, own: bool, is_transcript: bool) -> None:
        self.blocks: list[Block] = []
        self._marked, self._title, self._own = text, title, own
        self._text = _QUOTE.sub(lambda marks: marks[0].replace(">", " "), text)
        self._quotes: list[_Quote] = []
        self._last_line = 0
        self._lines = line_starts(text)
        self._longest_line = max(map(len, text.split("\n")))
        self._has_speaker_lines = len(_SPOKE_AT.findall(text)) >= MIN_SPEAKER_LINES
        self._is_transcript = is_transcript or self._has_speaker_lines
        self._items: list[tuple[int, int, Role]] = []
        self._named: Role | None = None
        self._label = ""
        self._number = 0
        self._next_label: tuple[Role | None, str] | None = None
        """The name of a section or label below the last item, to which the next items belong."""
        self._row: tuple[int, list[str], Role | None, int | None] = 0, [], None, None
        """The line of the last row of a table, the cells of its head, the role of its rows, and the column that names
        that; None if the heading of the section does.
        """

    def leave_list(self) -> None:
        self._items = []
        self._named, self._label, self._next_label = None, "", None

    def leave_section(self) -> None:
        self.leave_list()
        self._quotes.clear()

    def enter_quotes(self, low: int, high: int, section: Section, role: Role) -> tuple[int, Role]:
        """Return where the text of a paragraph or list item begins below the title of a callout, and its role.

        A callout with the name of a section as its title or kind has that role, and any other the role of what is
        around it. A quotation is skipped. Both end with the first line that is outside.
        """
        first = line_of(self._lines, low)
        depth = self._marked.count(">", self._lines[first - 1], low)
        least = min((depth, *map(self._depth, range(self._last_line, first - 1)))) if self._quotes else 0
        self._last_line = line_of(self._lines, high - 1)
        while self._quotes and self._quotes[-1].depth > least:
            self._items, self._named, self._label = self._quotes.pop().outside
        around = self._quotes[-1].role if self._quotes else role
        if depth <= (self._quotes[-1].depth if self._quotes else 0):
            return low, around
        is_quoted = bool(self._quotes) and around is Role.SKIPPED
        callout, inside, topic = _CALLOUT.match(self._text, low, high), Role.SKIPPED, ""
        title = bare(callout[2].replace(HIDDEN, "")) if callout else ""
        names = (callout[2], callout[1], f"{callout[1]}s") if callout else ()
        named = next(filter(None, map(heading_role, names)), None)
        if callout and not is_quoted and (callout[1].lower() in _OWN_KINDS or named):
            inside = named or around
            topic = "" if is_generic(title) or not _quotable_section(inside) else title
        self._quotes.append(_Quote(depth, inside, topic, (self._items, self._named, self._label)))
        self.leave_list()
        if callout is None:
            return low, inside
        if topic and (len(stems_of(topic)) >= MIN_WORDS or not self._has_text(first, depth)):
            self._quotes[-1] = replace(self._quotes[-1], topic="")
            self._sentences(_without_left_out(callout[2]), callout.start(2), section, inside, -1)
        below = self._text[callout.end() : high]
        return high - len(below.lstrip()), inside

    def _depth(self, line: int) -> int:
        """Return the number of quotations that a line (0-based) begins with."""
        marks = _QUOTE.match(self._marked, self._lines[line])
        return marks[0].count(">") if marks else 0

    def _has_text(self, line: int, depth: int) -> bool:
        """Check whether a quotation has text from a line (0-based) on."""
        while line < len(self._lines) and self._depth(line) >= depth:
            low, line = self._lines[line], line + 1
            if self._text[low : self._lines[line] if line < len(self._lines) else None].strip(_EMPTY_ITEM):
                return True
        return False

    def add(self, low: int, high: int, section: Section, role: Role) -> None:
        """Add a paragraph or list item by its offsets."""
        first = line_of(self._lines, low)
        before = self._text[self._lines[first - 1] : low]
        if before.strip() and not _MARKER.match(before):
            return
        indent, marked = len(before.expandtabs(4)), bool(before.strip())
        if not (marked or self._text[low:high].replace(HIDDEN, "").strip()):
            return
        while self._items and indent < self._items[-1][0] + marked:
            self._items.pop()
        self._change_label(is_outside=not (self._items or marked))
        _, parent, here = self._items[-1] if self._items else (0, -1, self._named or role)
        first_line = self._text.find("\n", low, high)
        end = high if marked or first_line < 0 else first_line
        named = heading_role(self._text[low:end]) if here is Role.NOTES and end - low < LONGEST_LABEL else None
        named = None if named is Role.AGENDA else named
        if marked:
            last = self.blocks[-1] if self.blocks else None
            if last and self._label and not last.is_bullet and last.text.rstrip(":") == self._label:
                self.blocks.pop()
            box = role if _BOX.match(self._text, low) else None  # a label hides no task
            index, below = self._lines_of_item(before, low, high, section, box or here, named or here, parent)
            self._items.append((indent, index, below))
        elif _quotable_section(here) and not (
            self._text.startswith(("<", "[!", "[^", "!["), low) or (self._own and _OWN_WHEN.match(self._text[low:high]))
        ):
            said = _without_left_out(self._text[low:high])
            if named and parent < 0:
                self._named = named
                self._below_label(said[end - low :], end, section, named, here)
            else:
                self._sentences(said, low, section, here, parent)
        if not (self._items or marked):
            self._label = self._label_in(low, high)

    def _change_label(self, *, is_outside: bool) -> None:
        """Forget the label of a list outside it, and use the one below the last item, if there is one."""
        if is_outside:
            self._named, self._label = None, ""
        if self._next_label is not None:
            self._named, self._label = self._next_label
            self._next_label = None

    def add_row(self, low: int, high: int, section: Section, here: Role) -> None:
        """Add a row of a table, if its section or a cell of its head says that these are decisions or the like."""
        line, (last, head, role, column) = line_of(self._lines, low), self._row
        if self._text[self._lines[line - 1] : low].strip() or not _quotable_section(here):
            return
        self.leave_list()
        raw = self._text[low:high].replace(HIDDEN, "")
        cells = [bare(cell.replace("\\|", "|")) for cell in CELL_END.split(raw.strip())[1:]]
        if line != last + 1:
            head, role = cells, None
        elif DELIMITER_ROW.match(raw):
            role, column = _role_of_rows(head, here)
        elif role:
            said = cells[1:] if _ROW_NUMBER.fullmatch(cells[0]) else cells
            words = [cell for cell in said if cell not in ("", "[ ]")]
            if role is not Role.DECISIONS:
                words = [cell for cell in words if not _OPEN.fullmatch(cell)]
            is_filled = len(words) > 1 or said[:1] == words if column is None else any(cells[column : column + 1])
            is_closed = any(_closes(role, name, cell) for name, cell in zip(head, cells, strict=False))
            joined = " – ".join(words)
            if is_filled and not is_closed and len(joined) <= LONGEST_BLOCK:
                self.blocks.append(self._block(joined, low, high, section, role, is_nested=False))
        self._row = line, head, role, column

    def _label_in(self, low: int, high: int) -> str:
        """Return the words of a label without a role, such as “Stop:” or “Ana”, at the end of a paragraph, if any."""
        raw = self._text[low:high].replace(HIDDEN, "").rstrip().rpartition("\n")[2].strip()
        is_above = _SHORT_LABEL.fullmatch(raw) and _ITEM_BELOW.match(self._text, high)
        is_label = len(raw) <= LONGEST_LABEL and (_LABEL.fullmatch(raw) or is_above) and not is_generic(raw.rstrip(":"))
        return bare(raw).rstrip(":") if is_label and not _INITIALS.fullmatch(raw) else ""

    def _below_label(self, below: str, low: int, section: Section, named: Role, here: Role) -> None:
        """Add the lines below the first line of a paragraph, which is the name of a section."""
        if not _quotable_section(named):
            skipped = _SKIPPED_BELOW.match(below)
            if skipped:  # what follows has nothing to do with the label
                self._named = None
                self._sentences(below[skipped.end() :], low + skipped.end(), section, here, -1)
            return
        is_prose = named is not Role.ACTIONS and below.replace(HIDDEN, "").rstrip().endswith((".", "!", "?"))
        for statement in (_WHOLE if is_prose else _STATEMENT).finditer(below):
            self._sentences(statement[0], low + statement.start(), section, named, -1)

    def _lines_of_item(
        self, marker: str, low: int, high: int, section: Section, role: Role, below: Role, parent: int
    ) -> tuple[int, Role]:
        """Add a list item, and below it the lines that were typed under it without an indent. Return the index of its
        block, or else of its parent, and the role of what is below it.
        """
        text = self._text[low:high].replace(HIDDEN, " ")
        (_, end), *lines = _statements_in(text, len(marker) - len(marker.lstrip()), self._longest_line)
        if len(lines) == 1 and _TITLE.match(text):  # the text below it is one with it
            end, lines = high - low, []
        index = self._item(low, low + end, section, role, parent)
        box = _BOX.match(self._text, low)
        said = self._text[box.end() if box else low : low + end]
        if "~~" in said and not bare(said.replace(HIDDEN, "")):
            below = Role.SKIPPED  # what is below struck-through text no longer holds
        index = index if index >= 0 else parent
        if lines and parent < 0 and _ITEM_BELOW.match(self._text, high):
            start, end = lines[-1]
            last = self._text[low + start : high].strip()
            label = self._label_in(low + start, high)
            named = heading_role(last) if len(last) < LONGEST_LABEL else None
            if named or (label and (self._label or last.endswith(":"))):
                self._next_label = named, label
                lines.pop()
        for start, end in lines:
            self._item(low + start, low + end, section, below, index)
        return index, below

    def _item(self, low: int, high: int, section: Section, role: Role, parent: int) -> int:
        """Add the block of a list item; return its index, or -1 if it is not quotable."""
        raw = self._text[low:high].replace(HIDDEN, "")
        box = _BOX.match(raw)
        if self._own:
            if _OWN_CITED.search(raw):
                return -1
            if role is Role.AGENDA and self._items:
                role = Role.NOTES  # the points are from the invitation, nested items are not
        if not (_quotable_section(role) or (box and role is Role.AGENDA and not self._own)):
            return -1
        first, _, rest = raw[box.end() if box else 0 :].partition("\n")
        task = parse_task(box[1], first) if box else None
        words = bare(f"{task.title}\n{rest}" if task else _TITLE.sub(r"\g<0>:", raw))
        if not words:
            return -1
        if len(words) > LONGEST_BLOCK and not box:
            self._sentences(_without_left_out(self._text[low:high]), low, section, role, parent)
            return -1
        if _ANSWER.match(words) and self._is_question(parent, section):
            parent = len(self.blocks) - 1
        block = self._block(words, low, high, section, role, is_nested=parent >= 0)
        self.blocks.append(
            replace(
                block,
                is_bullet=True,
                box=("-" if task and task.status == "cancelled" else box[1]) if box else "",
                due=task.due if task else "",
                scheduled=task.scheduled if task else "",
                parent=parent,
                depth=self.blocks[parent].depth + 1 if parent >= 0 else 0,
            )
        )
        return len(self.blocks) - 1

    def _is_question(self, parent: int, section: Section) -> bool:
        """Check whether the last block is a question of the same list."""
        last = self.blocks[-1] if self.blocks else None
        return bool(
            last
            and last.is_bullet
            and last.text.endswith("?")
            and (last.parent, last.heading_path) == (parent, section.heading_path)
        )

    def _sentences(self, said: str, low: int, section: Section, role: Role, parent: int) -> None:
        """Add the sentences of a text at an offset, in which what is left out is hidden. An answer is one with its
        question, one that begins with “She” or the like with the sentence before, and one in the first person has the
        name of its speaker. Where “I” may be the writer of the note, it is one with all that follows the name.
        """
        speaker, low_of_turn, first_of_turn = "", 0, 0
        for start, end in _with_context(said, _sentences_in(with_whole_quotations(said.replace(HIDDEN, " ")))):
            words = bare(said[start:end])
            numbered = _NUMBERED.match(words) if parent < 0 else None
            if numbered and int(numbered[1]) == self._number + 1:
                self._number += 1
                if _SHORT_LABEL.fullmatch(numbered[2]) and _ALONE.match(said, end):
                    self._label = numbered[2]
                    continue
            if self._has_speaker_lines and (spoke := _SPOKE_AT.match(words)):
                speaker = spoke[1]
                continue
            named = SPEAKER.match(words)
            if named and named[0].rstrip().endswith(":"):
                label = named[0].rstrip(" :")
                speaker = "" if heading_role(label) or is_generic(label) or _IS_LABEL.fullmatch(label) else label
                low_of_turn, first_of_turn = start, len(self.blocks)
            elif speaker and self._is_transcript and _FIRST_PERSON.search(words):
                words = f"{speaker}: {words}"
            elif speaker and _SINGULAR.search(words):
                start, words = low_of_turn, bare(said[low_of_turn:end])
                if len(words) <= LONGEST_BLOCK:
                    del self.blocks[first_of_turn:]
            if words and len(words) <= LONGEST_BLOCK and not _INTRODUCES.search(words):
                block = self._block(words, low + start, low + end, section, role, is_nested=parent >= 0)
                self.blocks.append(replace(block, parent=parent))

    def _block(self, words: str, low: int, high: int, section: Section, role: Role, *, is_nested: bool) -> Block:
        if role is Role.NOTES and not is_nested and _DECIDES.match(words):
            role = Role.DECISIONS
        first, last = line_of(self._lines, low), line_of(self._lines, max(low, high - 1))
        return Block(
            text=words,
            raw=self._text[low:high].replace(HIDDEN, "").strip(),
            role=next(
                (
                    named
                    for named, label in LABEL_PATTERNS
                    if (role in (Role.NOTES, Role.QUESTIONS) or named is not Role.SKIPPED) and label.match(words)
                ),
                role,
            ),
            heading_path=section.heading_path,
            topic=_topic(section.heading_path, self._title, *(quote.topic for quote in self._quotes), self._label),
            start_line=first,
            end_line=last,
            in_callout=bool(self._quotes),
        )


def _statements_in(text: str, indent: int = LONGEST_BLOCK, width: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the statements of a paragraph. One ends with a line that was not wrapped, as Obsidian shows it: a short
    line, one that had room for the next word, as a longer one shows, one of a paragraph with mostly such lines, or one
    before “Ana: …” or with the end of a sentence. The next line must not be indented further than `indent`, nor may the
    line end with “to” or the like. If the next line begins in lower case, the line must be short, very short if it is
    not the first and begins in upper case, and the paragraph must begin in lower case or be an item of a note with
    longer lines, of `width` characters.
    """
    low = line = 0
    is_lower, is_small = True, not width and text.lstrip()[:1].islower()
    lines = text.split("\n")
    longest = max(map(len, lines))
    wrapped = sum(not _ENDS.search(line) and _may_be_wrapped(line, below, longest) for line, below in pairwise(lines))
    is_typed = len(lines) > 3 and 3 * wrapped < len(lines)
    for found in _BREAK.finditer(text):
        before = text[line : found.start()].rstrip()
        word = text[found.end() : found.end() + SHORT_LINE].split(maxsplit=1)[0]
        last = before.rpartition(" ")[2].lower()
        if word[0].islower():
            is_short = len(before) < (SHORT_LINE if is_lower else SHORT_LINE // 2)
            is_short &= is_small or len(before) + len(word) + LONGEST_MARKER < width
            is_whole = is_short and not (word in _CONTINUES or "://" in word)
        else:
            is_whole = is_typed or not _may_be_wrapped(before, word, longest)
            is_whole |= bool(_TURN.match(text, found.end()) or (_ENDS.search(before) and not SOMEBODY.match(word)))
            line, is_lower = found.end(), False
        if is_whole and not last.endswith(",") and last not in _CONTINUED and len(found[0]) <= indent + 1:
            yield low, found.start()
            low = line = found.end()
    yield low, len(text)


def _may_be_wrapped(line: str, below: str, longest: int) -> bool:
    """Check whether a line is long enough to end where a paragraph with lines of this length was wrapped."""
    word = below.split(maxsplit=1)[0] if below.split() else ""
    return len(line) >= SHORT_LINE and (word[:1].islower() or len(line) + len(word) + LONGEST_MARKER >= longest)


def _sentences_in(text: str) -> Iterator[tuple[int, int]]:
    for low, high in _statements_in(text):
        yield from ((low + start, low + end) for start, end in sentence_spans(text[low:high]))


def _with_context(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join each answer (“No, too late.”) and what else follows a question in its line to that question, and each “She
    starts in May.” to the sentence before it.
    """
    low = high = 0
    for start, end in spans:
        is_remark = "\n" not in text[high:start] and not text.endswith("?", start, end) and end - low <= LONGEST_BLOCK
        is_answer = text.endswith("?", low, high) and (is_remark or _ANSWER.match(text, start))
        leans = high and SOMEBODY.match(text, start) and not _SPOKE_AT.match(text, low, high)
        if not (is_answer or (leans and end - low <= LONGEST_BLOCK)):
            if high:
                yield low, high
            low = start
        high = end
    if high:
        yield low, high


def bare(raw: str) -> str:
    """Return the words of a bullet or sentence, without markup, block id and what is left out of quotations.

    Empty if the rest is only a remark on struck-through text.
    """
    raw = _VOICE.sub(lambda voice: f"{voice[1]}: " if voice[1] else "", _BLOCK_ID.sub("", raw))
    if "~~" in raw and _DROPPED.fullmatch(raw):
        return ""
    said = _FIELD.sub(lambda field: f"({field[1] or field[3]} {field[2] or field[4]})", _LEFT_OUT.sub("", raw))
    return _SPEAKS_AT.sub(r"\1", words_only(said, 4 * LONGEST_BLOCK))


def _title(sections: Sequence[Section]) -> str:
    """Return the heading above the whole note, if there is one."""
    tops = {section.heading_path[0] for section in sections if section.heading_path}
    is_above = any(section.level == 1 or len(section.heading_path) > 1 for section in sections)
    return tops.pop() if len(tops) == 1 and is_above else ""


def _topic(path: tuple[str, ...], title: str, *labels: str) -> str:
    """Return the headings below the title that do not name a part of minutes, and the labels below them."""
    below = path[1:] if title and path[:1] == (title,) else path
    named = [heading for heading in below if not is_generic(heading)]
    return ": ".join(filter(None, (words_only(_LEFT_OUT.sub("", each)).rstrip(":") for each in (*named, *labels))))


_POINTS = (Role.DECISIONS, Role.ACTIONS, Role.QUESTIONS)

_ROW_NUMBER = re.compile(r"[A-Z]{0,2}-?\d{1,4}[.)]?")
_OF_TASKS = re.compile(
    r"(?:owner|who|assignee|assigned(?: to)?|responsible|due(?: date)?|deadline|by(?: when)?|when|status|state|done"
    r"|wer|verantwortlich|bis(?: wann)?|frist|qui|échéance|quién|plazo)\W*",
    re.IGNORECASE,
)
"""A column that a table of action items has; one of shortcuts has a column “Action” too."""
_OF_STATUS = re.compile(r"(?:status|state|done|erledigt|statut|état|fait|estado|hecho)\W*", re.IGNORECASE)
_OF_ANSWERS = re.compile(r"(?:answer|antwort|réponse|respuesta)s?\W*", re.IGNORECASE)
_OPEN = re.compile(r"open|to[- ]?do|not started|offen|ouverte?|à faire|abiert[ao]|pendiente", re.IGNORECASE)
"""A cell that says of a task or a question no more than that it is in the list."""

_CLOSED = re.compile(
    r"x|yes|ja|oui|sí|closed|completed?|cancell?ed|resolved|done\b.*|erledigt\b.*|abgeschlossen|abgesagt|terminée?"
    r"|annulée?|cerrado",
    re.IGNORECASE,
)


def _role_of_rows(head: Sequence[str], here: Role) -> tuple[Role | None, int | None]:
    """Return the role of the rows of a table, and its column if a cell of the head names it, in the singular or plural,
    and not the section.
    """
    has_tasks = here is Role.ACTIONS or any(map(_OF_TASKS.fullmatch, head))
    for column, cell in enumerate(head):
        role = next((each for each in (heading_role(cell), heading_role(f"{cell}s")) if each in _POINTS), None)
        if role and (role is not Role.ACTIONS or has_tasks):
            return role, column
    return (here if here in _POINTS else None), None


def _closes(role: Role, name: str, cell: str) -> bool:
    """Return whether a cell, below its name in the head, says that a task is done or a question is answered."""
    if role is Role.QUESTIONS:
        return bool(cell and _OF_ANSWERS.fullmatch(name))
    has_mark = cell.lower() == "[x]" or bool(IS_DONE.search(f" – {cell}"))
    return role is Role.ACTIONS and (has_mark or bool(_OF_STATUS.fullmatch(name) and _CLOSED.fullmatch(cell)))


def _quotable_section(role: Role) -> bool:
    return role not in (Role.SKIPPED, Role.AGENDA)


_MINUTES = re.compile(
    r"\b(?:notes|minutes|discussions?|decisions?|action items?|summary|notizen|protokoll|diskussion|entscheidungen"
    r"|beschlüsse|décisions|compte[- ]rendu|decisiones|acuerdos|acta|notas)\b",
    re.IGNORECASE,
)


def _role(path: tuple[str, ...], *, own: bool) -> Role:
    """Return the role given by the nearest heading; everything below a skipped heading is skipped."""
    found = [role for heading in path if (role := heading_role(heading, own=own))]
    if Role.SKIPPED in found:
        return Role.SKIPPED
    return found[-1] if found else Role.NOTES


def heading_role(heading: str, *, own: bool = False) -> Role | None:
    words = _LEADING.sub("", words_only(heading, 200)).strip()
    if own and _OWN.fullmatch(words):
        return Role.SKIPPED
    return next((role for role, pattern in _ROLE_PATTERNS if pattern.fullmatch(words)), None)


def is_generic(heading: str) -> bool:
    """Check whether a heading says nothing about what is below it, or names a part of minutes."""
    return bool(heading_role(heading) or _GENERIC.search(heading))


_GENERIC = re.compile(
    r"\bagenda\b|^\W*(?:discussions?|(?:meeting |daily )?notes|minutes|summary|log|journal|diary|today|general"
    r"|misc(?:ellaneous)?|other|topics|updates?|themen|notizen|diskussion|protokoll|sonstiges|heute|tagebuch)\W*$",
    re.IGNORECASE,
)
"""Headings that say nothing about what is below them."""

_INITIALS = re.compile(r"[A-ZÀ-Þ]{2,3}(?:,? (?:and |und |& )?[A-ZÀ-Þ]{2,3}){2,}")
"""Match a list of attendees by their initials, such as “CN DP RE”."""

_SHORT_LABEL = re.compile(r"(?=.{3})(?!.* (?:to|will|zu|wird|werden)\b)[^\W\d_][\w'’&/-]*(?: [\w'’&/-]+){0,3}")
_NUMBERED = re.compile(r"(\d{1,2}) ([A-ZÀ-Þ].*)")
_ALONE = re.compile(r"\r?\n[ \t]*(?=\S)(?!\d{1,2} [A-ZÀ-Þ])")
_ITEM_BELOW = re.compile(r"\r?\n(?:[-*+]|\d{1,9}[.)])[ \t]")
"""A few words directly above a list are its label, too, and those with the next number, such as “2 Hall”, above a line
without one.
"""

_LABEL = re.compile(rf"(?:\*\*|__)[^\n]+(?:\*\*|__):?|[^\n.!?]+:|{_PERSON}")
