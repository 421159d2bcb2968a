"""Merge the frontmatter of a new text into that of the note it replaces, changing only the bytes of changed keys."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from donna_tui.text.lines import each_line
from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.note.read import parse_frontmatter
from donna_tui.vault.note.yaml import YamlNode, top_level_nodes

_BOM = "\ufeff"
_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANK = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*+")
"""The rest of a line and whole lines that hold nothing but comments."""

_COLON = re.compile(r"[ \t]*:")
_MERGE_KEY = "<<"
_COMMENT_BEHIND = re.compile(r"[ \t]*(#[^\r\n]*)")
_COMMENT_OF_KEY = re.compile(r"[ \t]*:(?:[ \t]+[|>][-+\d]*)?[ \t]+(#[^\r\n]*)")
_WITHOUT_END = re.compile(r"---[ \t]*(?:\r\n|\r|\n)[^\s#:][^\r\n:]*:(?:[ \t\r\n]|\Z)")
"""A fence and a “key:” line: text that looks like frontmatter."""

_CORRECT_NOTE = "correct the note’s frontmatter in an editor, then write again"
_CORRECT_TEXT = "correct the frontmatter of the new text, then write again"


def merge_frontmatter(existing: str, incoming: str) -> str:
    """Return the text to write when `incoming` replaces the note `existing`: its body, under the frontmatter of both.

    Keys that `incoming` does not name are kept; null removes a key; any other value replaces the old one in the source
    form of `incoming`, or is appended. A key whose value is equal keeps its bytes, as do comments, order, line endings
    and byte order mark of the note. Without frontmatter in `incoming`, the note's is kept whole. Raises VaultWriteError
    (`invalid_frontmatter`) if the result would be uncertain.
    """
    before = _split(existing.removeprefix(_BOM), "the note", _CORRECT_NOTE)
    incoming = incoming.removeprefix(_BOM)
    is_wholly_crlf = 0 < existing.count("\r\n") == existing.count("\n") == existing.count("\r")
    if is_wholly_crlf and "\r" not in incoming:
        incoming = incoming.replace("\n", "\r\n")
    after = _split(incoming, "the new text", _CORRECT_TEXT)
    base = before if before.is_present else after
    wanted = _patch(before.data, after.data)
    head = base.opening + _edit(base, after, wanted) + base.closing
    needs_line_end = head and after.body and head[-1] not in "\r\n"
    merged = head + (base.line_end if needs_line_end else "") + after.body
    _check(merged, base.is_present, wanted, after.body)
    return _BOM + merged if existing.startswith(_BOM) else merged


@dataclass(frozen=True, slots=True)
class _Note:
    """A text split at its fence lines; without frontmatter all of it is body."""

    opening: str
    block: str
    closing: str
    body: str
    data: dict[str, Any]

    @property
    def is_present(self) -> bool:
        return bool(self.opening)

    @property
    def line_end(self) -> str:
        match = _LINE_END.search(self.opening)
        return match[0] if match else ""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A “key: value” entry of `block`, by offsets, from the comment lines above it to the end of its last line."""

    block: str
    comment: int
    key: int
    key_end: int
    value: int
    value_end: int
    end: int
    is_linked: bool

    @property
    def is_on_one_line(self) -> bool:
        """Return whether the value fits between its key and a comment, which an empty block scalar does not."""
        return self.block[self.value] not in "|>" and not _LINE_END.search(self.block, self.key, self.value_end)


def _split(text: str, whose: str, hint: str) -> _Note:
    found = parse_frontmatter(text)
    if found.problem:
        raise _refusal(f"in {whose}, {found.problem}", hint)
    if not found.present:
        if _WITHOUT_END.match(text):
            raise _refusal(f"in {whose}, the frontmatter has no closing line", hint)
        return _Note("", "", "", text, {})
    lines = list(each_line(text[: found.body_start]))
    start, end = lines[0][2], lines[-1][0]
    return _Note(text[:start], text[start:end], text[end : found.body_start], text[found.body_start :], found.data)


def _patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    wanted = dict(old)
    for key, value in new.items():
        if key in old and _is_same(old[key], value):
            continue
        if value is None:
            wanted.pop(key, None)
        else:
            wanted[key] = value
    return wanted


def _is_same(one: object, other: object) -> bool:
    """Compare as JSON does: in Python, `True == 1`."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _edit(base: _Note, source: _Note, wanted: Mapping[str, Any]) -> str:
    """Edit the block of `base` to hold the wanted values; new ones are taken from the block of `source`."""
    changed = [key for key, value in base.data.items() if key not in wanted or not _is_same(value, wanted[key])]
    added = [key for key in wanted if key not in base.data]
    if not changed and not added:
        return base.block
    old, new = _entries(base), _entries(source)
    concerned = [old[key] for key in changed] + [new[key] for key in (*changed, *added) if key in wanted]
    if any(entry.is_linked for entry in concerned):
        raise _refusal("a key that changes has an anchor or an alias (“&” or “*”) in its value", _CORRECT_NOTE)
    pieces, at = [], 0
    for key in changed:
        start, end, text = _replace(old[key], new[key]) if key in wanted else (old[key].key, old[key].end, "")
        pieces += [base.block[at:start], _LINE_END.sub(base.line_end, text)]
        at = end
    pieces.append(base.block[at:])
    pieces += [_LINE_END.sub(base.line_end, new[key].block[new[key].comment : new[key].end]) for key in added]
    return "".join(pieces)


def _replace(old: _Entry, new: _Entry) -> tuple[int, int, str]:
    """Return the span of the old block to replace, and its replacement. A comment on the line of the key is kept."""
    if old.is_on_one_line and new.is_on_one_line:
        space = " " if old.block[old.value - 1] == ":" else ""
        return old.value, old.value_end, space + new.block[new.value : new.value_end]
    key = old.block[old.key : old.key_end]
    return old.key, old.end, _comment_line(old) + key + new.block[new.key_end : new.end]


def _comment_line(entry: _Entry) -> str:
    """Return the comment on the line of a key as a separate line, for a value of several lines."""
    if entry.is_on_one_line:
        match = _COMMENT_BEHIND.match(entry.block, entry.value_end)
    else:
        match = _COMMENT_OF_KEY.match(entry.block, entry.key_end)
    return f"{match[1]}\n" if match else ""


def _entries(note: _Note) -> dict[str, _Entry]:
    """Return the top-level entries of the block. Raises VaultWriteError if they are not plain unindented lines."""
    nodes = top_level_nodes(note.block)
    entries: list[_Entry] = []
    at = 0
    for key, value in zip(nodes[::2], nodes[1::2], strict=True):
        entries.append(_entry(note.block, at, key, value))
        at = entries[-1].end
    if len(entries) != len(note.data) or not _BLANK.fullmatch(note.block, at):
        raise _no_plain_lines()
    return dict(zip(note.data, entries, strict=True))


def _entry(block: str, at: int, key: YamlNode, value: YamlNode) -> _Entry:
    """Parse the entry whose key is the first thing, except comments, after the line start `at`."""
    line_end = _LINE_END.search(block, value.end)
    end = value.end if block[value.end - 1] in "\r\n" or not line_end else line_end.end()
    is_plain = (
        _BLANK.fullmatch(block, at, key.start)
        and _COLON.match(block, key.end, value.start)
        and _BLANK.fullmatch(block, value.end, end)
        and block[key.start : key.end] != _MERGE_KEY
    )
    if not is_plain:
        raise _no_plain_lines()
    comment = _comment_above(block, at, key.start)
    is_linked = key.is_linked or value.is_linked
    return _Entry(block, comment, key.start, key.end, value.start, value.end, end, is_linked)


def _comment_above(block: str, start: int, end: int) -> int:
    """Return the start of the run of unindented comment lines that ends at `end`, or `end` if there is none."""
    comment = end
    for line, _, _ in each_line(block[start:end]):
        if block[start + line] != "#":
            comment = end
        elif comment == end:
            comment = start + line
    return comment


def _check(merged: str, is_present: bool, wanted: Mapping[str, Any], body: str) -> None:
    """Raise VaultWriteError if a text does not parse to the wanted values, including the order of the keys."""
    found = parse_frontmatter(merged)
    if found.problem:
        raise _refusal(f"after the change, {found.problem}", _CORRECT_NOTE)
    is_equal = found.present == is_present and json.dumps(found.data) == json.dumps(wanted)
    if not is_equal or merged[found.body_start :] != body or merged.startswith(_BOM):
        raise _refusal("the two texts cannot be merged without changing a value", _CORRECT_NOTE)


def _no_plain_lines() -> VaultWriteError:
    return _refusal("the frontmatter does not consist of plain “key: value” lines", _CORRECT_NOTE)


def _refusal(message: str, hint: str) -> VaultWriteError:
    return VaultWriteError(Reason.INVALID_FRONTMATTER, message, hint=hint)
