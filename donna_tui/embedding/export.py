"""Build the default model's ONNX file from its weights, once, in a child process: `python -m …export DEST`.

The exact graph is written from the safetensors weights (`bert_graph`) and quantised to 8 bits, and the better of the
two on this machine is kept. Prints one line of JSON, `{"ok": true, …}` or `{"ok": false, "reason", "message"}`.
"""

from __future__ import annotations

import contextlib
import json
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from donna_tui.embedding import files
from donna_tui.embedding.bert_graph import write_bert_graph
from donna_tui.embedding.files import GRAPH, MANIFEST, TOKENIZER, WEIGHTS, Manifest, sha256_of
from donna_tui.embedding.onnx import OnnxGraph
from donna_tui.embedding.provider import Matrix, Vector
from donna_tui.embedding.tokenizer import ModelTokens
from donna_tui.platform.paths import fsync, is_full
from donna_tui.types.errors import DonnaError, ModelError, Reason

MIN_SPEEDUP = 1.15
MIN_COSINE = 0.97
ROUNDS = 3

Embed = Callable[[str], Vector]

_SENTENCES = (
    "Buy oat milk.",
    "The meeting moved to Thursday.",
    "Call the dentist before noon.",
    "Plants need less water in winter.",
    "She wrote the first draft on the train to Lyon.",
    "Undo restores exactly the bytes that were there before.",
    "The committee agreed to postpone the vote until the next quarter.",
    "To sync two devices, open the settings and choose the same remote folder on both.",
    "A database index speeds up reading at the price of slower writing and more space on disk.",
    "Simmer the sauce for twenty minutes, then add the basil, the salt and a spoonful of butter.",
)

SAMPLES = (*_SENTENCES, *(" ".join(_SENTENCES[start:] + _SENTENCES[:start]) for start in range(len(_SENTENCES))))
"""Twenty English texts: ten of 5 to 20 tokens, and ten of about 130, the length of a typical passage."""

REFERENCE = {
    0: (0.033046, 0.018236, 0.030086, 0.060316),
    4: (-0.026333, -0.044199, -0.02971, 0.09558),
    8: (0.008699, -0.036677, -0.037299, 0.087179),
    10: (-0.048353, -0.064963, -0.035703, 0.041009),
    19: (-0.057242, -0.060463, -0.038832, 0.025492),
}
"""The first four numbers of the vectors of some samples, by sentence-transformers 6.2 with torch 2.13 in fp32."""


def compare(exact: Embed, quantised: Embed, texts: Sequence[str] = SAMPLES) -> tuple[float, float]:
    """Return the speedup of the 8-bit model, and its mean cosine similarity to the exact one.

    Both are measured on the same texts, alternately, so that other load on the machine affects both.
    """
    similarity = np.sum(embed_all(exact, texts) * embed_all(quantised, texts), axis=1)
    rounds = [(_seconds(exact, texts), _seconds(quantised, texts)) for _ in range(ROUNDS)]
    slow, fast = (min(times) for times in zip(*rounds, strict=True))
    return slow / fast, float(similarity.mean())


def embed_all(embed: Embed, texts: Sequence[str] = SAMPLES) -> Matrix:
    return np.stack([embed(text) for text in texts])


def _seconds(embed: Embed, texts: Sequence[str]) -> float:
    started = time.perf_counter()
    embed_all(embed, texts)
    return time.perf_counter() - started


MAX_DIFFERENCE = 1e-5
VERSIONS_OF = ("onnx", "onnxruntime", "safetensors", "tokenizers")


def export(destination: Path) -> Manifest:
    """Build the default model's folder at `destination` atomically, replacing a damaged one.

    Raises ModelError if the weights are missing or not the published ones, or if the exact graph's vectors differ from
    those of sentence-transformers.
    """
    weights = files.weights_folder(destination.parent)
    if weights is None:
        raise ModelError(Reason.MODEL_MISSING, "the weights are not installed", hint=files.INSTALL_HINT)
    files.check_weights(weights)
    folder = Path(tempfile.mkdtemp(prefix=files.STAGING_PREFIX, dir=destination.parent))
    try:
        manifest = _fill(folder, weights)
        _publish(folder, destination)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return manifest


def _fill(folder: Path, weights: Path) -> Manifest:
    from onnxruntime.quantization import quantize_dynamic

    exact, quantised = folder / "exact.onnx", folder / "int8.onnx"
    write_bert_graph(weights / WEIGHTS, exact)
    quantize_dynamic(exact, quantised, per_channel=True)
    tokens = ModelTokens.load(weights / TOKENIZER)
    embed_exact, embed_quantised = _embedder(exact, tokens), _embedder(quantised, tokens)
    difference = _difference(embed_exact)
    speedup, cosine = compare(embed_exact, embed_quantised)
    worth_it = speedup >= MIN_SPEEDUP and cosine >= MIN_COSINE  # which depends on the CPU
    (quantised if worth_it else exact).rename(folder / GRAPH)
    (exact if worth_it else quantised).unlink()
    shutil.copyfile(weights / TOKENIZER, folder / TOKENIZER)
    manifest = Manifest(
        name=files.MODEL_NAME,
        weights_sha256=files.WEIGHTS_SHA256,
        onnx_sha256=sha256_of(folder / GRAPH),
        tokenizer_sha256=sha256_of(folder / TOKENIZER),
        precision="int8" if worth_it else "fp32",
        dim=files.DIM,
        max_tokens=files.MAX_TOKENS,
        difference=difference,
        speedup=round(speedup, 3),
        cosine=round(cosine, 5),
        versions={name: version(name) for name in VERSIONS_OF} | {"python": platform.python_version()},
    )
    (folder / MANIFEST).write_text(manifest.model_dump_json(indent=2), encoding="utf-8")
    return manifest


def _embedder(file: Path, tokens: ModelTokens) -> Embed:
    graph = OnnxGraph(file)
    return lambda text: graph.run(tokens.ids(text))


def _difference(embed: Embed) -> float:
    """Return the largest difference between the exact graph and reference values of sentence-transformers, on samples.

    Raises ModelError (model_invalid) above `MAX_DIFFERENCE`, when this machine does not compute the expected vectors.
    """
    difference = max(
        float(np.abs(embed(SAMPLES[number])[: len(numbers)] - numbers).max()) for number, numbers in REFERENCE.items()
    )
    if not difference <= MAX_DIFFERENCE:
        raise ModelError(
            Reason.MODEL_INVALID, f"the model's vectors differ from sentence-transformers' by {difference:.1e}"
        )
    return difference


def _publish(folder: Path, destination: Path) -> None:
    """Move the finished folder to its destination, unless another process has put an intact one there meanwhile."""
    for path in (*folder.iterdir(), folder):
        fsync(path)
    aside = folder.with_name(f"{folder.name}-damaged")
    if not files.intact_export(destination):
        with contextlib.suppress(FileNotFoundError):
            destination.rename(aside)
    try:
        folder.rename(destination)
    except OSError:
        if not files.intact_export(destination):
            raise
    fsync(destination.parent)
    shutil.rmtree(aside, ignore_errors=True)


def _outcome(destination: Path) -> dict[str, Any]:
    try:
        return {"ok": True, **export(destination).model_dump()}
    except DonnaError as error:
        return {"ok": False, "reason": error.reason, "message": error.message}
    except ModuleNotFoundError as error:
        return {"ok": False, "reason": Reason.MODEL_MISSING, "message": f"{error}, which builds the model once"}
    except OSError as error:
        reason = Reason.DISK_FULL if is_full(error) else Reason.IO_ERROR
        return {"ok": False, "reason": reason, "message": f"the model cannot be written ({error.strerror})"}
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        return {"ok": False, "reason": Reason.MODEL_INVALID, "message": f"the model cannot be built ({message})"}


def main() -> int:
    with contextlib.redirect_stdout(sys.stderr):  # libraries print; stdout is reserved for the result
        outcome = _outcome(Path(sys.argv[1]))
    print(json.dumps(outcome))
    return 0 if outcome["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
