"""`manifest.json` of an exported model."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Manifest(BaseModel):
    """`manifest.json` of an export: what it was made from, what is in the folder, and what was measured.

    Another `recipe` means an export that this Donna would make differently, so it counts as damaged. `difference` is
    the largest one between the exact graph and sentence-transformers, on samples; `speedup` and `cosine` compare the
    8-bit graph with the exact one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    recipe: Literal["export-1"] = "export-1"
    name: str
    weights_sha256: str
    onnx_sha256: str
    tokenizer_sha256: str
    precision: str
    dim: int
    max_tokens: int
    difference: float
    speedup: float
    cosine: float
    versions: dict[str, str]
