"""The Review screen: the queue, a draft hunk by hunk, its sources, and the decisions on it."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest

from donna_tui.drafts.hunks import hunks_of
from donna_tui.tui.lib.dialogs import RefusalScreen
from donna_tui.tui.lib.edit_dialog import EditScreen
from donna_tui.tui.lib.keymap import DEFAULT_KEYS, check_keys, load_keymap
from donna_tui.tui.review.flows import ApproveAll
from donna_tui.tui.shell.bars import Tab
from donna_tui.tui.shell.windows import KeyList, Palette
from donna_tui.tui.vault.plan_dialog import PlanScreen
from donna_tui.types.drafts import DraftState
from donna_tui.types.errors import DonnaError, Reason, VaultReadError, VaultWriteError
from donna_tui.types.events import EngineStateChanged
from donna_tui.types.memory_events import VaultWritten
from tests.tui import draft_scenarios, scenarios
from tests.tui.draft_scenarios import DONE, FAILED, REVIEW, SYNC, SYNC_PATH, SYNC_TARGET, backend_in
from tests.tui.driving import Driver, assert_clean, driving, marked_rows, notices, row_with
from tests.tui.fake_backend import FakeBackend, new_passage
from tests.tui.sample_vault import NOW

SMALL, LARGE = (80, 24), (160, 48)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch, utc: None) -> None:
    draft_scenarios.stop_the_clock(monkeypatch)


async def on_line(donna: Driver, words: str) -> None:
    """Put the cursor of the draft on the line with these words."""
    text = donna.review.text
    text._move_to(next(row.line for row in text._rows if words in row.content.plain))
    await donna.rest()


def ids(donna: Driver) -> list[str]:
    return [row.id for row in donna.review.rows.items]


def text_of(backend: FakeBackend, path: str) -> str:
    return backend.vault.files[path].decode()


def without_repository(state: str = "empty") -> FakeBackend:
    """Return a vault in this state with two drafts more, which failed because it has no repository."""
    backend = backend_in(state)
    for name in ("d-a", "d-b"):
        one = draft_scenarios.row(name, name, state=DraftState.FAILED, path="", reason="no_repository")
        backend.drafts.add(replace(draft_scenarios.sync(), row=one))
    return backend


# The queue


@pytest.mark.slow
async def test_the_queue_says_what_each_draft_is_where_it_goes_and_why_one_failed() -> None:
    async with driving(backend_in("normal"), size=LARGE, at="review") as donna:
        assert ids(donna) == [SYNC, FAILED, REVIEW]
        assert "2 waiting · 1 failed" in donna.screen_text()
        assert re.search(r"● Gateway sync +today 09:30", donna.screen_text())
        assert "3 d" in row_with(donna, "● Week 47")
        assert "meeting note of today 09:30 · drafted from your notes only" in donna.screen_text()
        assert "meeting note → …" in donna.screen_text()
        assert "weekly review → …/2026-W47.md" in donna.screen_text()
        assert "retry 14:40" in row_with(donna, "  the model did not")


@pytest.mark.slow
async def test_the_tab_counts_waiting_drafts_even_if_hidden_and_follows_an_approval() -> None:
    async with driving(backend_in("normal")) as donna:
        await donna.until(lambda: "3 Review ②" in donna.screen_text(), "the tab counts them")
        await donna.show("review")
        await donna.window(PlanScreen, "a")
        await donna.press("enter")
        await donna.until(lambda: "3 Review ①" in donna.screen_text(), "the tab counts what is left")


async def test_empty_review_queue_explains_how_to_get_drafts() -> None:
    async with driving(scenarios.empty()) as donna:
        await donna.press("escape", "3")
        await donna.until(lambda: "No draft is waiting." in donna.screen_text(), "the notice is shown")
        assert "donna calendar add PLACE" in donna.screen_text()
        assert "Review ①" not in donna.screen_text()
        await donna.press("x")
        await donna.until(lambda: "Donna has drafted nothing yet." in donna.screen_text(), "that too")


@pytest.mark.slow
async def test_review_loading_error_is_shown_and_can_be_retried() -> None:
    backend = backend_in("error")
    async with driving(backend) as donna:
        await donna.press("escape", "3")
        await donna.until(lambda: "The index is in use" in donna.screen_text(), "the reason is shown")
        backend.failures.clear()
        await donna.press("f5")
        await donna.until(lambda: "No draft is waiting" in donna.screen_text(), "it is read")


@pytest.mark.slow
async def test_what_was_decided_can_be_listed_and_cannot_be_decided_again() -> None:
    async with driving(backend_in("normal"), at="review") as donna:
        await donna.press("x")
        await donna.until(lambda: DONE in ids(donna), "it is listed")
        await donna.press("end", "up")
        assert donna.review.selected.id == DONE
        await donna.press("a")
        await donna.press("r")
        assert notices(donna.app).count("It has already been approved.") == 1
        await donna.press("escape")
        await donna.until(lambda: DONE not in ids(donna), "it is listed no more")


async def test_a_hunk_is_excluded_only_where_the_draft_is_visible() -> None:
    async with driving(backend_in("normal"), size=SMALL, at="review") as donna:
        assert "space exclude" not in donna.screen_text()
        await donna.press("space")
        assert "The draft is not visible; ↵ shows it." in notices(donna.app)
        assert donna.review.left_out == frozenset()
        await donna.press("enter")
        await donna.until(lambda: "space exclude" in donna.screen_text(), "the footer offers it")
        await donna.press("space")
        assert len(donna.review.left_out) == 1


async def test_a_draft_of_another_device_is_not_redrafted() -> None:
    backend = backend_in("empty")
    one = draft_scenarios.sync()
    backend.drafts.add(replace(one, row=replace(one.row, drafter="another device")))
    async with driving(backend, at="review") as donna:
        assert "drafted by another device" in donna.screen_text()
        await donna.press("g")
        assert "It was written on another device, which alone can redraft it." in notices(donna.app)


@pytest.mark.slow
async def test_a_draft_that_is_written_meanwhile_appears() -> None:
    backend = backend_in("normal")
    async with driving(backend, at="review") as donna:
        backend.drafts.add(replace(draft_scenarios.sync(), row=draft_scenarios.row("d-new", "Choir")))
        backend.post(VaultWritten(kind="write", operation="1", commit="2", paths=("Inbox/d-new.md",), actor="donna"))
        await donna.until(lambda: "d-new" in ids(donna), "it is listed")
        assert donna.review.selected.id == SYNC


@pytest.mark.slow
async def test_the_queue_and_its_count_are_read_again_when_the_vault_is_back() -> None:
    backend = backend_in("normal")
    async with driving(backend, at="review") as donna:
        waiting = donna.main.query_one("#tab-review", Tab).waiting
        backend.fail("drafts", VaultReadError(Reason.ROOT_MISSING, "the folder is gone"))
        backend.post(EngineStateChanged(state="paused"))
        await donna.until(lambda: "The folder is gone." in donna.screen_text(), "it says so")
        backend.failures.clear()
        backend.drafts.add(replace(draft_scenarios.sync(), row=draft_scenarios.row("d-new", "Choir")))
        backend.post(EngineStateChanged(state="running"))
        await donna.until(lambda: "d-new" in ids(donna), "it is listed")
        await donna.until(lambda: donna.main.query_one("#tab-review", Tab).waiting == waiting + 1, "it is counted")


# The draft


@pytest.mark.slow
async def test_the_header_says_where_a_draft_is_and_goes_and_the_footer_what_approving_does() -> None:
    async with driving(backend_in("normal"), at="review") as donna:
        text = donna.screen_text()
        assert "meeting note of today 09:30 · drafted from your notes only · 10 min ago" in text
        assert f"draft in {SYNC_PATH} → moves to Meetings/" in text
        assert "A link to the note Rate limits was left out, because there is no such note." in text
        assert f"Approving: new note {SYNC_TARGET}, one commit" in text
        await donna.press("end")
        await donna.until(lambda: "Approving: WeeklyReview" in donna.screen_text(), "the other one is read")
        text = donna.screen_text()
        assert "drafted by claude-sonnet for $0.0142 · 3 d ago" in text
        assert "saved as a draft in WeeklyReview/2026-W47.md" in text
        assert "Approving: WeeklyReview/2026-W47.md is changed, one commit" in text


@pytest.mark.slow
async def test_a_failed_draft_says_why_and_g_tries_it_again_without_asking() -> None:
    backend = backend_in("normal")
    async with driving(backend, at="review") as donna:
        await donna.press("j")
        await donna.rest()
        assert "It could not be written: The model did not answer within 60 s." in donna.screen_text()
        await donna.press("a")
        assert "It could not be written. g tries again." in notices(donna.app)
        await donna.press("g")
        await donna.until(lambda: "Composed anew" in donna.screen_text(), "it is composed")
        assert backend.called("regenerate") == [(FAILED,)]
        assert donna.review.selected.state is DraftState.WAITING


@pytest.mark.slow
async def test_regenerating_asks_first_and_keeps_the_text_if_cancelled() -> None:
    backend = backend_in("normal")
    async with driving(backend, at="review") as donna:
        await donna.window(RefusalScreen, "g")
        assert "Redraft it?" in donna.screen_text()
        await donna.press("escape")
        await donna.rest()
        assert backend.called("regenerate") == []
        await donna.window(RefusalScreen, "g")
        await donna.press("enter")
        await donna.until(lambda: "Composed anew" in donna.screen_text(), "it is composed")


@pytest.mark.slow
async def test_while_a_draft_is_composed_it_is_said_and_nothing_else_is_possible() -> None:
    backend = backend_in("normal")
    backend.gates.hold("regenerate")
    async with driving(backend, at="review") as donna:
        await donna.window(RefusalScreen, "g")
        await donna.press("enter")
        await donna.until(lambda: "Redrafting …" in donna.screen_text(), "the notice is shown")
        await donna.press("a", "g")
        assert notices(donna.app).count("It is being drafted.") == 1
        backend.gates.release("regenerate")
        await donna.until(lambda: "Redrafting …" not in donna.screen_text(), "it is done")


@pytest.mark.slow
async def test_the_difference_is_all_new_without_a_note_and_only_the_changes_with_one() -> None:
    backend = backend_in("normal")
    backend.vault.files[SYNC_TARGET] = draft_scenarios.SYNC_TEXT.replace("Room", "Hall").encode() + b"- By hand.\n"
    async with driving(backend, size=LARGE, at="review") as donna:
        await donna.press("d")
        await donna.until(lambda: donna.review.diff.diffs, "the diff is shown")
        (diff,) = donna.review.diff.diffs
        assert (diff.added, diff.removed) == (0, 2)
        assert "By hand." in donna.screen_text()
        await donna.until(lambda: f"Approving: {SYNC_TARGET} is changed" in donna.screen_text(), "the message is shown")
        await donna.press("end")
        await donna.until(lambda: donna.review.diff.diffs[0].path == "WeeklyReview/2026-W47.md", "the other one too")
        assert donna.review.diff.diffs[0].removed == 0
        assert donna.review.diff.diffs[0].added == draft_scenarios.REVIEW_TEXT.count("\n") - 1
        assert "donna: draft" not in donna.screen_text()


# Excluding parts


@pytest.mark.slow
async def test_a_part_is_left_out_shown_as_such_and_is_not_in_what_is_approved() -> None:
    backend = backend_in("normal")
    async with driving(backend, at="review") as donna:
        await donna.press("enter")
        await on_line(donna, "The drill is repeated")
        await donna.press("space")
        await donna.until(lambda: "hunk that you excluded" in donna.screen_text(), "the footer shows it")
        assert "excluded" in row_with(donna, "The drill is repeated")
        await donna.window(PlanScreen, "a")
        await donna.rest()
        assert "without 1 hunk that you excluded" in donna.screen_text()
        await donna.press("enter")
        await donna.until(lambda: SYNC_TARGET in backend.vault.files, "it is approved")
        assert "The drill is" not in text_of(backend, SYNC_TARGET)
        assert "- Who owns the drill" in text_of(backend, SYNC_TARGET)
        assert SYNC_PATH not in backend.vault.files
        assert backend.called("plan_approval")[-1][:2] == (SYNC, frozenset({3}))


async def test_every_line_of_a_hunk_selects_that_hunk() -> None:
    async with driving(backend_in("normal"), at="review") as donna:
        view = donna.review.text
        text = "# Title\n\n- One line.\n- First line,\n  second line.\n\nA paragraph\nof two lines.\n"
        hunks = hunks_of(text)
        assert [(hunk.start_line, hunk.end_line) for hunk in hunks] == [(3, 3), (4, 5), (7, 8)]
        view.show(replace(draft_scenarios.sync(), text=text, hunks=hunks))
        for hunk in hunks:
            for line in (hunk.start_line, hunk.end_line):
                view._move_to(line)
                assert (view.line_number, view.hunk) == (line, hunk)


@pytest.mark.slow
async def test_a_part_can_be_taken_in_again_and_a_heading_is_no_part() -> None:
    async with driving(backend_in("normal"), at="review") as donna:
        await donna.press("enter", "space", "space")
        await donna.rest()
        assert donna.review.left_out == frozenset()
        assert "excluded" not in row_with(donna, "Redis was left on 12 March")
        await on_line(donna, "Before the meeting")
        await donna.press("space")
        assert "This line is not in a hunk that can be excluded." in notices(donna.app)
        await donna.press("d", "space")
        assert "d shows it." in notices(donna.app)


@pytest.mark.slow
async def test_the_difference_follows_what_is_left_out() -> None:
    async with driving(backend_in("normal"), at="review") as donna:
        before = draft_scenarios.SYNC_TEXT.replace("donna: draft\n", "").count("\n")
        await donna.press("enter", "space", "d")
        await donna.until(lambda: donna.review.diff.diffs and donna.review.diff.diffs[0].added == before - 1, "shorter")


@pytest.mark.slow
async def test_an_excluded_part_stays_excluded_in_another_version_of_the_draft() -> None:
    backend = backend_in("normal")
    async with driving(backend, at="review") as donna:
        await donna.press("enter", "space")
        assert donna.review.left_out == {2}
        backend.vault.files[SYNC_PATH] += b"\nOne more line.\n"
        await donna.press("f5")
        await donna.until(lambda: donna.review.draft and "One more" in donna.review.draft.text, "it is reloaded")
        assert donna.review.left_out == {2}
        text = backend.vault.files[SYNC_PATH]
        backend.vault.files[SYNC_PATH] = text.replace(b"Redis was left", b"Redis was not left")
        await donna.press("f5")
        await donna.until(lambda: "1 excluded hunk changed since" in donna.screen_text(), "it says so")
        assert donna.review.left_out == frozenset()


@pytest.mark.slow
async def test_a_part_is_excluded_by_its_text_when_the_draft_is_edited_in_the_preview() -> None:
    backend = backend_in("normal")
    async with driving(backend, at="review") as donna:
        text = "# Gateway sync\n\n- One\n- Two\n- Three\n"
        backend.vault.files[SYNC_PATH] = text.encode()
        backend.drafts.details[SYNC] = replace(backend.drafts.details[SYNC], hunks=hunks_of(text))
        await donna.press("f5")
        await donna.until(lambda: donna.review.draft and donna.review.draft.text == text, "it is reloaded")
        await donna.press("enter")
        await on_line(donna, "Two")
        await donna.window(PlanScreen, "space", "a")
        edited = text.replace("- One", "- New\n- One")
        backend.vault.files[SYNC_PATH] = edited.encode()
        backend.drafts.details[SYNC] = replace(backend.drafts.details[SYNC], hunks=hunks_of(edited))
        await donna.window(RefusalScreen, "enter")
        await donna.window(PlanScreen, "enter")
        await donna.press("enter")
        await donna.until(lambda: SYNC_TARGET in backend.vault.files, "it is approved")
        assert text_of(backend, SYNC_TARGET) == "# Gateway sync\n\n- New\n- One\n- Three\n"


# Evidence


@pytest.mark.slow
async def test_the_evidence_follows_the_cursor() -> None:
    async with driving(backend_in("normal"), size=LARGE, at="review") as donna:
        assert "This line has 1 source" in donna.screen_text()
        assert "0.71" in row_with(donna, "Projects/gateway/decisions.md:5–9")
        assert "We moved off Redis on 12 March" in donna.screen_text()
        await donna.press("enter", "j")
        await donna.rest()
        assert "This line has 2 sources" in donna.screen_text()
        assert "chat" in row_with(donna, "   Noor")
        await on_line(donna, "Who owns the drill")
        assert "No source for this line · all 3 below" in donna.screen_text()


@pytest.mark.slow
async def test_enter_on_a_passage_shows_its_section_and_escape_goes_back_step_by_step() -> None:
    backend = backend_in("normal")
    backend.passages = (
        new_passage(
            path="Projects/gateway/decisions.md",
            title="Gateway decisions",
            heading_path=("Decisions",),
            text="## Decisions\n\nBefore it.\n\n### Cache\n\nThe whole section.",
            start_line=1,
            end_line=9,
            mark_start=5,
            mark_end=7,
        ),
    )
    async with driving(backend, at="review") as donna:
        await donna.press("enter", "enter", "enter")
        await donna.until(lambda: "The whole section." in donna.screen_text(), "the section is shown")
        assert marked_rows(donna.review.passage)[0] == "Cache"
        await donna.press("escape")
        assert "The whole section." not in donna.screen_text()
        assert donna.app.focused is donna.review.passages
        await donna.press("escape")
        assert donna.app.focused is donna.review.text
        await donna.press("escape")
        assert donna.app.focused is donna.review.rows


@pytest.mark.slow
async def test_a_passage_that_is_gone_is_reported() -> None:
    async with driving(backend_in("normal"), at="review") as donna:
        donna.review.show_part("evidence")
        donna.app._backend.passages = ()  # type: ignore[union-attr]
        await donna.press("enter")
        await donna.until(lambda: "This note is no longer there." in notices(donna.app), "the notice is shown")


@pytest.mark.slow
async def test_e_opens_the_note_of_a_passage_at_its_line_and_a_chat_has_none(edited: list[tuple[Path, int]]) -> None:
    async with driving(backend_in("normal"), at="review") as donna:
        await donna.press("enter", "enter", "e")
        await donna.rest()
        assert [(path.name, line) for path, line in edited] == [("decisions.md", 5)]
        await donna.press("escape", "j", "enter", "e")
        assert "No note contains this passage." in notices(donna.app)
        assert len(edited) == 1


@pytest.mark.slow
async def test_a_task_among_the_sources_is_shown_and_copied_with_its_note_and_line() -> None:
    backend, sync = backend_in("normal"), draft_scenarios.sync()
    task = replace(sync.evidence[0], source_type="task", path="Projects/plan.md#fa112de32dbe", heading_path=())
    backend.drafts.add(replace(sync, evidence=(task, *sync.evidence[1:])))
    async with driving(backend, at="review") as donna:
        await donna.press("enter", "enter", "y")
        assert "Projects/plan.md:5–9" in donna.screen_text()
        assert donna.app.clipboard == "Projects/plan.md : 5–9"


@pytest.mark.slow
async def test_link_text_and_evidence_can_be_copied_in_review() -> None:
    async with driving(backend_in("normal"), at="review") as donna:
        await donna.press("y")
        assert donna.app.clipboard == f"[[{SYNC_PATH.removesuffix('.md')}]]"
        await donna.press("Y")
        assert donna.app.clipboard == draft_scenarios.SYNC_TEXT
        await donna.press("enter")
        await on_line(donna, "Who owns the drill")
        await donna.press("space", "Y", "space")
        copied = draft_scenarios.SYNC_TEXT.partition("\n## To ask")[0]
        assert donna.app.clipboard == copied, "without the heading that became empty"
        await donna.press("enter", "y")
        assert donna.app.clipboard == "Projects/gateway/decisions.md › Gateway › Decisions › Cache : 5–9"


# Deciding


@pytest.mark.slow
async def test_approving_shows_exactly_what_it_does_and_nothing_happens_before_enter() -> None:
    backend = backend_in("normal")
    async with driving(backend, at="review") as donna:
        await donna.window(PlanScreen, "a")
        await donna.until(lambda: "Approve Gateway sync" in donna.screen_text(), "the dialog is open")
        assert f"new note {SYNC_TARGET}, one commit" in donna.screen_text()
        assert "donna: draft" in donna.screen_text()
        await donna.press("escape")
        await donna.rest()
        assert backend.called("approve") == []
        assert SYNC_PATH in backend.vault.files


@pytest.mark.slow
async def test_undo_works_as_soon_as_the_vault_is_open_on_a_screen_that_was_asked_for_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend = backend_in("normal")
    backend.gates.hold("start")
    monkeypatch.setattr(backend, "wait_for_first_search", asyncio.Event().wait)  # as while the model is loaded
    async with driving(backend, connected=False) as donna:
        await donna.press("escape", "3")
        await donna.until(lambda: donna.main.header.active == "review", "it is shown")
        backend.gates.release("start")
        await donna.until(lambda: donna.review.draft, "the drafts are shown")
        assert donna.review.vault_flows is not None
        assert donna.memory.vault_flows is donna.review.vault_flows is donna.vault.vault_flows


@pytest.mark.slow
async def test_an_approval_is_undone_with_a_preview_as_in_the_vault() -> None:
    backend = backend_in("normal")
    async with driving(backend, at="review") as donna:
        await donna.press("z")
        before = len(backend.vault.undo_stack)
        await donna.window(PlanScreen, "escape", "a")
        await donna.press("enter")
        await donna.until(lambda: SYNC not in ids(donna), "it is approved")
        assert len(backend.vault.undo_stack) == before + 1
        window = await donna.window(PlanScreen, "z")
        assert "Undo" in str(window.query_one(".plan-box").border_title)
        await donna.press("enter")
        await donna.until(lambda: SYNC_PATH in backend.vault.files, "it is back")
        assert SYNC_TARGET not in backend.vault.files


@pytest.mark.slow
async def test_rejecting_asks_takes_the_draft_away_and_is_reported() -> None:
    backend = backend_in("normal")
    async with driving(backend, at="review") as donna:
        await donna.window(PlanScreen, "r")
        assert "No draft is written for this occasion again." in donna.screen_text()
        await donna.press("enter")
        await donna.until(lambda: SYNC not in ids(donna), "it is rejected")
        await donna.until(lambda: "Rejected" in notices(donna.app), "it says so")
        assert SYNC_PATH not in backend.vault.files
        assert SYNC_TARGET not in backend.vault.files


@pytest.mark.slow
async def test_rejecting_a_failed_draft_changes_no_note_and_is_reported() -> None:
    async with driving(backend_in("normal"), at="review") as donna:
        await donna.window(PlanScreen, "j", "r")
        await donna.until(lambda: "No note changes." in donna.screen_text(), "the notice is shown")
        await donna.press("enter")
        await donna.until(lambda: FAILED not in ids(donna), "it is rejected")


@pytest.mark.slow
async def test_a_refusal_is_reported_with_its_next_step_and_can_be_tried_again() -> None:
    backend = backend_in("normal")
    backend.fail("approve", VaultWriteError(Reason.GIT_LOCKED, "another program is using the history"))
    async with driving(backend, at="review") as donna:
        await donna.window(PlanScreen, "a")
        await donna.window(RefusalScreen, "enter")
        assert "Another program is using the history." in donna.screen_text()
        backend.failures.clear()
        await donna.window(PlanScreen, "enter")
        await donna.press("enter")
        await donna.until(lambda: SYNC_TARGET in backend.vault.files, "it is approved")


@pytest.mark.slow
async def test_review_footer_explains_why_a_draft_cannot_be_approved() -> None:
    backend = backend_in("normal")
    backend.fail("plan_approval", VaultWriteError(Reason.CONFLICT, "there is a note of yours already"), key=SYNC)
    async with driving(backend, at="review") as donna:
        await donna.until(
            lambda: "Cannot be approved: There is a note of yours already." in donna.screen_text(),
            "the message is shown",
        )


@pytest.mark.slow
async def test_all_are_approved_with_one_key_as_one_commit_and_what_is_refused_is_reported() -> None:
    backend = backend_in("normal")
    third = draft_scenarios.row("d-third", "Choir")
    backend.drafts.add(replace(draft_scenarios.sync(), row=third))
    edited = VaultWriteError(Reason.CONFLICT, "the note was edited meanwhile", path=third.path)
    backend.fail("approve", edited, key="d-third")
    async with driving(backend, at="review") as donna:
        commits = len(backend.vault.revisions)
        await donna.window(ApproveAll, "A")
        text = donna.screen_text()
        assert "3 drafts will be approved in one commit." in text
        assert f"new note {SYNC_TARGET}" in text
        assert "changes WeeklyReview/2026-W47.md" in text
        assert backend.called("approve") == []
        await donna.press("enter")
        await donna.until(
            lambda: "2 drafts approved in one commit, which one undo reverts · 1" in donna.screen_text(), "done"
        )
        assert "not approved: The note was edited meanwhile." in donna.screen_text()
        assert len(backend.vault.revisions) == commits + 1
        await donna.until(lambda: donna.screen_text().splitlines()[-1].strip() == "↵ close", "the footer says so")
        await donna.press("enter")
        await donna.until(lambda: ids(donna) == ["d-third", FAILED], "what is left is listed")
        assert {SYNC_TARGET, "WeeklyReview/2026-W47.md"} <= set(backend.vault.files)


@pytest.mark.slow
async def test_approving_all_respects_what_was_left_out() -> None:
    backend = backend_in("normal")
    async with driving(backend, at="review") as donna:
        await donna.window(ApproveAll, "enter", "space", "A")
        assert ", without 1 hunk" in donna.screen_text()
        await donna.press("enter")
        await donna.until(lambda: "2 drafts approved" in donna.screen_text(), "done")
        assert "Redis" not in text_of(backend, SYNC_TARGET)


@pytest.mark.slow
async def test_the_dialog_stays_open_while_drafts_are_being_approved() -> None:
    backend = backend_in("normal")
    backend.gates.hold("approve")
    async with driving(backend, at="review") as donna:
        window = await donna.window(ApproveAll, "A")
        await donna.press("enter", "escape")
        await donna.rest()
        assert donna.app.screen is window
        backend.gates.release("approve")
        await donna.until(lambda: "2 drafts approved" in donna.screen_text(), "done")
        await donna.press("escape")
        await donna.until(lambda: donna.app.screen is donna.main, "it closes")


# Editing


@pytest.mark.slow
async def test_a_draft_is_edited_here_and_read_again_once_it_is_written() -> None:
    backend = backend_in("normal")
    async with driving(backend, at="review") as donna:
        window = await donna.window(EditScreen, "i")
        window.field.text = window.field.text.replace("Who owns", "Who runs")
        await donna.window(PlanScreen, "f2")
        await donna.press("enter")
        await donna.until(lambda: donna.review.draft and "Who runs" in donna.review.draft.text, "it is reloaded")
        assert "Who runs" in text_of(backend, SYNC_PATH)
        assert donna.review.selected.state is DraftState.WAITING


@pytest.mark.slow
async def test_an_edit_that_waits_is_known_in_the_vault_too_and_approving_says_that_it_is_not_part() -> None:
    async with driving(backend_in("normal"), at="review") as donna:
        window = await donna.window(EditScreen, "i")
        window.field.text += "\nUnwritten.\n"
        await donna.window(PlanScreen, "f2")
        await donna.press("escape")
        await donna.until(lambda: "Your edit of it is unsaved" in donna.screen_text(), "the header shows it")
        await donna.window(PlanScreen, "a")
        assert "Your own edit of this draft is unsaved, and not included." in donna.screen_text()
        await donna.press("escape")
        await donna.open_note(SYNC_PATH)
        assert "unsaved edit" in donna.screen_text()


@pytest.mark.slow
async def test_a_draft_that_donna_may_not_write_to_is_not_edited() -> None:
    backend = backend_in("normal")
    backend.vault.refusals[SYNC_PATH] = "the note is marked as sensitive"
    async with driving(backend, at="review") as donna:
        await donna.press("i")
        await donna.until(lambda: "The note is marked as sensitive." in notices(donna.app), "the reason is shown")
        assert donna.app.screen is donna.main


# Keys and sizes


def test_g_regenerates_in_review_and_no_key_is_stolen() -> None:
    assert list(check_keys(DEFAULT_KEYS, changed=frozenset(DEFAULT_KEYS))) == []
    with pytest.raises(DonnaError, match=r"stolen_key: j for review\.regenerate is already used by list\.down"):
        load_keymap("default", {"review.regenerate": ["j"]})


@pytest.mark.slow
async def test_in_review_home_goes_to_the_first_row_and_g_does_not() -> None:
    async with driving(backend_in("normal"), at="review") as donna:
        await donna.press("end", "home")
        assert donna.review.rows.selected_index == 0
        window = await donna.window(KeyList, "question_mark")
        marks = {choice.value: choice.mark for choice in window.choices}
        assert marks["list.first"] == "home"
        assert marks["review.regenerate"] == "g"
        await donna.press("escape", "escape", "2")
        window = await donna.window(KeyList, "question_mark")
        assert {choice.value: choice.mark for choice in window.choices}["list.first"] == "g home"


@pytest.mark.slow
async def test_when_regenerating_has_another_key_g_goes_to_the_first_row() -> None:
    async with driving(
        backend_in("normal"), keymap=load_keymap("default", {"review.regenerate": ["b"]}), at="review"
    ) as donna:
        await donna.press("end", "g")
        await donna.rest()
        assert donna.app.screen is donna.main
        assert donna.review.rows.selected_index == 0


@pytest.mark.slow
async def test_a_narrow_screen_shows_one_part_at_a_time() -> None:
    async with driving(backend_in("normal"), size=SMALL, at="review") as donna:
        pane = donna.review
        assert pane.rows.region
        assert not pane.text.region
        await donna.press("enter")
        await donna.rest()
        assert not pane.rows.region
        assert pane.text.region
        assert "Approving: new note" in donna.screen_text()
        await donna.press("tab")
        await donna.rest()
        assert not pane.text.region
        assert "This line has 1 source" in donna.screen_text()
        await donna.press("tab", "tab")
        await donna.rest()
        assert pane.rows.region


async def test_the_diff_of_a_narrow_screen_is_shown_from_every_part() -> None:
    async with driving(backend_in("normal"), size=SMALL, at="review") as donna:
        await donna.press("d")
        await donna.rest()
        assert donna.review.diff.region
        await donna.press("escape", "d")
        await donna.rest()
        assert donna.review.diff.region, "the key shows the diff, which was hidden"


async def test_the_first_rows_are_scrolled_before_their_scroll_bar_is_shown() -> None:
    async with driving(backend_in("normal"), at="review") as donna:
        rows, text, draft = donna.review.rows, donna.review.text, draft_scenarios.sync()
        rows.show((), NOW)
        await donna.rest()
        text.show(None)
        await donna.rest()
        rows.show(tuple(draft_scenarios.row(f"d-{n}", f"Draft {n}") for n in range(40)), NOW, reveal="d-30")
        text.show(replace(draft, text=draft.text + "- A line.\n" * 90))
        assert not rows.show_vertical_scrollbar
        assert not text.show_vertical_scrollbar
        assert rows.scroll_offset.y <= 2 * 30 < rows.scroll_offset.y + rows.size.height
        assert text.scroll_offset.y == text._first_body_row > 0
        before = rows.scroll_offset.y, text.scroll_offset.y
        await donna.until(lambda: rows.show_vertical_scrollbar and text.show_vertical_scrollbar, "the bars are shown")
        assert (rows.vertical_scrollbar.position, text.vertical_scrollbar.position) == before


@pytest.mark.slow
async def test_a_line_longer_than_the_screen_is_read_to_its_end() -> None:
    backend = backend_in("normal")
    long = "word " * 1_000 + "END\n\nAfter it.\n"
    backend.vault.files[SYNC_PATH] = long.encode()
    async with driving(backend, size=SMALL, at="review") as donna:
        await donna.press("enter", "home", *["down"] * 40)
        assert donna.review.text.line_number == 1
        assert donna.review.text.scroll_offset.y > 20
        await donna.press(*["down"] * 60)
        assert donna.review.text.line_number == 3
        await donna.press("up")
        assert donna.review.text.line_number == 1


# Hostile text


@pytest.mark.slow
@pytest.mark.parametrize(
    "size", [SMALL, *(pytest.param(size, marks=pytest.mark.stress) for size in ((120, 36), LARGE))]
)
async def test_hostile_drafts_are_text_everywhere(size: tuple[int, int]) -> None:
    async with driving(backend_in("hostile"), size=size, at="review") as donna:
        for _ in donna.review.rows.items:
            await donna.press("down")
        await donna.press("home", "enter")
        for _ in range(12):
            await donna.press("down", "space")
        await donna.press("d", "d", "enter", "down", "escape", "escape")
        for key, window in (("a", PlanScreen), ("r", PlanScreen), ("A", ApproveAll), ("g", RefusalScreen)):
            await donna.window(window, key)
            assert_clean(donna)
            await donna.press("escape")
            await donna.rest()
        assert_clean(donna)
        assert "DONNA-" in donna.screen_text()


async def test_a_draft_is_left_out_of_approving_all() -> None:
    backend = backend_in("normal")
    async with driving(backend, at="review") as donna:
        await donna.window(ApproveAll, "A")
        await donna.press("space")
        assert "excluded" in donna.screen_text()
        assert "1 draft will be approved in one commit." in donna.screen_text()
        await donna.press("enter")
        await donna.until(lambda: "1 draft approved" in donna.screen_text(), "the other one is approved")
        assert len(backend.called("approve")) == 1


@pytest.mark.slow
async def test_a_draft_that_failed_without_a_repository_offers_to_create_one_and_drafts_all_such() -> None:
    backend = without_repository("normal")
    async with driving(backend) as donna:
        await donna.press("escape", "3")
        await donna.until(lambda: "d-a" in ids(donna), "the drafts are listed")
        donna.review.rows.select(ids(donna).index("d-a"))
        await donna.rest()
        await donna.window(RefusalScreen, "g")
        assert "not in a git repository yet" in donna.screen_text()
        await donna.press("escape")
        assert backend.called("create_repository") == []
        await donna.window(RefusalScreen, "g")
        await donna.press("enter")
        await donna.until(lambda: len(backend.called("regenerate")) == 2, "both are drafted")
        assert backend.called("create_repository") == [()]


@pytest.mark.slow
async def test_the_review_of_a_week_is_written_now_and_shown_from_any_screen() -> None:
    backend = backend_in("normal")
    async with driving(backend) as donna:
        await donna.window(Palette, "ctrl+p")
        await donna.type("weekly review now")
        await donna.press("enter")
        await donna.until(lambda: donna.review.selected is not None, "Review is shown")
        await donna.until(lambda: donna.review.selected.id == REVIEW, "the draft is selected")
        assert backend.called("write_today") == [("weekly_review",)]
        await donna.press("alt+t")
        await donna.until(lambda: "nothing to write about" in notices(donna.app), "it says that there is nothing")


@pytest.mark.slow
async def test_review_says_that_reviews_can_be_written_now() -> None:
    async with driving(backend_in("empty")) as donna:
        await donna.press("escape", "3")
        await donna.until(lambda: "No draft is waiting" in donna.screen_text(), "the notice is shown")
        assert re.search(r"alt\+s +weekly review now", donna.screen_text())
        assert re.search(r"alt\+t +daily reflection now", donna.screen_text())


@pytest.mark.cases(1)
@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_where_every_draft_failed_without_a_repository_review_asks_whether_to_create_one(
    size: tuple[int, int],
) -> None:
    backend = without_repository()
    async with driving(backend, size=size) as donna:
        await donna.press("escape", "3")
        await donna.until(
            lambda: f"Create a repository in {backend.status().root}?" in donna.screen_text(), "the question is shown"
        )
        assert re.search(r"↵ +create", donna.screen_text())
        assert re.search(r"esc +not now", donna.screen_text())
        assert backend.called("create_repository") == []
        await donna.press("enter")
        await donna.until(lambda: len(backend.called("regenerate")) == 2, "both are drafted")
        await donna.until(lambda: "2 waiting" in donna.screen_text(), "both wait")
        assert backend.called("create_repository") == [()]


@pytest.mark.slow
async def test_the_question_of_a_repository_can_be_put_off_and_asked_again_by_enter_on_a_draft() -> None:
    backend = without_repository()
    async with driving(backend) as donna:
        await donna.press("escape", "3")
        await donna.until(lambda: "Create a repository in" in donna.screen_text(), "the question is shown")
        await donna.press("escape")
        await donna.until(lambda: "2 failed" in donna.screen_text(), "the list is shown")
        await donna.window(RefusalScreen, "enter")
        assert "↵ create   esc not now" in donna.screen_text()
        await donna.press("escape")
        assert backend.called("create_repository") == []


@pytest.mark.slow
async def test_where_creating_a_repository_fails_it_says_why_and_asks_again() -> None:
    backend = without_repository()
    backend.failures["create_repository", ""] = VaultWriteError(Reason.UNREADABLE, "the folder is read-only")
    async with driving(backend) as donna:
        await donna.press("escape", "3")
        await donna.until(lambda: "Create a repository in" in donna.screen_text(), "the question is shown")
        await donna.press("enter")
        await donna.until(lambda: "The folder is read-only." in notices(donna.app), "the reason is shown")
        await donna.until(lambda: "Create a repository in" in donna.screen_text(), "it asks again")


# Links


@pytest.mark.slow
async def test_a_link_of_a_draft_is_followed_and_back_returns_to_it() -> None:
    async with driving(backend_in("normal"), at="review") as donna:
        await on_line(donna, "Redis was left on 12 March")
        await donna.press("v")
        await donna.until(lambda: donna.main.header.active == "vault", "the Vault is shown")
        await donna.until(lambda: donna.vault.place is not None and "decisions" in donna.vault.place[0], "its note")
        await donna.press("ctrl+left")
        await donna.until(lambda: donna.main.header.active == "review", "one is back in Review")


@pytest.mark.slow
async def test_a_line_without_a_link_is_reported() -> None:
    async with driving(backend_in("normal"), at="review") as donna:
        donna.review.text._move_to(draft_scenarios.SYNC_TEXT.count("\n"))
        await donna.press("v")
        await donna.rest()
        assert "There is no link in this line." in notices(donna.app)
