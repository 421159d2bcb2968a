"""Activity and the status strip state only what is true at the moment."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from donna_tui.platform.log import _fields
from donna_tui.tui.lib.action import ActionState
from donna_tui.tui.lib.actions import ACTIONS, title_here
from donna_tui.tui.lib.event_messages import describe
from donna_tui.tui.lib.humanize import next_try
from donna_tui.tui.shell.bars import footer_actions, strip_content
from donna_tui.types.errors import Reason
from donna_tui.types.events import CHANGED, ProblemRaised, ReconcileDone, SearchDone
from donna_tui.types.memory_events import VaultWritten
from donna_tui.types.status import Coverage, ModelPhase
from tests.tui import scenarios
from tests.tui.test_wording import told

SEARCH = SearchDone(mode="hybrid", k=8, hits=3, latency_ms=1.0, question="who moved the ledger")


def test_the_log_on_the_screen_shows_the_question_and_the_log_file_does_not() -> None:
    said = told(SEARCH)
    assert "who moved the ledger" in said.detail
    assert "ledger" not in json.dumps(_fields(SEARCH), default=str)


def test_a_scan_without_changes_is_not_listed() -> None:
    looked = ReconcileDone(why=CHANGED, seen=9, new=0, changed=0, deleted=0, skipped=0, latency_ms=1.0)
    assert describe(looked) is None
    assert describe(replace(looked, new=1)) is not None


def test_a_problem_and_its_remedy_are_two_sentences() -> None:
    raised = ProblemRaised(reason=Reason.MASS_DISAPPEARANCE, message="30 notes are missing", hint="Check the disk")
    assert told(raised).detail == "30 notes are missing. Check the disk."


@pytest.mark.parametrize(
    ("kind", "verb", "what"),
    [
        ("delete", "Reject", "Rejected"),
        ("move", "Approve", "Approved"),
        ("delete", "Delete", "Deleted"),
        ("write", "", "Written"),
    ],
)
def test_the_log_uses_the_words_of_the_history(kind: str, verb: str, what: str) -> None:
    written = VaultWritten(kind=kind, operation="1", commit="2", paths=("Inbox/a.md",), actor="you", verb=verb)
    said = told(written)
    assert said.what == what


def test_next_try_does_not_show_a_past_time() -> None:
    assert next_try(None) == "not automatically"
    assert next_try(100.0, now=200.0) == "in a moment"
    assert ":" in next_try(300.0, now=200.0)


def test_status_strip_shows_keyword_readiness_and_semantic_progress() -> None:
    building = replace(scenarios.AT_REST, coverage=Coverage(notes=100, text=40, vectors=10), seconds_left=60.0)
    assert "keyword ready" not in strip_content(building, 200).plain
    embedding = replace(building, coverage=Coverage(notes=100, text=100, vectors=10))
    assert "keyword ready · semantic 10 %, " in strip_content(embedding, 200).plain
    assert "left" in strip_content(embedding, 200).plain


def test_a_narrow_strip_says_that_the_model_is_being_prepared() -> None:
    status = replace(
        scenarios.AT_REST, model_phase=ModelPhase.PREPARING, model_detail="Preparing the model (only once)"
    )
    assert strip_content(status, 60).plain == "501 notes · keyword ready · preparing the model (only once)"


@pytest.mark.parametrize("width", [60, 50])
def test_a_narrow_strip_keeps_the_state_and_the_problems(width: int) -> None:
    status = replace(scenarios.AT_REST, problems=(scenarios.BROKEN_NOTE,))
    shown = strip_content(status, width).plain
    assert len(shown) <= width < len(strip_content(status, 200).plain)
    assert "keyword and semantic ready" in shown
    assert "1 problem" in shown


def test_the_footer_says_what_a_slash_does_here() -> None:
    focus = ACTIONS["search.focus"]
    assert title_here(focus, ActionState(pane="search")) == "search"
    assert title_here(focus, ActionState(pane="activity")) == "filter"
    shown = [
        title_here(action, ActionState(pane="activity"))
        for action, _ in footer_actions(ActionState(pane="activity"), 200)
    ]
    assert shown.count("filter") == 1
