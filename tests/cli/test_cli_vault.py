"""`donna write`, `rm`, `mv`, `log`, `diff`, `undo` and `redo`, from a script and at a prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Donna, commit_all, git
from tests.git_vaults import write
from tests.terminal import PATIENCE_SECONDS, python_in_terminal

HELLO = "---\ntags: [a]  # kept\nroom: 007\n---\n# Hello\n\nSee [[gateway]].\n"


def operations(donna: Donna, vault: Path, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = donna("log", *words, "--space", vault, "--json").json["operations"]
    return found


def test_a_new_note_is_written_and_committed(donna: Donna, history: Path) -> None:
    ran = donna("write", "Inbox/hello.md", "--space", history, "--json", stdin=HELLO)
    assert ran.code == 0
    assert (history / "Inbox/hello.md").read_text() == HELLO
    assert git(history, "status", "--porcelain") == ""
    assert git(history, "log", "-1", "--format=%H").strip() == ran.json["commit"]
    newest = operations(donna, history)[0]
    assert newest["id"] == ran.json["operation"]
    assert newest["paths"] == ["Inbox/hello.md"]


def test_empty_stdin_writes_nothing(donna: Donna, history: Path) -> None:
    etag = donna("get", "Projects/gateway.md", "--space", history, "--json").json["etag"]
    before = (history / "Projects/gateway.md").read_bytes()
    for args in (("Inbox/new.md",), ("Projects/gateway.md", "--etag", etag, "--replace")):
        ran = donna("write", *args, "--space", history, "--json", stdin="")
        assert (ran.code, ran.json["message"]) == (2, "there is no text on stdin")
    assert not (history / "Inbox/new.md").exists()
    assert (history / "Projects/gateway.md").read_bytes() == before
    assert donna("write", "Inbox/new.md", "--from", "/dev/null", "--space", history).code == 0
    assert (history / "Inbox/new.md").read_bytes() == b""


def test_an_error_about_a_note_names_it(donna: Donna, history: Path) -> None:
    assert donna("rm", "Inbox/none.md", "--space", history).err == "donna: Inbox/none.md: there is no such note\n"


def test_an_existing_note_is_changed_only_by_who_has_seen_it(donna: Donna, history: Path) -> None:
    path = "Projects/gateway.md"
    before = (history / path).read_bytes()
    ran = donna("write", path, "--space", history, "--json", stdin="new\n")
    assert (ran.code, ran.json["reason"]) == (3, "conflict")
    stale = donna("write", path, "--space", history, "--etag", "0" * 64, "--json", stdin="new\n")
    assert stale.json["reason"] == "conflict"
    assert (history / path).read_bytes() == before
    etag = donna("get", path, "--space", history, "--json").json["etag"]
    assert donna("write", path, "--space", history, "--etag", etag, stdin="new\n").code == 0
    assert (history / path).read_text() == "new\n"


def test_frontmatter_is_merged_unless_the_whole_note_is_replaced(donna: Donna, history: Path) -> None:
    first = donna("write", "Inbox/hello.md", "--space", history, "--json", stdin=HELLO).json
    patch = "---\ntags: null\nmood: fine\n---\nBye.\n"
    second = donna("write", "Inbox/hello.md", "--space", history, "--etag", first["etag"], "--json", stdin=patch).json
    assert (history / "Inbox/hello.md").read_text() == "---\nroom: 007\nmood: fine\n---\nBye.\n"
    whole = ("--etag", second["etag"], "--replace")
    assert donna("write", "Inbox/hello.md", "--space", history, *whole, stdin="Plain.\n").code == 0
    assert (history / "Inbox/hello.md").read_text() == "Plain.\n"


def test_writing_what_is_there_changes_nothing(donna: Donna, history: Path) -> None:
    first = donna("write", "Inbox/hello.md", "--space", history, "--json", stdin=HELLO).json
    tip = git(history, "rev-parse", "HEAD")
    again = donna("write", "Inbox/hello.md", "--space", history, "--etag", first["etag"], "--json", stdin=HELLO)
    assert (again.code, again.json["changed"], again.json["operation"]) == (0, False, None)
    assert git(history, "rev-parse", "HEAD") == tip


def test_a_repository_is_made_only_after_consent(donna: Donna, vault: Path) -> None:
    ran = donna("write", "Inbox/hello.md", "--space", vault, "--json", stdin=HELLO)
    assert (ran.code, ran.json["reason"]) == (3, "no_repository")
    assert "--yes" in ran.json["hint"]
    assert donna("diff", "--space", vault, "--json").json["reason"] == "no_repository"
    assert not (vault / ".git").exists()
    assert not (vault / "Inbox").exists()
    assert donna("write", "Inbox/hello.md", "--space", vault, "--yes", stdin=HELLO).code == 0
    kept = git(vault, "ls-files").split()
    assert "Projects/gateway.md" in kept
    assert "private.md" not in kept, "a sensitive note must not be in a history that may be pushed"
    assert git(vault, "status", "--porcelain").split() == ["??", "photo.png", "??", "private.md"]


def test_mv_rewrites_links_and_undo_restores_them(donna: Donna, history: Path) -> None:
    write(history, "Inbox/links.md", "[[Projects/gateway|the gateway]] and [it](../Projects/gateway.md#cache)\n")
    ran = donna("mv", "Projects/gateway.md", "Projects/edge/door.md", "--space", history)
    assert ran.code == 0
    assert "links rewritten in 1 note" in ran.out
    again = donna("mv", "Projects/edge/door.md", "Projects/edge/", "--space", history)
    assert again.out == "no change: it is there already\n"
    told = (history / "Inbox/links.md").read_text()
    assert told == "[[Projects/edge/door|the gateway]] and [it](../Projects/edge/door.md#cache)\n"
    assert donna("undo", "--yes", "--space", history).code == 0
    assert "[[Projects/gateway|the gateway]]" in (history / "Inbox/links.md").read_text()
    assert (history / "Projects/gateway.md").exists()


@pytest.mark.slow
def test_a_folder_is_moved_and_deleted_as_one_operation(donna: Donna, history: Path) -> None:
    (history / "Projects/gateway/deep").mkdir(parents=True)
    (history / "Projects/gateway/plan.md").write_text("[[costs]] and [deep](deep/costs.md)\n")
    (history / "Projects/gateway/deep/costs.md").write_text("up: [plan](../plan.md)\n")
    (history / "Projects/gateway/picture.png").write_bytes(b"png")
    (history / "Inbox").mkdir(exist_ok=True)
    (history / "Inbox/links.md").write_text(
        "[[Projects/gateway/plan|the plan]] and [costs](../Projects/gateway/deep/costs.md)\n"
    )
    commit_all(history)
    moved = donna("mv", "Projects/gateway", "People/gate", "--json", "--space", history)
    assert moved.code == 0, moved.err
    assert (history / "People/gate/plan.md").read_text() == "[[costs]] and [deep](deep/costs.md)\n"
    assert (
        history / "Inbox/links.md"
    ).read_text() == "[[People/gate/plan|the plan]] and [costs](../People/gate/deep/costs.md)\n"
    assert not (history / "Projects/gateway/deep").exists()
    assert (history / "Projects/gateway/picture.png").exists()
    assert any("not a note is not affected: Projects/gateway/picture.png" in each for each in moved.json["remarks"])
    assert donna("undo", "--yes", "--space", history).code == 0
    assert (history / "Projects/gateway/deep/costs.md").exists()
    assert not (history / "People/gate").exists()
    deleted = donna("rm", "Projects/gateway", "--json", "--space", history)
    assert deleted.code == 0, deleted.err
    assert "2 links in 1 note will be broken" in deleted.json["remarks"]
    assert not (history / "Projects/gateway/plan.md").exists()
    assert donna("undo", "--yes", "--space", history).code == 0
    assert (history / "Projects/gateway/plan.md").exists()


def test_a_folder_is_not_moved_into_itself_nor_over_another_note(donna: Donna, history: Path) -> None:
    (history / "Projects/gateway").mkdir(parents=True, exist_ok=True)
    (history / "Projects/gateway/plan.md").write_text("a\n")
    (history / "People").mkdir(exist_ok=True)
    assert donna("mv", "Projects/gateway", "Projects/gateway/inner", "--space", history).code == 3
    assert donna("mv", "Projects/gateway", "People", "--space", history).code == 3
    assert donna("rm", "People", "--space", history).code == 3
    assert (history / "Projects/gateway/plan.md").exists()


@pytest.mark.slow
def test_undo_and_redo_go_through_operations_and_not_through_the_users_commits(donna: Donna, history: Path) -> None:
    donna("write", "Inbox/a.md", "--space", history, stdin="one\n")
    write(history, "Projects/mine.md", "mine\n")
    commit_all(history)
    donna("rm", "Inbox/a.md", "--space", history)
    assert donna("undo", "2", "--yes", "--space", history).code == 0
    assert not (history / "Inbox/a.md").exists()
    assert (history / "Projects/mine.md").read_text() == "mine\n"
    assert donna("redo", "--yes", "--space", history).code == 0
    assert (history / "Inbox/a.md").read_text() == "one\n"
    assert donna("redo", "9", "--yes", "--space", history, "--json").json["reason"] == "nothing_to_redo"


def test_an_undo_that_would_lose_a_later_edit_is_refused(donna: Donna, history: Path) -> None:
    donna("write", "Inbox/a.md", "--space", history, stdin="one\n")
    write(history, "Inbox/a.md", "one\nand a thought of mine\n")
    ran = donna("undo", "--yes", "--space", history, "--json")
    assert (ran.code, ran.json["reason"]) == (3, "undo_conflict")
    assert (history / "Inbox/a.md").read_text() == "one\nand a thought of mine\n"
    assert "git restore" in ran.json["hint"]
    git(history, "restore", "Inbox/a.md")
    assert donna("undo", "--yes", "--space", history).code == 0


def test_a_note_that_was_deleted_outside_is_in_the_way_of_undo_only_if_it_would_come_back(
    donna: Donna, history: Path
) -> None:
    donna("write", "Inbox/a.md", "--space", history, stdin="one\n")
    etag = donna("get", "Inbox/a.md", "--json", "--space", history).json["etag"]
    donna("write", "Inbox/a.md", "--replace", "--etag", etag, "--space", history, stdin="two\n")
    (history / "Inbox/a.md").unlink()
    assert "the note was deleted or moved since" in donna("undo", "--yes", "--space", history).err
    assert donna("undo", "2", "--yes", "--space", history).code == 0
    assert git(history, "status", "--short") == ""
    assert donna("redo", "2", "--yes", "--space", history).code == 0
    assert (history / "Inbox/a.md").read_text() == "two\n"


def test_without_a_terminal_an_undo_needs_yes(donna: Donna, history: Path) -> None:
    donna("write", "Inbox/a.md", "--space", history, stdin="one\n")
    ran = donna("undo", "--space", history)
    assert ran.code == 2
    assert "--yes" in ran.err
    assert (history / "Inbox/a.md").exists()


@pytest.mark.slow
def test_diff_shows_an_operation_and_what_is_not_in_git(donna: Donna, history: Path) -> None:
    written = donna("write", "Inbox/a.md", "--space", history, "--json", stdin="one\n\x1b[31m\n").json
    shown = donna("diff", written["operation"][:10], "--space", history)
    assert "+one" in shown.out
    assert "\x1b" not in shown.out
    assert donna("diff", "--space", history).code == 1
    write(history, "Projects/gateway.md", "my edit\n")
    outside = donna("diff", "--space", history, "--json").json["changes"]
    assert [each["path"] for each in outside] == ["Projects/gateway.md"]
    assert "+my edit" in outside[0]["diff"]
    (history / "Inbox/a.md").unlink()
    deleted = donna("diff", "--space", history, "--json").json["changes"]
    assert [each["path"] for each in deleted] == ["Inbox/a.md", "Projects/gateway.md"]
    assert "-one" in deleted[0]["diff"]
    assert donna("diff", "nonsense", "--space", history, "--json").json["reason"] == "missing"


def test_a_note_that_does_not_exist_has_neither_a_difference_nor_a_history(donna: Donna, history: Path) -> None:
    for command in ("diff", "log"):
        ran = donna(command, "Projects/typo.md", "--space", history, "--json")
        assert (ran.code, ran.json["reason"]) == (3, "missing")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../out.md", "path_escape"),
        ("/etc/x.md", "path_escape"),
        (".obsidian/x.md", "path_escape"),
        ("Inbox/x.txt", "not_markdown"),
        ("Elsewhere/x.md", "outside_allowlist"),
        ("x.md", "outside_allowlist"),
        (f"Inbox/{'x' * 300}.md", "too_long"),
        ("Inbox/CON.md", "path_escape"),
        ("projects/gateway.md", "outside_allowlist"),
        ("Projects/Gateway.md", "conflict"),
    ],
)
def test_write_rejects_forbidden_paths(donna: Donna, history: Path, path: str, reason: str) -> None:
    before = sorted(history.rglob("*"))
    ran = donna("write", path, "--space", history, "--json", stdin="x\n")
    assert (ran.code, ran.json["reason"]) == (3, reason)
    assert sorted(set(history.rglob("*")) - set(before)) == []


@pytest.mark.parametrize("words", [("rm", "Projetcs"), ("rm", "Projetcs/"), ("mv", "Projetcs", "Projects2")])
def test_a_folder_that_does_not_exist_is_missing(donna: Donna, history: Path, words: tuple[str, ...]) -> None:
    ran = donna(*words, "--space", history, "--json")
    assert (ran.code, ran.json["reason"], ran.json["message"]) == (
        3,
        "missing",
        f"there is no note or folder {words[1]}",
    )


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["n", "y"])
def test_a_person_at_a_terminal_may_write_anywhere_after_seeing_the_diff(
    donna: Donna, history: Path, answer: str
) -> None:
    words = ("-m", donna.module, "rm", "Projects-old/gateway.md", "--space", str(history))
    with python_in_terminal(*words, DONNA_HOME=str(donna.home)) as terminal:
        terminal.wait_for("Delete Projects-old/gateway.md? [y/N]")
        assert b"-The kestrel of old." in terminal.written
        expected = "operation" if answer == "y" else "Nothing was changed."
        terminal.press(f"{answer}\n".encode(), until=expected)
        assert terminal.process.wait(PATIENCE_SECONDS) == 0
    assert (history / "Projects-old/gateway.md").exists() == (answer == "n")


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["y", "n"])
def test_deleting_a_folder_at_a_terminal_is_asked_with_its_number_of_notes(
    donna: Donna, history: Path, answer: str
) -> None:
    write(history, "Inbox/old/a.md", "A\n")
    write(history, "Inbox/old/deep/b.md", "B\n")
    words = ("-m", donna.module, "rm", "Inbox/old/", "--space", str(history))
    with python_in_terminal(*words, DONNA_HOME=str(donna.home)) as terminal:
        terminal.wait_for("Delete 2 notes in Inbox/old? [y/N]")
        terminal.press(f"{answer}\n".encode(), until="operation" if answer == "y" else "Nothing was changed.")
        assert terminal.process.wait(PATIENCE_SECONDS) == 0
    assert (history / "Inbox/old/deep/b.md").exists() == (answer == "n")


@pytest.mark.slow
def test_a_script_that_reads_the_output_is_not_asked_though_it_has_a_terminal(donna: Donna, history: Path) -> None:
    words = ["donna", "rm", "Projects-old/gateway.md", "--space", str(history)]
    redirected = (
        f"import os, runpy, sys; os.dup2(os.open({str(history.parent / 'out')!r}, os.O_WRONLY | os.O_CREAT), 1)"
    )
    run = f"sys.argv = {words}; runpy.run_module({donna.module!r}, run_name='__main__')"
    with python_in_terminal("-c", f"{redirected}; {run}", DONNA_HOME=str(donna.home)) as terminal:
        terminal.wait_for("path_allowlist")
        assert terminal.process.wait(PATIENCE_SECONDS) == 3
    assert (history / "Projects-old/gateway.md").exists()


@pytest.mark.slow
def test_a_conflict_anywhere_is_resolved_at_a_terminal_and_by_a_script_only_where_it_may_write(
    donna: Donna, history: Path
) -> None:
    path = "Projects-old/gateway.sync-conflict-20260101-101010-ABCDEFG.md"
    copy = write(history, path, "# Gateway\n")
    resolve, space = ("resolve", path, "--keep", "mine"), ("--space", str(history))
    assert donna("conflicts", *resolve, "--yes", *space, "--json").json["reason"] == "outside_allowlist"
    misplaced = donna("conflicts", *space, *resolve, "--yes")
    assert (misplaced.code, misplaced.err) == (2, "donna: --space and --json belong after resolve\n")
    with python_in_terminal("-m", donna.module, "conflicts", *resolve, *space, DONNA_HOME=str(donna.home)) as terminal:
        terminal.wait_for("keep mine? [y/N]")
        terminal.press(b"y\n", until="operation")
        assert terminal.process.wait(PATIENCE_SECONDS) == 0
    assert not copy.exists()


def test_sensitive_notes_are_never_written(donna: Donna, history: Path) -> None:
    write(history, "Inbox/secret.md", "---\ndonna_sensitive: true\n---\nMine.\n")
    for words in (["rm", "Inbox/secret.md"], ["mv", "Inbox/secret.md", "Inbox/open.md"]):
        assert donna(*words, "--space", history, "--json").json["reason"] == "sensitive"
    incoming = "---\ndonna_sensitive: yes\n---\nx\n"
    ran = donna("write", "Inbox/new.md", "--space", history, "--json", stdin=incoming)
    assert ran.json["reason"] == "sensitive"
    assert (history / "Inbox/secret.md").exists()


def test_an_unfinished_merge_refuses_and_changes_nothing(donna: Donna, history: Path) -> None:
    (history / ".git/MERGE_HEAD").write_text(git(history, "rev-parse", "HEAD"))
    ran = donna("write", "Inbox/a.md", "--space", history, "--json", stdin="x\n")
    assert (ran.code, ran.json["reason"]) == (3, "git_busy")
    assert not (history / "Inbox/a.md").exists()


@pytest.mark.slow
def test_doctor_checks_the_write_guarantees(donna: Donna, history: Path) -> None:
    donna("write", "Inbox/a.md", "--space", history, stdin="x\n")
    donna("index", "--space", history)
    found = {each["id"]: each for each in donna("doctor", "--space", history, "--json").json["findings"]}
    assert found["operations"]["message"].startswith("1 operation, ")
    assert {found[each]["state"] for each in ("writes", "operations", "notes", "private")} == {"ok"}
    write(history, "Inbox/.donna-left", "x")
    write(history, "Inbox/a.md", "changed\n")
    found = {each["id"]: each for each in donna("doctor", "--space", history, "--json").json["findings"]}
    assert (found["leftovers"]["state"], found["notes"]["state"]) == ("warn", "warn")


def test_a_replaced_note_keeps_its_line_ends_and_its_mark(donna: Donna, history: Path) -> None:
    write(history, "Inbox/a.md", b"\xef\xbb\xbfone\r\ntwo\r\n")
    etag = donna("get", "Inbox/a.md", "--space", history, "--json").json["etag"]
    words = ("write", "Inbox/a.md", "--space", history, "--etag", etag, "--replace")
    assert donna(*words, stdin="three\nfour\n").code == 0
    assert (history / "Inbox/a.md").read_bytes() == b"\xef\xbb\xbfthree\r\nfour\r\n"


@pytest.mark.slow
def test_a_note_that_was_private_is_first_committed_only_after_consent(donna: Donna, history: Path) -> None:
    private = "---\ndonna: local-only\n---\nsecret words\n"
    kept = donna("write", "Inbox/diary.md", "--space", history, "--json", stdin=private).json
    assert kept["record_only"] == ["Inbox/diary.md"]
    assert git(history, "ls-files", "Inbox/diary.md") == ""
    again = donna("write", "Inbox/diary.md", "--space", history, "--etag", kept["etag"], stdin=private + "more\n")
    assert "private: Inbox/diary.md. The change is in refs/donna/operations" in again.out
    assert "secret words" not in git(history, "log", "-p", "--branches", "--", "*.md")
    etag = donna("get", "Inbox/diary.md", "--space", history, "--json").json["etag"]
    public = ("write", "Inbox/diary.md", "--replace", "--space", history, "--etag", etag, "--json")
    refused = donna(*public, stdin="open words\n")
    assert (refused.code, refused.json["reason"]) == (3, "would_track")
    assert "--track" in donna(*public[:-1], stdin="open words\n").err
    assert donna(*public, "--track", stdin="open words\n").json["record_only"] == []
    assert git(history, "show", "HEAD:Inbox/diary.md") == "open words\n"


def test_a_move_lists_every_note_whose_links_it_could_not_rewrite(donna: Donna, history: Path) -> None:
    notes = [f"Inbox/latin {number}.md" for number in range(5)]
    for note in notes:
        (history / note).parent.mkdir(exist_ok=True)
        (history / note).write_bytes(b"caf\xe9 [[gateway]]\n")
    moved = donna("mv", "Projects/gateway.md", "Projects/door.md", "--space", history, "--json").json
    assert moved["links_not_rewritten"] == notes
    back = donna("mv", "Projects/door.md", "Projects/gateway.md", "--space", history)
    assert all(f"not read: {note}" in back.out for note in notes)
