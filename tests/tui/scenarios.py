"""Backends in each state that a screen must look right in. The clock is at `sample_vault.NOW`."""

from __future__ import annotations

from dataclasses import replace

from donna_tui.types.errors import DatabaseError, Reason, VaultReadError
from donna_tui.types.events import (
    EngineEvent,
    EngineStateChanged,
    IngestBatch,
    ModelStateChanged,
    NoteDeleted,
    NoteEmbedded,
    NoteFailed,
    NoteIndexed,
    NoteRenamed,
    NoteSkipped,
    ProblemRaised,
    ReconcileDone,
    SearchDone,
    StageTimes,
    WatcherStateChanged,
)
from donna_tui.types.status import Coverage, Latency, ModelPhase, Problem, Status
from tests.tui import hostile as payloads
from tests.tui import memory_scenarios, sample_vault, vault_scenarios
from tests.tui.fake_backend import FakeBackend
from tests.tui.sample_vault import FOLDERS, NOW, ROOT

MODEL = "minilm-l6-v2:int8:384"
SKIPPED = {Reason.CONFLICT_COPY.value: 3, Reason.TOO_LARGE.value: 1, Reason.NOT_TEXT.value: 2}
AT_REST = Status(
    space="notes",
    root=ROOT,
    database="/home/noor/.local/state/donna/spaces/notes-3f9c2a71be/index.db",
    database_bytes=38_273_024,
    state="running",
    state_detail="",
    model_phase=ModelPhase.READY,
    model=MODEL,
    model_detail="",
    vector_engine="sqlite-vec 0.1.9",
    watcher="native",
    last_reconcile=NOW - 240,
    coverage=Coverage(
        notes=501,
        text=499,
        vectors=499,
        chunks=2914,
        chunks_embedded=2914,
        skipped=SKIPPED,
        failed=2,
        sensitive=12,
    ),
    queued=0,
    seconds_left=None,
    throughput=(0.0,) * 20,
    embedded_this_run=37,
    reused_this_run=2877,
    search_latency=Latency(p50=9.2, p95=23.8, samples=214),
    keyword_after_save=Latency(p50=180.0, p95=410.0, samples=26),
    semantic_after_save=Latency(p50=390.0, p95=730.0, samples=26),
    problems=(),
    owner="",
    log_file="/home/noor/.local/state/donna/log/donna.log",
)
THROUGHPUT = (0, 12, 48, 96, 131, 158, 171, 166, 169, 174, 162, 149, 155, 170, 176, 168, 172, 165, 171, 170)
BROKEN_NOTE = Problem(
    id="failed:Meetings/2025-11-04-review.md",
    reason=Reason.INVALID_FRONTMATTER,
    message="The block of properties at the top of this note cannot be read (line 4).",
    hint="Open the note and close the quotation mark in line 4.",
    path="Meetings/2025-11-04-review.md",
    since=NOW - 3_000,
    next_try=NOW + 150,
    retryable=True,
)
UNREADABLE_NOTE = Problem(
    id="failed:People/Tomas Lindqvist.md",
    reason=Reason.UNREADABLE,
    message="Donna is not allowed to read this file.",
    hint="Give yourself read permission for it.",
    path="People/Tomas Lindqvist.md",
    since=NOW - 700,
    next_try=NOW + 45,
    retryable=True,
)
VANISHED = Problem(
    id="space:mass_disappearance",
    reason=Reason.MASS_DISAPPEARANCE,
    message="412 of 501 notes are gone from the folder since the last look. Nothing has been forgotten yet.",
    hint="Is a drive or a sync folder missing? Resume only if you deleted them.",
    since=NOW - 30,
)


def empty() -> FakeBackend:
    """Return a vault without a note, in which nothing has happened yet."""
    return FakeBackend(
        replace(
            AT_REST,
            coverage=Coverage(),
            database_bytes=90_112,
            last_reconcile=NOW - 5,
            throughput=(),
            embedded_this_run=0,
            reused_this_run=0,
            search_latency=Latency(),
            keyword_after_save=Latency(),
            semantic_after_save=Latency(),
        )
    )


def loading() -> FakeBackend:
    """Return an engine that is still opening the space: `start` and searches wait, the model is being loaded."""
    backend = empty()
    backend.change(state="starting", model_phase=ModelPhase.LOADING, model="", watcher="off")
    for method in ("start", "search", "passage", "vault_rows", "count", "drafts", "calendars"):
        backend.gates.hold(method)
    return backend


def indexing() -> FakeBackend:
    """Return a first index half-way: 423 of 501 notes are found by keyword, fewer by meaning."""
    backend = normal()
    backend.change(
        coverage=replace(AT_REST.coverage, text=423, vectors=391, chunks=2480, chunks_embedded=2083, failed=2),
        queued=78,
        seconds_left=118.0,
        throughput=tuple(float(each) for each in THROUGHPUT),
        embedded_this_run=2083,
        reused_this_run=0,
        last_reconcile=NOW - 16,
    )
    return backend


def normal() -> FakeBackend:
    """Return a vault in daily use: all notes indexed, the events of a morning, two notes with a problem."""
    return FakeBackend(
        replace(AT_REST, problems=(BROKEN_NOTE, UNREADABLE_NOTE)),
        answers=sample_vault.answer,
        passages=sample_vault.passages(),
        folders=FOLDERS,
        sources=("vault",),
        script=morning(),
        vault=vault_scenarios.week(),
        memories=memory_scenarios.remembered(),
    )


def error() -> FakeBackend:
    """Return a vault without a model, with a locked database, and with most notes missing: searches fail."""
    backend = normal()
    locked = Problem(
        id="space:database_locked",
        reason=Reason.DATABASE_LOCKED,
        message="The index is in use by another program.",
        hint="Close the other Donna, or wait: this is tried again by itself.",
        since=NOW - 12,
        next_try=NOW + 18,
        retryable=True,
    )
    model = Problem(
        id="space:model_missing",
        reason=Reason.MODEL_MISSING,
        message="The embedding model is not installed: only keyword search works.",
        hint="Install it with: make install",
        since=NOW - 60,
    )
    backend.change(
        state="paused",
        state_detail="412 of 501 notes are gone from the folder",
        model_phase=ModelPhase.MISSING,
        model="",
        model_detail="no model files found",
        watcher="polling",
        coverage=replace(AT_REST.coverage, vectors=0, chunks_embedded=0),
        problems=(VANISHED, locked, model, BROKEN_NOTE, UNREADABLE_NOTE),
    )
    for method in ("search", "more_like", "passage", "count", "recall", "drafts", "calendars"):
        backend.fail(method, DatabaseError(Reason.DATABASE_LOCKED, locked.message, hint=locked.hint))
    backend.fail("vault_rows", VaultReadError(Reason.ROOT_MISSING, "the folder of this vault is not there"))
    raised = (_raised(problem) for problem in backend.current.problems[:3])
    backend.script = tuple(sorted((*backend.script, *raised), key=lambda event: event.at))
    return backend


def hostile() -> FakeBackend:
    """Return a vault by somebody else, whose every text attacks the terminal, the parser or the reader."""
    text, paths = payloads.EVERYTHING, payloads.paths()
    problems = tuple(
        replace(BROKEN_NOTE, id=f"p{i}", message=text, hint=text, path=path) for i, path in enumerate(paths)
    )
    status = replace(
        AT_REST,
        space=text,
        root=f"/home/noor/{text}",
        database=f"/home/noor/{text}/index.db",
        state_detail=text,
        model=text,
        model_detail=text,
        vector_engine=text,
        owner=text,
        log_file=f"{text}.log",
        coverage=replace(AT_REST.coverage, skipped={**SKIPPED, text: 1}),
        problems=problems,
    )
    return FakeBackend(
        status,
        answers=payloads.answer,
        passages=payloads.passages(),
        folders=tuple(f"Hostile {payload}" for payload in payloads.ALL.values()),
        sources=("vault", text),
        script=tuple(event for path in paths for event in _hostile_events(path, text)),
        vault=vault_scenarios.nasty(),
        memories=memory_scenarios.nasty(),
    )


def morning() -> tuple[EngineEvent, ...]:
    """Return the events of a morning at work, oldest first."""
    at = iter(NOW - 2300 + step for step in (0, 0.4, 1.1, 1.3, 60, 60.2, 740, 741, 1290, 1291, 1900, 2100, 2290, 2298))
    decisions, standup = "Projects/gateway/decisions.md", "Meetings/2026-11-18-gateway-sync.md"
    first, edit = StageTimes(read=1.2, chunk=2.4, store=3.1, embed=41.0), StageTimes(read=0.6, chunk=1.1, store=2.2)
    return (
        EngineStateChanged(at=next(at), state="running"),
        WatcherStateChanged(at=next(at), mode="native"),
        ReconcileDone(at=next(at), why="start", seen=501, new=0, changed=1, deleted=0, skipped=6, latency_ms=312.0),
        ModelStateChanged(at=next(at), phase=ModelPhase.READY, model=MODEL),
        NoteIndexed(
            at=next(at), path=decisions, why="changed", chunks=4, embedded=1, stages=first, found_after_ms=214.0
        ),
        NoteEmbedded(at=next(at), path=decisions, computed=1, reused=3, latency_ms=41.0, found_after_ms=455.0),
        NoteIndexed(at=next(at), path=standup, why="new", chunks=3, embedded=0, stages=edit, found_after_ms=180.0),
        NoteEmbedded(at=next(at), path=standup, computed=3, reused=0, latency_ms=64.0, found_after_ms=402.0),
        NoteRenamed(at=next(at), path="Ideas/Garden.md", old_path="Inbox/Untitled 3.md"),
        IngestBatch(at=next(at), notes=1, chunks=0, latency_ms=3.4),
        NoteDeleted(at=next(at), path="Inbox/Shopping.md"),
        NoteSkipped(
            at=next(at),
            path="Journal/2026-11-19.sync-conflict-20261120-091500.md",
            reason=Reason.CONFLICT_COPY,
            message="A copy that a sync program made of a note that was edited in two places.",
        ),
        _failed(BROKEN_NOTE, next(at)),
        SearchDone(at=next(at), mode="hybrid", k=8, hits=8, latency_ms=11.4, sources="vault"),
    )


def _failed(problem: Problem, at: float) -> NoteFailed:
    return NoteFailed(
        at=at, path=problem.path, reason=problem.reason, message=problem.message, next_try=problem.next_try
    )


def _raised(problem: Problem) -> ProblemRaised:
    return ProblemRaised(
        at=problem.since, reason=problem.reason, message=problem.message, hint=problem.hint, path=problem.path
    )


def _hostile_events(path: str, text: str) -> tuple[EngineEvent, ...]:
    stages = StageTimes(read=1.0, chunk=2.0, store=3.0, embed=4.0)
    return (
        NoteIndexed(at=NOW, path=path, why="new", chunks=10**6, embedded=0, stages=stages, found_after_ms=1e9),
        NoteRenamed(at=NOW, path=path, old_path=text),
        NoteSkipped(at=NOW, path=path, reason=Reason.NOT_TEXT, message=text),
        ProblemRaised(at=NOW, reason=Reason.INTERNAL, message=text, hint=text, path=path),
    )
