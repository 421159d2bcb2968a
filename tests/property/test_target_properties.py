"""A path is a target exactly if an independent oracle says so, and then it is below the vault."""

from __future__ import annotations

import ntpath
import os
import posixpath
import random
import re
import unicodedata
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.include import GlobSet
from donna_tui.vault.paths import VaultRoot
from donna_tui.vault.write.file_names import check_new_name, check_target, find_twin
from tests.examples import examples

ALLOWLIST = ("Inbox", "Über")
IGNORED_FOLDER, IGNORED_NOTE = "Templates", "*.private.md"
IGNORE = GlobSet([f"{IGNORED_FOLDER}/**", IGNORED_NOTE])

INVISIBLE = (
    "\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u206a\u206b\u206c\u206d\u206e\u206f\ufeff"  # HFS+ ignores
    "\u00ad\u061c\u180e\u200b\u2060\u2061\u2066\u2069\ufff9"
)
NAMES = [
    *(
        "Inbox",
        "Über",
        "inbox",
        "Inbox.",
        "Projects",
        "Templates",
        "U\u0308ber",
        "a",
        "b c",
        "note.md",
        "Note.MD",
        "x.markdown",
    ),
    *("x.txt", "x.md~", "x.md.tmp", "~syncthing~x.md", "#x#", "a.private.md", "x.sync-conflict-20240102-030405.md"),
    *(
        "",
        ".",
        "..",
        "...",
        ".git",
        ".md",
        "．git",
        "\u200c.git",
        "…",
        "~",
        "~x",
        "git~1",
        "GIT~1 ",
        "a~1.md",
        "longish~1.md",
    ),
    *(
        "C:",
        "c:x.md",
        "\\",
        "..\\x.md",
        "\0",
        "\n",
        "\x85",
        "\ud800",
        "e\u0301.md",
        "\u00e9.md",
        "NUL.md",
        "a:b.md",
        "w?.md",
        "d.",
    ),
    *("n" * 252 + ".md", "n" * 256, "ü" * 127, "ü" * 128, "n" * 200, "日本.md", "👩\u200d👧.md"),
]
KEEPER = "keeps the folder from being removed"
LETTERS = "aAz09.~:/\\ -#é*?" + "\0\n\x1b\u0301\u2024．" + INVISIBLE


def paths(seed: int, count: int) -> Iterator[str]:
    """Generate paths of likely parts, of slightly altered parts, and of noise."""
    chance = random.Random(seed)
    for _ in range(count):
        parts = [chance.choice(NAMES) for _ in range(chance.choice((0, 1, 1, 2, 2, 3, 7)))]
        if chance.random() < 0.7:
            parts = [chance.choice(("Inbox", "Über")), *parts]
        if chance.random() < 0.6:
            parts.append(chance.choice(("note.md", "é.md", "b c.markdown")))
        path = "/".join(parts)
        for _ in range(chance.choice((0, 0, 1, 3))):
            at = chance.randint(0, len(path))
            path = path[:at] + chance.choice(LETTERS) + path[at + chance.randint(0, 1) :]
        yield path


def objections(path: str) -> set[Reason]:
    """Return everything that is wrong with a path."""
    found = set()
    if leaves(path) or any(is_hidden(part) or is_short_name(part) for part in path.split("/")):
        found.add(Reason.PATH_ESCAPE)
    if any(unicodedata.category(each) == "Cs" for each in path):
        found.add(Reason.ENCODING)
    raw = path.encode("utf-8", "surrogatepass")
    if len(raw) > 1024 or max(map(len, raw.split(b"/"))) > 255:
        found.add(Reason.TOO_LONG)
    name = posixpath.basename(path)
    if os.path.splitext(f"x{name}")[1].lower() not in (".md", ".markdown"):
        found.add(Reason.NOT_MARKDOWN)
    folders_and_name = PurePosixPath(path).parts
    if IGNORED_FOLDER in folders_and_name or any(fnmatchcase(part, IGNORED_NOTE) for part in folders_and_name):
        found.add(Reason.IGNORED)
    if (
        is_copy(name)
        or name.lower().endswith(("~", ".tmp"))
        or name.lower().startswith("~syncthing~")
        or (name[:1] == name[-1:] == "#" and len(name) > 1)
    ):
        found.add(Reason.IGNORED)
    if not path.startswith(tuple(f"{folder}/" for folder in ALLOWLIST)):
        found.add(Reason.OUTSIDE_ALLOWLIST)
    return found


def is_copy(name: str) -> bool:
    """Return whether Syncthing would name a conflict copy so, perhaps with a device and a file manager's number."""
    stem, dot, _ = name.lower().rpartition(".")
    head, mark, rest = stem.rpartition(".sync-conflict-")
    if rest.endswith(")"):
        number = rest[:-1].rpartition(" (")[2]
        rest = rest[: -len(number) - 3] if 1 <= len(number) <= 3 and is_digits(number) else rest
    date, time, *device = rest.split("-")[:3] if rest.count("-") in (1, 2) else ("", "")
    is_device = not device or (1 <= len(device[0]) <= 8 and device[0].isascii() and device[0].isalnum())
    is_date = len(date) == 8 and len(time) == 6 and is_digits(date + time)
    return bool(dot and mark and head.strip(". \t\r\n\v\f") and is_date and is_device)


def is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def leaves(path: str) -> bool:
    """Return whether a path leads out of the root in the plainest sense, on Unix or Windows."""
    windows = PureWindowsPath(path)
    return (
        posixpath.normpath(path) != path
        or path in (".", "..")
        or path.startswith("../")
        or posixpath.isabs(path)
        or bool(windows.drive or windows.root or ntpath.splitdrive(path)[0])
        or path[:1] == "~"
        or "\\" in path
        or any(unicodedata.category(each) == "Cc" for each in path)
    )  # fmt: skip


def is_hidden(part: str) -> bool:
    seen = part.translate(dict.fromkeys(map(ord, INVISIBLE)))
    return any(unicodedata.normalize(form, seen)[:1] == "." for form in ("NFC", "NFKC"))


def is_short_name(part: str) -> bool:
    seen = unicodedata.normalize("NFKC", part.translate(dict.fromkeys(map(ord, INVISIBLE))))
    seen = seen.split(":")[0]
    while seen.endswith((".", " ")):
        seen = seen[:-1]
    stem, _, ending = seen.partition(".")
    head, tilde, number = stem.partition("~")
    is_number = number != "" and all(each in "0123456789" for each in number)
    fits = len(stem) <= 8 and len(head) in range(1, 7) and len(ending) <= 3 and "." not in ending
    return bool(tilde) and is_number and fits and " " not in head


def verdict(path: str) -> Reason | None:
    try:
        assert check_target(path, allowlist=ALLOWLIST, ignore=IGNORE) == path.split("/")
    except VaultWriteError as error:
        return error.reason
    return None


def is_target(path: str) -> bool:
    """Return whether Donna accepts a path as a target, and check that against the oracle."""
    wrong, found = objections(path), verdict(path)
    assert found in wrong if found else not wrong, f"{path!a} is {found}, not {wrong}"
    return found is None


def check_that_it_lands_below(root: Path, path: str) -> None:
    target = f"{root}/{path}"
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "x"):
        assert os.path.realpath(target) == target
        relative = os.path.relpath(target, root)
        assert relative == path
        assert not any(part.startswith(".") for part in Path(relative).parts)
    os.remove(target)
    os.removedirs(os.path.dirname(target))


def check_many(root: Path, seed: int, count: int) -> None:
    accepted = {path for path in paths(seed, count) if is_target(path)}
    assert len(accepted) > count / 200
    for path in accepted:
        check_that_it_lands_below(root, path)
    assert (os.listdir(root.parent), os.listdir(root)) == ([root.name], [KEEPER])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault = tmp_path / "home" / "vault"
    vault.mkdir(parents=True)
    (vault / KEEPER).touch()
    return vault


@pytest.mark.cases(2)
@pytest.mark.parametrize("seed", range(4))
def test_target_check_agrees_with_the_oracle(root: Path, seed: int) -> None:
    check_many(root, seed, 5_000)


@pytest.mark.stress
@pytest.mark.parametrize("seed", range(100, 120))
def test_target_check_agrees_with_the_oracle_for_many_paths(root: Path, seed: int) -> None:
    check_many(root, seed, 50_000)


@examples(1_000)
@given(path=st.text(st.characters(exclude_categories=("Cf",)) | st.sampled_from(LETTERS), max_size=40))
def test_target_check_does_not_raise_for_any_text(path: str) -> None:
    is_target(path)
    is_target(f"Inbox/{path}")
    is_target(f"Inbox/{path}/note.md")
    is_target(f"Inbox/{path}.md")


@examples(500)
@given(
    part=st.text(
        st.sampled_from('CONULPTcon19¹<>:"|?*. aé') | st.characters(exclude_categories=("Cs", "Cc")),
        min_size=1,
        max_size=8,
    )
)
def test_a_new_name_is_refused_exactly_if_windows_changes_or_reserves_it(part: str) -> None:
    try:
        check_new_name(f"Inbox/{part}/note.md")
        refused = False
    except VaultWriteError:
        refused = True
    if "/" not in part and "\\" not in part:
        changed = part.rstrip(". ") != part or set(part) & set('<>:"|?*')
        device = re.fullmatch(r"(?i)(con|prn|aux|nul|conin[$]|conout[$]|(com|lpt)[1-9¹²³]) *([.].*)?", part, re.DOTALL)
        assert refused == bool(changed or device)


@examples(200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(st.text("aAéÉe\u0301sSßẞıİ", min_size=1, max_size=3), min_size=2, max_size=6, unique=True))
def test_find_twin_is_symmetric_and_ignores_the_name_itself(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("names")
    alone, *others = names
    (folder / alone).touch()
    twins = {other: find_twin(VaultRoot(folder), other) for other in others}
    assert find_twin(VaultRoot(folder), alone) is None
    for other, twin in twins.items():
        assert twin in (alone, None)
        if unicodedata.normalize("NFC", alone).upper() == unicodedata.normalize("NFC", other).upper():
            assert twin == alone
        (folder / other).touch()
        assert (find_twin(VaultRoot(folder), alone) == other) == (twin == alone)
        (folder / other).unlink()
