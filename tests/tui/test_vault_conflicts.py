"""Conflict copies on the Vault screen: marked in the tree, and resolved after viewing both versions."""

from __future__ import annotations

import pytest

from donna_tui.tui.lib.dialogs import RefusalScreen
from donna_tui.tui.vault.conflict_dialogs import ConflictCopyDialog
from donna_tui.tui.vault.plan_dialog import PlanScreen
from donna_tui.types.errors import Reason
from donna_tui.types.events import ProblemRaised
from donna_tui.types.notes import NoteState
from donna_tui.vault.write.changes import OperationKind
from tests.tui import hostile, scenarios
from tests.tui.driving import Driver, driving, notices
from tests.tui.fake_backend import FakeBackend
from tests.tui.vault_scenarios import COPY, DECISIONS, GARDEN, confirm, synced, to_copy

SIZE = (160, 48)


def backend_with(*, base: bool = True) -> FakeBackend:
    backend = scenarios.normal()
    backend.vault = synced(base=base)
    return backend


async def opened(donna: Driver) -> ConflictCopyDialog:
    await to_copy(donna)
    await donna.press("c")
    return await donna.window(ConflictCopyDialog)


@pytest.mark.slow
async def test_tree_marks_a_conflict_copy() -> None:
    async with driving(backend_with(), size=SIZE) as donna:
        await to_copy(donna)
        text = donna.screen_text()
        assert "conflict copy" in text
        assert "c resolve" in text
        assert donna.vault.note_tree.selected.path == COPY


@pytest.mark.slow
async def test_text_kept_from_an_interrupted_write_is_reported() -> None:
    backend = backend_with()
    async with driving(backend, size=SIZE) as donna:
        await donna.rest()
        backend.post(
            ProblemRaised(
                reason=Reason.CONFLICT,
                message="Donna was stopped while writing",
                hint="its previous text is saved: donna diff 0661102cbe81",
                path=GARDEN,
            )
        )
        await donna.until(lambda: "donna diff 0661102cbe81" in notices(donna.app), "the notice is shown")
        assert GARDEN in notices(donna.app)


@pytest.mark.slow
async def test_only_a_conflict_copy_can_be_resolved() -> None:
    async with driving(backend_with(), size=SIZE, note=GARDEN) as donna:
        await donna.press("c")
        await donna.rest()
        assert "No conflict copy is selected" in notices(donna.app)
        assert donna.app.screen is donna.main


@pytest.mark.cases(1)
@pytest.mark.parametrize("key", ["o", "t", "m"])
async def test_one_key_and_a_preview_resolve_a_conflict_copy(key: str) -> None:
    backend = backend_with()
    mine, theirs = backend.vault.files[DECISIONS], backend.vault.files[COPY]
    async with driving(backend, size=SIZE) as donna:
        await opened(donna)
        text = donna.screen_text()
        for title in ("In the history", "The note", "The conflict copy", "c0ffeec0ffee"):
            assert title in text
        await donna.press(key)
        assert COPY in backend.vault.files
        await confirm(donna)
    assert COPY not in backend.vault.files
    now = backend.vault.files[DECISIONS]
    assert {"o": now == mine, "t": now == theirs, "m": b"900 ms, once" in now and b"asks twice" in now}[key]
    (call,) = backend.called("apply_plan")
    assert call[0].kind is (OperationKind.DELETE if key == "o" else OperationKind.WRITE)


@pytest.mark.slow
async def test_closing_the_conflict_dialog_changes_nothing() -> None:
    backend = backend_with()
    before = dict(backend.vault.files)
    async with driving(backend, size=SIZE) as donna:
        await opened(donna)
        await donna.press("escape")
        await donna.rest()
        await opened(donna)
        await donna.window(PlanScreen, "t")
        await donna.press("escape")
        await donna.rest()
    assert backend.vault.files == before
    assert backend.called("apply_plan") == []


@pytest.mark.slow
async def test_conflict_copy_without_a_base_is_compared_with_the_note() -> None:
    async with driving(backend_with(base=False), size=SIZE) as donna:
        await opened(donna)
        text = donna.screen_text()
        assert "From the note to the conflict copy" in text
        assert "asks twice" in text


@pytest.mark.slow
async def test_a_copy_of_a_note_that_is_gone_becomes_the_note() -> None:
    backend = backend_with(base=False)
    theirs = backend.vault.files[COPY]
    del backend.vault.files[DECISIONS]
    async with driving(backend, size=SIZE) as donna:
        await opened(donna)
        assert "The note itself was deleted" in donna.screen_text()
        await donna.press("b")
        await donna.rest()
        assert isinstance(donna.app.screen, ConflictCopyDialog)
        await confirm(donna, "t")
    assert backend.vault.files[DECISIONS] == theirs
    assert COPY not in backend.vault.files


@pytest.mark.slow
async def test_what_is_saved_meanwhile_is_not_lost() -> None:
    backend = backend_with()
    async with driving(backend, size=SIZE) as donna:
        await opened(donna)
        await donna.window(PlanScreen, "t")
        backend.vault.files[DECISIONS] = b"saved a moment ago"
        await donna.window(RefusalScreen, "enter")
        await donna.press("escape")
        await donna.rest()
    assert backend.vault.files[DECISIONS] == b"saved a moment ago"
    assert COPY in backend.vault.files


@pytest.mark.slow
async def test_conflict_dialog_contains_no_control_characters() -> None:
    backend = backend_with(base=False)
    vault = backend.vault
    copy = f"Inbox/{hostile.EVERYTHING.replace('/', '-')} (Ana's conflicted copy 2026-11-18).md"
    vault.files[copy] = "\n".join(hostile.ALL.values()).encode("utf-8", "surrogatepass")
    vault.states[copy] = frozenset({NoteState.CONFLICT})
    async with driving(backend, size=SIZE) as donna:
        await to_copy(donna)
        donna.vault.note_tree.reveal(copy)
        await donna.rest()
        await donna.window(ConflictCopyDialog, "c")
        await donna.rest()
        text = donna.screen_text()
        assert "Conflict: Inbox/" in text
        assert "\x1b" not in text
        assert "\u202e" not in text
