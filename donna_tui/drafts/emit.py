"""Writes the frontmatter of a draft from data, so that nothing in it can be anything but a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

WIDTH = 10_000
"""Characters beyond which a value would be folded: never, since Obsidian's own editor keeps one line a value."""


class _Dumper(yaml.SafeDumper):
    """Lists are set in from their key, as Obsidian writes them."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Never without an indent."""
        super().increase_indent(flow, False)


def _text(dumper: _Dumper, value: str) -> yaml.Node:
    style = '"' if _COMMAND in value or not _LINE_BREAKS.isdisjoint(value) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style)


_COMMAND = "<%"
"""What Templater runs, wherever it stands in a note; in a quoted value YAML can say it in other characters."""

_ESCAPED = "\\x3C%"

_LINE_BREAKS = frozenset("\r\x85\u2028\u2029")
"""Line breaks that a value loses where it stands without quotes: YAML reads each as a plain one."""

_Dumper.add_representer(str, _text)


def frontmatter_block(data: Mapping[str, Any]) -> str:
    """The block with its fences. Values are text, numbers, booleans, None, and lists and mappings of them."""
    body = yaml.dump(
        dict(data), Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=WIDTH
    )
    return f"---\n{body.replace(_COMMAND, _ESCAPED)}---\n"


def whole_note(data: Mapping[str, Any], body: str) -> str:
    """A note of its frontmatter and its body, with one line end at its end."""
    return f"{frontmatter_block(data)}{body.strip(chr(10))}\n"
