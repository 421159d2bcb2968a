"""The line of context that is embedded before a passage: the title of its note and the headings above it."""

from __future__ import annotations

from donna_tui.records import dataclass
from donna_tui.text.markdown import HEADING_CHARS, shorten
from donna_tui.text.outline import opening_heading
from donna_tui.text.tokens import EstimatedTokens

SEPARATOR = " › "
GAP = "…"
USUAL_WINDOW = 256
WINDOW_SHARE = 5
"""The context gets a fifth of the window by the estimate, so at most four fifths of it by any tokenizer; larger windows
than usual make it no longer."""

_ESTIMATE = EstimatedTokens()


@dataclass(frozen=True, slots=True)
class Context:
    """What the passages of one section have in common. `heading` is the section's own, if `line` has all of it."""

    line: str
    heading: str

    def embed(self, text: str) -> str:
        """The text to embed for the passage `text`: a heading line that `line` repeats word for word is left out."""
        opening = opening_heading(text) if self.heading else None
        if opening and opening.text == self.heading:
            text = text[opening.body_start :].lstrip()
        return f"{self.line}\n{text}" if self.line and text else self.line or text


def context_of(title: str, heading_path: tuple[str, ...], max_tokens: int) -> Context:
    """The context of a section for a window of `max_tokens`. The title is left out where it is the first heading.

    What does not fit gives way: first the headings between the title and the last one, then the ends of those two.
    """
    names = [" ".join(shorten(name, HEADING_CHARS).split()) for name in (title, *heading_path)]
    if heading_path and names[0].casefold() == names[1].casefold():
        del names[0]
    parts = [name for name in names if name]
    limit = min(max_tokens, USUAL_WINDOW) // WINDOW_SHARE
    line = SEPARATOR.join(parts)
    if _cost(line) <= limit:
        return Context(line, heading_path[-1] if heading_path else "")
    return Context(_fit(parts, limit), "")


def embedding_text(title: str, heading_path: tuple[str, ...], text: str, *, max_tokens: int = USUAL_WINDOW) -> str:
    """The text that is embedded for a chunk: `title › heading path`, a line break, and the chunk's own text.

    `max_tokens` is the window that the chunk was made for; all from 256 on give the same. Only the context is ever
    shortened to fit.
    """
    return context_of(title, heading_path, max_tokens).embed(text)


def _fit(parts: list[str], limit: int) -> str:
    """The ends of `parts` within `limit` estimated tokens, and of those between as many of the last as fit."""
    first, last = parts[0], parts[-1]
    for index in range(2, len(parts)):
        line = SEPARATOR.join((first, GAP, *parts[index:]))
        if _cost(line) <= limit:
            return line
    if len(parts) == 1:
        return _within(first, limit)
    share = (limit - 1) // 2
    return SEPARATOR.join((_within(first, share), _within(last, share)))


def _within(text: str, limit: int) -> str:
    """`text` in at most `limit` estimated tokens, at least two, cut after a word where it has one."""
    spans = _ESTIMATE.spans(text)
    if len(spans) <= limit:
        return text
    ends = (spans[each][1] for each in range(limit - 2, -1, -1) if spans[each + 1][0] >= spans[each][1])
    end = next(ends, 0)  # one character may be several tokens, which stay together
    kept = text[:end] if text[end].isspace() else text[:end].rpartition(" ")[0] or text[:end]
    return kept + GAP


def _cost(text: str) -> int:
    return len(_ESTIMATE.spans(text))
