"""What stands around a hit, whatever it is of: a note, a chat, a task or a memory."""

from __future__ import annotations

import asyncio

from donna_tui.index.documents import linking_to
from donna_tui.index.readers import Readers
from donna_tui.tools.passage import Passage, read_passage
from donna_tui.tools.remembered import read_remembered
from donna_tui.vault.client import VaultClient


async def passage_in(readers: Readers, client: VaultClient, path: str, lines: tuple[int, int]) -> Passage:
    """The section around some lines (1-based, inclusive), read from disk now, or what stands around a hit that is no
    note. Raises VaultReadError.
    """
    remembered = await readers.run(lambda database, _: read_remembered(database, path))
    if remembered and not remembered.note:
        return remembered.passage
    note, (first, last) = (remembered.note, remembered.lines) if remembered else (path, lines)
    links = await readers.run(lambda database, _: linking_to(database, note))
    return await asyncio.to_thread(read_passage, client, note, first, last, links)
