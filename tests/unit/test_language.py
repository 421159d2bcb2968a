"""Test the detection of vaults that are mostly not in English, for `donna doctor`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from donna_tui.index.generations import index_path
from donna_tui.ops.doctor import is_mostly_not_english
from tests.unit.index_parts import note, open_store

ENGLISH = (
    "We moved the sessions to the new store because it was slow in the drill, and nobody had to wait for it again."
)
GERMAN = (
    "Wir haben die Sitzungen in den neuen Speicher verschoben, weil der alte bei der Übung zu langsam war und niemand"
    " mehr darauf warten wollte."
)
FRENCH = (
    "Nous avons déplacé les sessions vers le nouveau dépôt, parce que l'ancien était trop lent pendant l'exercice et que"
    " personne ne voulait attendre."
)
JAPANESE = "訓練のあいだ古い保存先がとても遅かったので、セッションを新しい保存先に移しました。" * 4
CODE = "```python\nfor each in range(10):\n    print(each)\n```\n- [ ] call Ana"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([ENGLISH] * 6, False),
        ([GERMAN] * 6, True),
        ([FRENCH] * 6, True),
        ([JAPANESE] * 6, True),
        ([ENGLISH] * 6 + [GERMAN] * 5, False),
        ([ENGLISH] * 3 + [GERMAN, FRENCH, JAPANESE, GERMAN], True),
        ([GERMAN] * 4, False),
        ([CODE] * 20, False),
        ([], False),
    ],
)
def test_a_vault_is_judged_by_its_prose(tmp_path: Path, texts: Sequence[str], expected: bool) -> None:
    store = open_store(index_path(tmp_path, 1))
    for number, text in enumerate(texts):
        store.upsert(note(f"{number}.md", f"{text} {number}"))
    assert is_mostly_not_english(store.database) == expected
    store.database.close()
