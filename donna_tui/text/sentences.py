"""Split text into sentences. None ends at an abbreviation, an initial, or inside brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from donna_tui.text.lines import each_line

_END = re.compile(r"[.!?؟…][\"'”’»)\]*_]*\s+(?=\W{0,20}(?P<next>\w))|[。！？]\s*")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'“/])(?:[A-Za-zÀ-ÿ]|(?:[A-Za-z]\.)+[A-Za-z]|[Dd]rs?|[Mm]rs?|[Mm]s|[Pp]rof|[Ss]t|[Ss]r|[Jj]r|[Nn]os?|[Vv]s|[Ee]tc"
    r"|[Aa]pprox|[Ii]nc|[Ii]n[ck]l|[Ll]td|[Cc]o|[Cc]orp|[Cc]f|[Ff]igs?|[Rr]ef|[Rr]esp|[Ee]st|[Dd]ept|[Aa]ve|[Ee]xt|[Tt]el|[Vv]ol|[Pp]p?"
    r"|[Ss]ec|[Ee]d|[Jj]an|[Ff]eb|[Mm]ar|[Aa]pr|[Jj]un|[Jj]ul|[Aa]ug|[Ss]ept?|[Oo]ct|[Nn]ov|[Dd]ec|[Mm]on|[Tt]ues?|[Ww]ed|[Tt]hurs?|[Ff]ri"
    r"|[Ss]at|[Ss]un|[Bb]zw|[Cc]a|[Nn]r|[Uu]sw|[Ee]vtl|[Gg]gf|[Vv]gl|[Hh]rn?|Str|Mio|Mrd"
    r"|(?:[Aa]m|[Aa]b|[Bb]is|[Dd](?:as|em|en|er|es|ie)|[Vv]om|[Zz]um|[Bb]eim) \d{1,2}(?:\.\d{1,2})?)\.$"
)
"""Initials, abbreviations and German ordinal numbers, whose full stop does not end a sentence."""

LONGEST_ABBREVIATION = 12


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the half-open offsets of each sentence of a paragraph.

    The next one does not begin in lower case, unless this one does, as in hasty messages.
    """
    start = counted = in_round = in_square = 0
    for match in _END.finditer(text):
        end = match.start() + 1
        if match[0][0] == "." and _ABBREVIATION.search(text, max(0, end - LONGEST_ABBREVIATION), end):
            continue
        if (match["next"] or "").islower() and not next(filter(str.isalpha, text[start:end]), "").islower():
            continue
        more, counted = text[counted : match.end()], match.end()
        in_round += more.count("(") - more.count(")")
        in_square += more.count("[") - more.count("]")
        if in_round > 0 or in_square > 0:
            continue
        yield start, start + len(text[start : match.end()].rstrip())
        start, in_round, in_square = match.end(), 0, 0
    rest = text[start:].rstrip()
    if rest:
        yield start, start + len(rest)


def sentences_by_line(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a text in which each line break ends one, as in chats."""
    for low, high, _ in each_line(text):
        for start, end in sentence_spans(text[low:high]):
            yield low + start, low + end
