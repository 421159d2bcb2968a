"""Choose the snippet of a passage, and mark its matched words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from donna_tui.text.markdown import plain_text
from donna_tui.text.sentences import sentences_by_line
from donna_tui.text.words import distinctive_pairs, is_unspaced, last_part, pieces, plain, stem, stretches
from donna_tui.types.search import Excerpt, Snippet
from donna_tui.vault.note.read import DATE_KEYS, text_properties

WIDTH = 180
"""Maximum number of characters of a snippet."""

_WORD = re.compile(r"[^\W_]+")
_HAS_NUMBER_AND_SPACE = re.compile(r"(?=.*\d).*\s")
_HEADING = re.compile("#{1,6} ")


@lru_cache(maxsize=256)
def _words_in(text: str) -> tuple[tuple[int, int, str, str], ...]:
    """Return the words of a text: their half-open ranges, their stems, and the words without case and accents. A piece
    of a script without spaces has no stem, and is returned as it is.

    They are cached, since most passages are found again by the next key.
    """
    if text.isascii():
        words = ((match.start(), match.end(), match.group()) for match in _WORD.finditer(text))
        return tuple([(start, end, stem(word), word.lower()) for start, end, word in words])
    found = []
    for start, end, unspaced in pieces(text):
        word = text[start:end]
        found.append((start, end, "", word) if unspaced else (start, end, stem(word), plain(word)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class WordsToMark:
    """The words to mark in a text: stems of terms, phrases as sequences of stems, by the first of them, the prefix
    that the user has typed last, and pairs of characters of scripts without spaces. The numbers of a phrase, and the
    other words of a date, are marked only where all of it is.
    """

    stems: frozenset[str] = frozenset()
    phrases: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict, hash=False)
    prefix: str = ""
    pairs: frozenset[str] = frozenset()

    def found(self, text: str) -> list[tuple[int, int, str]]:
        """Return each matched word of a text: its half-open range and its stem."""
        if not self.stems and not self.pairs and not self.phrases:
            return []
        words, stems, phrases, prefix = _words_in(text), self.stems, self.phrases, self.prefix
        found, end_of_phrase = [], 0
        for at, (start, end, key, word) in enumerate(words):
            if not key:
                found += [(start + low, start + high, word[low:high]) for low, high in stretches(word, self.pairs)]
                continue
            for phrase in phrases.get(key, ()) if phrases else ():
                if phrase == tuple(each[2] for each in words[at : at + len(phrase)]):
                    end_of_phrase = max(end_of_phrase, at + len(phrase))
            if key in stems or at < end_of_phrase or (prefix and word.startswith(prefix)):
                found.append((start, end, key))
        return found

    def weight(self, found: Sequence[tuple[int, int, str]]) -> int:
        """Score the matched words of a stretch of text: distinct words, with a bonus for whole phrases."""
        keys = [key for _, _, key in found]
        held = {
            phrase
            for at, key in enumerate(keys)
            for phrase in self.phrases.get(key, ())
            if tuple(keys[at : at + len(phrase)]) == phrase
        }
        return sum(max(1, len(key) - 1) if is_unspaced(key[:1]) else 1 for key in set(keys)) + 2 * len(held)


@lru_cache(maxsize=64)
def words_to_mark(terms: tuple[str, ...], prefix: str = "") -> WordsToMark:
    """Return the words to mark for the terms of a question, and those that begin like its incomplete last word."""
    split, pairs = [], []
    for term in terms:
        words = [(term[start:end], unspaced) for start, end, unspaced in pieces(term)]
        split.append(tuple(stem(word) for word, unspaced in words if not unspaced))
        pairs += [pair for word, unspaced in words if unspaced for pair in distinctive_pairs(word)]
    phrases = {
        first: tuple(keys for keys in split if len(keys) > 1 and keys[0] == first)
        for first in {keys[0] for keys in split if len(keys) > 1}
    }
    loose = (keys for term, keys in zip(terms, split, strict=True) if not _HAS_NUMBER_AND_SPACE.match(term))
    stems = frozenset(key for keys in loose for key in keys if len(keys) == 1 or not key.isdecimal())
    return WordsToMark(stems, phrases, plain(last_part(prefix)), frozenset(pairs))


@dataclass(frozen=True, slots=True)
class LazySnippet:
    """The excerpt of a passage, built lazily, because most results of a search are never visible.

    It begins with the properties of the note that have further words of the question, besides those in the passage and
    in `place`, its title and heading path. `metadata` is the JSON of the note.
    """

    content: str
    terms: tuple[str, ...]
    prefix: str = ""
    metadata: str = ""
    place: str = ""

    @property
    def text(self) -> str:
        return _made(self, WIDTH).text

    @property
    def marks(self) -> tuple[tuple[int, int], ...]:
        return _made(self, WIDTH).marks

    @property
    def words(self) -> WordsToMark:
        """Return the words that are marked."""
        return words_to_mark(self.terms, self.prefix)

    def fitted(self, width: int) -> Snippet:
        """Return the excerpt for at most `width` characters."""
        return _made(self, max(8, min(width, WIDTH)))


def longer_text(excerpt: Excerpt, width: int) -> str:
    """Return the text of an excerpt for at most `width` characters, even if a list shows fewer."""
    return (_made(excerpt, width) if isinstance(excerpt, LazySnippet) else excerpt).text


def properties_in(excerpt: Excerpt) -> str:
    """Return the properties of the note that an excerpt begins with."""
    return " · ".join(_properties(excerpt, excerpt.words)) if isinstance(excerpt, LazySnippet) else ""


def words_to_mark_in(excerpt: Excerpt) -> WordsToMark | None:
    """Return the words to mark elsewhere for the same question, as in a preview, if the excerpt has them."""
    return excerpt.words if isinstance(excerpt, LazySnippet) else None


@lru_cache(maxsize=256)
def _made(snippet: LazySnippet, width: int) -> Snippet:
    """Extract the stretch of a passage with the most different terms, as one line: of plain text, unless only the
    Markdown has some of them, such as a comment or the target of a link.
    """
    text, words = _plain(snippet.content), snippet.words
    found = words.found(text)
    if _has_more(body := _body(snippet.content), text, words, found):
        raw = " ".join(body.split())
        if words.weight(in_raw := words.found(raw)) > words.weight(found):
            text, found = raw, in_raw
    if properties := properties_in(snippet):
        text = f"{properties} {text}" if text.startswith("•") else f"{properties} · {text}"
        found = words.found(text)
    start = _best_start(text, _outside_headers(found, text, body), words, width)
    end = min(len(text), start + width)
    if end < len(text) and (space := text.rfind(" ", start, end + 1)) >= max(
        (high for _, high, _ in found if high <= end), default=start
    ):
        end = space
    shown = text[start:end]
    lead = "…" if start else ""
    marks = tuple(
        (low - start + len(lead), high - start + len(lead)) for low, high, _ in found if low >= start and high <= end
    )
    return Snippet(f"{lead}{shown}{'…' if end < len(text) else ''}", marks)


_TABLE_HEADER = re.compile(r"^[ \t>]*(\|[^\n]+)\n[ \t>]*\|[ \t:|-]+$", re.MULTILINE)


def _outside_headers(found: Sequence[tuple[int, int, str]], text: str, body: str) -> Sequence[tuple[int, int, str]]:
    """Return the matched words that are not in the first row of a table, which only names columns; all if none is."""
    headers = [plain_text(match[1]) for match in _TABLE_HEADER.finditer(body)] if "|" in body else []
    spans = [(text.find(header), len(header)) for header in headers]
    return [each for each in found if not any(0 <= each[0] - start < length for start, length in spans)] or found


def _properties(snippet: LazySnippet, words: WordsToMark) -> Iterator[str]:
    known = [each for each in _text_properties(snippet.metadata) if _has_more(each[2], "", words, ())]
    held = {key for _, _, key in words.found(f"{snippet.place} {snippet.content}")} if known else set[str]()

    def adds(text: str) -> bool:
        return not held.issuperset(key for _, _, key in words.found(text))

    for key, values, _ in known:
        if shown := [*filter(adds, values)] or (values if adds(key) else ()):
            yield f"{key}: {', '.join(shown)}"


@lru_cache(maxsize=256)
def _text_properties(metadata: str) -> list[tuple[str, tuple[str, ...], str]]:
    """Return the properties in the metadata of a note, which is JSON, with their values as plain text, and all of it
    together. Its date is shown beside its title.
    """
    frontmatter = parsed(metadata).get("frontmatter") if metadata else None
    found = ((key, tuple(map(plain_text, values))) for key, values in text_properties(frontmatter or {}))
    return [(key, values, " ".join((key, *values))) for key, values in found if key.lower() not in DATE_KEYS]


@lru_cache(maxsize=256)
def parsed(text: str) -> Any:
    """Parse JSON, for reading only: most passages are found again by the next key."""
    return json.loads(text)


def _has_more(text: str, other: str, words: WordsToMark, found: Sequence[tuple[int, int, str]]) -> bool:
    """Return whether a text may have words that are not among those `found` in another, without splitting it."""
    letters, others, held = plain(text), plain(other), {key for _, _, key in found}
    lacking = (key for key in (*words.stems, *words.pairs) if not any(each.startswith(key) for each in held))
    return any(letters.count(key) > others.count(key) for key in lacking)


@lru_cache(maxsize=256)
def _plain(content: str) -> str:
    """Return the text of a passage without its heading; cached, since most passages are found again by the next key."""
    return plain_text(_body(content)) or plain_text(content)


def _body(content: str) -> str:
    """Return the Markdown of a passage without its heading."""
    first, _, rest = content.partition("\n")
    return rest if first.lstrip().startswith("#") else content


def best_line(text: str, words: WordsToMark) -> int | None:
    """Return the line of a text, from 0, on which its best sentence begins; None if no sentence has any of the words.

    The best sentence has the highest weight; of equal ones the shortest, then the first. The heading of a passage is
    the best only if no sentence has any.
    """
    ranks: list[tuple[bool, int, int, int]] = []
    for start, end in sentences_by_line(text):
        if found := words.found(text[start:end]):
            is_text = _HEADING.match(text, start) is None
            ranks.append((is_text, words.weight(found), start - end, -(start + found[0][0])))
    return text.count("\n", 0, -max(ranks)[3]) if ranks else None


def _best_start(text: str, found: Sequence[tuple[int, int, str]], words: WordsToMark, width: int) -> int:
    """Return the start of the window with the highest weight, at a word and a little before the first mark, or more at
    the end of the text.
    """
    if not found or len(text) <= width:
        return 0
    best, most = 0, 0
    for index, (low, _, _) in enumerate(found):
        inside = [span for span in found[index : index + 40] if span[1] <= low + width * 3 // 4]
        weight = words.weight(inside)
        if weight > most:
            best, most = low, weight
    lead = max(0, min(best - width // 4, len(text) - width))
    space = text.find(" ", lead, best)
    return 0 if lead == 0 else (space + 1 if space >= 0 else lead)
