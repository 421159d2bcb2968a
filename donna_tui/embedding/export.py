"""Turns the installed weights into an ONNX file, once. Run as a child: `python -m donna_tui.embedding.export DEST`.

It prints one line of JSON, `{"ok": true, …}` or `{"ok": false, "reason", "message"}`. Torch and sentence-transformers
are imported here and nowhere else on the way to the default model.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from donna_tui.embedding import calibration, files
from donna_tui.embedding.files import GRAPH, MANIFEST, TOKENIZER, sha256_of
from donna_tui.embedding.manifest import Manifest
from donna_tui.embedding.onnx import OnnxGraph
from donna_tui.embedding.provider import Vector
from donna_tui.embedding.tokenizer import ModelTokens
from donna_tui.errors import DonnaError, ModelError, Reason

OPSET = 18
MAX_DIFFERENCE = 1e-5
VERSIONS_OF = ("torch", "transformers", "sentence-transformers", "onnx", "onnxruntime", "tokenizers")


def export(destination: Path) -> Manifest:
    """Make the default model's folder at `destination`, whole or not at all, replacing a damaged one.

    Raises ModelError if the weights are missing or not the published ones, or if the result disagrees with
    sentence-transformers.
    """
    weights = files.find_weights()
    if weights is None:
        raise ModelError(Reason.MODEL_MISSING, "The weights are not installed.", hint=files.INSTALL_HINT)
    files.check_weights(weights)
    with _staging(destination) as folder:
        manifest = _fill(folder, weights)
        _publish(folder, destination)
    return manifest


def _fill(folder: Path, weights: Path) -> Manifest:
    """Write the model, its tokenizer and the manifest into `folder`."""
    exact, quantised = folder / "exact.onnx", folder / "int8.onnx"
    reference = _load_reference(weights)
    _write_graph(reference, exact)
    _quantise(exact, quantised)
    tokens = ModelTokens.load(weights / TOKENIZER)
    embed_exact, embed_quantised = _embedder(exact, tokens), _embedder(quantised, tokens)
    difference = _difference(reference, embed_exact)
    comparison = calibration.compare(embed_exact, embed_quantised)
    (quantised if comparison.worth_it else exact).rename(folder / GRAPH)
    (exact if comparison.worth_it else quantised).unlink()
    shutil.copyfile(weights / TOKENIZER, folder / TOKENIZER)
    manifest = Manifest(
        name=files.MODEL_NAME,
        weights_sha256=files.WEIGHTS_SHA256,
        onnx_sha256=sha256_of(folder / GRAPH),
        tokenizer_sha256=sha256_of(folder / TOKENIZER),
        precision="int8" if comparison.worth_it else "fp32",
        dim=files.DIM,
        max_tokens=files.MAX_TOKENS,
        difference=difference,
        speedup=round(comparison.speedup, 3),
        cosine=round(comparison.cosine, 5),
        versions={name: version(name) for name in VERSIONS_OF} | {"python": platform.python_version()},
    )
    (folder / MANIFEST).write_text(manifest.model_dump_json(indent=2), encoding="utf-8")
    return manifest


def _load_reference(weights: Path) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(weights), device="cpu", local_files_only=True).eval()


def _write_graph(reference: Any, file: Path) -> None:
    """Export transformer, mean pooling and normalisation as one graph over token ids.

    There is no attention mask: Donna embeds one text at a time, so nothing is padded, and a graph without a mask runs a
    fifth faster. torch's newer exporter (dynamo) writes an invalid graph for this model, hence the older one.
    """
    import torch

    class SentenceGraph(torch.nn.Module):
        def __init__(self, transformer: Any) -> None:
            super().__init__()
            self.transformer = transformer

        def forward(self, input_ids: Any) -> Any:
            types = torch.zeros_like(input_ids)
            hidden = self.transformer(input_ids=input_ids, token_type_ids=types, attention_mask=None).last_hidden_state
            return torch.nn.functional.normalize(hidden.mean(dim=1), dim=1)

    with torch.no_grad():
        torch.onnx.export(
            SentenceGraph(reference[0].auto_model),
            (torch.ones(2, 7, dtype=torch.long),),
            str(file),
            input_names=["input_ids"],
            output_names=["sentence_embedding"],
            dynamic_axes={"input_ids": {0: "batch", 1: "tokens"}, "sentence_embedding": {0: "batch"}},
            opset_version=OPSET,
            dynamo=False,
        )


def _quantise(exact: Path, quantised: Path) -> None:
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(exact, quantised, per_channel=True)


def _embedder(file: Path, tokens: ModelTokens) -> Callable[[str], Vector]:
    graph = OnnxGraph(file)
    return lambda text: graph.run(tokens.ids(text))


def _difference(reference: Any, embed: Callable[[str], Vector]) -> float:
    """The largest difference of any number between the exported graph and sentence-transformers."""
    expected = reference.encode(list(calibration.SAMPLES), normalize_embeddings=True, show_progress_bar=False)
    difference = float(np.abs(calibration.embed_all(embed) - expected).max())
    if not difference <= MAX_DIFFERENCE:
        raise ModelError(
            Reason.MODEL_INVALID, f"The exported model differs from sentence-transformers by {difference:.1e}."
        )
    return difference


@contextlib.contextmanager
def _staging(destination: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix=files.STAGING_PREFIX, dir=destination.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _publish(folder: Path, destination: Path) -> None:
    """Move the finished folder to its place, unless another process has put an intact one there meanwhile."""
    for path in (*folder.iterdir(), folder):
        _fsync(path)
    aside = folder.with_name(f"{folder.name}-damaged")
    if not _intact(destination):
        with contextlib.suppress(FileNotFoundError):
            destination.rename(aside)
    try:
        folder.rename(destination)
    except OSError:
        if not _intact(destination):
            raise
    _fsync(destination.parent)
    shutil.rmtree(aside, ignore_errors=True)


def _intact(folder: Path) -> bool:
    try:
        return files.load_export(folder) is not None
    except ModelError:
        return False


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _outcome(destination: Path) -> dict[str, Any]:
    try:
        return {"ok": True, **export(destination).model_dump()}
    except DonnaError as error:
        return {"ok": False, "reason": error.reason, "message": error.message}
    except ModuleNotFoundError as error:
        return {"ok": False, "reason": Reason.MODEL_MISSING, "message": f"{error}, which exports the model once."}
    except OSError as error:
        reason = Reason.DISK_FULL if error.errno == errno.ENOSPC else Reason.IO_ERROR
        return {"ok": False, "reason": reason, "message": f"The model cannot be written ({error.strerror})."}
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        return {"ok": False, "reason": Reason.MODEL_INVALID, "message": f"The model cannot be exported ({message})."}


def main() -> int:
    """Export to the folder named on the command line."""
    with contextlib.redirect_stdout(sys.stderr):  # libraries print as they go; standard output is the result's alone
        outcome = _outcome(Path(sys.argv[1]))
    print(json.dumps(outcome))
    return 0 if outcome["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
