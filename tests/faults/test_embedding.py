"""If a model fails on a passage, its note is reported, the others are embedded, and keyword search finds them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from donna_tui.ingest import embedding_queue as embeddings
from donna_tui.types.errors import Reason
from donna_tui.types.events import NoteEmbedded, NoteFailed
from tests.engine.helpers import Running, Sandbox, eventually, hide_model, index_once, new_sandbox, open_engine
from tests.engine.providers import Fault, FaultyModel, crash, not_a_number, refuse, serve


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    hide_model(monkeypatch)
    sandbox = new_sandbox(tmp_path)
    for number in range(6):
        sandbox.write(f"{number}.md", f"# Note {number}\n\nquokka{number}\n")
    sandbox.write("bad.md", "# Bad\n\nnightshade is what the model cannot take\n")
    return sandbox


def check(sandbox: Sandbox, running: Running) -> None:
    """Check that one note failed with a reason, and that the other six are embedded."""
    failed = running.events_of(NoteFailed)
    assert {event.path for event in failed} == {"bad.md"}
    assert failed[0].reason is Reason.EMBEDDING_FAILED
    assert failed[0].message
    assert failed[0].next_try
    assert {event.path for event in running.events_of(NoteEmbedded)} == {f"{number}.md" for number in range(6)}
    assert sandbox.rows("SELECT count(*) FROM embeddings") == [(6,)]


@pytest.mark.parametrize("fault", [refuse, crash, not_a_number])
async def test_one_bad_passage_fails_alone(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    serve(monkeypatch, FaultyModel(poison="nightshade", fault=fault))
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        check(sandbox, running)
        assert await running.found("nightshade") == ["bad.md"]
        assert await running.found("quokka3") == ["3.md"]
        assert {(p.path, p.reason) for p in running.engine.status().problems} == {("bad.md", Reason.EMBEDDING_FAILED)}
        coverage = running.engine.status().coverage
        assert (coverage.text, coverage.vectors) == (7, 6)


async def test_failing_embedding_does_not_delay_later_edits(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, FaultyModel(poison="nightshade"))
    async with open_engine(sandbox) as running:
        await eventually(lambda: running.events_of(NoteFailed) and len(running.events_of(NoteEmbedded)) == 6)
        sandbox.write("later.md", "# Later\n\na numbat\n")
        await eventually(lambda: any(event.path == "later.md" for event in running.events_of(NoteEmbedded)))


async def test_failed_embedding_is_retried_and_its_problem_is_cleared(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "RETRY_SECONDS", 0.2)
    model = FaultyModel(poison="nightshade")
    serve(monkeypatch, model)
    async with open_engine(sandbox) as running:
        await eventually(lambda: len(running.events_of(NoteFailed)) > 1, "a second try")
        model.poison = ""
        await eventually(lambda: any(event.path == "bad.md" for event in running.events_of(NoteEmbedded)), "success")
        await eventually(lambda: Reason.EMBEDDING_FAILED not in running.problems(), "no problem any more")


async def test_failed_embedding_is_retried_at_the_next_start(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, FaultyModel(poison="nightshade"))
    await index_once(sandbox)
    serve(monkeypatch, FaultyModel())
    again = await index_once(sandbox)
    assert {event.path for event in again.events_of(NoteEmbedded)} == {"bad.md"}
    assert again.engine.status().embedded_this_run == 1
