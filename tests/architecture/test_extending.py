"""Everything that is meant to be extended can be extended from outside the package, by one entry."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest
import typer
from typer.testing import CliRunner

from donna_tui.agents.tools import catalogue, schemas
from donna_tui.agents.tools.catalogue import Tool, call, tools_for
from donna_tui.agents.tools.context import ToolContext
from donna_tui.cli.main import COMMANDS, Entry
from donna_tui.cli.main import app as donna
from donna_tui.cli.options import new_app
from donna_tui.config import models
from donna_tui.config.models import EmbeddingConfig
from donna_tui.drafts.drafters import CommitmentsAnswer
from donna_tui.drafts.page import Context, DraftJob
from donna_tui.drafts.series import Gatherer
from donna_tui.drafts.skills.cadence import Material, Span, open_in
from donna_tui.embedding.build import build_embedding_service
from donna_tui.embedding.prepare import OnPhase
from donna_tui.engine import skill_runner
from tests.engine.draft_engines import draft_engine
from tests.engine.providers import DIM, FaultyModel, serve

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.slow
def test_app_can_be_extended_with_a_pane_and_an_action() -> None:
    command = [sys.executable, "-m", "tests.architecture.extended_app"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    header, *_, footer = shown["pane"].splitlines()
    assert "7 Clock" in header
    assert "2 ticks" in shown["pane"]
    assert "t tick" in footer
    assert "A clock that advances with t." in shown["help"]
    assert {"view.clock", "clock.tick"} <= set(shown["keys"])


def load_hashes(cache: Path, on_phase: OnPhase, cancel: Event | None) -> FaultyModel:
    return FaultyModel("hashes@1")


async def test_engine_can_be_extended_with_an_embedding_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(models.EMBEDDING_MODELS, "hashes", f"{__name__}:load_hashes")
    config = EmbeddingConfig.model_validate({"provider": "hashes", "dim": DIM})
    service = build_embedding_service(config, tmp_path, lambda phase, detail: None)
    assert service.provider.embed("a note").shape == (DIM,)
    await service.close()


class EchoArgs(schemas.ToolArgs):
    text: str


class EchoOutput(schemas.ToolOutput):
    text: str


async def echo(space: ToolContext, asked: EchoArgs) -> EchoOutput:
    return EchoOutput(text=asked.text.upper())


async def test_mcp_server_can_be_extended_with_a_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = Tool(name="echo", title="Echo", description="Repeat a text.", takes=EchoArgs, gives=EchoOutput, run=echo)
    monkeypatch.setattr(catalogue, "TOOLS", (*catalogue.TOOLS, tool))
    reader = ToolContext(engine=None, access=None, session=None)  # type: ignore[arg-type]  # no part of it is used
    assert tool in tools_for(write=False)
    assert await call(reader, "echo", {"text": "hello"}) == {"ok": True, "text": "HELLO"}
    assert (await call(reader, "echo", {"words": "hello"}))["reason"] == "usage"


TEMPLATE = "# Tasks of {{ title }}\n{% for task in tasks %}\n- {{ task.text }}\n{% endfor %}\n"


def open_tasks(gatherer: Gatherer, day: datetime.date) -> DraftJob:
    """List the open tasks of a day."""

    async def gather() -> Context:
        material = await Material.of(gatherer, "extract_commitments")
        data = {"title": day.isoformat(), "tasks": await open_in(Span(day, day), 10, material)}
        front = {"type": "open_tasks", "date": day.isoformat()}
        return material.context(CommitmentsAnswer, day.isoformat(), data, front)

    return DraftJob(
        template="open_tasks",
        gather=gather,
        target_path=f"Daily/{day.isoformat()}-open.md",
        key=day.isoformat(),
        title=f"Open tasks, {day}",
        autonomy="full",
    )


async def test_drafts_can_be_extended_with_a_skill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(skill_runner.DATED_SKILLS, "open_tasks", open_tasks)
    monkeypatch.setenv("DONNA_HOME", str(tmp_path / "settings"))
    serve(monkeypatch, FaultyModel())
    templates = tmp_path / "templates"
    templates.mkdir()
    (templates / "open_tasks.md.j2").write_text(TEMPLATE)
    day = datetime.date(2024, 1, 10)
    async with draft_engine(tmp_path, templates=templates) as here:
        (result,) = await here.engine.drafts.write_new("open_tasks", day)
        assert result.path == "Daily/2024-01-10-open.md"
        text = here.text(result.path)
        assert "# Tasks of 2024-01-10" in text
        assert "- Ana will write the migration plan for the gateway" in text
    refused = CliRunner().invoke(donna, ["draft", "new", "open_tasks", "--person", "Ana"])
    assert "--person applies to person_profile only" in refused.output


app = new_app()


@app.command("shout")
def shout(word: str) -> None:
    """Print a word in capitals."""
    typer.echo(word.upper())


def test_cli_can_be_extended_with_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMANDS, "shout", Entry(__name__, "Print a word in capitals."))
    assert CliRunner().invoke(donna, ["shout", "hello"]).output == "HELLO\n"
    assert "Print a word in capitals." in CliRunner().invoke(donna, ["--help"]).output
