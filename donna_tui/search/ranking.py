"""Fuse the two legs into one order, rank originals before their quotes, and reject what is not relevant."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from donna_tui.index.documents import date_words_of
from donna_tui.platform.lazy import np
from donna_tui.search.passages import PassageCache, PassageRow
from donna_tui.search.query import Query, date_pattern, latest_of, without_dates, without_joined, without_stop_words
from donna_tui.search.sections import section_of
from donna_tui.text.words import (
    ONE_ON_ONE,
    PUNCTUATION,
    STOP_WORDS,
    holds_phrase,
    is_begun,
    is_formatted_number,
    is_one_character,
    last_part,
    segments,
    spelling_pattern,
    stem,
)
from donna_tui.types.search import MemorySource

CLEAR_COSINE = 0.45
"""Cosine from which a passage is an answer even if it shares no word."""

SHORT_PASSAGE, CLEAR_COSINE_OF_SHORT = 200, 0.30
"""Length up to which a passage is short, and its threshold: a short note says one thing, and a paraphrase of it scores
lower. Turns of conversations are as short, but there are so many that some always score this high; a single word is
close to any other word, even to one without meaning.
"""

MIN_CONFIDENCE = 0.68
"""Cosine plus coverage that one of the best passages must reach otherwise."""

# All were measured on questions asked of the wrong vault, and on short passages; docs/retrieval.md has the figures.

TOP_CANDIDATES = 10
"""Passages at the top of the list that are checked."""

_WORD = re.compile(r"[^\W_]+")
_CODE = re.compile(r"(?<!\S)[^\w\s]*+(?=(?:[^\s\d]*\d){3})([^\W_]+(?:[^\w\s]+[^\W_]+)+)[^\w\s]*(?!\S)")
"""Three digits or more in several parts, such as a file number."""
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class QueryContent:
    """The content of a question: word stems, and the pattern of the dates in it, which count as one more stem.

    If its dates are relative, such as “last week”, a passage with a date counts as having their `relative_stems`.
    `spellings` are stems with their other spellings, and `numbers` stems with the pattern of the same number. `codes`
    are numbers and the like in several parts, such as “RE-2026-0042”; each counts as one stem, if all of it is there.
    """

    stems: frozenset[str]
    dates: re.Pattern[str] | None = None
    prefix: str = ""
    relative_stems: frozenset[str] = frozenset()
    spellings: tuple[tuple[str, str], ...] = ()
    numbers: tuple[tuple[str, re.Pattern[str]], ...] = ()
    codes: tuple[str, ...] = ()

    def held_by(self, text: str) -> frozenset[str]:
        """Return the stems of the question that a passage contains."""
        return self.stems & self._words_of(text)

    def coverage(self, text: str) -> float:
        """Return the share of the question's words that a passage contains, from 0 to 1."""
        stems, dated = self._words_of(text), self.holds_date(text)
        words = stems.union(
            (each for each in self.stems if is_one_character(each) and each in text),
            (word for word, other in self.spellings if other in stems),
            (word for word, number in self.numbers if number.search(text)),
        )
        held = len(self.stems & (words | self.relative_stems if dated else words)) + self._has_prefix(words)
        number = len(self.stems) + bool(self.prefix)
        if self.dates and not self.relative_stems:
            held, number = held + dated, number + 1
        return held / max(1, number)

    def searched(self, passage: PassageRow) -> str:
        """Return the text of a passage for the question. If its dates are relative, a turn has the day when it was said
        in place of the names of its conversation, which may have begun on another day.
        """
        if not self.relative_stems or passage.source_type != MemorySource.CHAT or not passage.dated_at:
            return passage.whole
        return " ".join((*date_words_of(passage.dated_at), passage.heading_path, passage.content))

    def without(self, text: str) -> QueryContent:
        """Return the content without the words of a text, unless there are no others."""
        return replace(self, stems=self.stems - self._words_of(text) or self.stems)

    @property
    def years(self) -> frozenset[str]:
        """Return the years in the question that are not part of a date."""
        return frozenset(filter(_YEAR.fullmatch, self.stems))

    @property
    def numbers_only(self) -> QueryContent:
        """Return only the codes and numbers, some with a unit. Years do not count, and short numbers only if most words
        are numbers.
        """
        numbers = {each for each in self.stems if each.isdecimal() and not _YEAR.fullmatch(each)}
        if 2 * len(numbers) <= len(self.stems):
            numbers = {each for each in numbers if len(each) > 2}
        numbers |= {*self.codes, *dict(self.numbers)}
        return QueryContent(self.stems & numbers, numbers=self.numbers, codes=self.codes)

    def holds_date(self, text: str) -> bool:
        """Return whether a passage contains a date that the question names."""
        return self.dates is not None and bool(self.dates.search(_joined(text)))

    def _words_of(self, text: str) -> frozenset[str]:
        return _stems(text).union(code for code in self.codes if holds_phrase(code, text))

    def _has_prefix(self, words: Iterable[str]) -> bool:
        return bool(self.prefix) and any(is_begun(word, self.prefix) for word in words)


@lru_cache(maxsize=256)
def _joined(text: str) -> str:
    """Return the words of a text, joined by spaces, in lower case."""
    return " ".join(_WORD.findall(text.casefold()))


def _parts_of(term: str) -> list[str]:
    """Return the parts of an identifier such as “load_the_spikes” without stop words, unless all of them are."""
    parts = term.split("_")
    return [part for part in parts if part.lower() not in STOP_WORDS] or parts


@lru_cache(maxsize=64)
def query_content(query: Query) -> QueryContent:
    """Return the content of a query. The words that only ask for a section, such as “decide”, or for the last one of a
    series, and “1:1”, whose digits are in many texts, do not count as content, unless there are no others.
    """
    begun = last_part(query.prefix)
    terms = [term if term != query.prefix else term.removesuffix(begun) for term in query.terms]
    asking = {*asking_words(query), *latest_of(query)[0].split()}
    terms = [term for term in terms if not ONE_ON_ONE.fullmatch(term.strip(PUNCTUATION))] or terms
    terms = [term for term in terms if term not in asking] or terms
    parts = [part for term in terms for part in _parts_of(term)]
    text = without_joined(without_dates(" ".join(parts)))
    dates = date_pattern(query.dated)
    spellings = tuple((stem(word), stem(other)) for word, other in query.spellings)
    formatted = {word: other for word, other in query.spellings if is_formatted_number(other)}
    numbers = tuple((stem(word), re.compile(spelling_pattern(other))) for word, other in formatted.items())
    text = " ".join(word for word in text.split() if word not in formatted)
    codes = tuple(map(str.casefold, _CODE.findall(text)))
    text = _CODE.sub(" ", text)
    stems = _stems(text).union(codes, map(stem, formatted))
    relative_stems = _stems(" ".join(map(_joined, query.relative)))
    return QueryContent(stems, dates, stem(begun), relative_stems, spellings, numbers, codes)


def asking_words(query: Query) -> list[str]:
    """Return the words of a query by which it asks for a section of minutes, without stop words."""
    _, asking = section_of(query.text)
    return [word for word in without_stop_words(query.words) if word.lower().strip(PUNCTUATION) in asking]


def clear_cosine(content: str, source: str, *, is_known: bool = True) -> float:
    """Return the cosine from which a passage of a source answers a question by its meaning alone; `is_known` is whether
    the model knows the words of the question.
    """
    is_short = len(content) <= SHORT_PASSAGE and source != MemorySource.CHAT and len(_WORD.findall(content)) > 1
    return CLEAR_COSINE_OF_SHORT if is_short and is_known else CLEAR_COSINE


def answers(wanted: QueryContent, cosine: float | None, text: str, clear: float = CLEAR_COSINE) -> bool:
    """Return whether a passage is close enough to a question. One leg alone is too unreliable to reject it."""
    if (cosine is not None and cosine >= clear) or (not wanted.relative_stems and wanted.holds_date(text)):
        return True
    return (cosine or 0.0) + wanted.coverage(text) >= MIN_CONFIDENCE


_ASCII_WORDS = "".join(char if char.isalnum() else " " for char in map(chr, range(128)))
"""A table for `str.translate`: with `split` it finds the words of ASCII text in a third of the time of the pattern."""


@lru_cache(maxsize=256)
def _stems(text: str) -> frozenset[str]:
    words = text.translate(_ASCII_WORDS).split() if text.isascii() else _WORD.findall(text)
    return frozenset((*map(stem, set(words)), *segments(text)))


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of the words of a text, without the stop words of English."""
    return frozenset(stem(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS)


_ASKS_WHO = re.compile(r"\b(?:who|attend\w*|participants?|present)\b", re.IGNORECASE)
_OF_MEETINGS = frozenset(
    map(stem, "attend attended attendee attendees call meeting minutes participant people present".split())
)
"""Words that say nothing about the subject of a meeting."""


def asks_who(query: Query) -> bool:
    """Return whether a question may ask who was at a meeting."""
    return _ASKS_WHO.search(query.text) is not None


def score_within(content: QueryContent, about: str, text: str, cosine: float, *, people: bool) -> float:
    """Score a passage of a note that a question selects by its date, and by words that are in its names, `about`.

    The other words of the question count, and the substance of the passage. If there are no others and the question is
    about `people`, lists are preferred to fluent text.
    """
    stems = content.stems - content.relative_stems - _OF_MEETINGS - content.held_by(about)
    covered = QueryContent(stems, codes=content.codes).coverage(text)
    return cosine + covered + _substance(text, lists=people and not stems)


FLUENT, LISTED = 30, 300
"""Stop words from which a passage is fluent text, and length from which it is a list of more than a few items."""


def _substance(text: str, *, lists: bool) -> float:
    """Return how much a passage says, from 0 to 1: fluent text has many stop words, a list of names or links has few.

    With `lists`, the opposite counts.
    """
    fluent = min(1.0, sum(word in STOP_WORDS for word in _WORD.findall(text.lower())) / FLUENT)
    return max(0.0, min(1.0, len(text) / LISTED) - fluent) if lists else fluent


MEANING_WEIGHT = 0.5
"""Weight of the cosine, normalised by the largest; the rest is normalised BM25 times the coverage."""

MIN_READABLE_SHARE = 0.5
"""Share of a question that the model can read up to which cosines count for nothing, because in a question in another
script only names are readable. From there their weight rises linearly.
"""

NEIGHBOUR_SHARE = 0.08
"""Share of the score of the better adjacent passage that a passage gains, because answers often span both."""

TURN_SHARE = 0.3
"""The same for a turn of a conversation, which is often an answer that depends on the turn before."""

SAME_NOTE_DECAY = 0.97
"""Decay per further passage of a note, so that one note does not fill the list. Turns of a conversation are separate
memories, and do not decay.
"""

SAME_PLACE_LOSS = 0.2
"""In a search of a single note, the loss of a passage next to a better one; half, a third … of it farther away. It
spreads the results over the note, because passages about one subject are adjacent.
"""

BOOST_WEIGHT = 0.3
"""Weight of the boosts of passages of conversations that say more about the person whom the question names, of those
with a date that it names, and of turns by the user if it is about the user.
"""

SECTION_WEIGHT = 0.6
"""Weight of the boost of a passage of the section that the question asks for: its score, relative to the best."""

# All were measured on the development questions; docs/retrieval.md has the table.


class Candidate(NamedTuple):
    """A passage that a leg found: its chunk key, its note, its position in the note, and its score in each leg.

    `bm25` and `cosine` are None if the leg did not find it, or the passage has no vector. Turns of a conversation may
    occupy several positions, up to `last`.
    """

    id: int
    document: str
    place: int
    bm25: float | None
    cosine: float | None
    last: int | None = None
    is_turn: bool = False

    @property
    def end(self) -> int:
        """Return the last of its positions."""
        return self.place if self.last is None else self.last


class Ranked(NamedTuple):
    """A candidate with its rank in each leg (1-based; None if it was not found) and its fused score (0 to 1)."""

    id: int
    document: str
    cosine: float | None
    vector_rank: int | None
    keyword_rank: int | None
    rank_score: float

    def scored(self, rank_score: float) -> Ranked:
        """Return a copy with another score; `_replace` takes twice as long, for each of 200 candidates."""
        return Ranked(self.id, self.document, self.cosine, self.vector_rank, self.keyword_rank, rank_score)


def fuse(
    candidates: Collection[Candidate],
    keyword: Sequence[int],
    semantic: Sequence[int],
    *,
    readable_share: float = 1.0,
    coverage: float = 1.0,
) -> list[Ranked]:
    """Rank the candidates by a convex combination of their normalised scores, best first.

    `keyword` and `semantic` are the chunk keys that each leg found, in its order. `readable_share` from 0 to 1 is the
    share of the question that the model can read. `coverage` from 0 to 1 is the largest share of the question's words
    that one passage contains. It scales the weight of BM25, because a best match with one word of four says little.
    """
    word_rank = {each: rank for rank, each in enumerate(keyword, 1)}
    vector_rank = {each: rank for rank, each in enumerate(semantic, 1)}
    read = max(0.0, readable_share - MIN_READABLE_SHARE) / (1.0 - MIN_READABLE_SHARE)
    scores = _with_neighbours(candidates, _convex_sum(candidates, MEANING_WEIGHT * read, coverage))
    is_one_note = bool(keyword and semantic) and _is_one_note(candidates)
    if not is_one_note:
        scores = _varied(candidates, scores)
    ranked = [
        Ranked(one.id, one.document, one.cosine, vector_rank.get(one.id), word_rank.get(one.id), scores[one.id])
        for one in candidates
    ]
    ranked.sort(key=_best_first)
    return _spread(ranked, {one.id: one.place for one in candidates}) if is_one_note else ranked


def boosted(ranked: Sequence[Ranked], boosts: Mapping[int, float], weight: float = BOOST_WEIGHT) -> list[Ranked]:
    """Reorder the ranking with boosts of some passages, usually from -1 to 1, times `weight`; those of passages that
    must be above all others are larger. Scores stay in 0 to 1.
    """
    if not any(boosts.values()):
        return list(ranked)
    raised = {one.id: one.rank_score + weight * boosts.get(one.id, 0.0) for one in ranked}
    highest = max([1.0 + weight, *raised.values()])
    scores = {each: max(0.0, score) / highest for each, score in raised.items()}
    return sorted((one.scored(scores[one.id]) for one in ranked), key=_best_first)


def rearranged(ranked: Sequence[Ranked], scores: Mapping[int, float]) -> list[Ranked]:
    """Reorder the passages that have another score among those of their note, which keeps its places in the ranking."""
    best: dict[str, list[Ranked]] = defaultdict(list)
    for one in sorted((one for one in reversed(ranked) if one.id in scores), key=lambda one: scores[one.id]):
        best[one.document].append(one)
    return [best[one.document].pop().scored(one.rank_score) if one.id in scores else one for one in ranked]


def _convex_sum(candidates: Collection[Candidate], share: float, coverage: float) -> dict[int, float]:
    most = max((one.bm25 or 0.0 for one in candidates), default=0.0)
    nearest = max((one.cosine or 0.0 for one in candidates), default=0.0)
    weight = float(nearest > 0)
    if most and nearest > 0:
        weight = share and share / (share + (1.0 - share) * coverage)

    by_cosine = weight / nearest if nearest > 0 else 0.0
    by_keyword = (1.0 - weight) / most if most else 0.0
    return {one.id: by_cosine * max(one.cosine or 0.0, 0.0) + by_keyword * (one.bm25 or 0.0) for one in candidates}


def _with_neighbours(candidates: Collection[Candidate], scores: Mapping[int, float]) -> dict[int, float]:
    places = [(one.id, one.document, one.place, one.end, one.is_turn) for one in candidates]
    before = {(document, end + 1): scores[each] for each, document, _, end, _ in places}
    after = {(document, place - 1): scores[each] for each, document, place, _, _ in places}
    raised = {}
    for each, document, place, end, is_turn in places:
        share = TURN_SHARE if is_turn else NEIGHBOUR_SHARE
        neighbouring = max(before.get((document, place), 0.0), after.get((document, end), 0.0))
        raised[each] = (scores[each] + share * neighbouring) / (1.0 + share)
    return raised


def _varied(candidates: Iterable[Candidate], scores: Mapping[int, float]) -> dict[int, float]:
    """Return the scores with the decay of further passages of the same note."""
    seen: Counter[str] = Counter()
    varied = {**scores}
    for score, _, each, document in sorted(
        (-scores[one.id], -(one.cosine or 0.0), one.id, one.document) for one in candidates if not one.is_turn
    ):
        if before := seen[document]:
            varied[each] = -score * SAME_NOTE_DECAY**before
        seen[document] = before + 1
    return varied


def _is_one_note(candidates: Collection[Candidate]) -> bool:
    return len({one.document for one in candidates}) == 1 and not any(one.is_turn for one in candidates)


def _spread(ranked: Sequence[Ranked], index: Mapping[int, int]) -> list[Ranked]:
    """Select greedily: take the best passage, reduce the scores of those near it, and repeat."""
    left = np.array([one.rank_score for one in ranked])
    places = np.array([index[one.id] for one in ranked])
    spread = []
    for _ in ranked:
        best = int(np.argmax(left))
        spread.append(ranked[best].scored(float(left[best])))
        left *= 1.0 - SAME_PLACE_LOSS / np.maximum(1, np.abs(places - places[best]))
        left[best] = -np.inf
    return spread


def _best_first(one: Ranked) -> tuple[float, float, int]:
    return (-one.rank_score, -(one.cosine or 0.0), one.id)


QUOTES_CHECKED = 30
"""Hits at the top of the list that are checked for originals and quotes, and for decisions and later ones."""

RUN, SHORTEST = 6, 3
"""Consecutive words that a quote and its original share; a shorter original is quoted as a whole."""


def originals_first(passages: PassageCache, hits: Sequence[Ranked], stems: Collection[str]) -> list[Ranked]:
    """Move each original to just above the first passage of a note by Donna that quotes it.

    Two passages that share a run of words are original and quote, unless the one by Donna contains words of the
    question that the other lacks. The order of other notes is kept, because people who repeat themselves do not quote.
    """
    rows = passages.rows([one.id for one in hits[:QUOTES_CHECKED]])
    pairs = _quoting(rows.values())
    if not pairs:
        return list(hits)
    texts = {each: _WORD.findall(row.content.casefold()) for each, row in rows.items()}

    def is_original(one: Ranked, quote: Ranked) -> bool:
        return (quote.document, one.document) in pairs and _repeats(texts[quote.id], texts[one.id], stems)

    return moved_up(hits, is_original)


def moved_up(ranked: Sequence[Ranked], precedes: Callable[[Ranked, Ranked], bool]) -> list[Ranked]:
    """Move each of the first passages to just above the first one that it precedes, once, since two may precede each
    other.
    """
    top, moved = list(ranked[:QUOTES_CHECKED]), set[int]()
    for place in range(len(top)):
        while found := next(
            (one for one in top[place + 1 :] if one.id not in moved and precedes(one, top[place])), None
        ):
            moved.add(found.id)
            top.remove(found)
            top.insert(place, found.scored(top[place].rank_score))
    return [*top, *ranked[QUOTES_CHECKED:]]


def _quoting(rows: Iterable[PassageRow]) -> set[tuple[str, str]]:
    """Return pairs of documents of which the first may quote the second: Donna's notes quote those of people, and
    earlier ones by Donna.
    """
    notes = {row.document_id: row for row in rows if row.source_type == MemorySource.VAULT}
    by_donna = {document for document, row in notes.items() if row.is_by_donna}
    return {
        (quote, other)
        for quote in by_donna
        for other, row in notes.items()
        if other != quote and (other not in by_donna or row.dated_at < notes[quote].dated_at)
    }


def _repeats(quote: list[str], original: list[str], stems: Collection[str]) -> bool:
    """Return whether they share a run of words, and the original has all words of the question that the quote has."""
    length = min(RUN, len(original))
    if length < SHORTEST or not _runs(quote, length) & _runs(original, length):
        return False
    held = set(map(stem, original))
    return all(word in held for word in set(map(stem, quote)) & set(stems))


def _runs(words: list[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}
