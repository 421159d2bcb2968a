"""Check the paths that Donna may write to: below the vault, visible, Markdown, allowed, and valid on every system."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Collection, Sequence

from donna_tui.text.plural import first_of
from donna_tui.types.errors import Reason, VaultReadError, VaultWriteError
from donna_tui.vault.client import NOTE_ENDINGS, TEMPORARY
from donna_tui.vault.conflicts import is_conflict_copy
from donna_tui.vault.include import GlobSet
from donna_tui.vault.paths import LONGEST_NAME, WITHIN, VaultRoot, check_relative, outside, refused

LONGEST_TARGET = 1_024
"""Maximum bytes of a path: the smallest limit of the systems that a vault is synced to (PATH_MAX of macOS)."""

EVERYWHERE = "*"
"""Allowlist entry for every folder and the top of the vault."""

_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")
_DRIVE = re.compile(r"[A-Za-z]:")
_SHORT_NAME = re.compile(r"(?=.{3,8}(?:\.|$))[^. ~]{1,6}~[0-9]{1,6}(?:\.[^.]{0,3})?", re.DOTALL)
"""The 8.3 form of a name, by which NTFS and FAT open another file: `git~1` is `.git`."""

_WINDOWS_CHARACTER = re.compile(r'[<>:"|?*]')
_WINDOWS_DEVICES = frozenset(
    {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}
    | {f"{port}{number}" for port in ("COM", "LPT") for number in "123456789¹²³"}
)
"""Source: https://learn.microsoft.com/windows/win32/fileio/naming-a-file, and `os.path.isreserved` of Python 3.13."""

WITHOUT_DOT = "choose names without a dot at the beginning"
NAMED_FOLDERS = 20
"""Maximum number of folders that an error message names."""


def check_target(path: str, *, allowlist: Sequence[str], ignore: GlobSet, copies: bool = False) -> list[str]:
    """Split and check a vault-relative path that Donna may create or change; with `copies`, allow conflict copies.

    Checks the name alone and touches no file. Raises VaultWriteError: `path_escape`, `encoding`, `too_long`,
    `not_markdown`, `ignored` or `outside_allowlist`.
    """
    parts = check_place(path)
    if ignore.matches(path):
        raise _refusal(Reason.IGNORED, path, "the path is ignored", hint="see vault.ignore_globs")
    if TEMPORARY.search(parts[-1]):
        raise _refusal(Reason.IGNORED, path, "this is the name of a temporary file")
    if not path.lower().endswith(NOTE_ENDINGS):
        message = "a note's name ends with .md or .markdown"
        raise _refusal(Reason.NOT_MARKDOWN, path, message, hint="add .md to the name")
    if not copies and is_conflict_copy(parts[-1]):
        raise _refusal(Reason.IGNORED, path, "this is the name of a conflict copy left by a sync program")
    _check_allowed(path, parts, allowlist)
    return parts


def check_place(path: str) -> list[str]:
    """Split and check a vault-relative path that is not hidden on any system, whatever file it names.

    Checks the name alone and touches no file. Raises VaultWriteError: `path_escape`, `encoding` or `too_long`.
    """
    parts = path.split("/")
    _check_below(path, parts)
    _check_length(path, parts)
    for part in parts:
        _check_visible(path, part)
    return parts


def check_new_name(path: str) -> None:
    """Raise VaultWriteError (`path_escape`) for a new path that is invalid on Windows; existing files may have one."""
    for part in path.split("/"):
        match = _WINDOWS_CHARACTER.search(part)
        word = part.partition(".")[0].rstrip(" ")
        if match:
            message = f"a new name must not contain “{match[0]}”: Windows cannot open it"
            raise _refusal(Reason.PATH_ESCAPE, path, message)
        if word.upper() in _WINDOWS_DEVICES:
            raise _refusal(Reason.PATH_ESCAPE, path, f"“{word}” cannot be a new name: Windows reserves it for a device")
        if part.endswith((".", " ")):
            end = "dot" if part.endswith(".") else "space"
            raise _refusal(Reason.PATH_ESCAPE, path, f"a new name must not end with a {end}: Windows removes it")


def check_composed(path: str, existing: Collection[str]) -> None:
    """Raise VaultWriteError (`encoding`) if a part of a new path is not in the composed form of Unicode (NFC).

    `existing` are the parts that are not new: macOS names files in the decomposed form. The length must be checked
    before, since normalising a very long sequence of accents takes quadratic time.
    """
    parts = (part if part in existing else unicodedata.normalize("NFC", part) for part in path.split("/"))
    if (composed := "/".join(parts)) != path:
        message = "the name is not in the composed form of Unicode (NFC)"
        raise _refusal(Reason.ENCODING, path, message, hint=f"use the name “{composed}”")


def find_twin(root: VaultRoot, path: str, *, besides: Collection[str] = ()) -> str | None:
    """Return an existing file or folder along `path` whose name differs only in case or Unicode form, or None.

    Some systems treat both as one. `besides` are notes and folders about to be moved away. Raises VaultReadError.
    """
    parts = check_relative(path)
    for depth, part in enumerate(parts):
        names = _names(root, parts[:depth])
        alike = sorted(name for name in names if name != part and folded(name) == folded(part))
        twin = next((twin for name in alike if (twin := "/".join([*parts[:depth], name])) not in besides), None)
        if twin:
            return twin
        if part not in names:
            return None
    return None


def _check_below(path: str, parts: list[str]) -> None:
    if _DRIVE.match(path):
        raise _refusal(Reason.PATH_ESCAPE, path, "the path begins like a Windows drive: a letter and “:”", hint=WITHIN)
    if misplaced := outside(path, parts):
        raise _refusal(Reason.PATH_ESCAPE, path, misplaced, hint=WITHIN)
    if path.startswith("~"):
        raise _refusal(Reason.PATH_ESCAPE, path, "the path begins with “~”, as that of a home folder does", hint=WITHIN)
    if _UNSAFE.search(path):
        raise _refusal(Reason.PATH_ESCAPE, path, "the path contains a backslash or a control character", hint=WITHIN)


def _check_length(path: str, parts: list[str]) -> None:
    try:
        sizes = [len(part.encode()) for part in parts]
    except UnicodeEncodeError as error:
        raise _refusal(Reason.ENCODING, path, "the name is not valid Unicode") from error
    if max(sizes) > LONGEST_NAME:
        raise _refusal(Reason.TOO_LONG, path, f"a name in the path has more than {LONGEST_NAME} bytes")
    if sum(sizes) + len(sizes) - 1 > LONGEST_TARGET:
        raise _refusal(Reason.TOO_LONG, path, f"the path has more than {LONGEST_TARGET:,} bytes")


def _check_visible(path: str, part: str) -> None:
    """Check that a part is not hidden, not even on a system that ignores format characters or folds wide ones."""
    bare = "".join(character for character in part if unicodedata.category(character) != "Cf")
    bare = unicodedata.normalize("NFKC", bare)
    if bare.startswith("."):
        raise _refusal(Reason.PATH_ESCAPE, path, "a name that begins with a dot is hidden", hint=WITHOUT_DOT)
    if _SHORT_NAME.fullmatch(bare.partition(":")[0].rstrip(". ")):
        raise _refusal(Reason.PATH_ESCAPE, path, f"“{part}” is a Windows short name of another file")


def _check_allowed(path: str, parts: list[str], allowlist: Sequence[str]) -> None:
    top, *below = parts
    if EVERYWHERE in allowlist or path in allowlist or (below and top in allowlist):
        return
    where = f"in the folder “{top}”" if below else "at the top of the vault"
    message = f"Donna is not allowed to write {where}"
    allowed = first_of(allowlist, NAMED_FOLDERS) or "nowhere"
    hint = f"allowed: {allowed}; safety.path_allowlist in your settings changes that"
    raise _refusal(Reason.OUTSIDE_ALLOWLIST, path, message, hint=hint)


def _names(root: VaultRoot, folder: list[str]) -> list[str]:
    try:
        with root.open_folder(folder) as descriptor, os.scandir(descriptor) as found:
            return [entry.name for entry in found]
    except OSError as error:
        raise refused(error) from error
    except VaultReadError as error:
        if error.reason is Reason.MISSING:
            return []
        raise


def folded(name: str) -> str:
    """Fold a name for canonical caseless matching, Unicode 15 §3.13, D145."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


def _refusal(reason: Reason, path: str, message: str, *, hint: str | None = None) -> VaultWriteError:
    printable = path.encode("utf-8", "backslashreplace").decode()
    return VaultWriteError(reason, message, hint=hint, path=printable)
