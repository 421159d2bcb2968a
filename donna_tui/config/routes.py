"""Define the settings of `models.yaml`: the language models in use, their servers, and their maximum cost.

The file is next to the user's `memory.yaml`. A vault has none: an untrusted vault must not choose a server.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from donna_tui.config.blocks import Block, Line, Number, Whole
from donna_tui.config.document import KeyPath, SettingsFile, invalid, shown
from donna_tui.config.files import read_file
from donna_tui.platform.addresses import host_of, is_this_machine
from donna_tui.platform.paths import app_paths, resource
from donna_tui.types.errors import ConfigError

MODELS_NAME = "models.yaml"

Alias = Literal["reasoner", "summarizer"]
Dialect = Literal["openai", "anthropic", "ollama"]

_USUAL: dict[Dialect, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "ollama": "http://localhost:11434",
}
_SECRET = ("api_key_env", "base_url")
"""Settings whose values are never shown, as people paste keys and passwords into them by mistake."""


def _secret(message: str) -> PydanticCustomError:
    return PydanticCustomError("secret", "{problem}", {"problem": message})


def _server(url: str) -> str:
    """Check the address of a model's server, and strip a trailing slash."""
    no_server = "must be the address of a server, such as http://localhost:11434"
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises ValueError if there is no such port
    except ValueError:
        raise _secret(no_server) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _secret(no_server)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise _secret("must not contain a password, '?' or '#'; name the variable that holds the key in api_key_env")
    if parts.scheme == "http" and not is_this_machine(parts.hostname):
        raise _secret("must begin with https://, since the server is not on this machine")
    return url.rstrip("/")


def _variable(text: str) -> str:
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]{0,99}", text):
        raise _secret("must be the name of an environment variable, such as OPENAI_API_KEY, and never the key itself")
    return text


Server = Annotated[Line, AfterValidator(_server)]
Variable = Annotated[str, StringConstraints(strict=True), AfterValidator(_variable)]
Price = Annotated[Number, Field(ge=0, le=100_000)]


class Route(Block):
    """A language model that can be called."""

    dialect: Dialect = Field(description="The API of the server: openai, anthropic or ollama.")
    model: Line = Field(description="The name of the model on its server.")
    base_url: Server | None = Field(None, description="The address of the server; each dialect has a default.")
    api_key_env: Variable | None = Field(None, description="The environment variable that holds the key.")
    deadline_seconds: Number = Field(120.0, ge=1, le=3_600, description="The timeout of a call, in seconds.")
    max_output_tokens: Whole = Field(4_000, ge=16, le=100_000, description="The maximum number of tokens of an answer.")
    price_in: Price | None = Field(None, description="US dollars per million tokens that the model reads.")
    price_out: Price | None = Field(None, description="US dollars per million tokens that the model writes.")

    @model_validator(mode="after")
    def _costs_are_known(self) -> Route:
        if not self.is_local and (self.price_in is None or self.price_out is None):
            raise ValueError(
                "needs price_in and price_out, so that day_limit_usd can be enforced; 0 if it costs nothing"
            )
        return self

    @property
    def server(self) -> str:
        """Return the effective address, without a trailing slash."""
        return self.base_url or _USUAL[self.dialect]

    @property
    def is_local(self) -> bool:
        """Return whether the model runs on this machine, so that private notes may be sent to it."""
        return is_this_machine(host_of(self.server))

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """Return the price of a call in US dollars."""
        return (tokens_in * (self.price_in or 0.0) + tokens_out * (self.price_out or 0.0)) / 1_000_000


class Routes(Block):
    """The language models by purpose. A purpose without a model is served without one."""

    day_limit_usd: Number = Field(1.0, ge=0, le=10_000, description="Calls that could exceed it are refused.")
    reasoner: Route | None = Field(None, description="The model that drafts notes.")
    summarizer: Route | None = Field(None, description="The model that summarises old conversations.")

    def route(self, alias: Alias) -> Route | None:
        return self.reasoner if alias == "reasoner" else self.summarizer


def models_file(environ: Mapping[str, str] = os.environ) -> Path:
    return app_paths(environ).config / MODELS_NAME


def load_routes(environ: Mapping[str, str] = os.environ) -> Routes:
    """Load the packaged models and those of the user. Raises ConfigError with file, line and name of a setting."""
    packaged, user_file = resource("config", MODELS_NAME), models_file(environ)
    documents = [document for document in (read_file(packaged, "default"), read_file(user_file, "user")) if document]
    data = {name: value for document in documents for name, value in document.data.items()}
    try:
        return Routes.model_validate(data)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        unknown = (each for each in problems if each["type"] == "extra_forbidden")
        problem = next(unknown, problems[0])  # a misspelt name also makes another one missing
        raise _explained(problem, _source(documents, problem["loc"])) from None


def _source(documents: list[SettingsFile], path: KeyPath) -> SettingsFile:
    """Return the file that set a value last."""
    return next((document for document in reversed(documents) if path and path[0] in document.data), documents[-1])


def _explained(error: ErrorDetails, document: SettingsFile) -> ConfigError:
    path = error["loc"]
    name = shown(".".join(str(part) for part in path))
    origin = document.at(path)
    if error["type"] == "extra_forbidden":
        names = list(Routes.model_fields if len(path) == 1 else Route.model_fields)
        matches = difflib.get_close_matches(str(path[-1]), names, n=1)
        question = f"; did you mean {matches[0]}?" if matches else ""
        return invalid(origin, f"{name} is not a setting{question}", hint=f"Known here: {', '.join(names)}.")
    value, words = error["input"], _words(error)
    hidden = path[-1] in _SECRET or isinstance(value, dict | Route)
    problem = words if hidden or error["type"] == "missing" else f"{words}, not {shown(value)}"
    return invalid(origin, f"{name} {problem}")


def _words(error: ErrorDetails) -> str:
    context: dict[str, Any] = error.get("ctx", {})
    match error["type"]:
        case "missing":
            return "is missing"
        case "literal_error":
            return f"must be {context['expected'].replace(chr(39), '')}"
        case "model_type" | "model_attributes_type":
            return "must be a block of settings"
        case _:
            return error["msg"].removeprefix("Value error, ").replace("Input should", "must", 1)
