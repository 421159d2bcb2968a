"""Every note of the hostile vault is listed, read, classified and chunked as its manifest expects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.terminal import clean, clean_line
from donna_tui.text.chunker import Chunk, chunk_markdown
from donna_tui.text.markdown import split_sections
from donna_tui.text.tokens import EstimatedTokens
from donna_tui.types.errors import VaultReadError
from donna_tui.vault.client import ScannedFile, VaultClient, VaultNote
from tests.hostile import make_hostile_vault

IGNORED = (".obsidian/**", ".trash/**", ".git/**", "Templates/**", "node_modules/**")
UNFIT = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), 0x200B, 0x202E, 0x2066, 0x2028)}


class Hostile:
    """The hostile vault as the client sees it."""

    def __init__(self, folder: Path) -> None:
        self.root, manifest = make_hostile_vault(folder)
        self.cases: list[dict[str, Any]] = [case for case in manifest["cases"] if "not_created" not in case]
        self.client = VaultClient(self.root, ignore=IGNORED)
        self.entries: dict[str, ScannedFile] = {entry.path: entry for entry in self.client.scan()}
        self.notes = {path: self.client.read(path) for path in self.listed if self._readable(path)}

    @property
    def listed(self) -> list[str]:
        return [path for path, entry in self.entries.items() if entry.reason is None]

    def checks(self, name: str) -> list[tuple[VaultNote, Any]]:
        found = [(case["path"], case["checks"][name]) for case in self.cases if name in case.get("checks", {})]
        assert found, name
        return [(self.notes[path], wanted) for path, wanted in found]

    def _readable(self, path: str) -> bool:
        try:
            self.client.read(path)
        except VaultReadError:
            return False
        return True


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    return Hostile(tmp_path_factory.mktemp("hostile"))


def _chunks(note: VaultNote) -> list[Chunk]:
    return chunk_markdown(
        note.text, start=note.body_start, title=note.title, counter=EstimatedTokens(), max_tokens=256, overlap=32
    )


@pytest.mark.stress  # tests/engine/test_hostile.py does this with the beginning and end of the longest notes
def test_indexed_files_are_searchable_by_their_word(hostile: Hostile) -> None:
    wanted = [case for case in hostile.cases if case["expect"] in ("index", "lossy") and case["sentinel"]]
    lost = [case["path"] for case in wanted if case["path"] not in hostile.notes]
    assert not lost
    silent = [
        case["path"]
        for case in wanted
        if not any(case["sentinel"] in chunk.text for chunk in _chunks(hostile.notes[case["path"]]))
    ]
    assert not silent


def test_skipped_files_are_neither_listed_nor_read(hostile: Hostile) -> None:
    for case in hostile.cases:
        if case["expect"] != "skip" or case["path"] == "links/unreadable.md":
            continue
        assert case["path"] not in hostile.listed
        with pytest.raises(VaultReadError):
            hostile.client.read(case["path"])


def test_nothing_from_outside_the_vault_is_read(hostile: Hostile) -> None:
    everything = "".join(note.text for note in hostile.notes.values())
    assert "qzxoutside" not in everything
    assert not [path for path in hostile.listed if "outside" in path]


def test_skipped_files_say_why(hostile: Hostile) -> None:
    skipped = {path: entry for path, entry in hostile.entries.items() if entry.reason}
    assert {skipped[name].reason for name in ("links/outside file.md", "links/outside dir", "links/loop a")} == {
        "path_escape"
    }
    assert skipped["links/pipe.md"].reason == "not_regular"
    assert skipped["structure/5mb line.md"].reason == "too_large"
    assert skipped["names/plan.sync-conflict-20240501-101010-ABCDEFG.md"].reason == "conflict_copy"
    assert skipped["names/plan (conflicted copy 2024-05-01).md"].reason == "conflict_copy"
    assert all(entry.message for entry in skipped.values())


def test_paths_and_texts_can_be_stored_and_shown(hostile: Hostile) -> None:
    for path in hostile.entries:
        path.encode()
        assert not UNFIT & set(clean_line(path))
    for note in hostile.notes.values():
        assert "\0" not in note.text
        note.text.encode()
        assert "\n" not in note.title
        assert not UNFIT - {"\n"} & set(clean(note.text))


def test_heading_paths_are_complete(hostile: Hostile) -> None:
    for note, wanted in hostile.checks("heading_paths"):
        sections = split_sections(note.text, note.body_start)
        assert [list(each.heading_path) for each in sections if each.level] == wanted, note.path


def test_headings_of_hostile_notes_match_the_manifest(hostile: Hostile) -> None:
    for note, wanted in hostile.checks("has_headings"):
        assert set(wanted) <= _headings(note), note.path
    for note, unwanted in hostile.checks("not_headings"):
        assert not set(unwanted) & _headings(note), note.path


def _headings(note: VaultNote) -> set[str]:
    return {heading for section in split_sections(note.text, note.body_start) for heading in section.heading_path}


def test_titles_of_hostile_notes_match_the_manifest(hostile: Hostile) -> None:
    for note, wanted in hostile.checks("title"):
        assert note.title == wanted, note.path


def test_frontmatter_of_hostile_notes_matches_the_manifest(hostile: Hostile) -> None:
    for note, wanted in hostile.checks("frontmatter"):
        assert note.frontmatter.data == ({} if wanted == "ignored" else wanted), note.path


def test_sensitivity_of_hostile_notes_matches_the_manifest(hostile: Hostile) -> None:
    for note, wanted in hostile.checks("sensitive"):
        assert (note.sensitivity is not Sensitivity.PUBLIC) is wanted, note.path


def test_notes_with_sound_frontmatter_are_public(hostile: Hostile) -> None:
    for path, note in hostile.notes.items():
        if not note.frontmatter.problem and "sensitive" not in path and "local" not in path and "secrets" not in path:
            assert note.sensitivity is Sensitivity.PUBLIC, path


def test_twins_in_other_forms_are_two_notes(hostile: Hostile) -> None:
    names = [path for path in hostile.listed if path.startswith("names/Caf")]
    assert len(names) == 2
    assert "names/Note.md" in hostile.listed
    assert "names/note.md" in hostile.listed
