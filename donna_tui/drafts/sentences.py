"""Sentences of passages, bare of their markup, with the marks by which a promise or a question is known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from donna_tui.drafting import Evidence
from donna_tui.drafts.plain import words_only
from donna_tui.records import dataclass
from donna_tui.search.query import STOP_WORDS
from donna_tui.search.snippets import stem

FEWEST_WORDS, MOST_CHARS = 4, 480

_END = re.compile(r"[.!?…][\"'”’)\]*_]*\s+(?=[\"'“(\[*_]*[A-ZÀ-ÞА-Я0-9])|[。！？]\s*")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'“/])(?:[A-ZÀ-Þ]|(?:[A-Za-z]\.)+[A-Za-z]|[Dd]rs?|[Mm]rs?|[Mm]s|[Pp]rof|[Ss]t|[Ss]r|[Jj]r|[Nn]os?|[Vv]s|[Ee]tc"
    r"|[Aa]pprox|[Ii]nc|[Ll]td|[Cc]o|[Cc]orp|[Cc]f|[Ff]igs?|[Rr]ef|[Rr]esp|[Ee]st|[Dd]ept|[Aa]ve|[Ee]xt|[Tt]el|[Vv]ol|[Pp]p?|[Ss]ec"
    r"|[Ee]d|[Bb]zw|[Cc]a|[Nn]r|[Uu]sw|[Jj]an|[Ff]eb|[Mm]ar|[Aa]pr|[Jj]un|[Jj]ul|[Aa]ug|[Ss]ept?|[Oo]ct|[Nn]ov|[Dd]ec|[Mm]on|[Tt]ues?"
    r"|[Ww]ed|[Tt]hurs?|[Ff]ri|[Ss]at|[Ss]un)\.$"
)
"""What ends with a full stop and does not end a sentence: initials and abbreviations."""

LONGEST_ABBREVIATION = 12
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[(.)\]\s+)?")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s|\||>|```|~~~|---|===|%%|\$\$)")
_WORD = re.compile(r"\w+")
_LEADING = re.compile(r"^[\s*_\-–—:;,.#>|]+")

_NAME = r"@?[A-ZÀ-Þ][\w.'’-]*(?: [A-ZÀ-Þ][\w.'’-]*)?"
_SOMEBODY_WILL = re.compile(
    rf"^(?:{_NAME}|I|we|they)(?:'ll| will| to| agreed to| promised? to| volunteer(?:s|ed) to| (?:is|are|am) going to"
    r"| should| needs? to| ha(?:s|ve) to| must)\s+(?!be\b|not\b|have\b|add\b)\w+",
)
_NOBODY = re.compile(r"^(?:It|This|That|There|These|Those|What|Which|Who|If|When|As|The|A|An|Everything|Nothing)\b")
_TO_DO = re.compile(
    r"\b(?:to[- ]do|action items?|next steps?|follow up (?:on|with)|take care of|deadline|"
    r"by (?:mon|tues|wednes|thurs|fri|satur|sun)day|by (?:tomorrow|next week|the end of))\b|^(?:TODO|AI|ACTION)\b",
    re.IGNORECASE,
)
_QUESTIONS = re.compile(r"\b(?:open|unanswered) (?:questions?|issues?|points?)\b|^questions$", re.IGNORECASE)
_ACTIONS = re.compile(r"\b(?:action items?|actions|next steps?|to[- ]?dos?|follow[- ]?ups?)\b", re.IGNORECASE)
_DECISIONS = re.compile(r"\b(?:decisions?|decided|conclusions?|outcomes?|resolutions?)\b", re.IGNORECASE)
_DONE_MARK = re.compile(r"\s*(?:[✅❌➕⏳🛫📅🆔🔺⏫🔼🔽⏬🔁]\ufe0f?\s*(?:\d{4}-\d\d-\d\d)?)+")
"""What Obsidian Tasks writes behind a task."""

_LEANING = re.compile(r"^(?:It|This|That|These|Those|They|He|She|But|And|So|Also|Then|Which|Not|Don['’]t)\b")
_OPEN = re.compile(
    r"\b(?:open question|unclear|undecided|not (?:yet )?(?:clear|decided)|no (?:clear )?(?:conclusion|consensus)|"
    r"no decision|to be (?:decided|discussed|determined)|tbd|pending|whether|still waiting|unresolved)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage. `stems` are those of its content words, `box` is the mark of its check box, if any, and
    `heading` what it stands under.
    """

    text: str
    evidence: int
    stems: frozenset[str]
    box: str = ""
    heading: str = ""

    @property
    def asks(self) -> bool:
        """Whether it leaves something open."""
        if _QUESTIONS.search(self.heading):
            return True
        return self.text.rstrip("\"'”’)").endswith("?") or bool(_OPEN.search(self.text))

    @property
    def decides(self) -> bool:
        """Whether it was noted as a decision."""
        return bool(_DECISIONS.search(self.heading))

    @property
    def promises(self) -> bool:
        """Whether somebody is to do something."""
        if self.box:
            return self.box == " "
        if _ACTIONS.search(self.heading):
            return True
        someone = _SOMEBODY_WILL.match(self.text) and not _NOBODY.match(self.text)
        return not self.asks and bool(someone or _TO_DO.search(self.text))

    @property
    def stands_alone(self) -> bool:
        """Whether it can be read without the one before it: it begins as a sentence does, and not with a pronoun."""
        return stands_alone(self.text)


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """The half-open offsets of each sentence. None ends at an abbreviation, an initial, or inside brackets."""
    start = 0
    for found in _END.finditer(text):
        end = found.start() + 1
        if found[0][0] == "." and _ABBREVIATION.search(text, max(0, end - LONGEST_ABBREVIATION), end):
            continue
        part = text[start : found.end()].rstrip()
        if part.count("(") > part.count(")") or part.count("[") > part.count("]"):
            continue
        yield start, start + len(part)
        start = found.end()
    rest = text[start:].rstrip()
    if rest:
        yield start, start + len(rest)


def sentences_of(passages: Iterable[Evidence]) -> list[Sentence]:
    """The sentences of all passages in order, each once."""
    found: dict[str, Sentence] = {}
    for passage in passages:
        for sentence in _sentences(passage):
            found.setdefault(" ".join(sorted(sentence.stems)), sentence)
    return list(found.values())


def stands_alone(text: str) -> bool:
    """Whether a sentence can be read without the one before it: it does not begin in lower case or with a pronoun."""
    return not text[:1].islower() and not _LEANING.match(text)


def stems_of(text: str) -> frozenset[str]:
    """The stems of the content words of a text."""
    return frozenset(stem(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS)


def _sentences(passage: Evidence) -> Iterator[Sentence]:
    heading = passage.heading_path[-1] if passage.heading_path else ""
    for block, box in _blocks(passage.text):
        bare = _DONE_MARK.sub("", block)
        for start, end in sentence_spans(bare):
            text = _LEADING.sub("", words_only(bare[start:end], MOST_CHARS))
            stems = stems_of(text)
            if len(stems) >= FEWEST_WORDS or (box and stems):
                yield Sentence(text, passage.number, stems, box, heading)


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Paragraphs and list items with the mark of their check box. A line that is wrapped goes on in the next one."""
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
