"""Reads what a model wrote: JSON without twins, infinities or half characters, and of the shape that was asked for."""

from __future__ import annotations

import json
import math
import re
from itertools import islice
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

T = TypeVar("T", bound=BaseModel)

_BOM = "\ufeff"
_THOUGHTS = "</think>"
_BRACE_ON_A_LINE = re.compile(r"^\{", re.M)
"""What is indented belongs to another object."""

MOST_STARTS = 20


def read_object(body: bytes) -> dict[str, Any]:
    """A body that is one JSON object. Raises ValueError."""
    text = body.decode("utf-8").removeprefix(_BOM)
    value, end = _decoded(text.strip(), 0)
    if text.strip()[end:]:
        raise ValueError("there is something after the object")
    return value


def parse_answer(text: str, schema: type[T]) -> T:
    """The answer in what a model wrote, also where it thought aloud, put a fence around it or added a word.

    Raises ValueError, which says nothing of the text.
    """
    problem = ValueError("there is no JSON object")
    for start in _starts(text):
        try:
            value, _ = _decoded(text, start)
            return _shaped(value, schema)
        except ValueError as error:
            problem = error
    raise problem


def _starts(text: str) -> list[int]:
    """Where the answer may begin: at the first brace, after the thoughts, or at the beginning of a line."""
    found = [text.find("{"), text.find("{", text.find(_THOUGHTS) + 1)]
    found += [hit.start() for hit in islice(_BRACE_ON_A_LINE.finditer(text), MOST_STARTS)]
    return [start for start in dict.fromkeys(found) if start >= 0]


def _shaped(value: dict[str, Any], schema: type[T]) -> T:
    try:
        return schema.model_validate_json(json.dumps(value, ensure_ascii=False).encode(), strict=True)
    except ValidationError:
        raise ValueError("the object has another shape") from None
    except UnicodeEncodeError:
        raise ValueError("the text holds half a character") from None


def _decoded(text: str, start: int) -> tuple[dict[str, Any], int]:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except json.JSONDecodeError:  # which would hold the whole text
        raise ValueError("not JSON") from None
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value, end


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_without_twins, parse_constant=_no_constant, parse_float=_finite)
