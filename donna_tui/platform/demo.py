"""Copy the demo vault shipped with Donna, and reuse the copy until it is changed."""

from __future__ import annotations

import filecmp
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from donna_tui.platform.paths import AppPaths, resource
from donna_tui.types.search import NameMatch

NAME = "demo-vault"

Drafts = Callable[[Path], Mapping[str, str] | None]
"""Return the waiting drafts of a demo vault, as written, by path; None if a person has decided on one.

Their properties depend on the calendar, so only the text below these shows whether one was edited.
"""


def no_drafts(folder: Path) -> Mapping[str, str] | None:
    """Return no drafts, for a vault of which only the notes are used."""
    return {}


def demo_folder(paths: AppPaths, drafts: Drafts = no_drafts) -> Path:
    """Choose the folder of the next demo vault. A copy that a person changed is left alone.

    Donna's own changes do not count: files known to `record_contents`, and drafts that wait unchanged.
    """
    base = paths.state / NAME
    candidates = (base, *(base.with_name(f"{NAME}-{number}") for number in range(2, 1000)))
    return next(candidate for candidate in candidates if not candidate.exists() or _is_unchanged(candidate, drafts))


def make_demo(folder: Path) -> Path:
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(_template(), folder)
    return folder


def demo_notes(folder: Path) -> tuple[NameMatch, ...]:
    """List the notes of a demo vault for the first frame, newest first."""
    notes = [(file.stat().st_mtime, path) for path, file in _files(folder) if file.suffix == ".md"]
    return tuple(NameMatch.of_file(path, at) for at, path in sorted(notes, reverse=True))


def has_record(folder: Path) -> bool:
    return _record(folder).exists()


def record_contents(folder: Path, drafts: Drafts = no_drafts) -> None:
    """Record the current files of a demo vault as Donna's own, except waiting drafts."""
    waiting = drafts(folder) or {}
    own = {path: _digest(file) for path, file in _files(folder) if path not in waiting}
    contents = {"template": _digest_of_template(), "files": own}
    _record(folder).write_text(json.dumps(contents, ensure_ascii=False), encoding="utf-8", errors="surrogateescape")


def _is_unchanged(folder: Path, drafts: Drafts) -> bool:
    if not has_record(folder):
        return _is_same(filecmp.dircmp(_template(), folder, ignore=[".git"]))
    try:
        recorded = json.loads(_record(folder).read_text(encoding="utf-8", errors="surrogateescape"))
        recorded_files, template = dict(recorded["files"]), recorded["template"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    waiting = drafts(folder)
    if waiting is None or template != _digest_of_template():
        return False
    current = dict(_files(folder))
    return recorded_files.keys() <= current.keys() and all(
        _digest(file) == recorded_files[path] if path in recorded_files else _is_draft(file, waiting.get(path))
        for path, file in current.items()
    )


def _is_draft(file: Path, text: str | None) -> bool:
    return text is not None and _body(file.read_text(encoding="utf-8", errors="surrogateescape")) == _body(text)


def _body(text: str) -> str:
    head, mark, body = text.partition("\n---\n")
    return body if mark and head.startswith("---\n") else text


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder)
        if path.parts[0] != ".git" and file.is_file():
            yield path.as_posix(), file


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _digest_of_template() -> str:
    digest = hashlib.sha256()
    for path, file in _files(_template()):
        digest.update(f"{path}\0{_digest(file)}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _template() -> Path:
    return resource("vault_templates", "demo")


def _record(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.json")


def _is_same(comparison: filecmp.dircmp[str]) -> bool:
    differs = comparison.left_only or comparison.right_only or comparison.diff_files or comparison.funny_files
    return not differs and all(_is_same(subdir) for subdir in comparison.subdirs.values())
