"""Split text into sentences. None ends at an abbreviation, an initial, or inside brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from donna_tui.text.lines import each_line

_END = re.compile(r"[.!?؟…][\"'”’»)\]*_]*\s+(?=\W{0,20}(?P<next>\w))|[。！？]\s*")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'“/])(?:[A-ZÀ-Þ]|(?:[A-Za-z]\. ?)+[A-Za-z]"
    r"|[Dd]rs?|[Mm]rs?|[Mm]s|[Pp]rof|[Ss]t|[Ss]r|[Jj]r|[Vv]s|[Ee]tc|[Aa]pprox"
    r"|[Ii]nc|[Ii]n[ck]l|[Ll]td|[Cc]o|[Cc]orp|[Cc]f|[Rr]esp|[Ee]st|[Dd]ept|[Aa]ve|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
    r"|Mon|Tues?|Wed|Thurs?|Fri|Sat|Sun|[Bb]zw|[Cc]a|[Uu]sw|[Ee]vtl|[Gg]gf|[Vv]gl|[Hh]rn?|Str|Mio|Mrd"
    r"|(?:[Aa]m|[Aa]b|[Bb]is|[Dd](?:as|em|en|er|es|ie)|[Vv]om|[Zz]um|[Bb]eim) \d{1,2}(?:\.\d{1,2})?"
    r"|(?P<numbers>[a-zß-ÿ]|[Nn]os?|[Nn]r|[Ff]igs?|[Rr]ef|[Ee]xt|[Tt]el|[Vv]ol|[Pp]p|[Ss]ec|[Ee]d))\.$"
)
"""Initials, abbreviations and German ordinal numbers, whose full stop does not end a sentence. Those in `numbers`
count only before a number.
"""

LONGEST_ABBREVIATION = 12

_QUOTATION = re.compile(r"(?:(?<!\w)\"(?=\w)|[“„«])[^\"“”„«»\n]{1,200}(?=[^\"“”„«»\n][\"“”»])")
"""A short quotation on one line, without its last character."""


def sentence_spans(text: str, *, in_chat: bool = False) -> Iterator[tuple[int, int]]:
    """Yield the half-open offsets of each sentence of a paragraph.

    The next one does not begin in lower case, unless this one does or both are of a chat.
    """
    start = counted = looked = in_round = in_square = 0
    first = ""
    for match in _END.finditer(text):
        end = match.start() + 1
        short = _ABBREVIATION.search(text, max(0, end - LONGEST_ABBREVIATION), end) if match[0][0] == "." else None
        if short and (not short["numbers"] or match["next"].isdigit()):
            continue
        if short and len(short["numbers"]) == 1 and text.startswith(".", match.end() + 1):  # such as “z. B.”
            continue
        first, looked = first or next(filter(str.isalpha, text[looked:end]), ""), end
        if not in_chat and (match["next"] or "").islower() and not first.islower():
            continue
        more, counted = text[counted : match.end()], match.end()
        in_round += more.count("(") - more.count(")")
        in_square += more.count("[") - more.count("]")
        if in_round > 0 or in_square > 0:
            continue
        yield start, start + len(text[start : match.end()].rstrip())
        start, in_round, in_square = match.end(), 0, 0
        first, looked = "", match.end()
    rest = text[start:].rstrip()
    if rest:
        yield start, start + len(rest)


def sentences_by_line(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a text in which each line break ends one, as in chats."""
    for low, high, _ in each_line(text):
        for start, end in sentence_spans(text[low:high], in_chat=True):
            yield low + start, low + end


def with_whole_quotations(text: str) -> str:
    """Replace the marks inside short quotations at which sentences would end, so that offsets stay the same."""
    return _QUOTATION.sub(lambda quotation: re.sub(r"[.!?…]", ",", quotation[0]), text)
