"""Links to people: to their page where there is one, else to their bare name, which Obsidian shows as unresolved."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterable

from donna_tui.drafts.emit import whole_note
from donna_tui.drafts.plain import can_be_linked, inline, words_only
from donna_tui.errors import DonnaError, VaultReadError
from donna_tui.vault.changes import Change
from donna_tui.vault.client import VaultClient
from donna_tui.vault.planner import Planner
from donna_tui.vault.seen import expecting
from donna_tui.vault.targets import EVERYWHERE

FOLDER = "People"
ACTOR = "donna"
LONGEST_NAME = 80
MOST_STUBS = 50

_BARE_LINK = re.compile(r"(?<!!)\[\[([^\[\]|#^/\\\n]{1,80})\]\]")


def resolve_person_link(name: str, vault_client: VaultClient) -> str:
    """`[[People/Name]]` if that note is there, `[[Name]]` if not; a name that no link can hold stays words."""
    plain = words_only(name, LONGEST_NAME)
    if not can_be_linked(plain):
        return inline(name, LONGEST_NAME)
    try:
        vault_client.stat(f"{FOLDER}/{plain}.md")
    except VaultReadError:
        return f"[[{plain}]]"
    return f"[[{FOLDER}/{plain}]]"


def ensure_person_stubs(text: str, client: VaultClient, planner: Planner, allowlist: Collection[str]) -> list[Change]:
    """A page for each bare `[[Name]]` of a note that names nothing in the vault, to be written together with the note.

    None where `People` is no folder that Donna may write to, and none for a name that cannot be a file.
    """
    if not {FOLDER, EVERYWHERE} & set(allowlist):
        return []
    known = {path.rsplit("/", 1)[-1].removesuffix(".md").casefold() for path in client.list()}
    wanted = {name.casefold(): name for name in reversed(list(_names(text)))}
    names = [name for folded, name in reversed(wanted.items()) if folded not in known][:MOST_STUBS]
    found: list[Change] = []
    for name in names:
        with contextlib.suppress(DonnaError):
            found += planner.write(f"{FOLDER}/{name}.md", _stub(name), seen=expecting(None)).changes
    return found


def _names(body: str) -> Iterable[str]:
    return dict.fromkeys(name.strip() for name in _BARE_LINK.findall(body) if can_be_linked(name.strip()))


def _stub(name: str) -> str:
    return whole_note({"type": "person", "name": name, "stub": True, "autowritten_by": ACTOR}, f"# {inline(name)}\n")
