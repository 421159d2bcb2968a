"""Describe events and reason codes in sentences for people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import partial
from typing import Any

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.lib.error_messages import reason_words, sentence
from donna_tui.tui.lib.humanize import clock, milliseconds, plural
from donna_tui.types import draft_events, events, memory_events
from donna_tui.types.errors import Reason
from donna_tui.types.status import ModelPhase


class Kind(StrEnum):
    """The category of an event, for the filter of the log. The values are the words on screen."""

    NOTES = "notes"
    PROBLEMS = "problems"
    SEARCHES = "searches"
    ENGINE = "Donna"


class Tone(StrEnum):
    """The tone of a sentence. The values are names of `LINE_STYLES`."""

    GOOD = "accent"
    PLAIN = "plain"
    QUIET = "muted"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Sentence:
    """The description of an event, sanitised. `took` is its duration, `stages` the time per stage; all may be empty."""

    kind: Kind
    tone: Tone
    what: str
    path: str = ""
    detail: str = ""
    took: str = ""
    stages: str = ""


def joined(*parts: str, mark: str = " · ") -> str:
    return mark.join(part for part in parts if part)


def _calendar(event: draft_events.CalendarFetched) -> Sentence:
    name, took = clean_line(event.calendar), milliseconds(event.latency_ms)
    if event.reason:
        return Sentence(
            Kind.PROBLEMS, Tone.WARNING, "Calendar not read", "", f"{name}: {reason_words(event.reason)}", took
        )
    changes = {"new": event.new, "changed": event.changed, "removed": event.gone}
    found = [f"{number:,} {word}" for word, number in changes.items() if number]
    odd = plural(event.problems, "entry needs", "entries need") + " attention" if event.problems else ""
    detail = joined(f"{name}: {plural(event.meetings, 'meeting')}", ", ".join(found) or "nothing new", odd)
    tone = Tone.WARNING if event.problems else Tone.PLAIN if found else Tone.QUIET
    return Sentence(Kind.ENGINE, tone, "Calendar read", "", detail, took)


def _meeting_ended(event: draft_events.MeetingEndDetected) -> Sentence:
    calendar = clean_line(event.calendar)
    if event.is_over:
        return Sentence(Kind.ENGINE, Tone.PLAIN, "Meeting over", "", f"{calendar}: its note is due")
    return Sentence(Kind.ENGINE, Tone.PLAIN, "Brief due", "", f"{calendar}: for a meeting that has not ended")


def _polls_calendars(event: draft_events.MeetingEndPollerStarted) -> Sentence | None:
    if not event.calendars:
        return None
    return Sentence(Kind.ENGINE, Tone.QUIET, "Following calendars", "", plural(event.calendars, "calendar"))


_INDEXED = {
    "new": "New note", "changed": "Edited", "metadata": "Properties edited", "retry": "Read on retry",
    "rebuild": "Reindexed",
}  # fmt: skip
_WRITTEN = {"write": "Written", "delete": "Deleted", "move": "Moved", "undo": "Undone", "redo": "Redone"}
DECIDED = {"Approve": "approved", "Reject": "rejected", "Redraft": "redrafted", "Regenerate": "redrafted"}
"""Past tenses of the actions on drafts, by the first word of an operation's subject."""

ENGINE_STATES = {
    "starting": (Tone.QUIET, "Opening the vault"), "running": (Tone.PLAIN, "Ready"),
    "paused": (Tone.WARNING, "Paused"), "read_only": (Tone.WARNING, "Read-only"), "stopping": (Tone.QUIET, "Closing"),
    "stopped": (Tone.QUIET, "Closed"), "failed": (Tone.ERROR, "Stopped by an error"),
}  # fmt: skip
_MODEL = {
    ModelPhase.MISSING: "No model",
    ModelPhase.PREPARING: "Preparing the model",
    ModelPhase.LOADING: "Loading the model",
    ModelPhase.READY: "Model ready",
    ModelPhase.FAILED: "Model failed",
}
_SOURCES: dict[type, str] = {
    memory_events.ChatIngested: "chats",
    memory_events.TasksIngested: "tasks",
    memory_events.CorrectionIngested: "corrections",
    memory_events.MemoryRemembered: "memories",
}
WATCHER = {"native": "at once", "polling": "every few seconds", "off": "not watched"}


def describe(event: events.EngineEvent) -> Sentence | None:
    """Describe an event; return None for internal ones, such as a flush of the queue."""
    return _DESCRIBE[type(event)](event)


def not_listed(number: int) -> Sentence:
    return Sentence(Kind.ENGINE, Tone.QUIET, "Events not listed", "", f"{plural(number, 'event')} before this one")


def stage_times(stages: events.StageTimes) -> str:
    """Format the time per stage of one note: `read 1 · chunk 2 · store 3 · embed 41 ms`."""
    spent = {"read": stages.read, "chunk": stages.chunk, "store": stages.store, "embed": stages.embed}
    parts = [f"{name} {value:.0f}" if value >= 0.5 else f"{name} <1" for name, value in spent.items() if value > 0]
    return " · ".join(parts) + " ms" if parts else ""


def _indexed(event: events.NoteIndexed) -> Sentence:
    detail = joined(plural(event.chunks, "passage"), _after_saving(event.found_after_ms))
    what, path, stages = _INDEXED.get(event.why, "Read"), clean_line(event.path), event.stages
    took = milliseconds(stages.read + stages.chunk + stages.store + stages.embed)
    return Sentence(Kind.NOTES, Tone.PLAIN, what, path, detail, took, stage_times(stages))


def _embedded(event: events.NoteEmbedded) -> Sentence:
    total = event.computed + event.reused
    new = f"{event.computed:,} of {plural(total, 'passage')} new" if event.reused else plural(total, "new passage")
    detail = joined(new, _after_saving(event.found_after_ms))
    took = milliseconds(event.latency_ms) if event.computed else ""
    path = clean_line(event.path)
    return Sentence(Kind.NOTES, Tone.GOOD, "Indexed", path, detail, took, f"embed {took}" if took else "")


def _skipped(event: events.NoteSkipped) -> Sentence:
    detail = clean_line(event.message) or reason_words(event.reason)
    return Sentence(Kind.PROBLEMS, Tone.QUIET, "Left out", clean_line(event.path), detail)


def _failed(event: events.NoteFailed) -> Sentence:
    detail = clean_line(event.message) or reason_words(event.reason)
    if event.next_try is not None:
        detail = f"{detail} Next try {clock(event.next_try)}."
    return Sentence(Kind.PROBLEMS, Tone.ERROR, "Failed", clean_line(event.path), detail)


def _raised(event: events.ProblemRaised) -> Sentence | None:
    if event.reason == Reason.ROOT_MISSING:
        return None  # the engine pauses, and the line about that says why
    detail = joined(sentence(event.message or reason_words(event.reason)), sentence(event.hint), mark=" ")
    return Sentence(Kind.PROBLEMS, Tone.WARNING, "Problem", clean_line(event.path), detail)


def _cleared(event: events.ProblemCleared) -> Sentence | None:
    if event.reason == Reason.ROOT_MISSING:
        return None
    return Sentence(Kind.PROBLEMS, Tone.GOOD, "Resolved", clean_line(event.path), reason_words(event.reason))


def _written(event: memory_events.VaultWritten) -> Sentence:
    more = plural(len(event.paths) - 1, "more note") if len(event.paths) > 1 else ""
    path = clean_line(event.paths[0]) if event.paths else ""
    what = DECIDED.get(event.verb, "").capitalize() or _WRITTEN.get(event.kind, "Changed")
    return Sentence(Kind.NOTES, Tone.GOOD, what, path, joined(f"by {clean_line(event.actor)}", more))


_LONGEST_QUESTION = 200


def _searched(event: events.SearchDone) -> Sentence:
    found = plural(event.hits, "passage") if event.hits else "nothing"
    detail = joined(found, clean_line(event.mode))
    question = clean_line(event.question)[:_LONGEST_QUESTION]
    detail = f"“{question}”: {detail}" if question else detail
    return Sentence(Kind.SEARCHES, Tone.QUIET, "Search", detail=detail, took=milliseconds(event.latency_ms))


def _reconciled(event: events.ReconcileDone) -> Sentence | None:
    """Describe a comparison; None for a routine one without changes, which polling repeats every few seconds."""
    changes = {"new": event.new, "read again": event.changed, "deleted": event.deleted, "left out": event.skipped}
    found = [f"{number:,} {word}" for word, number in changes.items() if number]
    if not found and event.why == events.CHANGED:
        return None
    detail = f"{plural(event.seen, 'note')}: {', '.join(found) or 'nothing new'} · {clean_line(event.why)}"
    return Sentence(Kind.ENGINE, Tone.PLAIN, "Rescanned", detail=detail, took=milliseconds(event.latency_ms))


def _model(event: events.ModelStateChanged) -> Sentence:
    tones = {ModelPhase.READY: Tone.GOOD, ModelPhase.FAILED: Tone.ERROR, ModelPhase.MISSING: Tone.WARNING}
    detail = clean_line(event.detail or event.model)
    return Sentence(Kind.ENGINE, tones.get(event.phase, Tone.PLAIN), _MODEL[event.phase], "", detail)


def _watcher(event: events.WatcherStateChanged) -> Sentence:
    tone = Tone.PLAIN if event.mode == "native" else Tone.WARNING
    detail = joined(f"changes are noticed {WATCHER[event.mode]}" if event.mode != "off" else "", event.detail)
    return Sentence(Kind.ENGINE, tone, "Watching" if event.mode != "off" else "Not watching", "", clean_line(detail))


def _engine(event: events.EngineStateChanged) -> Sentence:
    tone, words = ENGINE_STATES[event.state]
    return Sentence(Kind.ENGINE, tone, words, "", clean_line(event.detail))


def _watch(event: events.WatchEvent) -> Sentence | None:
    if not event.rescan:
        return None
    return Sentence(Kind.ENGINE, Tone.QUIET, "Rescanning", "", "too many changes at once: the whole vault is rescanned")


def _remembered(event: memory_events.SourceIngested) -> Sentence | None:
    if not event.documents:
        return None
    detail = f"{_SOURCES[type(event)]}: {plural(event.documents, 'passage')} searchable by keyword"
    return Sentence(Kind.ENGINE, Tone.PLAIN, "Remembered", detail=detail, took=milliseconds(event.latency_ms))


def _backfilled(event: memory_events.BackfillDone) -> Sentence:
    detail = f"{clean_line(event.source_type)}: {plural(event.documents, 'document')}"
    return Sentence(Kind.ENGINE, Tone.PLAIN, "Reindexed", detail=detail, took=milliseconds(event.latency_ms))


def _model_called(event: draft_events.ModelCalled) -> Sentence:
    detail = f"{clean_line(event.task_type).replace('_', ' ')} by {clean_line(event.model)}"
    tokens, cost = plural(event.tokens_in + event.tokens_out, "token"), f"${event.cost_usd:.4f}"
    if event.outcome == "ok":
        detail = joined(detail, tokens, cost if event.cost_usd else "")
        return Sentence(Kind.ENGINE, Tone.PLAIN, "Model called", "", detail, milliseconds(event.latency_ms))
    detail = joined(detail, reason_words(event.outcome), cost if event.cost_usd else "")
    return Sentence(Kind.PROBLEMS, Tone.WARNING, "No answer", "", detail, milliseconds(event.latency_ms))


def _after_saving(milliseconds_after: float | None) -> str:
    return "" if milliseconds_after is None else f"{milliseconds(milliseconds_after)} after saving"


def _filled(kind: Kind, tone: Tone, what: str, path: str, detail: str, event: events.EngineEvent) -> Sentence:
    """Describe an event by templates of its path and detail, which name fields of it."""
    shown = {each.name: clean_line(str(getattr(event, each.name))) for each in fields(event)}
    shown |= {name: change(shown[name]) for name, change in _SHOWN_AS.items() if name in shown}
    return Sentence(kind, tone, what, path.format_map(shown), detail.format_map(shown))


_SHOWN_AS: dict[str, Callable[[str], str]] = {"reason": reason_words, "template": lambda name: name.replace("_", " ")}

_DESCRIBE: dict[type, Callable[[Any], Sentence | None]] = {
    events.NoteIndexed: _indexed,
    events.NoteEmbedded: _embedded,
    events.NoteRenamed: partial(_filled, Kind.NOTES, Tone.PLAIN, "Moved", "{path}", "was {old_path}"),
    events.NoteDeleted: partial(_filled, Kind.NOTES, Tone.PLAIN, "Deleted", "{path}", "removed from the index"),
    events.NoteSkipped: _skipped,
    events.NoteFailed: _failed,
    events.ProblemRaised: _raised,
    events.ProblemCleared: _cleared,
    memory_events.VaultWritten: _written,
    events.SearchDone: _searched,
    events.ReconcileDone: _reconciled,
    events.ModelStateChanged: _model,
    events.WatcherStateChanged: _watcher,
    events.EngineStateChanged: _engine,
    events.WatchEvent: _watch,
    events.IndexSwapped: partial(_filled, Kind.ENGINE, Tone.GOOD, "New index in use", "", "{why}"),
    events.IngestBatch: lambda event: None,
    events.ChangedElsewhere: lambda event: None,
    memory_events.ChatIngested: _remembered,
    memory_events.TasksIngested: _remembered,
    memory_events.CorrectionIngested: _remembered,
    memory_events.MemoryRemembered: _remembered,
    memory_events.MemoryIngestFailed: partial(_filled,
        Kind.PROBLEMS, Tone.WARNING, "Not remembered", "{item}", "{source_type}: {reason}"),
    memory_events.BackfillDone: _backfilled,
    draft_events.ModelCalled: _model_called,
    draft_events.Autowritten: partial(_filled, Kind.NOTES, Tone.GOOD, "Drafted", "{path}", "{template}"),
    draft_events.AutowriteSkipped: partial(_filled,
        Kind.NOTES, Tone.QUIET, "Not drafted", "{path}", "{template}: already there"),
    draft_events.AutowriteFailed: partial(_filled,
        Kind.PROBLEMS, Tone.ERROR, "Not drafted", "{path}", "{template}: {reason}"),
    events.IndexProgress: lambda event: None,
    draft_events.CalendarFetched: _calendar,
    draft_events.MeetingEndDetected: _meeting_ended,
    draft_events.MeetingEndDispatchFailed: partial(_filled,
        Kind.PROBLEMS, Tone.WARNING, "Meeting not drafted", "", "{calendar}: {reason} · will be retried"),
    draft_events.MeetingEndPollerStarted: _polls_calendars,
    draft_events.MeetingEndPollerCancelled: partial(_filled,
        Kind.ENGINE, Tone.QUIET, "Stopped following calendars", "", "no drafts are written around meetings"),
    draft_events.MeetingEndPollerCycleFailed: partial(_filled,
        Kind.PROBLEMS, Tone.WARNING, "Calendars not checked", "", "{reason} · will be retried in a moment"),
}  # fmt: skip
