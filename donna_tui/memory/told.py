"""Remembered facts and corrections as documents: one passage each."""

from __future__ import annotations

from donna_tui.index.documents import Document
from donna_tui.memories import Correction, MemorySource, MemoryType
from donna_tui.memory.chat import day_of
from donna_tui.memory.facts import Fact
from donna_tui.memory.passages import Cut
from donna_tui.text.chunker import Chunk
from donna_tui.text.lines import line_of, line_starts
from donna_tui.text.markdown import shorten
from donna_tui.text.tokens import TokenCounter

LEAST_VALUE_CHARS = 40


def fact_document(fact: Fact, cut: Cut) -> tuple[Document, list[Chunk]]:
    """A remembered fact. It was cut to fit when it was told; for a smaller window it is cut again."""
    document = Document(
        source_type=MemorySource.MEMORY.value,
        source_id=fact.id,
        title=_fact_title(fact),
        text=fact.content,
        user_id=fact.user_id,
        uri=f"memory:{fact.id}",
        note_type=fact.type.value,
        modified_at=fact.created_at,
        sensitive=fact.sensitive,
        metadata={
            "type": fact.type.value,
            "session_id": fact.session_id,
            "at": fact.created_at,
            "pinned": fact.pinned,
            "compressed": False,
            "compression_source": fact.compression_source,
            "source_session_id": fact.source_session_id,
        },
    )
    starts = line_starts(document.text)
    return document, cut.chunks(document, (), lambda offset: line_of(starts, offset))


def _fact_title(fact: Fact) -> str:
    what = "Summary" if fact.compression_source else "Remembered"
    return f"{what}, {day_of(fact.created_at)}"


def correction_document(correction: Correction, cut: Cut) -> tuple[Document, list[Chunk]]:
    """A correction: one passage. Values that would not fit are shortened in it; `memory.db` has them whole."""
    document = Document(
        source_type=MemorySource.CORRECTION.value,
        source_id=correction.id,
        title=f"Correction of {correction.field}",
        text=correction_text(correction, cut.counter, cut.room()),
        user_id=correction.user_id,
        uri=f"correction:{correction.id}",
        note_type=MemoryType.SEMANTIC.value,
        modified_at=correction.created_at,
        sensitive=correction.sensitive,
        metadata={
            "type": MemoryType.SEMANTIC.value,
            "at": correction.created_at,
            "pinned": correction.pinned,
            "compressed": False,
            "field": correction.field,
            "task_type": correction.task_type,
        },
    )
    return document, [
        Chunk(
            index=0,
            heading_path=(),
            text=document.text,
            start=0,
            end=len(document.text),
            start_line=1,
            end_line=1,
            token_count=len(cut.counter.spans(document.text)),
        )
    ]


def correction_text(correction: Correction, counter: TokenCounter, most_tokens: int) -> str:
    """The sentence of a correction, within `most_tokens`."""
    longest = max(len(correction.original), len(correction.corrected), len(correction.input), LEAST_VALUE_CHARS)
    while True:
        original, corrected, given = (
            shorten(value, longest) for value in (correction.original, correction.corrected, correction.input)
        )
        text = (
            f"Field {correction.field} changed from {original} to {corrected} on input {given}"
            f" (task_type={correction.task_type})"
        )
        if len(counter.spans(text)) <= most_tokens or longest <= LEAST_VALUE_CHARS:
            return text
        longest = max(LEAST_VALUE_CHARS, longest * 3 // 4)
