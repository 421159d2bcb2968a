"""Whether conversations tell of somebody else what a question asks of the person whom it names.

Two people in a conversation use the same words, so who spoke them says little. Whom a sentence is about says more: "I"
is the speaker and "you" the listener, and a sentence with neither goes on about the one before.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import chain

from donna_tui.search.snippets import stem

LOOKED_AT = 5
"""Passages at the top of the list that are compared."""

TURNS = 3
"""How many turns are compared, the best of each person: a single one may hold the words by chance."""

BESIDE = 0.7
"""What a word counts that only the turn before or after holds: an answer seldom repeats its question."""

FEW_WORDS = 5
"""So many words that are told of neither are added to a question: one of two words is soon told by chance."""

CLEAR_LEAD = 0.075
"""By how large a share of the question more must be told of the other one."""

# All five were measured on LoCoMo's development questions; docs/retrieval.md has the figures.

ROLES = frozenset({"user", "assistant", "system", "tool"})
"""Names of speakers that are no people."""

_NAME = r"[^\W\d_][\w.'’-]{0,30}"
_LABEL = re.compile(
    rf"[\s>*_-]{{0,12}}(?:\[[^\]]{{1,20}}\]\s?)?[*_]{{0,3}}"
    rf"(?P<speaker>{_NAME}(?: {_NAME}){{0,2}})[*_]{{0,3}}:(?=[*_\s]|$)[*_]{{0,3}}"
)
"""The beginning of a line: marks of a list, quotation or emphasis, the time in brackets, up to three names, a colon."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_FIRST, _SECOND = r"i|me|my|mine|myself|we|us|our|ours", r"you|your|yours|yourself"
_PERSON = re.compile(rf"\b(?:(?P<first>{_FIRST})|{_SECOND})\b", re.IGNORECASE)
_YOU = re.compile(rf"\b(?:{_SECOND})\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Turn:
    """What one person says at a time; the speaker is empty where a passage begins within a turn."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Told:
    """The words of a question that a turn tells of the person who is asked about, and of the other one."""

    asked: frozenset[str] = frozenset()
    other: frozenset[str] = frozenset()


def told_of_another(question: str, stems: Collection[str], passages: Sequence[str]) -> bool:
    """Whether passages, best first, tell what a question asks clearly more of another person than of whom it names.

    `stems` are the words that count. Only a conversation of two people can say so, of whom the question names one; any
    other passage counts for that one, whole.
    """
    talks = [turns_of(passage) for passage in passages[:LOOKED_AT]]
    speakers = {turn.speaker for talk in talks for turn in talk} - {""}
    named = [speaker for speaker in speakers if _words(speaker) & _words(question)]
    if len(named) != 1 or _PERSON.search(question):
        return False
    names = {stem(word) for speaker in speakers for word in _words(speaker)}
    asked = frozenset(each for each in stems if len(each) > 1) - names
    told = [_told(talk, named[0], asked) for talk in talks]
    weights = _weights(asked, list(chain.from_iterable(told)))
    of_asked = _share([[turn.asked for turn in talk] for talk in told], weights)
    return _share([[turn.other for turn in talk] for talk in told], weights) - of_asked >= CLEAR_LEAD


def turns_of(passage: str) -> list[Turn]:
    """The turns of a passage whose lines begin with the name of who speaks; headings before them are left out."""
    turns: list[Turn] = []
    for line in filter(str.strip, passage.splitlines()):
        label = _LABEL.match(line)
        if label:
            turns.append(Turn(label["speaker"], line[label.end() :]))
        elif turns:
            turns[-1] = Turn(turns[-1].speaker, f"{turns[-1].text} {line}")
        elif not line.startswith("#"):
            turns.append(Turn("", line))
    return turns


def _told(talk: Sequence[Turn], named: str, asked: frozenset[str]) -> list[Told]:
    if not _is_of_two(talk, named):
        return [Told(_stems(turn.text) & asked) for turn in talk]
    return [_told_by(turn, named, asked) for turn in talk]


def _is_of_two(talk: Sequence[Turn], named: str) -> bool:
    """Whether `named` speaks with one other person, and English: elsewhere it is not known whom a turn is about."""
    others = {turn.speaker for turn in talk} - {"", named}
    both = len(others) == 1 and any(turn.speaker == named for turn in talk)
    people = not any(each.casefold() in ROLES for each in others)
    return both and people and any(_YOU.search(turn.text) for turn in talk)


def _told_by(turn: Turn, named: str, asked: frozenset[str]) -> Told:
    held = _stems(turn.text) & asked
    if not held or not turn.speaker:
        return Told(held, held)
    of_speaker, of_listener = _halves(turn.text, asked)
    return Told(of_speaker, of_listener) if turn.speaker == named else Told(of_listener, of_speaker)


def _halves(text: str, asked: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """What the sentences about the speaker hold of what is asked, and what those about the listener do."""
    of_speaker: set[str] = set()
    of_listener: set[str] = set()
    about = of_speaker
    for sentence in _SENTENCE_END.split(text):
        person = _PERSON.search(sentence)
        if person:
            about = of_speaker if person["first"] else of_listener
        about |= _stems(sentence) & asked
    return frozenset(of_speaker), frozenset(of_listener)


def _weights(stems: Collection[str], turns: Sequence[Told]) -> dict[str, float]:
    """Inverse document frequencies among the turns."""
    held = {each: sum(each in turn.asked or each in turn.other for turn in turns) for each in stems}
    return {each: math.log((len(turns) + 1) / (count + 0.5)) for each, count in held.items()}


def _share(talks: Sequence[Sequence[frozenset[str]]], weights: Mapping[str, float]) -> float:
    """How much of the question the best turns tell one person, from 0 to 1."""
    shares = [_held(talk, place, weights) for talk in talks for place in range(len(talk))]
    whole = sum(weights.values()) * (1 + FEW_WORDS / max(1, len(weights)))
    return sum(nlargest(TURNS, shares)) / TURNS / whole if weights else 0.0


def _held(talk: Sequence[frozenset[str]], place: int, weights: Mapping[str, float]) -> float:
    own = talk[place]
    beside = frozenset[str]().union(*talk[max(0, place - 1) : place + 2]) - own
    return sum(weights[each] for each in own) + BESIDE * sum(weights[each] for each in beside)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text))


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, _WORD.findall(text)))
