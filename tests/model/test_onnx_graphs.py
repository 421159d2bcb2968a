"""Graphs other than Donna's export: the layout of the hub, and graphs that are not what they claim."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from donna_tui.embedding import files
from donna_tui.embedding.files import ModelFiles
from donna_tui.embedding.onnx import OnnxProvider
from donna_tui.embedding.provider import Matrix
from donna_tui.types.errors import ModelError, Reason
from tests.unit.embedding_files import WORDS, tokenizer_json

pytestmark = pytest.mark.model

DIM = 4
TABLE = np.random.default_rng(1).standard_normal((len(WORDS), DIM)).astype(np.float32)


def token_vectors_graph(table: Matrix) -> bytes:
    """Build a graph in the hub's layout: three inputs, and one vector for each token, not pooled yet.

    A token's vector is its row of `table`, times its attention, plus its sentence number.
    """
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["attention_mask"], ["attention"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["token_type_ids"], ["sentence"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["attention", "last"], ["attention_column"]),
        helper.make_node("Unsqueeze", ["sentence", "last"], ["sentence_column"]),
        helper.make_node("Mul", ["rows", "attention_column"], ["attended"]),
        helper.make_node("Add", ["attended", "sentence_column"], ["last_hidden_state"]),
    ]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", table.shape[1]])
    constants = [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.array([2]), "last")]
    graph = helper.make_graph(nodes, "tokens", inputs, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def model_files(folder: Path, graph: bytes, dim: int = DIM, max_tokens: int = 8) -> ModelFiles:
    (folder / "model.onnx").write_bytes(graph)
    (folder / "tokenizer.json").write_bytes(tokenizer_json())
    return ModelFiles("pretend", "pretend@0/file", folder / "model.onnx", folder / "tokenizer.json", dim, max_tokens)


def unit(rows: Matrix) -> Matrix:
    mean: Matrix = rows.mean(axis=0)
    return mean / np.linalg.norm(mean)


def test_token_vectors_are_averaged_and_normalised(tmp_path: Path) -> None:
    provider = OnnxProvider(model_files(tmp_path, token_vectors_graph(TABLE)))
    (row,) = provider.embed_batch(["one two"])
    np.testing.assert_allclose(row, unit(TABLE[provider.counter.ids("one two")]), atol=1e-6)


def test_a_long_question_is_the_mean_of_its_windows(tmp_path: Path) -> None:
    provider = OnnxProvider(model_files(tmp_path, token_vectors_graph(TABLE)))
    text = "one two three " * 4
    windows = provider.counter.windows(text, provider.max_tokens)
    expected = unit(np.stack([unit(TABLE[ids]) for ids in windows]))
    np.testing.assert_allclose(provider.embed(text), expected, atol=1e-6)


def test_a_long_passage_is_refused_rather_than_truncated(tmp_path: Path) -> None:
    provider = OnnxProvider(model_files(tmp_path, token_vectors_graph(TABLE)))
    assert provider.embed_batch(["one " * 6]).shape == (1, DIM)
    with pytest.raises(ModelError) as refusal:
        provider.embed_batch(["fine", "one " * 7])
    assert refusal.value.reason is Reason.EMBEDDING_FAILED


def test_the_hub_folder_needs_no_manifest(tmp_path: Path) -> None:
    folder = files.models_folder(tmp_path) / files.HAND_PLACED
    folder.mkdir(parents=True)
    wide = np.random.default_rng(2).standard_normal((len(WORDS), files.DIM)).astype(np.float32)
    model_files(folder, token_vectors_graph(wide))
    placed = files.load_hand_placed(tmp_path)
    assert placed is not None
    assert OnnxProvider(placed).embed("one").shape == (files.DIM,)


@pytest.mark.parametrize(
    ("table", "dim"),
    [
        pytest.param(np.full_like(TABLE, np.nan), DIM, id="nan"),
        pytest.param(np.zeros_like(TABLE), DIM, id="zero"),
        pytest.param(TABLE, DIM + 1, id="wrong dimension"),
    ],
)
def test_a_model_that_returns_invalid_vectors_is_refused_when_it_is_loaded(
    tmp_path: Path, table: Matrix, dim: int
) -> None:
    with pytest.raises(ModelError):
        OnnxProvider(model_files(tmp_path, token_vectors_graph(table), dim=dim))


@pytest.mark.parametrize("content", [b"", b"\x00" * 100, b"<html>not found</html>"])
def test_a_file_that_is_no_graph_is_invalid(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ModelError) as refusal:
        OnnxProvider(model_files(tmp_path, content))
    assert refusal.value.reason is Reason.MODEL_INVALID


def test_a_tokenizer_that_does_not_belong_to_the_graph_is_refused_in_plain_words(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as refusal:
        OnnxProvider(model_files(tmp_path, token_vectors_graph(TABLE[:2])))
    assert refusal.value.reason is Reason.EMBEDDING_FAILED


def test_closed_model_raises_on_embedding(tmp_path: Path) -> None:
    provider = OnnxProvider(model_files(tmp_path, token_vectors_graph(TABLE)))
    provider.close()
    with pytest.raises(ModelError):
        provider.embed_batch(["one"])
