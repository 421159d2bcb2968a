"""Build the ONNX graph of all-MiniLM-L6-v2 from its safetensors weights: BERT, mean pooling and normalisation.

Torch is not needed: the model is six BERT layers (Devlin et al. 2018, https://arxiv.org/abs/1810.04805), whose
operations ONNX has as they are. For `H` = 384 numbers a token, each layer computes

    x = LayerNorm(x + Attention(x) · Wo + bo)                  12 heads of 32 numbers, softmax(q · kᵀ / √32) · v
    x = LayerNorm(x + Gelu(x · W1 + b1) · W2 + b2)             1,536 numbers in between

The graph takes `input_ids`, int64 of shape (batch, tokens), and returns `sentence_embedding`, float32 of shape
(batch, 384), rows of unit length. It has no attention mask: Donna embeds one text at a time, so nothing is padded, and
without a mask a text takes a fifth less time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from donna_tui.types.errors import ModelError, Reason

OPSET = 18
"""The first opset in which ReduceMean takes its axes as an input; LayerNormalization exists since 17."""
IR_VERSION = 9

VOCABULARY = 30_522
POSITIONS = 512
WIDTH = 384
LAYERS = 6
HEADS = 12
HEAD_WIDTH = WIDTH // HEADS
INNER_WIDTH = 1_536
EPSILON = 1e-12
"""Epsilon of the layer normalisations, from the model's `config.json`, as are all sizes above."""

Weights = Mapping[str, NDArray[np.float32]]


def write_bert_graph(weights: Path, file: Path) -> None:
    """Write the graph of the model in `weights` (a `model.safetensors`) to `file`, validated by ONNX's checker.

    Raises ModelError (model_invalid) if a tensor is missing or its shape does not match this architecture.
    """
    from safetensors.numpy import load_file

    graph = _Graph(load_file(weights))
    model = helper.make_model(graph.build(), opset_imports=[helper.make_opsetid("", OPSET)], producer_name="donna")
    model.ir_version = IR_VERSION
    onnx.checker.check_model(model)
    onnx.save(model, str(file))


class _Graph:
    """Collect nodes and initializers in the order of computation. Each method returns the name of its result."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def build(self) -> Any:
        hidden = self._embed("input_ids")
        for layer in range(LAYERS):
            hidden = self._layer(hidden, f"encoder.layer.{layer}")
        pooled = self._node("ReduceMean", hidden, self._integers("token_axis", [1]), keepdims=0)
        self._node("LpNormalization", pooled, result="sentence_embedding", axis=1, p=2)
        return helper.make_graph(
            self._nodes,
            "all-MiniLM-L6-v2",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])],
            [helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", WIDTH])],
            list(self._constants.values()),
        )

    def _embed(self, ids: str) -> str:
        """Add the embeddings of word, token type and position. All tokens are of type 0.

        Each table is read by Gather, which quantisation turns into a table of bytes: 12 MB of words instead of 47.
        """
        zero, one = (self._constant(f"index_{value}", np.array(value, dtype=np.int64)) for value in (0, 1))
        tokens = self._node("Gather", self._node("Shape", ids), one)
        words = self._gather("word", VOCABULARY, ids)
        types = self._gather("token_type", 2, zero)
        positions = self._gather("position", POSITIONS, self._node("Range", zero, tokens, one))
        summed = self._node("Add", self._node("Add", words, types), positions)
        return self._normalise(summed, "embeddings.LayerNorm")

    def _gather(self, kind: str, rows: int, indices: str) -> str:
        table = self._weight(f"embeddings.{kind}_embeddings.weight", (rows, WIDTH))
        return self._node("Gather", self._constant(f"embeddings.{kind}", table), indices)

    def _layer(self, hidden: str, name: str) -> str:
        attended = self._linear(self._attention(hidden, f"{name}.attention.self"), f"{name}.attention.output.dense")
        hidden = self._normalise(self._node("Add", attended, hidden), f"{name}.attention.output.LayerNorm")
        inner = self._gelu(self._linear(hidden, f"{name}.intermediate.dense", outputs=INNER_WIDTH))
        outer = self._linear(inner, f"{name}.output.dense", inputs=INNER_WIDTH)
        return self._normalise(self._node("Add", outer, hidden), f"{name}.output.LayerNorm")

    def _attention(self, hidden: str, name: str) -> str:
        query = self._split_heads(self._linear(hidden, f"{name}.query"), [0, 2, 1, 3])
        key = self._split_heads(self._linear(hidden, f"{name}.key"), [0, 2, 3, 1])
        value = self._split_heads(self._linear(hidden, f"{name}.value"), [0, 2, 1, 3])
        scale = self._constant("scale", np.array(math.sqrt(HEAD_WIDTH), dtype=np.float32))
        scores = self._node("Div", self._node("MatMul", query, key), scale)
        mixed = self._node("MatMul", self._node("Softmax", scores, axis=-1), value)
        joined = self._node("Transpose", mixed, perm=[0, 2, 1, 3])
        return self._node("Reshape", joined, self._integers("joined", [0, 0, WIDTH]))

    def _split_heads(self, hidden: str, order: list[int]) -> str:
        split = self._node("Reshape", hidden, self._integers("heads", [0, 0, HEADS, HEAD_WIDTH]))
        return self._node("Transpose", split, perm=order)

    def _linear(self, hidden: str, name: str, *, inputs: int = WIDTH, outputs: int = WIDTH) -> str:
        """Multiply by the transposed weight, which PyTorch stores as (outputs, inputs), and add the bias."""
        weight = self._weight(f"{name}.weight", (outputs, inputs)).T.copy()
        bias = self._weight(f"{name}.bias", (outputs,))
        product = self._node("MatMul", hidden, self._constant(f"{name}.weight", weight))
        return self._node("Add", self._constant(f"{name}.bias", bias), product)

    def _gelu(self, hidden: str) -> str:
        """Compute x/2 · (1 + erf(x/√2)), in the form that ONNX Runtime's fusion recognises."""
        root = self._constant("root_of_two", np.array(math.sqrt(2.0), dtype=np.float32))
        one, half = (self._constant(f"number_{value}", np.array(value, dtype=np.float32)) for value in (1.0, 0.5))
        raised = self._node("Add", self._node("Erf", self._node("Div", hidden, root)), one)
        return self._node("Mul", self._node("Mul", hidden, raised), half)

    def _normalise(self, hidden: str, name: str) -> str:
        weight = self._constant(f"{name}.weight", self._weight(f"{name}.weight", (WIDTH,)))
        bias = self._constant(f"{name}.bias", self._weight(f"{name}.bias", (WIDTH,)))
        return self._node("LayerNormalization", hidden, weight, bias, axis=-1, epsilon=EPSILON)

    def _weight(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
        tensor = self._weights.get(name)
        if tensor is None or tensor.shape != shape or tensor.dtype != np.float32:
            state = "missing" if tensor is None else f"{tensor.dtype} of shape {tensor.shape}"
            raise ModelError(Reason.MODEL_INVALID, f"the weights are not those of all-MiniLM-L6-v2: {name} is {state}")
        return tensor

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(value, name)
        return name

    def _integers(self, name: str, values: list[int]) -> str:
        return self._constant(name, np.array(values, dtype=np.int64))

    def _node(self, operator: str, *inputs: str, result: str = "", **attributes: Any) -> str:
        result = result or f"{operator}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, list(inputs), [result], name=result, **attributes))
        return result
