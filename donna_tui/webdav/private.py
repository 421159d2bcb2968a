"""Which files are private: no client gets them unless their owner says so; who is behind one cannot be told."""

from __future__ import annotations

import os
from threading import Lock

from donna_tui.errors import DonnaError
from donna_tui.safety.classify import Sensitivity, classify
from donna_tui.vault.client import NOTE_ENDINGS, decode
from donna_tui.vault.frontmatter import parse_frontmatter
from donna_tui.vault.paths import VaultRoot
from donna_tui.webdav.arrival import Item

MOST_KNOWN = 100_000
"""Files of which it is remembered whether they are private."""


class PrivateFiles:
    """Tells private files. What was found holds for as long as a file does not change. All threads may ask.

    Backups and conflict copies of a note are as private as it is, so every text is looked at. A note that cannot be
    judged is private.
    """

    def __init__(self, root: VaultRoot, *, max_bytes: int, key: str) -> None:
        self._root, self._max_bytes, self._key = root, max_bytes, key
        self._known: dict[tuple[str, str], bool] = {}
        self._lock = Lock()

    def __call__(self, item: Item) -> bool:
        version = item.path, item.etag
        with self._lock:
            known = self._known.get(version)
        if known is None:
            known = self._is_private(item)
            with self._lock:
                if len(self._known) >= MOST_KNOWN:
                    self._known.clear()
                self._known[version] = known
        return known

    def _is_private(self, item: Item) -> bool:
        in_doubt = item.path.lower().endswith(NOTE_ENDINGS)
        if item.size > self._max_bytes:
            return in_doubt
        try:
            with self._root.open(item.path) as descriptor, open(descriptor, "rb", closefd=False) as file:
                if not item.is_still(os.fstat(descriptor)):
                    return True  # of a version that is gone nobody reads a word
                text, _ = decode(file.read(self._max_bytes))
        except (DonnaError, OSError):
            return in_doubt
        front = parse_frontmatter(text)
        metadata = front.data if front.present else None
        return classify(metadata, text, key=self._key, broken=bool(front.problem)) is not Sensitivity.PUBLIC
