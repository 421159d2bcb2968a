"""Implement `donna config`: print settings, their origins, and their schema."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from donna_tui.cli.options import AsJson, SpaceOption, new_app
from donna_tui.cli.output import emit, emit_lines, json_text, print_message
from donna_tui.cli.session import refuse_empty
from donna_tui.config.files import is_folder, space_file
from donna_tui.config.load import LoadedConfig, default_origin, load_agent, load_config, packaged_file, user_file
from donna_tui.config.routes import models_file
from donna_tui.config.schema import SETTINGS, json_schema, value_of
from donna_tui.platform.paths import app_paths, expanded
from donna_tui.platform.spaces import known_spaces
from donna_tui.types.errors import ConfigError, Reason, SpaceError

app = new_app("Settings: which are in effect, and where they are set.")


@app.command("show")
def show(space: SpaceOption = None, as_json: AsJson = False) -> None:
    """Print every setting with its value and its origin."""
    loaded = _load(space)
    origins = dict.fromkeys(SETTINGS, default_origin()) | loaded.origins
    values = {name: value_of(loaded.config, name) for name in origins}
    settings = [{"id": name, "value": values[name], "origin": asdict(origin)} for name, origin in origins.items()]
    assignments = (
        f"{name} = {json.dumps(values[name], ensure_ascii=False)}"
        f"  # {'default' if origin.layer == 'default' else origin}"
        for name, origin in origins.items()
    )
    emit({"settings": settings}, assignments, as_json=as_json)


@app.command("path")
def path(space: SpaceOption = None, as_json: AsJson = False) -> None:
    """Print the paths of settings and of Donna's own files. Missing ones are marked."""
    places = [
        {"id": name, "path": str(place), "exists": os.access(place, os.F_OK)}
        for name, place in _places(_root_if_known(space))
    ]
    width = max(len(str(place["id"])) for place in places)
    lines = (f"{each['id']:<{width}}  {each['path']}{'' if each['exists'] else '  (missing)'}" for each in places)
    emit({"places": places}, lines, as_json=as_json)


@app.command("schema")
def schema() -> None:
    """Print the JSON Schema of a settings file, for editors."""
    emit_lines(json_text(json_schema(), indent=2).splitlines())


def _load(space: str | None) -> LoadedConfig:
    if space is None:
        return load_config()
    if agent := load_agent(space):
        return agent
    root = _root_of(space)
    if not is_folder(root):
        raise SpaceError(Reason.ROOT_MISSING, f"there is no folder {root}")
    return load_config(root=root)


def _root_of(space: str) -> Path:
    """Return the folder of a space, named by its path or by the name of a known vault. It may be missing."""
    refuse_empty(space)
    folder = expanded(Path(space)).absolute()
    known = (each.root for each in known_spaces(app_paths()) if each.name == space and not is_folder(folder))
    return next(known, folder)


def _root_if_known(space: str | None) -> Path | None:
    """Return the vault's folder. Invalid settings only warn: this command helps to find the invalid file."""
    try:
        if space is None:
            return load_config().config.vault.root
        if load_agent(space):
            return None
    except ConfigError as error:
        print_message(f"donna: {error.message}")
    return None if space is None else _root_of(space)


def _places(root: Path | None) -> Iterator[tuple[str, Path]]:
    yield "defaults", packaged_file()
    yield "your settings", user_file()
    yield "your language models", models_file()
    if root is not None:
        yield "settings of the vault", space_file(root)
    folders = app_paths()
    yield "state", folders.state
    yield "cache", folders.cache
    yield "log", folders.log
