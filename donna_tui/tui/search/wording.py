"""Format the texts of the Search screen, and hold its question, without a widget."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.lib.error_messages import sentence
from donna_tui.tui.lib.humanize import count, milliseconds, plural
from donna_tui.tui.lib.inputs import NoticeText, error_notice
from donna_tui.tui.search.results import ResultRow
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.search import MODES, Filters, Hit, MemorySource, Mode, SearchOutcome, SearchRequest
from donna_tui.types.status import ModelPhase, Status

if TYPE_CHECKING:
    from donna_tui.types.events import EngineEvent

PAGE, MAX_HITS = 25, 1_000
"""Passages requested at first, more at each end of the list, and at most for one question."""


@dataclass(frozen=True, slots=True)
class SearchScope:
    """The scope of a search. Empty means everywhere in this space."""

    folder: str = ""
    source: str = ""
    every_space: bool = False

    def __str__(self) -> str:
        if self.every_space:
            return "all spaces"
        return " in ".join(filter(None, (self.source, self.folder))) or "all folders"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The parameters of a search. With `like` it finds passages similar to a hit."""

    text: str = ""
    mode: Mode = "hybrid"
    scope: SearchScope = SearchScope()
    near_misses: bool = False
    like: Hit | None = None
    most: int = PAGE

    @property
    def is_empty(self) -> bool:
        return self.like is None and not self.text.strip()

    def request(self) -> SearchRequest:
        """Convert the question to a search request. The last word counts as incomplete until a space follows it."""
        sources = (self.scope.source,) if self.scope.source else ()
        return SearchRequest(
            text=self.text,
            k=self.most,
            uncapped=True,
            mode=self.mode,
            filters=Filters(path_prefix=self.scope.folder, sources=sources),
            near_misses=self.near_misses,
            typing=not self.text[-1:].isspace(),
            everywhere=self.scope.every_space,
        )

    def next_mode(self) -> Question:
        return replace(self, mode=MODES[(MODES.index(self.mode) + 1) % len(MODES)])


NEAR_MATCHES = 5
"""Near misses shown without a request if there is no hit."""


def rows_of(
    outcome: SearchOutcome, *, near_misses: bool, unfolded: Collection[tuple[str, str]] = ()
) -> tuple[ResultRow, ...]:
    """Group the hits by note, each note ranked by its best passage, followed by the near misses if wanted; without
    hits, a few of these.

    Only the best passage of a note is shown, unless the note is unfolded.
    """
    near = outcome.near_misses if near_misses else outcome.near_misses[: 0 if outcome.hits else NEAR_MATCHES]
    known = {hit.chunk_id for hit in outcome.hits}
    notes: dict[tuple[str, str], list[Hit]] = {}
    for hit in outcome.hits:
        notes.setdefault((hit.space, hit.document_id), []).append(hit)
    return (
        *(row for note, hits in notes.items() for row in _of_note(hits, folded=note not in unfolded)),
        *(ResultRow(hit, near=True) for hit in near if hit.chunk_id not in known),
    )


def _of_note(hits: list[Hit], *, folded: bool) -> Iterator[ResultRow]:
    in_note = len(hits) if hits[0].source_type == MemorySource.CHAT else hits[0].in_note  # a turn is one passage
    shown = hits[:1] if folded else hits
    hidden = max(len(hits), in_note) - len(shown)
    for at, hit in enumerate(shown):
        yield ResultRow(hit, folded=hidden if hit is shown[-1] else 0, inner=at > 0)


def has_more(outcome: SearchOutcome) -> bool:
    is_short = len(outcome.hits) < outcome.total or outcome.at_least
    return is_short and outcome.request.k < MAX_HITS


def with_more(before: SearchOutcome, after: SearchOutcome) -> SearchOutcome:
    """Append the rest of a longer answer to the same question, leaving the visible rows in place."""
    known = {hit.chunk_id for hit in before.hits}
    least = min((hit.rank_score for hit in before.hits), default=1.0)
    added = (hit for hit in after.hits if hit.chunk_id not in known)
    below = (hit if hit.rank_score <= least else replace(hit, rank_score=least) for hit in added)
    return replace(after, hits=(*before.hits, *below))


def is_at_same_place(before: tuple[ResultRow, ...], index: int, after: tuple[ResultRow, ...]) -> bool:
    """Return whether the row under the cursor would remain the same passage at the same place."""
    if not before:
        return True
    return index < len(after) and after[index].hit.chunk_id == before[index].hit.chunk_id


def makes_semantic(event: EngineEvent) -> bool:
    from donna_tui.types.events import ModelStateChanged

    return isinstance(event, ModelStateChanged) and event.phase is ModelPhase.READY


def changes_answers(event: EngineEvent) -> bool:
    """Return whether an event may change the answer to the same question."""
    from donna_tui.types.events import (
        ChangedElsewhere,
        IndexSwapped,
        NoteDeleted,
        NoteEmbedded,
        NoteIndexed,
        NoteRenamed,
        ReconcileDone,
    )

    return makes_semantic(event) or isinstance(
        event, NoteIndexed | NoteEmbedded | NoteDeleted | NoteRenamed | IndexSwapped | ChangedElsewhere | ReconcileDone
    )


def changes_start(event: EngineEvent) -> bool:
    from donna_tui.types.events import ChangedElsewhere, NoteDeleted, NoteIndexed, NoteRenamed, ReconcileDone
    from donna_tui.types.memory_events import VaultWritten

    notes = (NoteIndexed, NoteDeleted, NoteRenamed, ReconcileDone, VaultWritten, ChangedElsewhere)
    return isinstance(event, notes) or event.name.startswith(("vault_autowrite", "calendar"))


def list_title(question: Question, outcome: SearchOutcome) -> str:
    more = "+" if outcome.at_least else ""
    notes = outcome.total_notes or len({ResultRow(hit).note for hit in outcome.hits})
    hits = number_found(outcome)
    passages = f"{count(hits)}{more} {'passage' if hits == 1 and not more else 'passages'}"
    found = f"{passages} in {count(notes)}{more} {'note' if notes == 1 and not more else 'notes'}"
    if not outcome.hits:
        found = "Nothing relevant; near misses"
    elif question.near_misses:
        found += f", {plural(len(outcome.near_misses), 'near miss', 'near misses')}"
    if question.like is not None:
        return f"{found} like {_short(clean_line(question.like.title))} · esc back"
    return f"{found} · {milliseconds(outcome.latency_ms)}"


def number_found(outcome: SearchOutcome) -> int:
    return max(outcome.total, len(outcome.hits))


def note_of(outcome: SearchOutcome) -> str:
    """Return the engine's note on what limits the answer, or else that another mode was used."""
    if limits := "; ".join(filter(None, (outcome.note, *(problem.sentence for problem in outcome.filter_problems)))):
        return clean_line(limits)
    if outcome.mode != outcome.request.mode:
        return f"Only {outcome.mode} search was used."
    return ""


def empty_start_text(status: Status | None) -> NoticeText | None:
    """Return the text shown instead of an empty start page; None if it has content."""
    if status is None:
        return NoticeText("Opening the vault …", "You can type already.")
    if status.state == "starting":
        return NoticeText("Opening the vault …", "You can type already; what is in the index is searched at once.")
    if status.coverage.notes == 0 and status.last_reconcile is not None:
        return NoticeText(
            "There are no notes here yet.",
            f"Donna looks for Markdown files in {clean_line(status.root)} and below, and finds new ones automatically.",
            actions=(("app.switch", "create a note"), ("app.space", "open another folder")),
        )
    return None


def nothing_found(question: Question, outcome: SearchOutcome, status: Status | None) -> NoticeText:
    """Explain that no passage was judged relevant: what was searched, and remedies."""
    cover = status.coverage if status is not None else None
    is_empty = cover is not None and not cover.notes and not outcome.searched_notes
    if is_empty:
        return empty_start_text(status) or NoticeText(
            "The notes are being read.", "They are searched once they are indexed."
        )
    if cover is not None and cover.text + cover.failed < cover.notes:
        searched = f"{count(cover.text)} of {plural(cover.notes, 'note')} are in the index so far; the rest follows."
    else:
        searched = f"Searched {plural(outcome.searched_notes, 'note')} with {outcome.mode} search, {question.scope}."
    like, asked = question.like, _short(clean_line(question.text.strip()))
    subject = f"like {_short(clean_line(like.title))}" if like is not None else f"for “{asked}”"
    no_near = "There are no near misses." if question.near_misses else ""
    note = sentence(note_of(outcome)) if outcome.note else note_of(outcome)  # what was typed stays as it is
    limits = " ".join(filter(None, (searched, no_near, note)))
    near = (("search.near", "show near misses"),) if not question.near_misses else ()
    return NoticeText(
        f"Nothing relevant {subject}.",
        clean_line(limits),
        actions=(
            *near,
            ("search.filter", "search elsewhere"),
            ("search.mode", "change the search mode"),
            ("search.why", "why is a note not found?"),
        ),
    )


def failed(error: DonnaError) -> NoticeText:
    needs_model = error.reason in (Reason.MODEL_MISSING, Reason.MODEL_INVALID)
    helps = ("search.mode", "use keyword search") if needs_model else ("search.refresh", "try again")
    return error_notice(error, helps)


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
