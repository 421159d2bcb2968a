"""Notes are found by the words of their properties."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.helpers import new_sandbox, open_engine

pytestmark = pytest.mark.usefixtures("alone")

BOOK = "---\nauthor: {author}\nsource: https://example.org/tolstoy\n---\nLabyrinths, mirrors, libraries.\n"


async def test_a_note_is_found_by_its_properties_until_they_change(tmp_path: Path) -> None:
    sandbox = new_sandbox(tmp_path)
    sandbox.write("Ficciones.md", BOOK.format(author="'[[People/Jorge Luis Borges]]'"))
    sandbox.write("Dinner.md", "We cooked for eight.\n")
    async with open_engine(sandbox, watch=False, semantic=False) as running:

        async def found(question: str) -> list[str]:
            return [hit.path for hit in (await running.search(question)).hits]

        await running.engine.sync()
        assert await found("books by Jorge Luis Borges") == await found("labyrinths borges") == ["Ficciones.md"]
        (book,) = (await running.search("books by Jorge Luis Borges")).hits
        assert book.snippet.text == "author: People/Jorge Luis Borges · Labyrinths, mirrors, libraries."
        assert await found("tolstoy") == await found("people") == []
        sandbox.write("Ficciones.md", BOOK.format(author="unknown"))
        await running.engine.sync()
        assert await found("borges") == []
        assert await found("unknown") == ["Ficciones.md"]
