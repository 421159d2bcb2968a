"""A search in all spaces finds what other spaces contain, and changes nothing in them."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from donna_tui.config.load import load_config
from donna_tui.engine.engine import Engine
from donna_tui.engine.neighbours import _merged, _unique
from donna_tui.platform.paths import AppPaths
from donna_tui.platform.spaces import space_at
from donna_tui.search.citations import citation
from donna_tui.types.errors import VaultReadError
from donna_tui.types.search import Hit, SearchOutcome, SearchRequest
from tests.engine.helpers import hide_model, new_sandbox
from tests.git_vaults import write
from tests.tui.driving import hit

OTTER = "# Otters\n\nThe otter sleeps on its back.\n\n## Food\n\nAn otter eats sea urchins.\n"
EVERYWHERE = SearchRequest(text="otter", mode="keyword", everywhere=True)


class Home:
    """The folders of notes that one installation knows."""

    def __init__(self, folder: Path, paths: AppPaths) -> None:
        self._folder, self._paths = folder, paths

    def write(self, space: str, path: str, text: str) -> None:
        write(self._folder / space, path, text)

    def remove(self, space: str, path: str) -> None:
        (self._folder / space / path).unlink()

    @contextlib.asynccontextmanager
    async def open(self, space: str) -> AsyncIterator[Engine]:
        root = self._folder / space
        config = load_config(root=root).config
        engine = Engine(space_at(root, self._paths), config, self._paths, watch=False)
        await engine.start()
        try:
            await engine.sync()
            yield engine
        finally:
            await engine.stop()

    async def index(self, *spaces: str) -> None:
        for space in spaces:
            async with self.open(space):
                pass

    def state(self, space: str) -> Path:
        return self._paths.space_state(self._folder / space)

    def stored_files(self, space: str) -> dict[str, bytes]:
        """Return everything stored of a space, except for SQLite's files beside an open index."""
        files = (file for file in self.state(space).iterdir() if not file.name.endswith(("-wal", "-shm")))
        return {file.name: file.read_bytes() for file in files if file.is_file()}


@pytest.fixture
async def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    hide_model(monkeypatch)
    made = Home(tmp_path, new_sandbox(tmp_path / "home").paths)
    made.write("notes", "Animals/otter.md", OTTER)
    made.write("work", "Zoo/otter.md", "# Zoo\n\nThe otter needs a new pond.\n")
    await made.index("notes", "work")
    return made


def places(hits: tuple[Hit, ...]) -> set[tuple[str, str]]:
    return {(hit.space, hit.path) for hit in hits}


async def test_every_space_answers_with_its_name(home: Home) -> None:
    async with home.open("notes") as engine:
        outcome = await engine.search(EVERYWHERE)
    assert places(outcome.hits) == {("notes", "Animals/otter.md"), ("work", "Zoo/otter.md")}
    assert [hit.rank_score for hit in outcome.hits] == sorted((hit.rank_score for hit in outcome.hits), reverse=True)
    assert outcome.searched_notes == 2
    assert outcome.note.startswith("2 spaces")
    assert "work › Zoo/otter.md › Zoo : 1–3" in {citation(hit) for hit in outcome.hits}


async def test_only_the_open_space_answers_unless_asked(home: Home) -> None:
    async with home.open("notes") as engine:
        outcome = await engine.search(replace(EVERYWHERE, everywhere=False))
    assert places(outcome.hits) == {("", "Animals/otter.md")}


async def test_no_more_hits_than_asked_for(home: Home) -> None:
    async with home.open("notes") as engine:
        outcome = await engine.search(replace(EVERYWHERE, k=1))
    assert len(outcome.hits) == 1


async def test_hit_of_another_space_is_read_from_that_space(home: Home, tmp_path: Path) -> None:
    async with home.open("notes") as engine:
        outcome = await engine.search(EVERYWHERE)
        hit = next(hit for hit in outcome.hits if hit.space == "work")
        passage = await engine.passage(hit.path, hit.start_line, hit.end_line, hit.space)
        assert "new pond" in passage.text
        assert engine.absolute_path(hit.path, hit.space) == tmp_path / "work/Zoo/otter.md"
        assert engine.root_of(hit.space) == tmp_path / "work"
        with pytest.raises(VaultReadError):
            engine.absolute_path("../notes/a.md", hit.space)
        like = await engine.more_like(hit, EVERYWHERE)
        assert {each.space for each in like.hits} <= {"work"}


async def test_a_space_that_was_not_asked_is_not_read(home: Home) -> None:
    async with home.open("notes") as engine:
        with pytest.raises(VaultReadError):
            await engine.passage("Zoo/otter.md", 1, 1, "work")


async def test_spaces_with_the_same_name_get_a_numbered_suffix(home: Home) -> None:
    home.write("old/work", "otter.md", "# Older otter\n")
    await home.index("old/work")
    async with home.open("work") as engine:
        outcome = await engine.search(EVERYWHERE)
    assert {hit.space for hit in outcome.hits} == {"work", "work (2)", "notes"}


async def test_an_updated_index_of_another_space_is_read_again(home: Home) -> None:
    async with home.open("notes") as engine:
        assert await found(engine, "Zoo/new.md") is False
        home.write("work", "Zoo/new.md", "# New\n\nAnother otter.\n")
        await home.index("work")
        assert await found(engine, "Zoo/new.md") is True


async def found(engine: Engine, path: str) -> bool:
    outcome: SearchOutcome = await engine.search(EVERYWHERE)
    return path in {hit.path for hit in outcome.hits}


async def test_a_damaged_index_is_left_out_and_named(home: Home) -> None:
    for index in home.state("work").glob("index-*.db*"):
        index.write_bytes(b"no database at all" * 1000)
    async with home.open("notes") as engine:
        outcome = await engine.search(EVERYWHERE)
    assert places(outcome.hits) == {("notes", "Animals/otter.md")}
    assert "work cannot be read now" in outcome.note


async def test_nothing_is_written_in_the_other_spaces(home: Home) -> None:
    before = home.stored_files("work")
    async with home.open("notes") as engine:
        await engine.search(EVERYWHERE)
    assert before
    assert home.stored_files("work") == before


def test_unique_space_names_avoid_existing_suffixes() -> None:
    names = _unique(["notes", "notes (2)", "notes", "notes"])
    assert len(set(names)) == 4
    assert names[0] == "notes"


async def test_recreated_index_of_another_space_is_reopened(home: Home) -> None:
    async with home.open("notes") as engine:
        assert await found(engine, "Zoo/otter.md") is True
        shutil.rmtree(home.state("work"))
        home.write("work", "Zoo/only.md", "# Only\n\nAn otter.\n")
        home.remove("work", "Zoo/otter.md")
        await home.index("work")
        assert await found(engine, "Zoo/only.md") is True
        assert await found(engine, "Zoo/otter.md") is False


async def test_many_searches_at_once_open_each_space_once(home: Home) -> None:
    async with home.open("notes") as engine:
        outcomes = await asyncio.gather(*(engine.search(EVERYWHERE) for _ in range(20)))
    assert {frozenset(places(each.hits)) for each in outcomes} == {frozenset(places(outcomes[0].hits))}


def test_space_with_poor_hits_ranks_below_better_spaces() -> None:
    def answer(space: str, *scores: float) -> SearchOutcome:
        hits = tuple(
            replace(hit(f"{space}{rank}"), score=score, rank_score=0.9 - rank / 10, space=space)
            for rank, score in enumerate(scores)
        )
        return SearchOutcome(request=EVERYWHERE, mode="hybrid", hits=hits)

    good, poor = answer("notes", 0.7, 0.6), answer("work", 0.2)
    assert [each.space for each in _merged(good, [good, poor], []).hits] == ["notes", "notes", "work"]
