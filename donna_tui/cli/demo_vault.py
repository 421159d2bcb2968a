"""Copy the demo vault shipped with Donna, and reuse the copy until it is changed."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from donna_tui.platform.paths import AppPaths, resource
from donna_tui.types.search import NameMatch

NAME = "demo-vault"


def demo_folder(paths: AppPaths) -> Path:
    """Choose the folder of the next demo vault. A copy that a person changed is left alone.

    Donna's own changes do not count: files known to `record_contents`, and drafts that wait unchanged.
    """
    base = paths.state / NAME
    candidates = (base, *(base.with_name(f"{NAME}-{number}") for number in range(2, 1000)))
    return next(candidate for candidate in candidates if not candidate.exists() or _is_unchanged(candidate, paths))


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


def record_contents(folder: Path, drafts: Collection[str]) -> None:
    """Record the current files of a demo vault as Donna's own, except these drafts."""
    own = {path: digest for path, digest in _digests(folder).items() if path not in drafts}
    contents = {"template": _digest_of_template(), "files": own}
    _record(folder).write_text(json.dumps(contents, ensure_ascii=False), encoding="utf-8", errors="surrogateescape")


def _is_unchanged(folder: Path, paths: AppPaths) -> bool:
    from donna_tui.cli.demo import drafts_in

    if (own_files := _own_files(folder)) is None or (drafts := drafts_in(paths.space_state(folder))) is None:
        return False
    current = _digests(folder)
    return own_files.keys() <= current.keys() and all(
        digest == own_files[path] if path in own_files else _is_draft(folder / path, drafts.get(path))
        for path, digest in current.items()
    )


def _own_files(folder: Path) -> dict[str, str] | None:
    """Return the digests of Donna's own files; None if their record is damaged, or the template was another one."""
    if not has_record(folder):
        return _digests(_template())
    try:
        recorded = json.loads(_record(folder).read_text(encoding="utf-8", errors="surrogateescape"))
        return dict(recorded["files"]) if recorded["template"] == _digest_of_template() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_draft(file: Path, text: str | None) -> bool:
    """Return whether a file is a draft as written. Only its text counts, as its properties depend on the calendar."""
    return text is not None and _body(file.read_text(encoding="utf-8", errors="surrogateescape")) == _body(text)


def _body(text: str) -> str:
    head, mark, body = text.partition("\n---\n")
    return body if mark and head.startswith("---\n") else text


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder)
        if path.parts[0] != ".git" and file.is_file():
            yield path.as_posix(), file


def _digests(folder: Path) -> dict[str, str]:
    return {path: hashlib.sha256(file.read_bytes()).hexdigest() for path, file in _files(folder)}


def _digest_of_template() -> str:
    joined = "".join(f"{path}\0{digest}\0" for path, digest in _digests(_template()).items())
    return hashlib.sha256(joined.encode("utf-8", "surrogateescape")).hexdigest()


def _template() -> Path:
    return resource("vault_templates", "demo")


def _record(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.json")
