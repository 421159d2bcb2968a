"""The export: from the right weights only, complete or not at all, even if other processes export too."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from donna_tui.embedding import files
from donna_tui.embedding.bert_graph import write_bert_graph
from donna_tui.embedding.files import WEIGHTS_PACKAGE
from donna_tui.embedding.onnx import OnnxProvider
from donna_tui.embedding.prepare import EXPORT_MODULE, prepare_model
from donna_tui.types.errors import ModelError, Reason
from donna_tui.types.status import ModelPhase

pytestmark = pytest.mark.model


def start_export(folder: Path, python_path: Path | None = None) -> subprocess.Popen[str]:
    environ = os.environ | ({"PYTHONPATH": str(python_path)} if python_path else {})
    command = [sys.executable, "-m", EXPORT_MODULE, str(folder)]
    return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def outcome(child: subprocess.Popen[str]) -> tuple[int, dict[str, Any]]:
    printed, _ = child.communicate()
    (line,) = printed.splitlines()
    return child.returncode, json.loads(line)


@pytest.mark.stress  # tests/unit/test_embedding_prepare.py does this with a pretended export
def test_concurrent_exports_replace_a_damaged_export(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / files.GRAPH).write_bytes(b"half a graph")
    for code, result in [outcome(child) for child in [start_export(folder), start_export(folder)]]:
        assert code == 0
        assert result["ok"] is True
        assert result["difference"] <= 1e-5
    export = files.load_export(folder)
    assert export is not None
    assert OnnxProvider(export).dim == 384
    assert os.listdir(tmp_path) == ["model"]
    assert sorted(os.listdir(folder)) == [files.MANIFEST, files.GRAPH, files.TOKENIZER]


@pytest.mark.stress  # tests/unit/test_embedding_prepare.py does this with a pretended export
def test_a_damaged_export_is_detected_and_replaced(model_cache: Path, tmp_path: Path) -> None:
    shutil.copytree(files.export_folder(model_cache), files.export_folder(tmp_path))
    graph = files.export_folder(tmp_path) / files.GRAPH
    os.truncate(graph, graph.stat().st_size - 1)
    phases: list[ModelPhase] = []
    model = prepare_model(tmp_path, lambda phase, detail: phases.append(phase))
    assert phases == [ModelPhase.PREPARING]
    assert files.load_export(files.export_folder(tmp_path)) == model


def test_export_rejects_unpublished_weights(tmp_path: Path) -> None:
    folder = tmp_path / "site" / WEIGHTS_PACKAGE / "model"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "model.safetensors").write_bytes(b"not the published weights")
    (folder / "tokenizer.json").write_bytes(b"{}")
    code, result = outcome(start_export(tmp_path / "exported", tmp_path / "site"))
    assert code == 1
    assert result["reason"] == "model_invalid"
    assert not (tmp_path / "exported").exists()


@pytest.mark.parametrize("tensors", [{}, {"embeddings.word_embeddings.weight": np.zeros((7, 384), np.float32)}])
def test_weights_of_another_architecture_are_refused(tmp_path: Path, tensors: dict[str, Any]) -> None:
    save_file(tensors, tmp_path / files.WEIGHTS)
    with pytest.raises(ModelError) as refusal:
        write_bert_graph(tmp_path / files.WEIGHTS, tmp_path / files.GRAPH)
    assert refusal.value.reason is Reason.MODEL_INVALID
    assert "word_embeddings" in refusal.value.message
    assert not (tmp_path / files.GRAPH).exists()
