"""Fuzzy matching for short lists: the letters of a query, in order. Linear in the length of the candidate."""

from __future__ import annotations

from itertools import pairwise

from donna_tui.records import dataclass

_MOST_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class Match:
    """How well a candidate matches; `places` are the indices of the matched characters."""

    score: float
    places: tuple[int, ...]


def fuzzy_match(query: str, candidate: str) -> Match | None:
    """Match the letters of `query`, ignoring case and blanks, or return None.

    A run of letters found as it is beats letters that are scattered; starts of words and short candidates count more.
    """
    letters = [letter for letter in query.casefold() if not letter.isspace()]
    text = candidate[:_MOST_CHARACTERS].lower()
    found = text.find("".join(letters))
    places = tuple(range(found, found + len(letters))) if found >= 0 else _in_order(letters, text)
    if places is None:
        return None
    return Match(_score(places, text) - len(text) / _MOST_CHARACTERS, places)


def _in_order(letters: list[str], text: str) -> tuple[int, ...] | None:
    places: list[int] = []
    position = -1
    for letter in letters:
        position = text.find(letter, position + 1)
        if position < 0:
            return None
        places.append(position)
    return tuple(places)


def _score(places: tuple[int, ...], text: str) -> float:
    runs = sum(after == before + 1 for before, after in pairwise(places))
    starts = sum(place == 0 or not text[place - 1].isalnum() for place in places)
    return len(places) + 2.0 * runs + 1.5 * starts
