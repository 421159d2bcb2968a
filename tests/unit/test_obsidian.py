"""Obsidian's vaults are found, and links to it are escaped."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

from donna_tui.vault.obsidian import DailyNote, daily_note, known_vaults, obsidian_uri

REGISTRIES = [
    ".config/obsidian",
    ".var/app/md.obsidian.Obsidian/config/obsidian",
    "snap/obsidian/current/.config/obsidian",
    "Library/Application Support/obsidian",
]


def register(folder: Path, content: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / "obsidian.json").write_text(text)


def vault(home: Path, name: str) -> Path:
    folder = home / "vaults" / name
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize("place", REGISTRIES)
def test_every_place_of_the_registry(tmp_path: Path, place: str) -> None:
    notes = vault(tmp_path, "Notes")
    register(tmp_path / place, {"vaults": {"1a": {"path": str(notes), "ts": 1, "open": True}}})
    assert known_vaults({"HOME": str(tmp_path)}) == [notes]


@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "APPDATA"])
def test_places_named_by_the_environment(tmp_path: Path, variable: str) -> None:
    notes = vault(tmp_path, "Notes")
    register(tmp_path / "elsewhere" / "obsidian", {"vaults": {"1a": {"path": str(notes), "ts": 1}}})
    environ = {"HOME": str(tmp_path), variable: str(tmp_path / "elsewhere")}
    assert known_vaults(environ) == [notes]


def test_existing_folders_once_and_the_last_opened_first(tmp_path: Path) -> None:
    old, new = vault(tmp_path, "Old"), vault(tmp_path, "New")
    (tmp_path / "file").write_text("x")
    paths = {"a": (old, 5), "b": (new, 9), "c": (tmp_path / "gone", 10), "d": (tmp_path / "file", 11)}
    content = {"vaults": {key: {"path": str(path), "ts": stamp} for key, (path, stamp) in paths.items()}}
    for place in REGISTRIES[:2]:
        register(tmp_path / place, content)
    assert known_vaults({"HOME": str(tmp_path)}) == [new, old]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "null",
        "[]",
        '{"vaults": 1}',
        '{"vaults": []}',
        '{"vaults": {"a": 1, "b": {}}}',
        "[" * 100_000,
        "\udcff",
    ],
)
def test_a_damaged_registry_lists_no_vaults(tmp_path: Path, content: str) -> None:
    folder = tmp_path / REGISTRIES[0]
    folder.mkdir(parents=True)
    (folder / "obsidian.json").write_bytes(os.fsencode(content))
    assert known_vaults({"HOME": str(tmp_path)}) == []


@pytest.mark.parametrize("path", ["", ".", "relative", "a\0b", "\ud800", "x" * 5000, "/" + "x" * 5000, 7, None])
def test_a_path_that_cannot_be_is_left_out(tmp_path: Path, path: object) -> None:
    notes = vault(tmp_path, "Notes")
    content = {"vaults": {"bad": {"path": path, "ts": 1}, "good": {"path": str(notes), "ts": 1}}}
    register(tmp_path / REGISTRIES[0], content)
    assert known_vaults({"HOME": str(tmp_path)}) == [notes]


@pytest.mark.parametrize("stamp", ["NaN", "-1", "1e999", "1" + "0" * 400, '"x"', "null", "true"])
def test_odd_stamps_are_no_error(tmp_path: Path, stamp: str) -> None:
    notes, last = vault(tmp_path, "Notes"), vault(tmp_path, "Last")
    odd, sound = (json.dumps(str(path)) for path in (notes, last))
    register(
        tmp_path / REGISTRIES[0],
        f'{{"vaults": {{"a": {{"path": {odd}, "ts": {stamp}}}, "b": {{"path": {sound}, "ts": 9}}}}}}',
    )
    assert known_vaults({"HOME": str(tmp_path)}) == [last, notes]


@pytest.mark.parametrize("name", ["a b.md", "C# [x] 100% ?&=.md", "日本.md", "a'\"\n.md", "bad\udcff.md"])
def test_links_to_a_note_are_escaped_whole(tmp_path: Path, name: str) -> None:
    scheme, _, path = obsidian_uri(tmp_path, f"folder/{name}").partition("?path=")
    assert scheme == "obsidian://open"
    assert path.isascii()
    assert not set(" #?&=/\"'\n") & set(path)
    assert unquote_to_bytes(path) == os.fsencode(tmp_path / "folder" / name)


def test_links_are_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert obsidian_uri(Path("vault"), "a.md") == obsidian_uri(tmp_path / "vault", "a.md")


def daily(vault: Path, settings: object) -> DailyNote:
    (vault / ".obsidian").mkdir(exist_ok=True)
    text = settings if isinstance(settings, str) else json.dumps(settings)
    (vault / ".obsidian/daily-notes.json").write_bytes(os.fsencode(text))
    return daily_note(vault, datetime(2026, 3, 5, 9, 7))


@pytest.mark.parametrize(
    ("settings", "path", "template"),
    [
        ({}, "2026-03-05.md", ""),
        ({"folder": "", "format": "", "template": "", "autorun": True}, "2026-03-05.md", ""),
        ({"folder": "/Journal/", "template": "Templates/Day"}, "Journal/2026-03-05.md", "Templates/Day.md"),
        ({"format": "YYYY/MM-MMMM/YYYY-MM-DD-dddd"}, "2026/03-March/2026-03-05-Thursday.md", ""),
        ({"format": "GGGG-[W]WW/MMMM Do"}, "2026-W10/March 5th.md", ""),
        ({"format": "[Day] D.M.YY, ddd MMM", "template": "Day.md"}, "Day 5.3.26, Thu Mar.md", "Day.md"),
    ],
)
def test_the_daily_note_is_that_of_obsidian(tmp_path: Path, settings: object, path: str, template: str) -> None:
    assert daily_note(tmp_path, datetime(2026, 3, 5)) == DailyNote("Daily/2026-03-05.md")
    assert daily(tmp_path, settings) == DailyNote(path, template)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"format": "gggg-[W]ww"}, "its date format has “gggg”, which is not supported"),
        ({"format": "MMMM Dx"}, "its date format has “x”, which is not supported"),
        ({"format": "DDD"}, "its date format has “DDD”, which is not supported"),
        ({"folder": "../elsewhere"}, "the path is outside the vault"),
        ({"format": "[../../x]"}, "the path is outside the vault"),
        ({"folder": ".obsidian/plugins"}, "a name that begins with a dot is hidden"),
        ({"folder": "a\nb"}, "the path contains a backslash or a control character"),
        ({"folder": "a?"}, "a new name must not contain “?”: Windows cannot open it"),
        ({"folder": "\ud800"}, "the name is not valid Unicode"),
        ({"folder": "x" * 300}, "a name in the path has more than 255 bytes"),
        ({"folder": "x" * 200_000}, "it cannot be parsed"),
        *((text, "it cannot be parsed") for text in ("", "{", "null", "[]", "[" * 90_000, "\udcff")),
    ],
)
def test_a_setting_that_is_not_safe_or_not_known_is_not_used(tmp_path: Path, settings: object, problem: str) -> None:
    assert daily(tmp_path, settings) == DailyNote("Daily/2026-03-05.md", problem=problem)


def test_the_setting_is_not_read_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/daily-notes.json").write_text('{"folder": "x"}')
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/.obsidian").symlink_to(tmp_path / "elsewhere")
    assert "symbolic link" in daily_note(tmp_path / "vault", datetime(2026, 3, 5)).problem
