"""Attribute statements in conversations to people: is a passage about the person whom the question names?

Two people in a conversation use the same words, so the speaker of a word is weak evidence. The subject of the sentence
is stronger: "I" is the speaker and "you" the listener, and a sentence with neither continues the one before.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import chain
from typing import NamedTuple

from donna_tui.text.sentences import sentences_by_line
from donna_tui.text.words import stem
from donna_tui.types.search import ROLES

TURNS = 4
"""Turns that are compared, the best of each person: a single one may contain the words by chance."""

FARTHER_DOWN = 0.95
"""Weight of the turns of each further passage: the better a passage, the likelier it is the answer."""

NEIGHBOUR_WEIGHT = 0.7
"""Weight of a word that only the turn before or after contains: an answer seldom repeats its question."""

FEW_WORDS = 5
"""Words added to a question for smoothing: one of two words is easily matched by chance."""

CLEAR_MARGIN = 0.08
"""Minimum margin of the other person, as a share of the question, for rejecting the passages."""

# All of these were measured on LoCoMo's development questions; docs/retrieval.md has the figures.

_NAME = r"[^\W\d_][\w.'’-]{0,30}"
_LABEL = re.compile(
    rf"[\s>*_-]{{0,12}}(?:\[[^\]]{{1,20}}\]\s?)?[*_]{{0,3}}"
    rf"(?P<speaker>{_NAME}(?: {_NAME}){{0,2}})[*_]{{0,3}}:(?=[*_\s]|$)[*_]{{0,3}}"
)
"""The beginning of a line: marks of a list, quotation or emphasis, the time in brackets, up to three names, a colon."""

_FIRST, _SECOND = r"i|me|my|mine|myself|we|us|our|ours", r"you|your|yours|yourself"
_PERSON = re.compile(rf"\b(?:(?P<first>{_FIRST})|{_SECOND})\b", re.IGNORECASE)
_YOU = re.compile(rf"\b(?:{_SECOND})\b", re.IGNORECASE)
_MYSELF = re.compile(r"\b(?:i|me|my|mine|myself)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """A turn of one person; the speaker is empty if a passage begins within a turn."""

    speaker: str
    text: str


Said = tuple[frozenset[str], frozenset[str]]
"""The words of a question that a turn says about the person asked about, and about the other one."""


class Share(NamedTuple):
    """The share of a question that a turn says about the person asked about, and about the other one, from 0 to 1."""

    about_named: float
    other: float


@dataclass(frozen=True, slots=True)
class Compared:
    """The shares of the turns of each passage, best passage first, and the number of words of the question."""

    passages: Sequence[Sequence[Share]] = ()
    words: int = 0

    @property
    def is_of_another(self) -> bool:
        """Return whether the passages clearly say more about another person than about the one named."""
        placed = [(FARTHER_DOWN**place, share) for place, passage in enumerate(self.passages) for share in passage]
        of_named = sum(nlargest(TURNS, (worth * share.about_named for worth, share in placed)))
        of_other = sum(nlargest(TURNS, (worth * share.other for worth, share in placed)))
        return (of_other - of_named) / TURNS * self.words >= CLEAR_MARGIN * (self.words + FEW_WORDS)

    @property
    def margins(self) -> list[float]:
        """Return the margin of each passage: its best share about the person named less that about the other, or 0."""
        return [
            max(0.0, max(share.about_named for share in passage) - max(share.other for share in passage))
            if passage
            else 0.0
            for passage in self.passages
        ]


def compare(question: str, stems: Collection[str], passages: Sequence[str]) -> Compared:
    """Compare what passages, best first, say about the person whom a question names and about the other speaker.

    `stems` are the words that count. Most of the passages must be of conversations between two people, of whom the
    question names one; any other passage counts as a whole for that one.
    """
    if _PERSON.search(question):
        return Compared()
    speakers = {label["speaker"] for passage in passages for line in passage.splitlines() if (label := _label(line))}
    named = [speaker for speaker in speakers if _words(speaker) & _words(question)]
    if len(named) != 1:
        return Compared()
    talks = [turns_of(passage) for passage in passages]
    of_two = [_is_of_two(talk, named[0]) for talk in talks]
    if 2 * sum(of_two) <= len(talks):
        return Compared()
    names = {stem(word) for speaker in speakers for word in _words(speaker)}
    question_words = frozenset(word for word in stems if len(word) > 1) - names
    attributed = [
        [
            _attribute(turn, named[0], question_words) if two else (_found(question_words, turn.text), frozenset[str]())
            for turn in talk
        ]
        for talk, two in zip(talks, of_two, strict=True)
    ]
    weights = _weights(question_words, list(chain.from_iterable(attributed)))
    return Compared([_shares(talk, weights) for talk in attributed] if weights else [], len(weights))


def is_about_user(question: str) -> bool:
    """Return whether a question is about the person who asks, and not about what the assistant said."""
    return bool(_MYSELF.search(question)) and not _YOU.search(question)


def turns_of(passage: str) -> list[SpokenTurn]:
    """Split a passage whose lines begin with speakers' names into turns, without the headings before them."""
    turns: list[SpokenTurn] = []
    for line in filter(str.strip, passage.splitlines()):
        if label := _label(line):
            turns.append(SpokenTurn(label["speaker"], line[label.end() :]))
        elif turns:
            turns[-1] = SpokenTurn(turns[-1].speaker, f"{turns[-1].text} {line}")
        elif not line.startswith("#"):
            turns.append(SpokenTurn("", line))
    return turns


def _label(line: str) -> re.Match[str] | None:
    return _LABEL.match(line) if ":" in line else None


def _is_of_two(talk: Sequence[SpokenTurn], named: str) -> bool:
    """Return whether `named` speaks with one other person, in English, the only language supported."""
    others = {turn.speaker for turn in talk} - {"", named}
    both = len(others) == 1 and any(turn.speaker == named for turn in talk)
    people = not any(person.casefold() in ROLES for person in others)
    return both and people and any(_YOU.search(turn.text) for turn in talk)


def _attribute(turn: SpokenTurn, named: str, question_words: frozenset[str]) -> Said:
    held = _found(question_words, turn.text)
    if not held or not turn.speaker:
        return held, held
    of_speaker, of_listener = _halves(turn.text, question_words)
    return (of_speaker, of_listener) if turn.speaker == named else (of_listener, of_speaker)


def _halves(text: str, question_words: frozenset[str]) -> Said:
    """Return the stems in sentences about the speaker, and those in sentences about the listener."""
    of_speaker: set[str] = set()
    of_listener: set[str] = set()
    about = of_speaker
    for start, end in sentences_by_line(text):
        sentence = text[start:end]
        person = _PERSON.search(sentence)
        if person:
            about = of_speaker if person["first"] else of_listener
        about |= _found(question_words, sentence)
    return frozenset(of_speaker), frozenset(of_listener)


def _weights(stems: Collection[str], turns: Sequence[Said]) -> dict[str, float]:
    """Return inverse document frequencies among the turns."""
    held = {word: sum(word in about_named or word in other for about_named, other in turns) for word in stems}
    return {each: math.log((len(turns) + 1) / (count + 0.5)) for each, count in held.items()}


def _shares(talk: Sequence[Said], weights: Mapping[str, float]) -> list[Share]:
    """Return the share of the question that each turn contains."""
    whole = sum(weights.values())
    shares = ([_held(side, at, weights) / whole for at in range(len(talk))] for side in zip(*talk, strict=True))
    return [Share(*both) for both in zip(*shares, strict=True)]


def _held(talk: Sequence[frozenset[str]], place: int, weights: Mapping[str, float]) -> float:
    own, near = talk[place], talk[max(0, place - 1) : place + 2]
    if not any(near):
        return 0.0
    beside = frozenset[str]().union(*near) - own
    return sum([weights[word] for word in own]) + NEIGHBOUR_WEIGHT * sum([weights[word] for word in beside])


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text))


def _found(stems: frozenset[str], text: str) -> frozenset[str]:
    """Return the stems that a text contains. Most texts are rejected by a substring test before splitting."""
    folded = text.casefold()
    if text.isascii() and not [word for word in stems if word in folded]:
        return frozenset()
    return stems & set(map(stem, _WORD.findall(text)))
