"""After any changes to notes and the model, the index has exactly these notes, and one vector for each passage."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from donna_tui.index.documents import number_of_notes
from donna_tui.index.filters import Scope
from donna_tui.index.store import MemoryStore
from donna_tui.types.search import Filters
from tests.unit.index_parts import VERSION, cut, embed_all, note, open_store, vector_of

PATHS = ("a.md", "b.md", "c/a.md")
TEXTS = ("", "one\n", "one\n\n# Two\n\ntwo\n", "# Two\n\ntwo\n\n# Three\n\nthree\n")
path_of, text_of = st.sampled_from(PATHS), st.sampled_from(TEXTS)
WITH_VECTOR = "c.embedding_version NOT IN ('', 'failed')"


class Index(RuleBasedStateMachine):
    """An index and its expected content: the text of each note, and whether it is private."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.notes: dict[str, tuple[str, bool]] = {}
        self.store = self.opened(model=True, vec=True)
        for path in PATHS:
            self.put(path, TEXTS[-1], private=False)
        self.embed()

    def opened(self, *, model: bool, vec: bool) -> MemoryStore:
        self.model, self.vec = model, vec
        return open_store(self.folder / "index.db", vec=vec, version=VERSION if model else "")

    @rule(path=path_of, text=text_of, private=st.booleans())
    def put(self, path: str, text: str, private: bool) -> None:
        self.notes[path] = text, private
        self.store.upsert(note(path, text, sensitive=private))

    @rule(path=path_of)
    def delete(self, path: str) -> None:
        assert self.store.delete("vault", path) == (self.notes.pop(path, None) is not None)

    @rule(old=path_of, new=path_of)
    def rename(self, old: str, new: str) -> None:
        if old in self.notes and old != new:
            text, private = self.notes[new] = self.notes.pop(old)
            self.store.rename(old, note(new, text, sensitive=private))

    @rule()
    def embed(self) -> None:
        if self.model:
            embed_all(self.store)

    @rule()
    def fail(self) -> None:
        self.store.mark_failed([chunk.id for chunk in self.store.pending(1)])

    @rule()
    def retry(self) -> None:
        self.store.retry_failed()

    @rule()
    def forget_vectors(self) -> None:
        self.store.reindex()

    @rule()
    def tidy(self) -> None:
        self.store.tidy()

    @rule(vec=st.booleans())
    def start_without_the_model(self, vec: bool) -> None:
        self.start_again(model=False, vec=vec)

    @rule(vec=st.booleans())
    def start_with_the_model(self, vec: bool) -> None:
        self.start_again(model=True, vec=vec)
        self.embed()

    def start_again(self, *, model: bool, vec: bool) -> None:
        self.store.database.close()
        self.store = self.opened(model=model, vec=vec)

    @invariant()
    def holds_these_notes(self) -> None:
        rows = self.store.database.rows(
            "SELECT d.source_id, d.sensitive, c.content FROM memory_chunks c JOIN memory_documents d"
            " ON d.id = c.document_id ORDER BY d.source_id, c.start_line"
        )
        assert rows == [
            (path, int(private), chunk.text)
            for path, (text, private) in sorted(self.notes.items())
            for chunk in cut(note(path, text))
        ]

    @invariant()
    def knows_how_many_they_are(self) -> None:
        assert number_of_notes(self.store.database, "me") == len(self.notes)

    @invariant()
    def a_passage_that_counts_as_embedded_has_a_vector(self) -> None:
        assert not self.store.database.rows(
            f"SELECT c.id FROM memory_chunks c WHERE {WITH_VECTOR}"
            " AND embed_hash NOT IN (SELECT embed_hash FROM embeddings)"
        )

    @invariant()
    def each_vector_has_its_passage(self) -> None:
        if not (self.model and self.vec):
            return
        held = self.store.database.rows("SELECT chunk_id, sensitive FROM vec_memory_chunks ORDER BY chunk_id")
        assert held == self.store.database.rows(
            "SELECT c.chunk_id, d.sensitive FROM memory_chunks c JOIN memory_documents d ON d.id = c.document_id"
            f" WHERE {WITH_VECTOR} ORDER BY c.chunk_id"
        )

    @invariant()
    def a_search_finds_what_is_embedded_and_nothing_private_where_that_is_left_out(self) -> None:
        if not self.model:
            return
        database = self.store.database
        for sensitive in (None, False):
            scope = Scope(Filters(sensitive=sensitive))
            found = {match.id for match in self.store.vectors.search(database, vector_of("q"), scope, 100)}
            rows = database.rows(
                "SELECT c.id FROM memory_chunks c JOIN memory_documents d ON d.id = c.document_id"
                f" WHERE {WITH_VECTOR} AND (? IS NULL OR d.sensitive = ?)",
                (sensitive, sensitive),
            )
            assert found == {each for (each,) in rows}

    def teardown(self) -> None:
        self.store.database.close()
        shutil.rmtree(self.folder)


def run(examples: int, steps: int) -> None:
    limits = settings(max_examples=examples, stateful_step_count=steps, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(Index, settings=limits)


@pytest.mark.slow
@pytest.mark.parametrize("histories", [15, pytest.param(100, marks=pytest.mark.stress)])
def test_index_matches_the_model_after_forty_random_steps(histories: int) -> None:
    run(histories, 40)


@pytest.mark.stress
def test_index_matches_the_model_after_a_hundred_random_steps() -> None:
    run(1_000, 100)
