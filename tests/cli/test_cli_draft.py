"""`donna draft`: the queue, a draft with its sources, and the decisions on it, as a script uses them."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Donna, Ran, commit_all, git
from tests.git_vaults import write
from tests.terminal import PATIENCE_SECONDS, python_in_terminal

DAY = "2024-01-17"
REFLECTION = f"Reflections/{DAY}.md"
INVITATION = """BEGIN:VCALENDAR
VERSION:2.0
BEGIN:VEVENT
UID:gateway
DTSTAMP:20240101T000000Z
DTSTART:20240117T100000Z
DTEND:20240117T110000Z
SUMMARY:Gateway team
ATTENDEE;CN=Ana Lima:mailto:ana@example.org
END:VEVENT
END:VCALENDAR
"""


@pytest.fixture
def kept(vault: Path) -> Path:
    """Create a vault in git, with tasks that were done on one day."""
    write(vault, "Projects/House.md", "- [x] Paint the door ✅ 2024-01-17\n- [x] Oil the hinges ✅ 2024-01-17\n")
    git(vault, "init", "-q")
    commit_all(vault)
    return vault


def new(donna: Donna, vault: Path, skill: str = "daily_reflection") -> dict[str, Any]:
    ran = donna("draft", "new", skill, "--day", DAY, "--space", vault, "--json")
    assert ran.code == 0, ran
    (row,) = ran.json["drafts"]
    found: dict[str, Any] = row
    return found


def listed(donna: Donna, vault: Path, *words: str) -> Ran:
    return donna("draft", "list", *words, "--space", vault, "--json")


def test_draft_list_of_an_empty_queue_exits_with_1(donna: Donna, kept: Path) -> None:
    ran = listed(donna, kept)
    assert (ran.code, ran.json["count"], ran.json["drafts"]) == (1, 0, [])


@pytest.mark.slow
def test_a_draft_is_written_listed_and_shown(donna: Donna, kept: Path) -> None:
    row = new(donna, kept)
    assert (row["state"], row["path"], row["skill"]) == ("waiting", REFLECTION, "daily_reflection")
    assert listed(donna, kept).json["drafts"] == [row]
    assert "1 note is a draft, which only in:draft finds" in donna("status", "--space", kept).out
    shown = donna("draft", "show", row["id"][:12], "--space", kept, "--json").json
    assert shown["text"] == (kept / REFLECTION).read_text()
    assert [each["number"] for each in shown["evidence"]] == [1, 2]
    lines = shown["text"].splitlines()
    claimed = {lines[claim["start_line"] - 1] for claim in shown["claims"]}
    assert any("Paint the door" in line for line in claimed)
    assert [hunk["number"] for hunk in shown["hunks"]] == list(range(1, len(shown["hunks"]) + 1))
    human = donna("draft", "show", REFLECTION, "--space", kept)
    assert human.code == 0
    assert "Paint the door" in human.out
    assert "[1]" in human.out


def test_a_draft_says_why_the_configured_model_was_not_used(donna: Donna, kept: Path) -> None:
    (donna.home / "config").mkdir(parents=True, mode=0o700)
    (donna.home / "config/models.yaml").write_text("reasoner: {dialect: ollama, model: any, api_key_env: NO_SUCH_KEY}")
    why = "Drafted from your notes only: the environment variable NO_SUCH_KEY, which holds the key, is not set"
    ran = donna("draft", "new", "daily_reflection", "--day", DAY, "--space", kept)
    assert (ran.code, ran.err.strip()) == (0, why)
    assert why in donna("draft", "show", REFLECTION, "--space", kept).out
    assert donna("draft", "show", REFLECTION, "--space", kept, "--json").json["remarks"] == [why]


def test_draft_new_twice_returns_the_same_draft(donna: Donna, kept: Path) -> None:
    row, head = new(donna, kept), git(kept, "rev-parse", "HEAD")
    assert new(donna, kept) == row
    assert git(kept, "rev-parse", "HEAD") == head


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        (("daily_reflection",), "there is nothing to quote in notes, meetings, tasks or chats on 2001-01-01"),
        (("commitment_log",), "there are no promises or open tasks in the notes and chats of 2001-01-01"),
        (("weekly_review",), "there is nothing to quote in notes, meetings, tasks or chats in the week of 2001-01-01"),
        (
            ("person_profile",),
            "nobody without a page of yours was mentioned 3 times in the last 7 days; use --person NAME",
        ),
        (("person_profile", "--person", "Nobody"), "no note, task or chat says more about Nobody than the name"),
    ],
)
def test_draft_new_without_material_says_what_is_missing(
    donna: Donna, kept: Path, words: tuple[str, ...], missing: str
) -> None:
    ran = donna("draft", "new", *words, "--day", "2001-01-01", "--space", kept)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.strip() == f"donna: nothing to draft: {missing}"
    assert donna("draft", "new", *words, "--day", "2001-01-01", "--space", kept, "--json").json["count"] == 0


@pytest.mark.parametrize(
    "words", [("nonsense",), ("daily_reflection", "--day", "yesterday"), ("weekly_review", "--day", "9999-12-31")]
)
def test_draft_new_rejects_invalid_arguments(donna: Donna, kept: Path, words: tuple[str, ...]) -> None:
    ran = donna("draft", "new", *words, "--space", kept, "--json")
    assert (ran.code, ran.json["ok"], ran.json["reason"]) == (2, False, "usage")


@pytest.mark.parametrize("verb", [("show",), ("approve", "--yes"), ("reject", "--yes"), ("edit",), ("redraft",)])
def test_draft_commands_report_an_unknown_draft_id(donna: Donna, kept: Path, verb: tuple[str, ...]) -> None:
    ran = donna("draft", verb[0], "absent", *verb[1:], "--space", kept, "--json", EDITOR="true")
    assert (ran.code, ran.json["reason"]) == (3, "missing")


@pytest.mark.slow
def test_nothing_is_decided_without_a_terminal(donna: Donna, kept: Path) -> None:
    row, head = new(donna, kept), git(kept, "rev-parse", "HEAD")
    for verb in ("approve", "reject"):
        ran = donna("draft", verb, row["id"], "--space", kept, "--json")
        assert (ran.code, ran.json["reason"]) == (2, "usage")
    assert git(kept, "rev-parse", "HEAD") == head


@pytest.mark.slow
def test_a_draft_is_approved_and_undone(donna: Donna, kept: Path) -> None:
    row = new(donna, kept)
    text = (kept / REFLECTION).read_text()
    ran = donna("draft", "approve", row["id"], "--yes", "--space", kept, "--json")
    assert (ran.code, ran.json["paths"]) == (0, [REFLECTION])
    assert git(kept, "rev-parse", "HEAD").strip() == ran.json["commit"]
    assert "donna_draft" not in (kept / REFLECTION).read_text()
    assert listed(donna, kept).code == 1
    assert [each["state"] for each in listed(donna, kept, "--all").json["drafts"]] == ["approved"]
    again = donna("draft", "approve", row["id"], "--yes", "--space", kept, "--json")
    assert (again.code, again.json["reason"]) == (3, "not_a_draft")
    assert donna("undo", "--yes", "--space", kept).code == 0
    assert (kept / REFLECTION).read_text() == text
    assert [each["state"] for each in listed(donna, kept).json["drafts"]] == ["waiting"]


def test_undoing_an_approval_forgets_what_was_learned_from_it(donna: Donna, kept: Path) -> None:
    row = new(donna, kept)
    write(kept, REFLECTION, (kept / REFLECTION).read_text().replace("Paint the door", "Paint the gate"))
    donna("draft", "approve", row["id"], "--space", kept, "--yes")
    learned = donna("memories", "gate", "--space", kept)
    assert "“Paint the door (House)” was changed to “Paint the gate (House)”" in learned.out
    donna("undo", "--yes", "--space", kept)
    assert donna("memories", "gate", "--space", kept).out == ""


@pytest.mark.slow
def test_draft_approve_without_a_hunk_omits_it_from_the_version_that_was_read(donna: Donna, kept: Path) -> None:
    row = new(donna, kept)
    shown = donna("draft", "show", row["id"], "--space", kept, "--json").json
    lines = shown["text"].splitlines()
    (number,) = (hunk["number"] for hunk in shown["hunks"] if "Oil" in lines[hunk["start_line"] - 1])

    def approved(*version: str) -> Ran:
        words = ("--without", str(number), *version, "--yes", "--space", kept, "--json")
        return donna("draft", "approve", row["id"], *words)

    assert (approved().code, approved().json["reason"]) == (2, "usage")
    write(kept, REFLECTION, f"{shown['text']}\nMine.\n")
    changed = approved("--etag", shown["etag"])
    assert (changed.code, changed.json["reason"]) == (3, "conflict")
    write(kept, REFLECTION, shown["text"])
    assert approved("--etag", shown["etag"]).code == 0
    text = (kept / REFLECTION).read_text()
    assert "Oil the hinges" not in text
    assert "Paint the door" in text


def test_a_draft_whose_note_was_deleted_is_rejected(donna: Donna, kept: Path) -> None:
    row = new(donna, kept)
    (kept / REFLECTION).unlink()
    ran = donna("draft", "reject", row["id"], "--yes", "--space", kept)
    assert (ran.code, ran.out) == (0, "Rejected. There was no note to delete.\n")
    assert listed(donna, kept).code == 1


def test_an_empty_id_does_not_name_the_only_draft(donna: Donna, kept: Path) -> None:
    new(donna, kept)
    ran = donna("draft", "reject", "", "--yes", "--space", kept, "--json")
    assert (ran.code, ran.json["reason"], ran.json["message"]) == (2, "usage", "no draft given")
    assert (kept / REFLECTION).exists()


@pytest.mark.slow
def test_a_draft_is_rejected_for_good(donna: Donna, kept: Path) -> None:
    row = new(donna, kept)
    assert donna("draft", "reject", row["id"], "--yes", "--space", kept, "--json").code == 0
    assert not (kept / REFLECTION).exists()
    assert new(donna, kept)["state"] == "rejected"
    assert not (kept / REFLECTION).exists()
    ran = donna("draft", "redraft", row["id"], "--space", kept, "--json")
    assert (ran.code, ran.json["reason"]) == (3, "not_a_draft")


def editor(folder: Path, script: str) -> str:
    file = folder / "editor with a space.sh"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return f"'{file}'"


@pytest.mark.slow
def test_a_draft_is_edited_in_an_editor(donna: Donna, kept: Path, tmp_path: Path) -> None:
    row = new(donna, kept)
    sed = editor(tmp_path, "sed -i.bak 's/Paint the door/Paint the green door/' \"$1\"")
    ran = donna("draft", "edit", row["id"], "--space", kept, "--json", EDITOR=sed, VISUAL="")
    assert (ran.code, ran.json["changed"], ran.json["paths"]) == (0, True, [REFLECTION])
    assert "Paint the green door" in (kept / REFLECTION).read_text()
    assert git(kept, "status", "--porcelain") == ""
    assert [each["state"] for each in listed(donna, kept).json["drafts"]] == ["waiting"]


@pytest.mark.slow
def test_draft_edit_without_changes_commits_nothing(donna: Donna, kept: Path) -> None:
    row, head = new(donna, kept), git(kept, "rev-parse", "HEAD")
    ran = donna("draft", "edit", row["id"], "--space", kept, "--json", EDITOR="true", VISUAL="")
    assert (ran.code, ran.json["changed"]) == (0, False)
    assert donna("draft", "edit", row["id"], "--space", kept, EDITOR="true", VISUAL="").out == "Nothing was changed.\n"
    assert git(kept, "rev-parse", "HEAD") == head


def test_what_was_written_is_kept_where_the_draft_changed_meanwhile(donna: Donna, kept: Path, tmp_path: Path) -> None:
    row = new(donna, kept)
    both = editor(tmp_path, f"echo mine >> \"$1\"; echo theirs >> '{kept / REFLECTION}'")
    ran = donna("draft", "edit", row["id"], "--space", kept, "--json", EDITOR=both, VISUAL="", TMPDIR=str(tmp_path))
    assert (ran.code, ran.json["reason"]) == (3, "conflict")
    assert (kept / REFLECTION).read_text().endswith("theirs\n")
    (saved,) = donna.home.glob("state/spaces/*/edits/*/*.md")
    assert str(saved) in ran.json["message"]
    assert saved.read_text().endswith("mine\n")


@pytest.mark.cases(2)
@pytest.mark.parametrize("command", ["false", "", "/absent/editor", "'unclosed"])
def test_an_editor_that_fails(donna: Donna, kept: Path, command: str) -> None:
    row, head = new(donna, kept), git(kept, "rev-parse", "HEAD")
    ran = donna("draft", "edit", row["id"], "--space", kept, "--json", EDITOR=command, VISUAL="")
    assert (ran.code, ran.json["reason"]) == (2, "usage")
    assert git(kept, "rev-parse", "HEAD") == head


def test_a_text_that_is_not_utf8_is_refused(donna: Donna, kept: Path, tmp_path: Path) -> None:
    row, head = new(donna, kept), git(kept, "rev-parse", "HEAD")
    odd = editor(tmp_path, "printf '\\377\\376' > \"$1\"")
    ran = donna("draft", "edit", row["id"], "--space", kept, "--json", EDITOR=odd, VISUAL="")
    assert (ran.code, ran.json["reason"]) == (3, "encoding")
    assert git(kept, "rev-parse", "HEAD") == head


def test_without_a_repository_it_fails_and_says_why(donna: Donna, vault: Path) -> None:
    write(vault, "Projects/House.md", "- [x] Paint the door ✅ 2024-01-17\n")
    ran = donna("draft", "new", "daily_reflection", "--day", DAY, "--space", vault, "--json")
    (row,) = ran.json["drafts"]
    assert (ran.code, row["state"], row["reason"]) == (5, "failed", "no_repository")
    # the earlier name of `redraft`
    again = donna("draft", "regenerate", row["id"], "--space", vault, "--json")
    assert (again.code, again.json["reason"]) == (5, "no_repository")
    assert row["detail"] in donna("draft", "list", "--space", vault).out
    assert f"git init in the vault, or agree when Donna asks, and then: donna draft redraft {row['id']}" in ran.err


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["n", "y"])
def test_in_a_terminal_it_asks_whether_to_create_the_repository(donna: Donna, vault: Path, answer: str) -> None:
    write(vault, "Projects/House.md", "- [x] Paint the door ✅ 2024-01-17\n")
    words = ("-m", donna.module, "draft", "new", "daily_reflection", "--day", DAY, "--space", str(vault))
    with python_in_terminal(*words, DONNA_HOME=str(donna.home)) as terminal:
        terminal.wait_for("Create a repository in the vault? [y/N]")
        assert not (vault / ".git").exists()
        expected = f"({REFLECTION})" if answer == "y" else "and then: donna draft redraft"
        terminal.press(f"{answer}\n".encode(), until=expected)
        assert terminal.process.wait(PATIENCE_SECONDS) == (0 if answer == "y" else 5)
    assert (vault / ".git").exists() == (vault / REFLECTION).exists() == (answer == "y")
    rows = listed(donna, vault).json["drafts"]
    assert [row["state"] for row in rows] == ["waiting" if answer == "y" else "failed"]


@pytest.mark.slow
def test_the_draft_of_a_meeting(donna: Donna, kept: Path, tmp_path: Path) -> None:
    (tmp_path / "team.ics").write_text(INVITATION)
    assert donna("meetings", "import", tmp_path / "team.ics", "--space", kept).code == 0
    rows = donna("meetings", "list", "--from", DAY, "--days", "1", "--space", kept, "--json").json
    (meeting,) = rows["meetings"]
    ran = donna("meetings", "write", meeting["event_id"], "--space", kept, "--json")
    assert (ran.code, ran.json["path"]) == (0, f"Meetings/{DAY}-gateway-team.md")
    assert donna("draft", "approve", ran.json["path"], "--yes", "--space", kept, "--json").json["paths"] == [
        ran.json["path"], "People/Ana Lima.md",
    ]  # fmt: skip
