"""Provide hostile payloads against terminals, parsers and readers, each with a distinct marker."""

from __future__ import annotations

from typing import Final

from donna_tui.engine.passages import Passage
from donna_tui.types.search import Hit, SearchOutcome, SearchRequest, Snippet
from tests.tui.fake_backend import new_passage

ESCAPES: Final = {
    "clipboard": "\x1b]52;c;RE9OTkEtU1RPTEUtVEhJUw==\x07",
    "clipboard_st": "\x1b]52;c;RE9OTkEtU1QtVEhJUw==\x1b\\",
    "title": "\x1b]0;DONNA-TITLE-TAKEN\x1b\\",
    "title_c1": "\x9d0;DONNA-C1-TITLE\x9c",
    "link": "\x1b]8;;https://donna-link.example/\x1b\\click\x1b]8;;\x1b\\",
    "screen": "\x1b[2J\x1b[31;7mDONNA-RED",
    "csi_c1": "\x9b31;7;5mDONNA-C1-RED",
    "device": "\x1bP+q444f4e4e41\x1b\\",
    "answerback": "\x05\x1bZ\x1b[c\x1b[6n",
    "alternate": "\x1b[?1049lDONNA-LEFT-SCREEN",
    "mouse": "\x1b[?1003h\x1b[?2004lDONNA-MODES",
    "reset": "\x1bcDONNA-RESET",
    "return": "safe.md\rDONNA-OVERWRITTEN",
    "backspace": "safe\b\b\b\bDONNA-REWRITTEN",
    "delete": "a\x7fDONNA-DEL\x00nul",
}
MARKUP: Final = {
    "close": "[/] [/foo] [/",
    "action": "[@click=app.quit]DONNA-CLICK[/]",
    "style": "[bold red on yellow]DONNA-STYLE[/] [a='",
    "task": "- [x] done [link](https://donna.example) [[wiki|alias]]",
}
UNICODE: Final = {
    "bidi": "invoice\u202efdp.exe\u202c \u2066isolated\u2069",
    "zero_width": "pass\u200bword\u200d\ufeff\u2060 DONNA-ZERO",
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈👍🏽 日本語の見出し 🇩🇪",
    "combining": "Z\u0351\u0302\u036c\u0306\u0344a\u0334\u0321\u0355l\u0337\u0322go",
    "surrogate": "bad\ud800name",
    "separators": "one\u2028two\u2029three\x85four\x0bfive",
}
ALL: Final = {**ESCAPES, **MARKUP, **UNICODE}
EVERYTHING: Final = " ".join(ALL.values())
LONG_HEADING: Final = "Heading without end " * 500
LONG_WORD: Final = "ohne" * 2500

STOLEN: Final[tuple[bytes, ...]] = tuple(
    payload.encode("utf-8", "surrogatepass") for payload in ESCAPES.values() if "\x1b" in payload or "\x9b" in payload
)
"""Byte strings that must never reach the terminal unchanged."""


def paths() -> tuple[str, ...]:
    """Return a note name for every payload, one with line breaks in it, and one that is far too long."""
    named = tuple(f"Hostile/{name} {payload}.md" for name, payload in ALL.items())
    return (*named, "Hostile/two\nlines\r\nDONNA-NEWLINE.md", f"Hostile/{LONG_WORD}.md", "[/].md", "")


def passages() -> tuple[Passage, ...]:
    """Return a section for every hostile path, with the payload in title, headings, text and backlinks."""
    return tuple(
        new_passage(
            path=path,
            title=f"{path} {EVERYTHING}",
            heading_path=(EVERYTHING, LONG_HEADING, "[/]"),
            text=_text(path),
            start_line=1,
            end_line=40,
            mark_start=3,
            mark_end=12,
            linked_from=paths()[:4],
            sensitive=True,
        )
        for path in paths()
    )


def answer(request: SearchRequest) -> SearchOutcome:
    """Return an answer with every hostile note."""
    hits = tuple(_hit(path, rank) for rank, path in enumerate(paths(), start=1))
    return SearchOutcome(
        request=request,
        mode="keyword",
        hits=hits,
        near_misses=hits[:2],
        searched_notes=len(hits),
        note=EVERYTHING,
        latency_ms=12.0,
    )


def _hit(path: str, rank: int) -> Hit:
    return Hit(
        chunk_id=f"hostile-{rank}",
        document_id=path,
        source_type="vault",
        path=path,
        title=f"{path} {EVERYTHING}",
        heading_path=(EVERYTHING, LONG_HEADING),
        start_line=rank,
        end_line=10**9,
        content=_text(path),
        snippet=Snippet(EVERYTHING, ((0, 8), (6, 40), (len(EVERYTHING) - 2, len(EVERYTHING) + 50))),
        score=0.5,
        rank_score=0.9 / rank,
        vector_rank=None,
        keyword_rank=rank,
        uri=f"obsidian://open?file={EVERYTHING}",
        sensitive=rank % 2 == 0,
        metadata={"type": EVERYTHING, "tags": [EVERYTHING], EVERYTHING: EVERYTHING},
    )


def _text(path: str) -> str:
    payloads = "\n\n".join(ALL.values())
    fence, table = f"```{EVERYTHING}\n{EVERYTHING}\n```", f"| {EVERYTHING} |\n|---|\n| [/] |"
    return f"### {EVERYTHING}\n\n{path}\n\n{payloads}\n\n{fence}\n\n{table}\n"
