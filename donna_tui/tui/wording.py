"""Engine events and reason codes as sentences that a person understands, ready to be drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from donna_tui.draftevents import AutowriteFailed, AutowriteSkipped, Autowritten, ModelCalled
from donna_tui.events import (
    CHANGED,
    BackfillDone,
    ChatIngested,
    CorrectionIngested,
    EngineEvent,
    EngineStateChanged,
    IndexProgress,
    IndexSwapped,
    IngestBatch,
    MemoryIngestFailed,
    MemoryRemembered,
    ModelPhase,
    ModelStateChanged,
    NoteDeleted,
    NoteEmbedded,
    NoteFailed,
    NoteIndexed,
    NoteRenamed,
    NoteSkipped,
    ProblemCleared,
    ProblemRaised,
    ReconcileDone,
    SearchDone,
    SourceIngested,
    StageTimes,
    TasksIngested,
    VaultWritten,
    WatcherStateChanged,
    WatchHint,
)
from donna_tui.safety.terminal import clean_line
from donna_tui.tui.calendar_wording import DESCRIBE_CALENDARS
from donna_tui.tui.humanize import clock, milliseconds, plural
from donna_tui.tui.sentences import Kind, Sentence, Tone, joined, reason_words

MODES = {"hybrid": "by words and meaning", "semantic": "by meaning", "keyword": "by words"}
_INDEXED = {
    "new": "New note",
    "changed": "Edited",
    "metadata": "Properties edited",
    "retry": "Read after all",
    "rebuild": "Read again",
}
_WRITTEN = {
    "write": "Written",
    "delete": "Removed",
    "move": "Moved",
    "undo": "Taken back",
    "redo": "Done again",
}
_ENGINE = {
    "starting": "Opening the vault",
    "running": "Ready",
    "paused": "Paused",
    "read_only": "Reading only",
    "stopping": "Closing",
    "stopped": "Closed",
    "failed": "Stopped by a fault",
}
_MODEL = {
    ModelPhase.MISSING: "No model",
    ModelPhase.PREPARING: "Preparing the model",
    ModelPhase.LOADING: "Loading the model",
    ModelPhase.READY: "Model ready",
    ModelPhase.FAILED: "Model failed",
}
_SOURCES: dict[type, str] = {
    ChatIngested: "chats",
    TasksIngested: "tasks",
    CorrectionIngested: "corrections",
    MemoryRemembered: "told",
}
WATCHER = {"native": "at once", "polling": "every few seconds", "off": "not watched"}
_ATTENTION = {"failed": Tone.ERROR, "paused": Tone.WARNING, "read_only": Tone.WARNING}


def describe(event: EngineEvent) -> Sentence | None:
    """The event in words; None for what concerns only the machine, such as a flush of the queue."""
    return _DESCRIBE[type(event)](event)


def not_listed(events: int) -> Sentence:
    """What stands for events that came faster than they can be listed."""
    return Sentence(Kind.ENGINE, Tone.QUIET, "Too fast to list", "", f"{plural(events, 'event')} before this one")


def stage_times(stages: StageTimes) -> str:
    """Where the time of one note went: `read 1 · chunk 2 · store 3 · embed 41 ms`."""
    spent = {"read": stages.read, "chunk": stages.chunk, "store": stages.store, "embed": stages.embed}
    parts = [f"{name} {value:.0f}" if value >= 0.5 else f"{name} <1" for name, value in spent.items() if value > 0]
    return " · ".join(parts) + " ms" if parts else ""


def _indexed(event: NoteIndexed) -> Sentence:
    detail = joined(plural(event.chunks, "passage"), _after_saving(event.found_after_ms))
    what, path, stages = _INDEXED.get(event.why, "Read"), clean_line(event.path), event.stages
    took = milliseconds(stages.read + stages.chunk + stages.store + stages.embed)
    return Sentence(Kind.NOTES, Tone.PLAIN, what, path, detail, took, stage_times(stages))


def _embedded(event: NoteEmbedded) -> Sentence:
    whole = event.computed + event.reused
    new = f"{event.computed:,} of {plural(whole, 'passage')} new" if event.reused else plural(whole, "new passage")
    detail = joined(new, _after_saving(event.found_after_ms))
    took = milliseconds(event.latency_ms) if event.computed else ""
    path = clean_line(event.path)
    return Sentence(Kind.NOTES, Tone.GOOD, "Found by meaning", path, detail, took, f"embed {took}" if took else "")


def _renamed(event: NoteRenamed) -> Sentence:
    return Sentence(Kind.NOTES, Tone.PLAIN, "Moved", clean_line(event.path), f"was {clean_line(event.old_path)}")


def _deleted(event: NoteDeleted) -> Sentence:
    return Sentence(Kind.NOTES, Tone.PLAIN, "Deleted", clean_line(event.path), "its text is out of the index")


def _skipped(event: NoteSkipped) -> Sentence:
    detail = clean_line(event.message) or reason_words(event.reason)
    return Sentence(Kind.PROBLEMS, Tone.QUIET, "Left out", clean_line(event.path), detail)


def _failed(event: NoteFailed) -> Sentence:
    detail = clean_line(event.message) or reason_words(event.reason)
    if event.next_try is not None:
        detail = f"{detail} Next try {clock(event.next_try)}."
    return Sentence(Kind.PROBLEMS, Tone.ERROR, "Failed", clean_line(event.path), detail)


def _raised(event: ProblemRaised) -> Sentence:
    detail = joined(clean_line(event.message) or reason_words(event.reason), clean_line(event.hint), mark=" ")
    return Sentence(Kind.PROBLEMS, Tone.WARNING, "Problem", clean_line(event.path), detail)


def _cleared(event: ProblemCleared) -> Sentence:
    return Sentence(Kind.PROBLEMS, Tone.GOOD, "Solved", clean_line(event.path), reason_words(event.reason))


def _written(event: VaultWritten) -> Sentence:
    more = plural(len(event.paths) - 1, "more note") if len(event.paths) > 1 else ""
    path = clean_line(event.paths[0]) if event.paths else ""
    what = _WRITTEN.get(event.kind, "Changed")
    return Sentence(Kind.NOTES, Tone.GOOD, what, path, joined(f"by {clean_line(event.actor)}", more))


_LONGEST_QUESTION = 200


def _searched(event: SearchDone) -> Sentence:
    found = plural(event.hits, "passage") if event.hits else "nothing"
    detail = f"{found} {MODES.get(event.mode, clean_line(event.mode))}"
    asked = clean_line(event.question)[:_LONGEST_QUESTION]
    detail = f"“{asked}”: {detail}" if asked else detail
    return Sentence(Kind.SEARCHES, Tone.QUIET, "Search", detail=detail, took=milliseconds(event.latency_ms))


def _reconciled(event: ReconcileDone) -> Sentence | None:
    """Routine looks that find nothing are no news: where file events do not work there is one every few seconds."""
    changes = {
        "new": event.new,
        "edited": event.changed,
        "moved": event.renamed,
        "deleted": event.deleted,
        "left out": event.skipped,
    }
    found = [f"{number:,} {word}" for word, number in changes.items() if number]
    if not found and event.why == CHANGED:
        return None
    detail = f"{plural(event.seen, 'note')}: {', '.join(found) or 'nothing new'} · {clean_line(event.why)}"
    return Sentence(Kind.ENGINE, Tone.PLAIN, "Vault compared", detail=detail, took=milliseconds(event.latency_ms))


def _model(event: ModelStateChanged) -> Sentence:
    tones = {ModelPhase.READY: Tone.GOOD, ModelPhase.FAILED: Tone.ERROR, ModelPhase.MISSING: Tone.WARNING}
    detail = clean_line(event.detail or event.model)
    return Sentence(Kind.ENGINE, tones.get(event.phase, Tone.PLAIN), _MODEL[event.phase], "", detail)


def _watcher(event: WatcherStateChanged) -> Sentence:
    tone = Tone.PLAIN if event.mode == "native" else Tone.WARNING
    detail = joined(f"changes are noticed {WATCHER[event.mode]}" if event.mode != "off" else "", event.detail)
    return Sentence(Kind.ENGINE, tone, "Watching" if event.mode != "off" else "Not watching", "", clean_line(detail))


def _engine(event: EngineStateChanged) -> Sentence:
    tone = _ATTENTION.get(event.state, Tone.PLAIN)
    return Sentence(Kind.ENGINE, tone, _ENGINE.get(event.state, "Changed"), "", clean_line(event.detail))


def _hint(event: WatchHint) -> Sentence | None:
    if not event.rescan:
        return None
    return Sentence(
        Kind.ENGINE, Tone.QUIET, "Looking again", "", "too many changes at once: the whole vault is compared"
    )


def _swapped(event: IndexSwapped) -> Sentence:
    return Sentence(Kind.ENGINE, Tone.GOOD, "New index in use", "", clean_line(event.why))


def _remembered(event: SourceIngested) -> Sentence:
    detail = f"{_SOURCES[type(event)]}: {plural(event.documents, 'passage')} found by words"
    return Sentence(Kind.ENGINE, Tone.PLAIN, "Remembered", detail=detail, took=milliseconds(event.latency_ms))


def _not_remembered(event: MemoryIngestFailed) -> Sentence:
    detail = f"{clean_line(event.source_type)}: {reason_words(event.reason)}"
    return Sentence(Kind.PROBLEMS, Tone.WARNING, "Not remembered", clean_line(event.item), detail)


def _backfilled(event: BackfillDone) -> Sentence:
    detail = f"{clean_line(event.source_type)}: {plural(event.documents, 'document')}"
    return Sentence(Kind.ENGINE, Tone.PLAIN, "Brought in anew", detail=detail, took=milliseconds(event.latency_ms))


def _model_called(event: ModelCalled) -> Sentence:
    detail = f"{clean_line(event.task_type).replace('_', ' ')} by {clean_line(event.model)}"
    tokens, cost = plural(event.tokens_in + event.tokens_out, "token"), f"${event.cost_usd:.4f}"
    if event.outcome == "ok":
        detail = joined(detail, tokens, cost if event.cost_usd else "")
        return Sentence(Kind.ENGINE, Tone.PLAIN, "Model asked", "", detail, milliseconds(event.latency_ms))
    detail = joined(detail, reason_words(event.outcome), cost if event.cost_usd else "")
    return Sentence(Kind.PROBLEMS, Tone.WARNING, "No answer", "", detail, milliseconds(event.latency_ms))


def _autowritten(event: Autowritten) -> Sentence:
    return Sentence(Kind.NOTES, Tone.GOOD, "Drafted", clean_line(event.path), _template(event.template))


def _already_written(event: AutowriteSkipped) -> Sentence:
    detail = f"{_template(event.template)}: already there"
    return Sentence(Kind.NOTES, Tone.QUIET, "Not drafted", clean_line(event.path), detail)


def _not_written(event: AutowriteFailed) -> Sentence:
    detail = f"{_template(event.template)}: {reason_words(event.reason)}"
    return Sentence(Kind.PROBLEMS, Tone.ERROR, "Not drafted", clean_line(event.path), detail)


def _template(name: str) -> str:
    return clean_line(name).replace("_", " ")


def _machine_only(event: IngestBatch | IndexProgress) -> None:
    return None


def _after_saving(milliseconds_after: float | None) -> str:
    return "" if milliseconds_after is None else f"{milliseconds(milliseconds_after)} after saving"


_DESCRIBE: dict[type, Callable[[Any], Sentence | None]] = {
    NoteIndexed: _indexed,
    NoteEmbedded: _embedded,
    NoteRenamed: _renamed,
    NoteDeleted: _deleted,
    NoteSkipped: _skipped,
    NoteFailed: _failed,
    ProblemRaised: _raised,
    ProblemCleared: _cleared,
    VaultWritten: _written,
    SearchDone: _searched,
    ReconcileDone: _reconciled,
    ModelStateChanged: _model,
    WatcherStateChanged: _watcher,
    EngineStateChanged: _engine,
    WatchHint: _hint,
    IndexSwapped: _swapped,
    IngestBatch: _machine_only,
    ChatIngested: _remembered,
    TasksIngested: _remembered,
    CorrectionIngested: _remembered,
    MemoryRemembered: _remembered,
    MemoryIngestFailed: _not_remembered,
    BackfillDone: _backfilled,
    ModelCalled: _model_called,
    Autowritten: _autowritten,
    AutowriteSkipped: _already_written,
    AutowriteFailed: _not_written,
    IndexProgress: _machine_only,
    **DESCRIBE_CALENDARS,
}
