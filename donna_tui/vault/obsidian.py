"""Integrate with Obsidian: the vaults in its registry, its daily notes, and the URIs that open a note in it."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from donna_tui.text.dates import ordinal
from donna_tui.types.errors import DonnaError, Reason, VaultReadError
from donna_tui.vault.note.read import note_date
from donna_tui.vault.paths import VaultRoot
from donna_tui.vault.write.file_names import check_new_name, check_place

LARGEST_REGISTRY = 1_000_000
LATEST_STAMP = 1e15


def known_vaults(environ: Mapping[str, str]) -> list[Path]:
    """Return the existing vaults in Obsidian's registry, the most recently opened first; empty without Obsidian."""
    found: dict[Path, float] = {}
    for registry in _registries(environ):
        for root, opened in _read_registry(registry):
            if root.is_absolute() and os.path.isdir(root):  # noqa: PTH112 - unlike Path.is_dir, it never raises
                found[root] = max(opened, found.get(root, 0.0))
    return sorted(found, key=lambda root: (-found[root], str(root)))


def _registries(environ: Mapping[str, str]) -> list[Path]:
    home = Path(environ.get("HOME") or environ.get("USERPROFILE") or Path.home())
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    folders = [
        config / "obsidian",
        home / ".var/app/md.obsidian.Obsidian/config/obsidian",
        home / "snap/obsidian/current/.config/obsidian",
        home / "Library/Application Support/obsidian",
    ]
    if environ.get("APPDATA"):
        folders.append(Path(environ["APPDATA"]) / "obsidian")
    return [folder / "obsidian.json" for folder in folders]


def _read_registry(path: Path) -> list[tuple[Path, float]]:
    try:
        if path.stat().st_size > LARGEST_REGISTRY:
            return []
        vaults = json.loads(path.read_text(encoding="utf-8"))["vaults"]
        entries = list(vaults.values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []
    return [
        (Path(entry["path"]), _opened(entry.get("ts")))
        for entry in entries
        if isinstance(entry, dict) and isinstance(entry.get("path"), str)
    ]


def _opened(stamp: object) -> float:
    """Return the time at which a vault was opened, in Unix milliseconds; 0 if the registry has no valid number."""
    return float(stamp) if isinstance(stamp, int | float) and 0 <= stamp < LATEST_STAMP else 0.0


def obsidian_uri(root: Path, path: str) -> str:
    """Return the URI that opens a note in Obsidian. It has the absolute path, as two vaults may have the same name."""
    return f"obsidian://open?path={quote(os.fsencode((root / path).absolute()), safe='')}"


DAILY = "Daily"
"""The folder of daily notes without a setting of Obsidian."""

DAILY_SETTINGS = ".obsidian/daily-notes.json"
TEMPLATE_SETTINGS = (
    (".obsidian/templates.json", "folder"),
    (".obsidian/plugins/templater-obsidian/data.json", "templates_folder"),
)
LARGEST_SETTINGS = 100_000

_TOKEN = re.compile(r"\[([^\]]*)\]|(Do|([A-Za-z])\3*)")
_DATE_TOKENS = {
    "YYYY": "%Y", "YY": "%y", "GGGG": "%G", "WW": "%V", "MMMM": "%B", "MMM": "%b", "MM": "%m", "M": "{0.month}",
    "DDDD": "%j", "DD": "%d", "Do": "{1}", "D": "{0.day}", "dddd": "%A", "ddd": "%a",
}  # fmt: skip
_TOKENS = _DATE_TOKENS | {
    "HH": "%H", "H": "{0.hour}", "hh": "%I", "h": "{2}", "mm": "%M", "ss": "%S", "A": "%p", "a": "{3}",
}  # fmt: skip
"""Tokens of moment.js, with formats for `strftime`, or for `str.format` (`formatted`)."""


@dataclass(frozen=True, slots=True)
class DailyNote:
    """The note of a day. `template` is the path of its template, if any.

    `problem` is the reason why the setting of Obsidian is not used.
    """

    path: str
    template: str = ""
    problem: str = ""


def daily_note(root: Path, now: datetime) -> DailyNote:
    """Return the daily note of now, as set in Obsidian's core plugin “Daily notes”, else in the folder `Daily`."""
    usual = f"{DAILY}/{now:%Y-%m-%d}.md"
    try:
        settings = _settings(root, DAILY_SETTINGS)
        if settings is None:
            return DailyNote(usual)
        pattern = settings.get("format") or "YYYY-MM-DD"
        if unknown := unknown_token(pattern, _DATE_TOKENS):
            return DailyNote(usual, problem=f"its date format has “{unknown[:20]}”, which is not supported")
        path = f"{settings.get('folder', '').strip('/')}/{formatted(now, pattern)}.md".lstrip("/")
        check_place(path)
        check_new_name(path)
    except DonnaError as error:
        return DailyNote(usual, problem=error.message)
    template = settings.get("template", "").strip("/").removesuffix(".md")
    return DailyNote(path, f"{template}.md" if template else "")


def template_folders(root: Path) -> tuple[str, ...]:
    """Return the folders of templates that are set in Obsidian's core plugin “Templates” and in Templater."""
    folders = []
    for path, key in TEMPLATE_SETTINGS:
        with contextlib.suppress(DonnaError):
            folders.append((_settings(root, path) or {}).get(key, "").strip("/"))
    return tuple(filter(None, folders))


_TEMPLATES = re.compile(
    r"(?:^|/)[\W\d_]*(?:(?:my|obsidian|notes?|meetings?|daily)[\W_]+)?(?:templates?|vorlagen?)/", re.IGNORECASE
)
_TEMPLATE = re.compile(r"(?:(?:daily|meeting|note|person|project)[\W_]*)?(?:template|vorlage)", re.IGNORECASE)


def is_template(path: str, folders: Collection[str], *, has_fields: bool = False) -> bool:
    """Check whether a note is a template: in one of these folders, or in one called Templates or My Templates.

    A note without a day in its name is one, too, if it is called Template or has fields of templates.
    """
    if _TEMPLATES.search(path) or path.startswith(tuple(f"{folder}/" for folder in folders)):
        return True
    return bool(has_fields or _TEMPLATE.fullmatch(PurePosixPath(path).stem)) and not note_date({}, path, 0.0)


def _settings(root: Path, path: str) -> dict[str, str] | None:
    """Read settings of Obsidian, without values that are not text; None without a file. Raises DonnaError."""
    try:
        with VaultRoot(root).open(path) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
            found = json.loads(file.read(LARGEST_SETTINGS))
        return {name: value for name, value in found.items() if isinstance(value, str)}
    except VaultReadError as error:
        if error.reason is Reason.MISSING:
            return None
        raise
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise DonnaError(Reason.UNREADABLE, "it cannot be parsed") from error


def unknown_token(pattern: str, known: Collection[str] = frozenset(_TOKENS)) -> str:
    """Return the first token of a moment.js format that is not known; empty if there is none."""
    return next((token[0] for token in _TOKEN.finditer(pattern) if token[2] and token[2] not in known), "")


def formatted(now: datetime, pattern: str) -> str:
    """Format a time with moment.js tokens in English; other text is copied."""
    values = now, ordinal(now.day), now.hour % 12 or 12, now.strftime("%p").lower()

    def value(match: re.Match[str]) -> str:
        token = match[2]
        return match[1] if token is None else now.strftime(_TOKENS.get(token, token).format(*values))

    return _TOKEN.sub(value, pattern)
