"""Fuzzy matching (subsequence matching in linear time), and edit distance with transpositions."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from donna_tui.text.words import PLAIN_LETTERS

_MAX_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class FuzzyMatch:
    """The score of a candidate; `places` are the indices of the matched characters."""

    score: float
    places: tuple[int, ...]


def fuzzy_match(query: str, candidate: str) -> FuzzyMatch | None:
    """Match a subsequence, ignoring case, accents and spaces; contiguous letters and starts of words score higher."""
    letters = [letter for letter in folded(query) if not letter.isspace()]
    text = folded(candidate[:_MAX_CHARACTERS])
    found = text.find("".join(letters))
    places = tuple(range(found, found + len(letters))) if found >= 0 else _in_order(letters, text)
    if places is None:
        return None
    return FuzzyMatch(_score(places, text) - len(text) / _MAX_CHARACTERS, places)


def folded(text: str) -> str:
    """Convert `text` to lower case without accents, character for character, so that indices are preserved."""
    if text.isascii():
        return text.lower()
    return "".join(map(_base, text))


def _base(char: str) -> str:
    base = unicodedata.normalize("NFKD", char)
    lower = (base[0] if len(base) == 1 or "\u0300" <= base[1] <= "\u036f" else char).lower().translate(PLAIN_LETTERS)
    return lower if len(lower) == 1 else char


def _in_order(letters: list[str], text: str) -> tuple[int, ...] | None:
    """Find the places of the letters greedily, preferring the start of a word if the rest can still follow it."""
    latest = _latest(letters, text)
    if latest is None:
        return None
    places: list[int] = []
    position = -1
    for letter, last in zip(letters, latest, strict=True):
        nearest = text.find(letter, position + 1, last + 1)
        start = nearest
        while start >= 0 and start != position + 1 and start > 0 and text[start - 1].isalnum():
            start = text.find(letter, start + 1, last + 1)
        position = start if start >= 0 else nearest
        places.append(position)
    return tuple(places)


def _latest(letters: list[str], text: str) -> list[int] | None:
    """Return the last place of each letter at which those after it can still follow."""
    places: list[int] = []
    position = len(text)
    for letter in reversed(letters):
        position = text.rfind(letter, 0, position)
        if position < 0:
            return None
        places.append(position)
    return places[::-1]


def _score(places: tuple[int, ...], text: str) -> float:
    runs = sum(after == before + 1 for before, after in pairwise(places))
    starts = sum(place == 0 or not text[place - 1].isalnum() for place in places)
    return len(places) + 2.0 * runs + 1.5 * starts


LETTERS_AN_EDIT = 4
"""Letters per permitted typing error."""


def allowed_edits(text: str) -> int:
    """Return the number of typing errors permitted in a word or name of this length."""
    return len(text) // LETTERS_AN_EDIT


def nearest(text: str, candidates: Iterable[str]) -> str:
    """Return the candidate with the fewest typing errors from `text`, or with it as a prefix; empty if none is near."""
    key = folded(text)
    most = max(1, allowed_edits(key))
    edits = (
        (edit_distance(key, other := folded(candidate), most) - 0.5 * other.startswith(key), candidate)
        for candidate in candidates
    )
    return min((edit for edit in edits if edit[0] <= most), default=(0, ""))[1]


def edit_distance(left: str, right: str, most: int) -> int:
    """Return the restricted Damerau–Levenshtein distance (optimal string alignment), at most `most` + 1."""
    if abs(len(left) - len(right)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, letter in enumerate(left, 1):
        before, above, row = row, before, [i]
        for j, other in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if above and j > 1 and letter == right[j - 2] and left[i - 2] == other:
                cost = min(cost, above[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)
