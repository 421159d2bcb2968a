"""The texts of events, reasons, numbers and states."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from donna_tui.config.schema import SETTINGS
from donna_tui.tui.activity.figures import (
    Line,
    coverage_figures,
    doing,
    engine_figures,
    headline,
    is_working,
    latency_figures,
    since_start,
    speed_now,
)
from donna_tui.tui.activity.pane import facts_of
from donna_tui.tui.lib import humanize
from donna_tui.tui.lib.error_messages import REASONS, reason_title, reason_words, refusal_of
from donna_tui.tui.lib.event_messages import _DESCRIBE, Kind, Sentence, Tone, describe, stage_times
from donna_tui.types import draft_events, events, memory_events
from donna_tui.types.draft_events import (
    AutowriteFailed,
    AutowriteSkipped,
    Autowritten,
    CalendarFetched,
    MeetingEndDetected,
    MeetingEndDispatchFailed,
    MeetingEndPollerCancelled,
    MeetingEndPollerCycleFailed,
    MeetingEndPollerStarted,
    ModelCalled,
)
from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.types.events import (
    EngineEvent,
    IndexProgress,
    IngestBatch,
    NoteEmbedded,
    NoteFailed,
    NoteIndexed,
    ReconcileDone,
    SearchDone,
    StageTimes,
    WatchEvent,
)
from donna_tui.types.status import Coverage, Latency, ModelPhase
from tests.tui import hostile, scenarios
from tests.tui.sample_vault import NOW
from tests.tui.scenarios import AT_REST

pytestmark = pytest.mark.usefixtures("utc")


def told(event: EngineEvent) -> Sentence:
    """Return the description of an event that has one."""
    sentence = describe(event)
    assert sentence is not None
    return sentence


def test_every_reason_has_its_own_message() -> None:
    assert set(REASONS) == set(Reason)
    assert len({words.name for words in REASONS.values()}) == len(REASONS)
    assert reason_title("too_large") == "Too large"


def test_settings_named_in_messages_exist() -> None:
    named = {name for words in REASONS.values() for text in words for name in re.findall(r"\b[a-z]+\.[a-z_]+\b", text)}
    assert {"safety.max_note_bytes", "safety.max_read_bytes"} <= named
    assert named <= set(SETTINGS)


def test_an_unknown_reason_is_made_readable_and_safe() -> None:
    assert reason_words("strange_\x1bthing") == "strange ␛thing"


def test_every_kind_of_event_is_in_words_or_left_to_the_machine() -> None:
    happened = (*scenarios.morning(), *_drafting("meeting_note"), *_calendars("meeting_note"), *_events_for_machines())
    told = {type(event): describe(event) for event in happened}
    assert {kind for kind, sentence in told.items() if sentence is None} == {IndexProgress, IngestBatch, WatchEvent}
    kinds = [kind for module in (draft_events, events, memory_events) for kind in vars(module).values()]
    logged = {
        kind for kind in kinds if isinstance(kind, type) and issubclass(kind, EngineEvent) and "name" in vars(kind)
    }
    assert set(_DESCRIBE) == logged - {EngineEvent}


def test_new_note_event_shows_the_time_of_each_stage() -> None:
    stages = StageTimes(read=1.2, chunk=2.4, store=3.1, embed=40.6)
    event = NoteIndexed(path="a.md", why="new", chunks=4, embedded=0, stages=stages, found_after_ms=214)
    sentence = told(event)
    assert (sentence.what, sentence.path, sentence.took) == ("New note", "a.md", "47 ms")
    assert sentence.detail == "4 passages · 214 ms after saving"
    assert sentence.stages == "read 1 · chunk 2 · store 3 · embed 41 ms"


def test_stages_that_took_nothing_are_left_out() -> None:
    assert stage_times(StageTimes(read=0.2, store=2.0)) == "read <1 · store 2 ms"
    assert stage_times(StageTimes()) == ""


@pytest.mark.parametrize(
    ("computed", "reused", "detail", "stages"),
    [
        (1, 3, "1 of 4 passages new", "embed 41 ms"),
        (1, 0, "1 new passage", "embed 41 ms"),
        (0, 3, "0 of 3 passages new", ""),
    ],
)
def test_embedding_says_what_was_reused(computed: int, reused: int, detail: str, stages: str) -> None:
    sentence = told(NoteEmbedded(path="a.md", computed=computed, reused=reused, latency_ms=41))
    assert (sentence.detail, sentence.stages) == (detail, stages)


def test_a_failure_says_why_and_when_it_is_tried_again() -> None:
    sentence = told(NoteFailed(path="a.md", reason=Reason.UNREADABLE, message="Not allowed.", next_try=NOW + 60))
    assert (sentence.kind, sentence.tone) == (Kind.PROBLEMS, Tone.ERROR)
    assert sentence.detail == "Not allowed. Next try 14:33:05."


def test_the_details_of_a_file_say_what_helps() -> None:
    message = "it is a conflict copy left by a sync program"
    copy = replace(scenarios.BROKEN_NOTE, reason=Reason.CONFLICT_COPY, message=message, hint="")
    facts = dict(facts_of(copy))
    assert facts[""] == "It is a conflict copy left by a sync program."
    assert facts["What helps"] == "Resolve it in the Vault, or run donna conflicts resolve."


def test_a_path_that_is_refused_inside_the_vault_is_not_called_outside() -> None:
    reserved = VaultWriteError(Reason.PATH_ESCAPE, "“CON” cannot be a new name: Windows reserves it for a device")
    assert refusal_of(reserved).title == "Not written: path not allowed"


def test_a_comparison_names_only_what_changed() -> None:
    counts = {"seen": 501, "new": 2, "changed": 0, "deleted": 1, "skipped": 0}
    sentence = told(ReconcileDone(why="start", latency_ms=3, **counts))
    assert sentence.detail == "501 notes: 2 new, 1 deleted · start"


def test_a_search_that_found_nothing_is_reported() -> None:
    sentence = told(SearchDone(mode="semantic", k=8, hits=0, latency_ms=9))
    assert sentence.detail == "nothing · semantic"


def test_meeting_events_distinguish_briefs_from_notes() -> None:
    over, soon = (told(MeetingEndDetected(calendar="Work", event_id="1", is_over=each)) for each in (True, False))
    assert (over.what, over.detail) == ("Meeting over", "Work: its note is due")
    assert (soon.what, soon.detail) == ("Brief due", "Work: for a meeting that has not ended")


def test_without_calendars_nothing_is_followed() -> None:
    assert describe(MeetingEndPollerStarted(calendars=0)) is None


def test_sentences_of_hostile_events_hold_nothing_that_a_terminal_obeys() -> None:
    for event in (*scenarios.hostile().script, *_drafting("\x1b]0;T\x07\nNOTE"), *_calendars("\x1b]0;T\x07\nNOTE")):
        sentence = told(event)
        for text in (sentence.what, sentence.path, sentence.detail, sentence.took, sentence.stages):
            assert "\n" not in text
            assert not any(ord(char) < 0x20 or 0x7F <= ord(char) <= 0x9F for char in text)


def test_a_model_call_says_what_it_was_for_and_what_it_cost() -> None:
    call = ModelCalled(
        task_type="draft_meeting_note",
        alias="reasoner",
        model="some-model",
        outcome="ok",
        latency_ms=1200,
        tokens_in=900,
        tokens_out=100,
        cost_usd=0.0123,
    )
    answered = told(call)
    assert (answered.what, answered.took) == ("Model called", "1.2 s")
    assert answered.detail == "draft meeting note by some-model · 1,000 tokens · $0.0123"
    failed = told(replace(call, outcome="rate_limited", tokens_in=0, tokens_out=0, cost_usd=0.0))
    assert (failed.kind, failed.what) == (Kind.PROBLEMS, "No answer")
    assert failed.detail == "draft meeting note by some-model · rate limited"


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [(0, 501, "0 %"), (1, 501, "1 %"), (421, 501, "84 %"), (500, 501, "99 %"), (501, 501, "100 %"), (0, 0, "100 %")],
)
def test_percent_shows_100_only_when_complete(part: int, whole: int, shown: str) -> None:
    assert humanize.percent(part, whole) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "a few seconds"),
        (38, "about 40 s"),
        (55, "about 1 min"),
        (118, "about 2 min"),
        (3599, "about 1 h"),
        (4800, "about 1 h 20 min"),
    ],
)
def test_estimates_are_not_more_exact_than_they_can_be(seconds: float, shown: str) -> None:
    assert humanize.estimate(seconds) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (0.2, "<1 ms"), (41.4, "41 ms"), (999.6, "1.0 s"), (12_300, "12 s"), (180_000, "3 min")],
)
def test_milliseconds_are_formatted(value: float | None, shown: str) -> None:
    assert humanize.milliseconds(value) == shown


@pytest.mark.parametrize(
    ("number", "shown"),
    [(1, "1 byte"), (999, "999 bytes"), (90_112, "90 kB"), (38_273_024, "38 MB"), (1_400_000_000, "1.4 GB")],
)
def test_file_sizes_are_formatted(number: int, shown: str) -> None:
    assert humanize.size(number) == shown


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (40, "Projects/gateway/decisions.md"),
        (23, "…/gateway/decisions.md"),
        (20, "…/decisions.md"),
        (8, "…ions.md"),
        (1, ""),
        (0, ""),
    ],
)
def test_a_path_is_cut_at_its_front(cells: int, shown: str) -> None:
    assert humanize.shorten_path("Projects/gateway/decisions.md", cells) == shown


def test_a_path_of_wide_characters_fits_too() -> None:
    assert humanize.shorten_path("日本語の見出し", 6) == "…出し"


@pytest.mark.parametrize("at", [1e300, float("nan"), float("-inf")])
def test_invalid_timestamps_are_shown_as_a_dash(at: float) -> None:
    assert humanize.clock(at) == "–"


def test_progress_in_one_sentence() -> None:
    status = scenarios.indexing().current
    assert is_working(status)
    assert (
        headline(status).text == "423 of 501 notes can be found by keyword, 78 % by semantic search, about 2 min left"
    )
    assert doing(status) == "78 waiting · 170 passages a second"


def test_when_every_text_is_in_only_the_meaning_is_counted() -> None:
    status = replace(AT_REST, coverage=Coverage(notes=120, text=120, vectors=5), seconds_left=48.0)
    assert headline(status).text == "All 120 notes can be found by keyword, 4 % by semantic search, about 50 s left"


def test_idle_status_shows_the_time_of_the_last_rescan() -> None:
    whole = replace(AT_REST, coverage=Coverage(notes=501, text=501, vectors=501))
    assert headline(whole).text == "All 501 notes can be found"
    assert headline(replace(AT_REST, coverage=Coverage(notes=1, text=1, vectors=1))).text == "1 note can be found"
    assert doing(whole) == "Nothing waiting · rescanned at 14:28:05"


def test_the_headline_says_that_notes_are_missing_until_it_is_confirmed() -> None:
    status = replace(AT_REST, coverage=Coverage(notes=87, text=87, vectors=87), problems=(scenarios.VANISHED,))
    assert headline(status) == Line(Tone.WARNING, "All 87 notes can be found, but many are missing from the vault")


def test_without_a_model_it_says_what_still_works() -> None:
    status = replace(
        AT_REST, coverage=Coverage(notes=2, text=2), model_phase=ModelPhase.MISSING, model="", state="running"
    )
    assert not is_working(status)
    assert headline(status).text == "All 2 notes can be found by keyword; semantic search is not installed"


@pytest.mark.parametrize("state", ["starting", "paused", "failed", "read_only", "stopping", "stopped"])
def test_status_headline_includes_the_state_detail(state: str) -> None:
    line = headline(replace(AT_REST, state=state, state_detail="the reason"))
    assert line.text.endswith(": the reason")


def test_throughput_ignores_the_current_second() -> None:
    assert speed_now(replace(AT_REST, throughput=(0.0, 100.0, 200.0, 3.0))) == 150.0
    assert speed_now(replace(AT_REST, throughput=())) == 0.0


def test_an_unchanged_vault_costs_nothing_and_is_shown_so() -> None:
    assert since_start(replace(AT_REST, embedded_this_run=0, reused_this_run=0)).startswith("Nothing embedded")
    assert since_start(AT_REST) == "37 passages embedded since the start, 2,877 reused"


def test_coverage_lists_what_was_left_out_by_reason_most_first() -> None:
    rows = [(figure.label, figure.values[0]) for figure in coverage_figures(AT_REST)]
    assert rows[-4:] == [("Left out", "6"), ("  sync conflict copy", "3"), ("  not text", "2"), ("  too large", "1")]
    assert ("Failed", "2") in rows


def test_latency_without_samples_is_a_dash() -> None:
    rows = latency_figures(replace(AT_REST, search_latency=Latency()))
    assert rows[1].values == ("–", "–")
    assert rows[2].values == ("180 ms", "410 ms")


@pytest.mark.slow
def test_the_parts_name_database_log_and_who_keeps_the_index() -> None:
    labels = {
        figure.label: figure.values[0] for figure in engine_figures(replace(AT_REST, state="read_only", owner="x"))
    }
    assert labels["Maintained by"] == "x"
    assert labels[""] == AT_REST.database
    assert labels["Log file"] == AT_REST.log_file
    assert labels["Changes seen"] == "at once"


@pytest.mark.slow
def test_figures_of_a_hostile_space_are_safe() -> None:
    status = scenarios.hostile().current
    for figure in (*coverage_figures(status), *engine_figures(status)):
        for payload in hostile.ESCAPES.values():
            assert payload not in "".join((figure.label, *figure.values))


def _events_for_machines() -> tuple[EngineEvent, ...]:
    progress = IndexProgress(notes=1, text_done=1, chunks=1, chunks_embedded=1, seconds_left=None)
    return (progress, WatchEvent(paths=1, rescan=False))


def _calendars(text: str) -> tuple[EngineEvent, ...]:
    return (
        CalendarFetched(calendar=text, kind=text, meetings=2, new=1, changed=1, gone=1, problems=1, latency_ms=1.0),
        CalendarFetched(calendar=text, kind=text, reason=text, latency_ms=1.0),
        MeetingEndDetected(calendar=text, event_id=text, is_over=True),
        MeetingEndDetected(calendar=text, event_id=text, is_over=False),
        MeetingEndDispatchFailed(calendar=text, event_id=text, reason=text),
        MeetingEndPollerStarted(calendars=1),
        MeetingEndPollerCancelled(),
        MeetingEndPollerCycleFailed(reason=text),
    )


def _drafting(text: str) -> tuple[EngineEvent, ...]:
    return (
        Autowritten(template=text, path=text, key=text),
        AutowriteSkipped(template=text, path=text, key=text),
        AutowriteFailed(template=text, path=text, key=text, reason=text),
        ModelCalled(
            task_type=text,
            alias=text,
            model=text,
            outcome=text,
            latency_ms=1.0,
            tokens_in=1,
            tokens_out=1,
            cost_usd=1.0,
        ),
    )
