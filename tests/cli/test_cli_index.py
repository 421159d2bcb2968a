"""`donna index`, `status`, `doctor` and `get`, run as a user runs them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from donna_tui.platform.spaces import SpaceLock
from tests.cli.running import Donna
from tests.git_vaults import write


def index_files(donna: Donna) -> list[Path]:
    return sorted((donna.home / "state" / "spaces").glob("*/index-*.db"))


def test_without_a_model_indexing_is_complete_only_in_part(donna: Donna, vault: Path) -> None:
    ran = donna("index", "--json", "--space", vault)
    assert ran.code == 4
    data = ran.json
    assert (data["notes"], data["indexed"], data["failed"], data["chunks_embedded"]) == (4, 4, 0, 0)
    assert "model" in ran.err


def test_indexing_again_and_again_changes_nothing(donna: Donna, vault: Path) -> None:
    first = donna("index", "--json", "--space", vault).json
    second = donna("index", "--full", "--json", "--space", vault).json
    assert {**first, "seconds": 0} == {**second, "seconds": 0}


def test_the_vault_itself_is_never_written_to(donna: Donna, vault: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in vault.rglob("*")}
    donna("index", "--space", vault)
    donna("search", "kestrel", "--space", vault)
    donna("doctor", "--space", vault)
    assert {path: path.stat().st_mtime_ns for path in vault.rglob("*")} == before


def test_index_prints_a_text_summary(donna: Donna, vault: Path) -> None:
    write(vault, "broken.md", b"\x00\x01\x02" * 1_000)
    ran = donna("index", "--space", vault)
    assert ran.out.startswith("4 of 4 notes, ")
    assert "1 file left out: donna status shows why" in ran.out


def test_status_of_a_vault_that_was_never_indexed(donna: Donna, vault: Path) -> None:
    ran = donna("status", "--json", "--space", vault)
    assert ran.code == 4
    data = ran.json
    assert (data["ok"], data["root"], data["coverage"]["notes"]) == (True, str(vault), 0)
    assert (data["model"], data["watcher"]) == ("missing", "")
    assert not index_files(donna)


def test_status_counts_and_names_what_is_not_indexed(donna: Donna, vault: Path) -> None:
    write(vault, "broken.md", b"\x00\x01\x02" * 1_000)
    write(vault, "frontmatter.md", "---\na: [\n---\ntext")
    donna("index", "--space", vault)
    data = donna("status", "--json", "--space", vault).json
    assert data["coverage"]["notes"] == 5
    assert data["coverage"]["sensitive"] == 2
    assert data["coverage"]["skipped"] == {"not_text": 1}
    assert [(each["path"], each["reason"]) for each in data["files"]] == [("broken.md", "not_text")]
    assert {each["reason"] for each in data["problems"]} == {"not_text", "invalid_frontmatter"}
    words = donna("status", "--space", vault).out
    assert "5 of 5 notes in keyword search" in words
    assert "! broken.md: " in words


def test_status_counts_indexed_notes_that_are_missing_from_the_vault(donna: Donna, vault: Path) -> None:
    donna("index", "--space", vault)
    assert "missing from the vault" not in donna("status", "--space", vault).out
    for note in vault.rglob("*.md"):
        note.unlink()
    missing = (
        "! 4 indexed notes are missing from the vault: run donna index; if many are missing, it says how to confirm"
    )
    assert missing in donna("status", "--space", vault).out
    assert donna("status", "--json", "--space", vault).json["missing"] == 4


def test_status_names_the_process_that_holds_the_index_lock(donna: Donna, vault: Path) -> None:
    donna("index", "--space", vault)
    (folder,) = (donna.home / "state" / "spaces").iterdir()
    with SpaceLock(folder) as lock:
        assert lock.acquire("the Donna app")
        assert f"the Donna app (process {os.getpid()})" in donna("status", "--space", vault).out
        refused = donna("index", "--full", "--json", "--space", vault)
        assert (refused.code, refused.json["reason"]) == (3, "busy")
        busy = donna("doctor", "--repair", "--json", "--space", vault)
        assert busy.json["ok"] is True
        read_only = donna("search", "kestrel", "--json", "--space", vault)
        assert (read_only.code, read_only.json["count"], read_only.json["stale"]) == (0, 3, False)
        write(vault, "new.md", "kestrel chicks\n")
        behind = donna("search", "kestrel", "--json", "--space", vault)
        assert (behind.code, behind.json["count"], behind.json["stale"]) == (0, 3, True)
        assert "could not be updated in time; searching the index as it is" in behind.err


def test_doctor_finds_a_sound_index_and_no_model(donna: Donna, vault: Path) -> None:
    donna("index", "--space", vault)
    ran = donna("doctor", "--json", "--space", vault)
    states = {each["id"]: each["state"] for each in ran.json["findings"]}
    assert ran.code == 4
    assert states["index"] == states["vault"] == states["sqlite"] == states["folders"] == "ok"
    assert states["model"] == "warn"
    (problem,) = ran.json["problems"]
    assert problem["reason"] == "model_missing"


def test_doctor_without_any_vault(donna: Donna) -> None:
    ran = donna("doctor", "--json")
    assert ran.code == 4
    assert {"vault", "model"} == {each["id"] for each in ran.json["problems"]}


def test_doctor_finds_and_repairs_damage(donna: Donna, vault: Path) -> None:
    donna("index", "--space", vault)
    (path,) = index_files(donna)
    path.write_bytes(b"no database" * 1_000)
    for name in ("-wal", "-shm"):
        path.with_name(path.name + name).unlink(missing_ok=True)
    found = donna("doctor", "--json", "--space", vault)
    assert found.code == 5
    assert "database_corrupt" in {each["reason"] for each in found.json["problems"]}
    repaired = donna("doctor", "--repair", "--space", vault)
    assert repaired.code == 0
    assert "set aside" in repaired.out
    assert donna("search", "kestrel", "--space", vault).code == 0
    assert donna("doctor", "--space", vault).code == 4


def test_a_damaged_index_is_rebuilt_by_the_next_search(donna: Donna, vault: Path) -> None:
    donna("index", "--space", vault)
    (path,) = index_files(donna)
    path.write_bytes(b"no database" * 1_000)
    ran = donna("search", "kestrel", "--json", "--space", vault)
    assert (ran.code, ran.json["count"]) == (0, 3)


# Notes


def test_get_prints_a_note_as_it_is(donna: Donna, vault: Path) -> None:
    ran = donna("get", "Projects/gateway.md", "--space", vault)
    assert (ran.code, ran.out) == (0, (vault / "Projects/gateway.md").read_text())
    assert donna("get", "vault:Projects/gateway.md", "--space", vault).out == ran.out


def test_get_prints_some_lines(donna: Donna, vault: Path) -> None:
    assert donna("get", "Projects/gateway.md", "--from", "3", "--lines", "1", "--space", vault).out == "## Cache\n"
    data = donna("get", "Projects/gateway.md", "--from", "3", "--json", "--space", vault).json
    assert (data["start_line"], data["end_line"], data["total_lines"]) == (3, 4, 4)
    assert data["text"].startswith("## Cache\n")
    assert data["sections"][-1] == {"heading_path": ["Gateway", "Cache"], "start_line": 3, "end_line": 4}


@pytest.mark.parametrize("cited", ["Projects/gateway.md › Gateway › Cache : 3–4", "Projects/gateway.md:3-4"])
def test_get_prints_the_lines_of_a_citation(donna: Donna, vault: Path, cited: str) -> None:
    data = donna("get", cited, "--json", "--space", vault).json
    assert (data["path"], data["start_line"], data["end_line"]) == ("Projects/gateway.md", 3, 4)


def test_get_says_that_bytes_which_are_not_text_are_shown_otherwise(donna: Donna, vault: Path) -> None:
    (vault / "latin.md").write_bytes("Café\n".encode("latin-1"))
    ran = donna("get", "latin.md", "--json", "--space", vault)
    assert (ran.json["text"], ran.json["lossy"]) == ("Caf\ufffd", True)
    assert "shown as \ufffd" in ran.err
    ran = donna("get", "Projects/gateway.md", "--json", "--space", vault)
    assert (ran.json["lossy"], ran.err) == (False, "")


def test_get_beyond_the_end_is_empty(donna: Donna, vault: Path) -> None:
    ran = donna("get", "Projects/gateway.md", "--from", "99", "--json", "--space", vault)
    assert (ran.code, ran.json["text"]) == (0, "")
    assert ran.err == "donna: the note has only 4 lines\n"


@pytest.mark.parametrize("args", [("--from", "0"), ("--lines", "0"), ("--from", "x")])
def test_get_rejects_invalid_line_ranges(donna: Donna, vault: Path, args: tuple[str, ...]) -> None:
    assert donna("get", "Projects/gateway.md", *args, "--space", vault).code == 2


def name_of(value: object) -> str | None:
    return "long" if isinstance(value, str) and len(value) > 100 else None


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("none.md", "missing"),
        ("../outside.md", "path_escape"),
        ("/etc/passwd", "path_escape"),
        ("Projects/../../outside.md", "path_escape"),
        ("link.md", "path_escape"),
        ("photo.png", "not_markdown"),
        (".obsidian/app.md", "ignored"),
        ("folder.md", "not_regular"),
        ("big.md", "too_large"),
        ("zeros.md", "not_text"),
        ("x" * 5_000 + ".md", "too_long"),
        ("", None),
        ("\udcff.md", None),
    ],
    ids=name_of,
)
def test_refusals_have_a_reason_and_exit_code_3(donna: Donna, vault: Path, path: str, reason: str | None) -> None:
    write(vault.parent, "outside.md", "secret")
    (vault / "link.md").symlink_to(vault.parent / "outside.md")
    (vault / "folder.md").mkdir()
    write(vault, ".obsidian/app.md", "x")
    write(vault, "big.md", "x" * 3_000_000)
    write(vault, "zeros.md", b"\x00" * 1_000)
    ran = donna("get", "--json", "--space", vault, "--", path)
    assert (ran.code, ran.json["ok"]) == (3, False)
    assert reason in (None, ran.json["reason"])
    assert "secret" not in ran.out
    in_words = donna("get", "--space", vault, "--", path)
    assert (in_words.code, in_words.out) == (3, "")
    assert in_words.err.startswith("donna: ")


def test_index_json_reports_a_mass_disappearance(donna: Donna, vault: Path) -> None:
    before = donna("index", "--json", "--space", vault).json["problems"]
    assert "mass_disappearance" not in {each["reason"] for each in before}
    for note in vault.rglob("*.md"):
        note.unlink()
    ran = donna("index", "--json", "--space", vault)
    assert ran.code == 4
    assert "mass_disappearance" in {each["reason"] for each in ran.json["problems"]}
