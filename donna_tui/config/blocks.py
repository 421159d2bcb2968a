"""Define the base of all settings: strict field types, and marks for the settings that a vault may change."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema


class FromSpace(Enum):
    """Mark a setting that the settings file in a space may change, and how; it cannot change others.

    A vault may be untrusted, so no setting that sends or runs anything, or widens what is allowed, has a mark.
    """

    REPLACE = "may set it"
    APPEND = "may add to it"
    NARROW = "may shorten it"


class Block(BaseModel):
    """A group of settings: unknown names are refused and values never change after loading."""

    # Deferred: only MemoryConfig's own validator is ever needed, and it includes those of all blocks.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    def default_blocks(cls) -> dict[str, Any]:
        """Build the blocks in this one from their defaults, for `model_construct`.

        Nothing is validated: compiling the validators of all blocks takes a twentieth of the start.
        """
        factories = ((name, field.default_factory) for name, field in cls.model_fields.items())
        blocks = {name: made for name, made in factories if isinstance(made, type) and issubclass(made, Block)}
        return {name: block.model_construct(**block.default_blocks()) for name, block in blocks.items()}


class Switch(Block):
    """A block that can be turned on and off as a whole: `chat: false` means `chat: {enabled: false}`."""

    enabled: bool = Field(True, strict=True, description="Turns this on or off.")

    @model_validator(mode="before")
    @classmethod
    def _from_flag(cls, value: Any) -> Any:
        return {"enabled": value} if isinstance(value, bool) else value

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "boolean"}, handler(schema)]}


def related(message: str, *ids: str) -> PydanticCustomError:
    """Return the error for settings that are valid alone but not together; `ids` are these settings."""
    return PydanticCustomError("related", message, {"ids": ids})


def _one_line(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("must be one line of visible text")
    return text


def _home_expanded(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("must not contain a NUL character")
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError("names the home folder of a user who does not exist") from None


def _absolute(path: Path) -> Path:
    if not path.is_absolute():
        raise ValueError("must be an absolute path, or begin with ~")
    return path


def _glob(pattern: str) -> str:
    if pattern.startswith("!"):
        raise ValueError("cannot begin with '!': a pattern only ever ignores")
    if pattern.startswith("/") or ".." in pattern.split("/"):
        raise ValueError("must be relative to the vault, without '..'")
    return pattern


def _top_folder(name: str) -> str:
    if name.startswith(".") or "/" in name or "\\" in name:
        raise ValueError("must be the name of a folder at the top of the vault")
    return name


HomePath = Annotated[Path, AfterValidator(_home_expanded)]
AbsolutePath = Annotated[HomePath, AfterValidator(_absolute)]
Line = Annotated[str, StringConstraints(strict=True, max_length=500), AfterValidator(_one_line)]
Glob = Annotated[Line, AfterValidator(_glob)]
TopFolder = Annotated[Line, AfterValidator(_top_folder)]
Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
