"""Small substitutes for model files: a tokenizer with a few words, and an export without a real graph."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from donna_tui.embedding.files import WEIGHTS_SHA256, Manifest

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "one", "two", "three", "##s", "[", "]", "sep")


def tokenizer_json() -> bytes:
    """Return a WordPiece tokenizer like the model's, with truncation and padding enabled as in the hub's files."""
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=4)
    return tokenizer.to_str().encode()


def write_export(folder: Path, graph: bytes = b"a graph", dim: int = 384) -> Manifest:
    """Write an export with a valid manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = tokenizer_json()
    (folder / "model.onnx").write_bytes(graph)
    (folder / "tokenizer.json").write_bytes(tokenizer)
    manifest = Manifest(
        name="minilm-l6-v2",
        weights_sha256=WEIGHTS_SHA256,
        onnx_sha256=hashlib.sha256(graph).hexdigest(),
        tokenizer_sha256=hashlib.sha256(tokenizer).hexdigest(),
        precision="int8",
        dim=dim,
        max_tokens=16,
        difference=0.0,
        speedup=2.0,
        cosine=0.99,
        versions={},
    )
    (folder / "manifest.json").write_text(manifest.model_dump_json(), encoding="utf-8")
    return manifest
