"""Which paths Donna may write to, as a table; and which existing files count as the same path."""

from __future__ import annotations

import os
import unicodedata
from itertools import product
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason, VaultReadError, VaultWriteError
from donna_tui.vault.include import GlobSet
from donna_tui.vault.paths import VaultRoot
from donna_tui.vault.write.file_names import check_composed, check_new_name, check_target, find_twin

ALLOWLIST = ("Inbox", "Projects", "Über", "Q&A (2024)")
IGNORE = GlobSet([".obsidian/**", "node_modules/**", "Templates/**", "*.private.md", "Inbox/raw/*.md"])

FOLDERS = ("Inbox", "Inbox/deep/er", "Projects/2024 Q1", "Über", "Q&A (2024)")
NOTES = """
    note.md NOTE.MD Note.Markdown two.dots.md dash-under_score.md 007.md #tag.md [x].md ^caret.md @home.md a&b.md
    100%.md (x).md {y}.md $z.md it's.md a~b.md ~a.md git~x.md longername~1.md git~1more.md über.md 日本語.md Ελλάδα.md
    👩‍👩‍👧.md -rf.md --help.md +1.md =x.md a,b.md a;b.md !.md CON.md nul.md trailing..md a:b.md what?.md a|b.md
""".split()  # fmt: skip
SPACED = (" leading.md", "inner space.md", "before end .md", "a\u00a0b.md", "e\u0338.md")

ABSOLUTE = r"""
    / /etc/passwd /Inbox/a.md //server/share/a.md ~ ~/a.md ~root/a.md ~a.md C: C:a.md C:/a.md c:/Inbox/a.md z:\a.md
    \ \a.md \\server\share\a.md \\?\C:\a.md \Inbox\a.md
""".split()  # fmt: skip
ESCAPING = [
    *(".", "..", "", ".git", ".GIT", ".obsidian", ".trash", "...", "..x", ".a b", ".md"),
    *("git~1", "GIT~1", "Git~2", "git~1.", "git~1 ", "git~1. .", "git~1:x", "git~1::$INDEX_ALLOCATION", "OBSIDI~1"),
    *("GI7EBA~1", "TRASH~1", "a~1", "a~1.ab", "a~123456", "ｇｉｔ~1", "g\u200cit~1"),
    *("\u200c.git", "\ufeff.git", "\u202e.git", "\u206a.git", "\u00ad.git", "\u2060.git", "\u200d\u200c.x"),
    *("．git", "\u2024git", "\u2025", "…and then", "﹒git", "\u200c．git"),
    *("a\\b", "..\\x", "a\0b", "a\nb", "a\rb", "a\tb", "a\x1b[2Jb", "a\x7fb", "a\x85b", "a\x9bb"),
]
NOT_MARKDOWN = """
    note note.txt note.md.txt note.mdx note.markdow note.html note.canvas note.exe md note.md5 note.md- .md/x notemd
    note.ｍd
""".split()  # fmt: skip
IGNORED = [
    "Inbox/node_modules/a.md", "node_modules/a.md", "Templates/a.md", "Inbox/Templates/a.md", "Inbox/x/Templates/y/z.md",
    "Inbox/Templates", "Inbox/a.private.md", "Inbox/x/y.private.md", "Inbox/raw/a.md", "Projects/Inbox/raw/a.md",
    "Inbox/a.md~", "Inbox/a.md.tmp", "Inbox/a.tmp", "Inbox/a.md.icloud", "Inbox/a.swp", "Inbox/a.md.part", "Inbox/#a.md#",
    "Inbox/~syncthing~a.md.tmp", "Inbox/~syncthing~a.md", "Inbox/a.sync-conflict-20240102-030405-ABCDEFG.md",
    "Inbox/a (conflicted copy).md", "Inbox/a (Eva's conflicted copy 2024-01-02).md", "Inbox/a (Conflicted Copy 2).md",
]  # fmt: skip
OUTSIDE = """
    a.md Inbox.md inbox/a.md INBOX/a.md Inbox2/a.md Inbo/a.md Other/a.md Other/Inbox/a.md Projects-old/a.md *.md */a.md
    über/a.md Uber/a.md Inbox*/a.md Q&A/a.md
""".split()  # fmt: skip
ENCODING = ["a\ud800.md", "\udcff.md"]
DECOMPOSED = ["a\u0308.md", "e\u0301.md", "\u212b.md", "\u212a.md", "\u1100\u1161.md", "a\u0323\u0307\u0302.md"]
LONG = {
    "a" * 252 + ".md": None,
    "a" * 253 + ".md": Reason.TOO_LONG,
    "ü" * 126 + ".md": None,
    "ü" * 127 + ".md": Reason.TOO_LONG,
    "a" * 255 + "/x.md": None,
    "a" * 256 + "/x.md": Reason.TOO_LONG,
    "/".join(["b" * 100] * 10) + "/12345.md": None,
    "/".join(["b" * 100] * 10) + "/123456.md": Reason.TOO_LONG,
    "b/" * 600 + "x.md": Reason.TOO_LONG,
    "e\u0301" * 500_000 + ".md": Reason.TOO_LONG,
}

TABLE: dict[str, Reason | None] = {
    **{f"{folder}/{note}": None for folder, note in product(FOLDERS, [*NOTES, *SPACED])},
    **dict.fromkeys(ABSOLUTE, Reason.PATH_ESCAPE),
    **{f"{part}/a.md": Reason.PATH_ESCAPE for part in ESCAPING},
    **{f"Inbox/{part}/a.md": Reason.PATH_ESCAPE for part in ESCAPING},
    **{f"Inbox/b/{part}": Reason.PATH_ESCAPE for part in ESCAPING},
    **{f"{folder}/{note}": Reason.NOT_MARKDOWN for folder, note in product(FOLDERS, NOT_MARKDOWN) if note != ".md/x"},
    "Inbox/.md/x": Reason.PATH_ESCAPE,
    "Inbox": Reason.NOT_MARKDOWN,
    **dict.fromkeys(IGNORED, Reason.IGNORED),
    **dict.fromkeys(["Inbox /a.md", " Inbox/a.md", *OUTSIDE], Reason.OUTSIDE_ALLOWLIST),
    **{f"Inbox/{name}": Reason.ENCODING for name in ENCODING},
    **{f"Inbox/{name.removesuffix('.md')}/x.md": Reason.ENCODING for name in ENCODING},
    **{f"Inbox/{name}": None for name in DECOMPOSED},
    **{f"Inbox/{name}": reason for name, reason in LONG.items()},
}


def verdict(path: str, *, allowlist: tuple[str, ...] = ALLOWLIST) -> Reason | None:
    try:
        parts = check_target(path, allowlist=allowlist, ignore=IGNORE)
    except VaultWriteError as error:
        return error.reason
    assert "/".join(parts) == path
    return None


def test_target_table_has_enough_cases() -> None:
    assert len(TABLE) >= 400


@pytest.mark.parametrize("reason", [None, *sorted({reason for reason in TABLE.values() if reason})])
def test_target_table_paths_get_the_expected_verdict(reason: Reason | None) -> None:
    paths = [path for path, expected in TABLE.items() if expected is reason]
    assert {path: verdict(path) for path in paths} == dict.fromkeys(paths, reason)


def test_a_star_in_the_allowlist_allows_every_folder_and_the_top() -> None:
    for path in ("a.md", "Other/a.md", "inbox/x/y.md"):
        assert verdict(path, allowlist=("*",)) is None
        assert verdict(path, allowlist=()) is Reason.OUTSIDE_ALLOWLIST
    assert verdict(".git/a.md", allowlist=("*",)) is Reason.PATH_ESCAPE


def test_path_of_a_refusal_can_be_printed() -> None:
    with pytest.raises(VaultWriteError) as caught:
        check_target("Inbox/\udcff.md", allowlist=ALLOWLIST, ignore=IGNORE)
    assert (caught.value.path, caught.value.message) == ("Inbox/\\udcff.md", "the name is not valid Unicode")


@pytest.mark.parametrize("name", DECOMPOSED)
def test_a_new_name_is_composed_and_an_existing_one_may_be_otherwise(name: str) -> None:
    check_composed(f"Inbox/{name}", {name})
    for path in (f"Inbox/{name}", f"Inbox/{name}/x.md"):
        with pytest.raises(VaultWriteError) as caught:
            check_composed(path, {"Inbox", "x.md"})
        assert caught.value.reason is Reason.ENCODING
        assert caught.value.hint == f"use the name “{unicodedata.normalize('NFC', path)}”"


NO_NEW_NAMES = {
    **{f"Inbox/a{character}b.md": character for character in '<>:"|?*'},
    **{f"Inbox/x{character}/b.md": character for character in '<>:"|?*'},
    **{
        f"Inbox/{word}.md": word
        for word in ("CON", "con", "Prn", "aux", "NUL", "COM1", "com9", "LPT1", "lpt9", "COM¹", "LPT³")
    },
    **{f"Inbox/{word}/x.md": word for word in ("CON", "nul", "Aux", "CONIN$", "conout$", "COM5", "Lpt2", "com²")},
    **{f"Inbox/{name}": "NUL" for name in ("NUL.tar.md", "NUL .md", "NUL", "NUL  .x.md")},
    "CON/x.md": "CON",
    "Inbox./x.md": "dot",
    "Inbox /x.md": "space",
    "Inbox/x../y.md": "dot",
    "Inbox/x.md.": "dot",
    "Inbox/x.md ": "space",
    "Inbox/x . /y.md": "space",
}


@pytest.mark.parametrize(("path", "named"), NO_NEW_NAMES.items())
def test_new_names_that_windows_cannot_hold(path: str, named: str) -> None:
    with pytest.raises(VaultWriteError) as caught:
        check_new_name(path)
    assert caught.value.reason is Reason.PATH_ESCAPE
    assert named in caught.value.message


@pytest.mark.parametrize(
    "name",
    [
        "console",
        "con1",
        "COM",
        "COM0",
        "COM10",
        "com\u2074",
        "nullable",
        "xCON",
        "CON-x",
        "a.con",
        "LPT",
        "aux_",
        "é",
        " x",
        "~",
        "#^[]",
    ],
)
def test_new_names_that_every_system_can_hold(name: str) -> None:
    check_new_name(f"Inbox/{name}.md")
    check_new_name(f"{name}/x.md")


@pytest.fixture
def root(tmp_path: Path) -> VaultRoot:
    for path in (
        "Inbox/Note.md",
        "Inbox/sub/\u00e9t\u00e9.md",
        "Inbox/sub/e\u0301.md",
        "Straße/x.md",
        "Both/a.md",
        "Both/A.md",
        "file",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / "Folder.md").mkdir()
    (tmp_path / "link").symlink_to("Inbox")
    return VaultRoot(tmp_path)


@pytest.mark.parametrize(
    ("path", "twin"),
    [
        ("Inbox/Note.md", None),
        ("Inbox/other.md", None),
        ("New/note.md", None),
        ("Inbox/new/note.md", None),
        ("Inbox/note.md", "Inbox/Note.md"),
        ("Inbox/NOTE.MD", "Inbox/Note.md"),
        ("inbox/other.md", "Inbox"),
        ("INBOX/note.md", "Inbox"),
        ("Inbox/Sub/x.md", "Inbox/sub"),
        ("Inbox/sub/x.md", None),
        ("Inbox/sub/e\u0301te\u0301.md", "Inbox/sub/\u00e9t\u00e9.md"),
        ("Inbox/sub/\u00c9T\u00c9.md", "Inbox/sub/\u00e9t\u00e9.md"),
        ("Inbox/sub/\u00e9.md", "Inbox/sub/e\u0301.md"),
        ("STRASSE/x.md", "Straße"),
        ("Both/a.md", "Both/A.md"),
        ("Both/A.md", "Both/a.md"),
        ("folder.MD", "Folder.md"),
        ("file/x.md", None),
        ("FILE/x.md", "file"),
        ("LINK", "link"),
    ],
)
def test_find_twin_detects_equivalent_names(root: VaultRoot, path: str, twin: str | None) -> None:
    assert find_twin(root, path) == twin


def test_the_note_that_moves_is_no_twin(root: VaultRoot) -> None:
    assert find_twin(root, "Inbox/note.md", besides=["Inbox/Note.md"]) is None
    assert find_twin(root, "inbox/note.md", besides=["Inbox/Note.md"]) == "Inbox"
    assert find_twin(root, "Inbox/note.md", besides=["Inbox/other.md"]) == "Inbox/Note.md"


def test_no_link_is_followed_to_look_for_twins(root: VaultRoot) -> None:
    with pytest.raises(VaultReadError) as caught:
        find_twin(root, "link/note.md")
    assert caught.value.reason is Reason.PATH_ESCAPE


def test_a_twin_in_a_missing_vault_is_refused(tmp_path: Path) -> None:
    with pytest.raises(VaultReadError) as caught:
        find_twin(VaultRoot(tmp_path / "gone"), "a.md")
    assert caught.value.reason is Reason.ROOT_MISSING


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_refused(root: VaultRoot) -> None:
    folder = root.path / "Inbox"
    folder.chmod(0o300)
    try:
        with pytest.raises(VaultReadError) as caught:
            find_twin(root, "Inbox/x.md")
    finally:
        folder.chmod(0o700)
    assert caught.value.reason is Reason.UNREADABLE
