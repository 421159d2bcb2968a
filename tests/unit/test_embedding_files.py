"""Model files are found where they should be, and not used if they differ from their manifest."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

from donna_tui.embedding import files
from donna_tui.embedding.build import build_embedding_provider, build_token_counter
from donna_tui.embedding.tokenizer import ModelTokens
from donna_tui.text.tokens import EstimatedTokens
from donna_tui.types.errors import ModelError, Reason
from tests.unit.embedding_files import tokenizer_json, write_export


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a package with weights that are not the published ones."""
    folder = tmp_path / "site" / "pretend_weights" / "model"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise AssertionError('imported')")
    (folder / "model.safetensors").write_bytes(b"other weights")
    (folder / "tokenizer.json").write_bytes(tokenizer_json())
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setattr(files, "WEIGHTS_PACKAGE", "pretend_weights")
    return folder


@pytest.fixture
def no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "WEIGHTS_PACKAGE", "no_such_package_of_weights")


def test_weights_are_found_without_importing_their_package(weights: Path) -> None:
    assert files.find_weights() == weights
    assert "pretend_weights" not in sys.modules


def test_a_package_without_weights_counts_as_none(weights: Path) -> None:
    (weights / "model.safetensors").unlink()
    assert files.find_weights() is None


def test_no_package_of_weights_is_no_error(no_weights: None) -> None:
    assert files.find_weights() is None


def test_weights_that_are_not_the_published_ones_are_refused(weights: Path) -> None:
    with pytest.raises(ModelError) as refusal:
        files.check_weights(weights)
    assert refusal.value.reason is Reason.MODEL_INVALID
    assert "donna model install" in (refusal.value.hint or "")


def test_an_intact_export_is_described_by_its_manifest(tmp_path: Path) -> None:
    write_export(tmp_path / "export")
    model = files.load_export(tmp_path / "export")
    assert model is not None
    assert (model.version_tag, model.dim, model.max_tokens) == ("minilm-l6-v2@53aa5117/int8", 384, 16)


def test_no_export_is_no_error(tmp_path: Path) -> None:
    assert files.load_export(tmp_path / "export") is None


def flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(bytes(content))


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "manifest.json"])
@pytest.mark.parametrize("damage", ["missing", "empty", "flipped"])
def test_every_damage_is_noticed(tmp_path: Path, name: str, damage: str) -> None:
    folder = tmp_path / "export"
    write_export(folder)
    if damage == "missing":
        (folder / name).unlink()
    elif damage == "empty":
        (folder / name).write_bytes(b"")
    elif name == "manifest.json":
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace('"onnx_sha256":"', '"onnx_sha256":"0'))
    else:
        flip_a_bit(folder / name)
    with pytest.raises(ModelError) as refusal:
        files.load_export(folder)
    assert refusal.value.reason is Reason.MODEL_INVALID


def test_an_export_made_by_another_recipe_is_not_used(tmp_path: Path) -> None:
    write_export(tmp_path / "export")
    manifest = tmp_path / "export" / "manifest.json"
    manifest.write_text(manifest.read_text().replace("export-1", "export-0"))
    with pytest.raises(ModelError):
        files.load_export(tmp_path / "export")


@pytest.mark.parametrize("place", ["model.onnx", "onnx/model.onnx"])
def test_a_file_placed_by_hand_is_tagged_with_its_own_hash(tmp_path: Path, place: str) -> None:
    folder = files.models_folder(tmp_path) / files.HAND_PLACED
    (folder / place).parent.mkdir(parents=True)
    (folder / place).write_bytes(b"official")
    assert files.load_hand_placed(tmp_path) is None
    (folder / "tokenizer.json").write_bytes(tokenizer_json())
    model = files.load_hand_placed(tmp_path)
    assert model is not None
    assert model.graph == folder / place
    assert model.version_tag == f"minilm-l6-v2@{hashlib.sha256(b'official').hexdigest()[:8]}/file"


def test_the_counter_is_there_before_the_model_is(tmp_path: Path, weights: Path) -> None:
    counter = build_token_counter("minilm-l6-v2", tmp_path)
    assert isinstance(counter, ModelTokens)
    assert counter.name == f"tokenizer-{hashlib.sha256(tokenizer_json()).hexdigest()[:8]}"


def test_without_any_model_tokens_are_estimated(tmp_path: Path, no_weights: None) -> None:
    assert isinstance(build_token_counter("minilm-l6-v2", tmp_path), EstimatedTokens)


def test_an_invalid_model_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as refusal:
        build_embedding_provider(str(tmp_path / "gone"), tmp_path, lambda phase, detail: None)
    assert refusal.value.reason is Reason.MODEL_MISSING
