"""Compute the bytes that git stores for a note whose attributes change them: line endings, `$Id$`, filters.

Conversions that need no program are computed here (convert.c of git 2.x). A note that needs a filter or another
encoding is refused: bypassing git-crypt, for example, would commit its plain text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from donna_tui.safety.terminal import clean_line
from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.git.objects import blob_id
from donna_tui.vault.git.repository import GitRepo, RefState, RepoLocation
from donna_tui.vault.git.trust import check_rule_files
from donna_tui.vault.write.changes import BlobChange, Change

_ATTRIBUTES = ("filter", "working-tree-encoding", "text", "eol", "crlf", "ident")
_NONE = frozenset({"unspecified", "unset", "set", ""})
_SYSTEM = ("/etc/gitattributes", "/usr/local/etc/gitattributes", "/opt/homebrew/etc/gitattributes")
_EXPANDED_ID = re.compile(rb"\$Id:[^$\n]*\$")
_LONE_CR = re.compile(rb"\r(?!\n)")
_NONPRINTABLE = re.compile(rb"[\x00-\x07\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_SETTINGS = ("core.attributesFile", "core.autocrlf", "GIT_ATTR_NOSYSTEM")
"""Read from the user's configuration here; every other call of git overrides them."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes and settings of git that determine how one file is stored."""

    filter: str = ""
    encoding: str = ""
    line_ends: str = "as they are"
    """`as they are`, `text` (CR LF is stored as LF), or `auto` (the same for text that has no CR LF in git)."""
    ident: bool = False


AS_IT_IS = Attributes()


def attributes_of(repo: GitRepo, location: RepoLocation, paths: Sequence[str]) -> Mapping[str, Attributes]:
    """Return the attributes of these vault paths, without those that are stored as they are. Runs no filter."""
    settings = repo.settings()
    autocrlf = settings.get("core.autocrlf", "false").lower()
    default = Attributes(line_ends="as they are" if autocrlf in ("false", "no", "off", "0") else "auto")
    folders = repo.rule_folders(paths)
    config = os.environ.get("XDG_CONFIG_HOME") or f"{os.environ.get('HOME', '/')}/.config"
    own = settings.get("core.attributesfile") or f"{config}/git/attributes"
    shared = [Path(each) for each in (own, *_SYSTEM)]
    rules = [file for file in (location.common_dir / "info/attributes", *shared) if os.path.lexists(file)]
    for rule in rules:
        check_rule_files([rule.parent], rule.name)
    if not check_rule_files(folders, ".gitattributes") and not rules:
        return {} if default == AS_IT_IS else dict.fromkeys(paths, default)
    given = b"".join(os.fsencode(path) + b"\0" for path in paths)
    command = ("check-attr", "-z", "--stdin", *_ATTRIBUTES)
    fields = repo.command.run(*command, given=given, literal=False, as_configured=_SETTINGS).output.split(b"\0")
    found: dict[str, dict[str, str]] = {}
    for path, name, value in zip(fields[0::3], fields[1::3], fields[2::3], strict=False):
        found.setdefault(os.fsdecode(path), {})[os.fsdecode(name)] = os.fsdecode(value)
    return {path: _attributes(values, default) for path, values in found.items()}


_LINE_ENDS = {"unset": "as they are", "set": "text", "input": "text", "auto": "auto"}


def _attributes(values: Mapping[str, str], default: Attributes) -> Attributes:
    encoding = values.get("working-tree-encoding", "")
    text = _LINE_ENDS.get(values.get("text", "")) or _LINE_ENDS.get(values.get("crlf", ""))
    return Attributes(
        filter="" if values.get("filter", "") in _NONE else values["filter"],
        encoding="" if encoding in _NONE or encoding.upper().replace("-", "") == "UTF8" else encoding,
        line_ends=text or ("text" if values.get("eol") in ("lf", "crlf") else default.line_ends),
        ident=values.get("ident") == "set",
    )


def why_not_stored(path: str, attributes: Attributes) -> VaultWriteError | None:
    """Return the reason why a note with these attributes cannot be committed, or None."""
    if attributes.filter:
        why = "the commit would contain plain text where the filter encrypts"
        name = clean_line(attributes.filter)
        message = f"git passes this note through the filter “{name}”, which Donna does not run: {why}"
        hint = "edit and commit it with your editor and git, or remove the filter in .gitattributes"
        return VaultWriteError(Reason.IGNORED_BY_GIT, message, hint=hint, path=path)
    if attributes.encoding:
        name = clean_line(attributes.encoding)
        message = f"git stores this note in the encoding {name} on disk, and Donna writes UTF-8"
        hint = "remove working-tree-encoding in .gitattributes"
        return VaultWriteError(Reason.ENCODING, message, hint=hint, path=path)
    return None


def stored(data: bytes, attributes: Attributes, indexed: bytes | None = None) -> bytes:
    """Return the bytes that git stores for a file; `auto` depends on `indexed`, the bytes that git has now."""
    if attributes.line_ends == "text":
        data = data.replace(b"\r\n", b"\n")
    elif attributes.line_ends == "auto" and not _is_binary(data):
        has_crlf = indexed is not None and b"\r\n" in indexed and not _is_binary(indexed)
        data = data if has_crlf else data.replace(b"\r", b"")
    return _EXPANDED_ID.sub(b"$Id$", data) if attributes.ident else data


def possible_forms(data: bytes) -> set[bytes]:
    """Return every form in which git may store these bytes without a filter, for any attributes."""
    forms = (AS_IT_IS, Attributes(line_ends="text"), Attributes(ident=True), Attributes(line_ends="text", ident=True))
    return {stored(data, form) for form in forms}


def _is_binary(data: bytes) -> bool:
    """Guess as git does whether bytes are binary: a lone CR, a NUL, or more than one non-printable byte in 128."""
    if b"\0" in data or _LONE_CR.search(data):
        return True
    odd = len(_NONPRINTABLE.findall(data))
    printable = len(data) - odd - data.count(b"\n") - data.count(b"\r")
    return printable >> 7 < odd - data.endswith(b"\x1a")


def stored_changes(
    repo: GitRepo, location: RepoLocation, tip: RefState, changes: Sequence[Change], rules: Mapping[str, Attributes]
) -> tuple[tuple[BlobChange, ...], list[bytes]]:
    """Return the changes by blob ids, on disk and as stored in the branch, and the bytes that only the branch has."""
    indexed = _indexed(repo, location, tip, changes, rules)
    found: list[BlobChange] = []
    extra: list[bytes] = []
    for change in changes:
        own, old = rules.get(change.path, AS_IT_IS), indexed.get(change.path)
        forms = [None if data is None else stored(data, own, old) for data in change.sides]
        ids = [None if data is None else blob_id(data, location.object_format) for data in (*change.sides, *forms)]
        found.append(
            BlobChange(
                path=change.path, before=ids[0], after=ids[1], mode=change.mode, owner=change.owner,
                stored_before=ids[2] if ids[2] != ids[0] else None, stored_after=ids[3] if ids[3] != ids[1] else None,
            )
        )  # fmt: skip
        extra += [forms[1]] if forms[1] is not None and forms[1] != change.after else []
    return tuple(found), extra


def _indexed(
    repo: GitRepo, location: RepoLocation, tip: RefState, changes: Iterable[Change], rules: Mapping[str, Attributes]
) -> dict[str, bytes | None]:
    """Return the branch's bytes of the notes whose `auto` conversion depends on them."""
    paths = [
        change.path
        for change in changes
        if rules.get(change.path, AS_IT_IS).line_ends == "auto"
        and any(data is not None and b"\r" in data for data in change.sides)
    ]
    if not paths or tip.commit is None:
        return {}
    known = {path: repo.blob_id(tip.commit, location.full(path)) for path in paths}
    images = repo.images(known.values())
    return {path: images.get(blob) for path, blob in known.items()}
