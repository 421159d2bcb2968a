"""Words: their stems and spellings, stop words, scripts without spaces, and exact phrases.

Text in scripts without spaces is segmented into overlapping pairs of characters. Each emoji is indexed as a word of
letters and digits.

Pairs are as good as a dictionary for retrieval in Chinese and Japanese, and need none (Nie, Gao, Zhang and Zhou,
“On the use of words and n-grams for Chinese information retrieval”, 2000).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import islice, pairwise, product

_SCRIPTS = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Burmese
    "\u1780-\u17ff"  # Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uac00-\ud7af"  # Hangul: its particles are written onto the word
)
# Compiling these sets of characters takes 5 ms, so they are compiled for the first text that needs them.
_UNSPACED = f"[{_SCRIPTS}]+"
_HIRAGANA = "[\u3040-\u309f]+"

EMOJI = "\u2300-\u23ff\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
"""Ranges of a character class: symbols that people write as emoji, without skin tones and other modifiers."""

_EMOJI = f"[{EMOJI}]"
_PIECE = rf"(?P<unspaced>[{_SCRIPTS}]+|[{EMOJI}])|[^\W_{_SCRIPTS}]+"
_ASCII_PIECE = r"(?P<unspaced>(?!))|[^\W_]+"


def is_unspaced(char: str) -> bool:
    """Return whether a character is of a script without spaces, or an emoji, and so may touch another word."""
    return not char.isascii() and bool(re.match(_UNSPACED, char) or re.match(_EMOJI, char))


def is_one_character(word: str) -> bool:
    """Return whether a word is a single character of a script without spaces, which is half of an indexed pair."""
    return len(word) == 1 and not word.isascii() and bool(re.match(_UNSPACED, word))


def spaced(text: str) -> str:
    """Remove unspaced scripts and emoji."""
    return text if text.isascii() else re.sub(_EMOJI, " ", re.sub(_UNSPACED, " ", text))


def segments(text: str) -> list[str]:
    """Return the bigrams of each unspaced stretch, or its single character, in order, then a word for each emoji."""
    if text.isascii():
        return []
    pairs = [segment for run in re.findall(_UNSPACED, text) for segment in _pairs(run)]
    return pairs + [f"emoji{ord(char):x}" for char in re.findall(_EMOJI, text)]


_UNDECOMPOSED = "ıøłđðħŧþæœ"
"""Letters that Unicode does not decompose into a plain letter and an accent."""
_COMPATIBLE = "²³¹⁰⁴-⁹₀-₉ﬀ-ﬆ"
"""Raised and lowered digits and ligatures, which SQLite takes for letters of their own."""
_NOT_PLAIN = f"[{_UNDECOMPOSED}{_UNDECOMPOSED[1:].upper()}{_COMPATIBLE}]"
PLAIN_LETTERS = str.maketrans(dict(zip(_UNDECOMPOSED, ("i", *"olddht", "th", "ae", "oe"), strict=True)))
"""Map each of them, in lower case, to plain letters: a table for `str.translate`."""


_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "ly", "s", "e", "y")
_SHORTEST_STEM = 3


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return a rough stem of a word, without case, accents and common English endings."""
    folded = "".join(char for char in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(char))
    folded = folded if folded.isascii() else folded.translate(PLAIN_LETTERS)
    for ending in _ENDINGS:
        if folded.endswith(ending) and len(folded) - len(ending) >= _SHORTEST_STEM:
            return folded[: -len(ending)]
    return folded


def last_part(word: str) -> str:
    """Return the letters and digits with which a word ends: “spik” of “load_spik”."""
    parts = re.search(r"[^\W_]*\Z", word)
    return parts[0] if parts else ""


def is_begun(stemmed: str, prefix: str) -> bool:
    """Return whether a prefix may begin a word with this stem, perhaps with a part of its ending: “loadi” of “load”."""
    if stemmed.startswith(prefix):
        return True
    is_stem = len(stemmed) >= _SHORTEST_STEM and prefix.startswith(stemmed)
    return is_stem and any(ending.startswith(prefix[len(stemmed) :]) for ending in _ENDINGS)


PUNCTUATION = "?!.,;:"
"""The punctuation that is written onto a word of a question."""

STOP_WORDS = frozenset(
    "a about am an and any are as at be been being but by can could did do does doing done for from had has have having"
    " he her hers him his how i if in into is it its just me my of on or our ours she should so some such than that the"
    " their them then there these they this those to too us was we were what when where which while who whom whose why"
    " will with would you your yours".split()
)
"""Stop words of English."""


def indexed_words(text: str) -> list[str]:
    """Return what is indexed besides the words of a text: its segments, and with plain letters and digits the words
    with others that SQLite does not replace, such as those of “Łódź” and “CO₂”.
    """
    if text.isascii():
        return []
    return segments(text) + [plain(word) for word in re.findall(r"\w+", text) if re.search(_NOT_PLAIN, word)]


def _pairs(run: str) -> list[str]:
    return [first + second for first, second in pairwise(run)] or [run]


def pieces(text: str) -> Iterator[tuple[int, int, bool]]:
    """Split a text into words, unspaced stretches and emoji: each range, and whether it is unspaced."""
    for match in re.finditer(_ASCII_PIECE if text.isascii() else _PIECE, text):
        yield match.start(), match.end(), match["unspaced"] is not None


def distinctive_pairs(run: str) -> list[str]:
    """Return the pairs of an unspaced stretch worth marking: no particles and endings if there are others."""
    pairs = _pairs(run)
    return [pair for pair in pairs if not re.fullmatch(_HIRAGANA, pair)] or pairs


def stretches(run: str, pairs: Collection[str]) -> Iterator[tuple[int, int]]:
    """Merge pairs or single characters of an unspaced stretch into ranges; adjacent ranges become one."""
    start = end = 0
    for at in range(len(run)):
        length = next((len(part) for part in (run[at : at + 2], run[at]) if part in pairs), 0)
        if length and at > end:
            if end > start:
                yield start, end
            start = at
        end = max(end, at + length) if length else end
    if end > start:
        yield start, end


MEETING_WORDS = ("meeting", "call", "besprechung", "sitzung", "protokoll", "treffen", "gespräch", "termin")
MEETING = rf"(?:{'|'.join(MEETING_WORDS)})(?:s|e|en)?"
"""The words for a meeting of any kind, in English and German, and a pattern of them."""

ONE_ON_ONE = re.compile(r"\b(?:1\s?[:/\-–xo]\s?1|1\s?on\s?1|one[- ]?(?:on|to)[- ]?one)\b", re.IGNORECASE)
"""The ways to write that a meeting is one of two people."""

_DIGRAPHS = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "oe", "å": "aa"}
_LETTERS = {digraph: [each for each in _DIGRAPHS if _DIGRAPHS[each] == digraph] for digraph in _DIGRAPHS.values()}
_DIGRAPH = re.compile(f"({'|'.join(_LETTERS)})")
_MAX_SPELLINGS = 16

_GROUPED = re.compile(r"(?P<whole>[1-9]\d{0,2}([.,'’])\d{3}(?:\2\d{3})*)(?P<decimals>(?!\2)[.,]\d{1,2})?")
_GROUPABLE = re.compile(r"(?!(?:19|20)\d\d\Z)(?P<whole>[1-9]\d{3,14})(?P<decimals>[.,]\d{1,2})?")
"""A number whose digits may be grouped, perhaps with decimals, but not a year."""
_WITH_UNIT = re.compile(r"(?P<number>\d+(?:[.,]\d+)?)(?P<space> ?)(?P<unit>[a-zµ]{1,3}(?:/[a-z]+)?)")


def other_spellings(word: str) -> list[str]:
    """Return the other German spellings of a word, in lower case: “mueller” for “Müller”, and the reverse.

    Each digraph may be the spelling of one letter or not: “wasserstrasse” is “wasserstraße”. A number is also spelt
    with separators between its groups of three digits, or without: “1310” is “1,310”, “1310,50” is “1.310,50”, and with
    a space before its unit: “70kg” is “70 kg”.
    """
    if with_unit := _WITH_UNIT.fullmatch(word):
        return [f"{with_unit['number']} {with_unit['unit']}"]
    if grouped := _GROUPED.fullmatch(word):
        return [re.sub(r"\D", "", grouped["whole"]) + (grouped["decimals"] or "")]
    if plain_number := _GROUPABLE.fullmatch(word):
        decimals = plain_number["decimals"] or ""
        groups = f"{int(plain_number['whole']):,}"
        return [(groups.replace(",", ".") if decimals.startswith(",") else groups) + decimals]
    lower = unicodedata.normalize("NFC", word.lower())
    if (plain := "".join(_DIGRAPHS.get(char, char) for char in lower)) != lower:
        return [plain]
    parts = ((part, *_LETTERS[part]) if part in _LETTERS else (part,) for part in _DIGRAPH.split(lower))
    return ["".join(each) for each in islice(product(*parts), 1, _MAX_SPELLINGS)]


_IRREGULAR = tuple(
    forms.split()
    for forms in (
        "break broke broken,buy bought,catch caught,child children,choose chose chosen,draw drew drawn,"
        "drink drank drunk,drive drove driven,eat ate eaten,fall fell fallen,feel felt,fight fought,fly flew flown,"
        "foot feet,forget forgot forgotten,give gave given,grow grew grown,hang hung,hear heard,knife knives,lend lent,"
        "lose lost,man men,meet met,pay paid,person people,ride rode ridden,sell sold,send sent,shake shook shaken,"
        "shelf shelves,shoot shot,sing sang sung,sit sat,sleep slept,speak spoke spoken,spend spent,stand stood,"
        "steal stole stolen,stick stuck,swim swam swum,teach taught,tear tore torn,throw threw thrown,tooth teeth,"
        "understand understood,wake woke woken,wear wore worn,wife wives,win won,woman women"
    ).split(",")
)
"""Without words that say little, such as “go”, or whose forms have another meaning, such as “left” and “built-in”."""


def irregular_forms(word: str) -> list[str]:
    """Return the other forms of an English word that have another stem: “bought” for “buy”."""
    lower = word.lower()
    return [form for forms in _IRREGULAR if lower in forms for form in forms if form != lower]


def is_formatted_number(word: str) -> bool:
    """Return whether a word is a number with separators between its groups of digits, or a space before its unit."""
    with_unit = _WITH_UNIT.fullmatch(word)
    return _GROUPED.fullmatch(word) is not None or (with_unit is not None and with_unit["space"] != "")


def spelling_pattern(word: str) -> str:
    """Return the pattern of a word with the same accents, or of a number with any separator between its groups, but
    not as part of a longer number, version or address.
    """
    if with_unit := _WITH_UNIT.fullmatch(word):
        return rf"(?<![\d.,])(?i:{re.escape(with_unit['number'])}\s?{re.escape(with_unit['unit'])})(?!\w)"
    if (grouped := _GROUPED.fullmatch(word)) is None:
        return f"(?i:{re.escape(word)})"
    whole, decimals = grouped["whole"], grouped["decimals"] or ""
    first, *groups = re.split(r"\D", whole)
    rest = "".join(rf"(?P=separator){group}" for group in groups[1:])
    end = rf"(?!(?P=separator))[.,]{decimals[1:]}(?!\d)" if decimals else r"(?!\d|(?P=separator)\d)"
    return rf"(?<!\d)(?<!\d[.,'’]){first}(?P<separator>[.,'’ \u00a0\u202f\u2009]){groups[0]}{rest}{end}"


_ARABIC = "(?P<article>\u0627\u0644)?(?P<noun>[\u0621-\u064a]{3,})"


def other_article(word: str) -> list[str]:
    """Return an Arabic noun with its article, which is written onto it, or without."""
    arabic = re.fullmatch(_ARABIC, word)
    return [] if arabic is None else [arabic["noun"] if arabic["article"] else f"\u0627\u0644{word}"]


PARTS = re.compile(rf"[^\W_]+|[{EMOJI}]")
"""Match the words of a name or phrase: an emoji is one."""

_ACCENTS = "[\u0300-\u036f\u0610-\u061a\u064b-\u065f]"


def holds_phrase(phrase: str, *texts: str | None) -> bool:
    """Return whether a text has the words of a phrase in sequence, ignoring case, accents and Markdown."""
    pattern = _pattern(phrase)
    return pattern is None or any(pattern.search(plain(text)) for text in texts if text)


@lru_cache(maxsize=64)
def _pattern(phrase: str) -> re.Pattern[str] | None:
    """Compile a phrase: words in unspaced scripts may be part of a longer run of characters, others are whole words."""
    words = PARTS.findall(plain(phrase))
    if not words:
        return None
    start = "" if is_unspaced(words[0][0]) else r"(?<![^\W_])"
    end = "" if is_unspaced(words[-1][-1]) else r"(?![^\W_])"
    return re.compile(start + r"[\W_]+".join(map(re.escape, words)) + end)


@lru_cache(maxsize=512)
def plain(text: str) -> str:
    """Return a text without case and accents, and with plain letters and digits."""
    folded = text.casefold()
    if folded.isascii():
        return folded
    bare = re.sub(_ACCENTS, "", unicodedata.normalize("NFKD", folded)).translate(PLAIN_LETTERS)
    return unicodedata.normalize("NFC", bare)
