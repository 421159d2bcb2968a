"""Select and build the configured embedding model."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Event
from types import ModuleType

from donna_tui.config.agent_settings import AgentEmbedding
from donna_tui.config.models import EMBEDDING_MODELS, EmbeddingConfig
from donna_tui.embedding import files
from donna_tui.embedding.prepare import OnPhase, prepare_model, prepared_model
from donna_tui.embedding.provider import EmbeddingProvider
from donna_tui.embedding.service import EmbeddingService, stamped
from donna_tui.embedding.tokenizer import ModelTokens
from donna_tui.platform.lazy import import_numpy
from donna_tui.text.tokens import EstimatedTokens, TokenCounter
from donna_tui.types.errors import ModelError, Reason
from donna_tui.types.status import ModelPhase

MAX_THREADS = 4
"""Maximum number of threads for documents, of which there are half as many as cores, at least two."""
FOLDER_MODEL_BATCH = 16
"""Texts per batch for a model from a folder: a GPU needs batches, but on a CPU a question waits for one batch."""


def build_embedding_service(
    config: EmbeddingConfig, cache: Path, on_phase: OnPhase, cancel: Event | None = None
) -> EmbeddingService:
    """Build the configured model, with threads that suit it and this machine. Blocks, and raises as the provider does.

    An agent's settings may name a model on a server, or one as the fallback for the first. Raises ModelError too if the
    model's vectors do not have the configured length.
    """
    if not isinstance(config, AgentEmbedding):
        return _local_service(config, cache, on_phase, cancel)
    if config.first == "local":
        try:
            return _local_service(config, cache, on_phase, cancel)
        except (ModelError, OSError) as error:
            if config.fallback != "openai" or (cancel and cancel.is_set()):
                raise
            why = error.message if isinstance(error, ModelError) else type(error).__name__
            on_phase(ModelPhase.LOADING, f"using the fallback openai instead of the local model: {why}")
    from donna_tui.embedding.openai_compatible import BATCH, OpenAICompatible

    on_phase(ModelPhase.LOADING, config.remote_model)
    built = OpenAICompatible(config.remote_model, config.remote, stop=cancel)
    on_phase(ModelPhase.READY, built.version_tag)
    stamp = "" if config.version_tag == EmbeddingConfig().version_tag else config.version_tag
    return EmbeddingService(built, stamp=stamp, threads=1, batch=BATCH)


@dataclass(frozen=True, slots=True)
class UnloadedModel:
    """The identity of a model that is ready to be loaded: its fingerprint, and the version stamped on its vectors."""

    version_tag: str
    version: str


def unloaded_model(config: EmbeddingConfig, cache: Path) -> UnloadedModel | None:
    """Return the identity of the configured model without loading it; None if that requires loading."""
    if isinstance(config, AgentEmbedding) or config.provider != files.MODEL_NAME:
        return None
    try:
        model = prepared_model(cache)
    except (ModelError, OSError):  # reported when the model is loaded
        return None
    if model is None or model.dim != config.dim:
        return None
    return UnloadedModel(model.version_tag, stamped(config.version_tag, model.version_tag))


def _local_service(config: EmbeddingConfig, cache: Path, on_phase: OnPhase, cancel: Event | None) -> EmbeddingService:
    built = build_embedding_provider(config.provider, cache, on_phase, cancel)
    if built.dim != config.dim:
        built.close()
        message = f"{built.name} returns vectors of {built.dim} numbers, but embedding.dim is {config.dim}"
        raise ModelError(Reason.MODEL_INVALID, message, hint=f"set embedding.dim to {built.dim}")
    if config.provider == files.MODEL_NAME:
        threads = min(MAX_THREADS, max(2, (os.cpu_count() or 1) // 2))
        return EmbeddingService(built, stamp=config.version_tag, threads=threads)
    return EmbeddingService(built, stamp=config.version_tag, threads=1, batch=FOLDER_MODEL_BATCH)


def build_embedding_provider(
    provider: str, cache: Path, on_phase: OnPhase, cancel: Event | None = None
) -> EmbeddingProvider:
    """Build the model of `embedding.provider`: one of `EMBEDDING_MODELS`, or a folder for sentence-transformers.

    Blocks while the model is prepared and loaded; `on_phase` is called for each phase on the calling thread, and
    `cancel` ends the preparation. Raises ModelError if there is no such model or it cannot be used.
    """
    built: EmbeddingProvider
    if provider in EMBEDDING_MODELS:
        module, _, load = EMBEDDING_MODELS[provider].partition(":")
        built = getattr(import_module(module), load)(cache, on_phase, cancel)
    else:
        built = _folder_model(Path(provider).expanduser(), on_phase)
    on_phase(ModelPhase.READY, built.version_tag)
    return built


def build_token_counter(provider: str, cache: Path) -> TokenCounter:
    """Return the token counter of the configured model, which is available before the model is prepared.

    Without any model it is an estimate. Its `name` identifies it, because other tokens yield other passages.
    """
    file = (
        files.tokenizer_file(cache) if provider == files.MODEL_NAME else _folder_tokenizer(Path(provider).expanduser())
    )
    return ModelTokens.load(file) if file is not None else EstimatedTokens()


def load_default_model(cache: Path, on_phase: OnPhase, cancel: Event | None) -> EmbeddingProvider:
    """Load all-MiniLM-L6-v2, after preparing it for this machine. Raises ModelError.

    What runs it is imported while its files are verified, on another core.
    """
    with ThreadPoolExecutor(1, "donna-import") as importer:
        imported = importer.submit(_import_onnx)
        model = prepare_model(cache, on_phase, cancel)
        on_phase(ModelPhase.LOADING, model.name)
        provider: EmbeddingProvider = imported.result().OnnxProvider(model)
        return provider


def _import_onnx() -> ModuleType:
    import_numpy()
    return import_module("donna_tui.embedding.onnx")


def _folder_model(folder: Path, on_phase: OnPhase) -> EmbeddingProvider:
    tokenizer = _folder_tokenizer(folder)
    if tokenizer is None:
        hint = f"set embedding.provider to {files.MODEL_NAME}, or to a folder with a model and {files.TOKENIZER}"
        raise ModelError(Reason.MODEL_MISSING, f"there is no sentence-transformers model in {folder}", hint=hint)
    on_phase(ModelPhase.LOADING, folder.name)
    from donna_tui.embedding.sentence_transformers import SentenceTransformersProvider

    return SentenceTransformersProvider(folder, tokenizer)


def _folder_tokenizer(folder: Path) -> Path | None:
    places = (folder / files.TOKENIZER, folder / "0_Transformer" / files.TOKENIZER)
    return next((file for file in places if file.is_file()), None)
