"""Test reporting and repairing the leftovers of interrupted writes with `donna`."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from donna_tui.platform.paths import app_paths
from donna_tui.vault.conflicts import original_of
from donna_tui.vault.git.tracked import OWN_REPOSITORY
from tests.cli.running import Donna
from tests.faults.fork_server import ForkServer, open_fork_server
from tests.faults.test_write_save_gc import NOTE, UNCOMMITTED, everything, stop_in_a_write
from tests.faults.writes import CALLS, Sandbox, litter, new_sandbox

NEWER = b"Saved by the editor since.\n"


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    with open_fork_server() as opened:
        yield opened


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return new_sandbox(tmp_path / "sandbox")


def findings(donna: Donna, sandbox: Sandbox, *more: str) -> dict[str, list[str]]:
    """Return the doctor's messages and hints by the id of the finding."""
    found: dict[str, list[str]] = {}
    for each in donna("doctor", "--space", sandbox.vault, "--json", *more).json["findings"]:
        found.setdefault(each["id"], []).append(f"{each['message']} | {each['hint']}")
    return found


@pytest.mark.slow
def test_a_write_reports_the_text_that_an_interrupted_one_displaced(
    donna: Donna, sandbox: Sandbox, fork_server: ForkServer
) -> None:
    stop_in_a_write(sandbox, fork_server)
    sandbox.put(NOTE, NEWER)
    state = app_paths({"DONNA_HOME": str(donna.home)}).space_state(sandbox.vault)
    state.mkdir(parents=True)
    (sandbox.base / "state" / "writes").rename(state / "writes")
    ran = donna("write", "Inbox/new.md", "--space", sandbox.vault, stdin="New.\n")
    assert ran.code == 0
    assert f"donna: {NOTE}: Donna was stopped while writing" in ran.err
    (shown,) = [line for line in ran.err.splitlines() if "donna diff" in line]
    kept = shown.rpartition("donna diff ")[2]
    assert f"-{UNCOMMITTED.decode()}" in donna("diff", kept, "--space", sandbox.vault).out + "\n"
    (doctor,) = findings(donna, sandbox)["saved text"]
    assert f"git keeps 1 earlier text besides those of operations; the newest is of {NOTE}" in doctor
    assert kept in doctor


@pytest.mark.parametrize("repository", [True, False], ids=["git", "no git any more"])
def test_text_whose_journal_is_lost_is_listed_and_restored(
    donna: Donna, sandbox: Sandbox, fork_server: ForkServer, repository: bool
) -> None:
    """The state folder is missing. The file beside the note is the only copy, and becomes a conflict copy."""
    stop_in_a_write(sandbox, fork_server)
    sandbox.put(NOTE, NEWER)
    shutil.rmtree(sandbox.base / "state")
    if not repository:
        shutil.rmtree(sandbox.git_dir)
    (left,) = litter(sandbox)
    (listed,) = findings(donna, sandbox)["leftovers"]
    assert Path(left).name in listed
    assert "--repair" in listed
    assert findings(donna, sandbox, "--repair")["repair"]
    assert not litter(sandbox)
    assert sandbox.notes()[NOTE] == NEWER
    (copy,) = (path for path, data in sandbox.notes().items() if data == UNCOMMITTED)
    if repository:
        assert original_of(copy) == NOTE
    assert "leftovers" not in findings(donna, sandbox)


def test_a_note_that_was_being_deleted_returns_to_its_name(
    donna: Donna, sandbox: Sandbox, fork_server: ForkServer
) -> None:
    stop_in_a_write(sandbox, fork_server, ("delete", NOTE))
    shutil.rmtree(sandbox.base / "state")
    assert NOTE not in sandbox.notes()
    assert donna("doctor", "--repair", "--space", sandbox.vault).code == 0
    assert sandbox.notes()[NOTE] == UNCOMMITTED
    assert not litter(sandbox)


def test_a_repair_leaves_nothing_behind_of_text_that_git_has(donna: Donna, sandbox: Sandbox) -> None:
    """It covers a copy of a committed note, a partly written copy, and an upload in progress."""
    committed = sandbox.notes()["Inbox/t0.md"]
    sandbox.put(f"Inbox/.donna-{'a' * 20}-0", committed)
    sandbox.put(f"Inbox/.donna-{'b' * 20}-0", b"")
    sandbox.put("Inbox/.donna-upload-00", b"half")
    before = sandbox.notes()
    assert donna("doctor", "--repair", "--space", sandbox.vault).code == 0
    gone = {f"Inbox/.donna-{letter * 20}-0" for letter in "ab"}
    assert sandbox.notes() == {path: data for path, data in before.items() if path not in gone}


@pytest.mark.parametrize(
    ("name", "said"), [("rebase-merge", "a rebase is in progress"), ("index.lock", "holds a lock")]
)
def test_the_doctor_says_why_every_write_is_refused(donna: Donna, sandbox: Sandbox, name: str, said: str) -> None:
    (sandbox.git_dir / name).touch()
    refused = donna("write", "Inbox/new.md", "--space", sandbox.vault, stdin="New.\n")
    (found,) = findings(donna, sandbox)["writes"]
    assert said in found
    assert found.partition(" | ")[0] in refused.err


def test_a_vault_that_the_repository_around_it_ignores_is_told_to_have_its_own(donna: Donna, sandbox: Sandbox) -> None:
    sandbox.put(".gitignore", b"*\n")
    inner = Sandbox(sandbox.vault / "notes")
    inner.vault.mkdir(parents=True)
    refused = donna("write", "Inbox/new.md", "--space", inner.vault, stdin="New.\n")
    (found,) = findings(donna, inner)["writes"]
    assert (refused.code, OWN_REPOSITORY in refused.err, OWN_REPOSITORY in found) == (3, True, True)
    subprocess.run(["git", "init", "--quiet"], cwd=inner.vault, check=True)
    assert donna("write", "Inbox/new.md", "--space", inner.vault, stdin="New.\n").code == 0


@pytest.mark.slow
def test_uncommitted_text_survives_git_gc_after_the_state_folder_is_lost(
    donna: Donna, sandbox: Sandbox, fork_server: ForkServer
) -> None:
    stop_in_a_write(sandbox, fork_server, CALLS["write over"])
    shutil.rmtree(sandbox.base / "state")
    for number in range(2):
        assert donna("write", f"Inbox/{number}.md", "--space", sandbox.vault, stdin="New.\n").code == 0
    (waiting,) = (sandbox.vault / "Inbox").glob(".donna-*")
    waiting.unlink()
    sandbox.git("gc", "--quiet", "--prune=now")
    assert UNCOMMITTED in everything(sandbox)


@pytest.mark.slow
def test_a_note_that_is_gone_is_reported_with_what_became_of_it(donna: Donna, sandbox: Sandbox) -> None:
    donna("mv", "Inbox/t0.md", "Projects/t9.md", "--space", sandbox.vault)
    donna("rm", "Projects/t1.md", "--space", sandbox.vault)
    sandbox.put("Projects/elsewhere/plain.md", sandbox.notes()["Projects/plain.md"])
    (sandbox.vault / "Projects/plain.md").unlink()
    moved, deleted, renamed, never, elsewhere = (
        donna("get", path, "--space", sandbox.vault)
        for path in ("Inbox/t0.md", "Projects/t1.md", "Projects/plain.md", "Inbox/never.md", "Inbox/plain.md")
    )
    assert "no longer exists" in moved.err
    assert elsewhere.err.splitlines() == [
        "donna: Inbox/plain.md: there is no such file",
        "       A note with that name is at Projects/elsewhere/plain.md.",
    ]
    assert "moved to Projects/t9.md" in moved.err
    assert "undo can restore it" in deleted.err
    assert "A note with that name is at Projects/elsewhere/plain.md" in renamed.err
    assert "moved" not in never.err
