"""The default model as it is served, compared with sentence-transformers on the same texts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

from donna_tui.config.models import EmbeddingConfig
from donna_tui.embedding import files
from donna_tui.embedding.build import build_embedding_provider, build_embedding_service
from donna_tui.embedding.export import SAMPLES
from donna_tui.embedding.files import ModelFiles
from donna_tui.embedding.onnx import OnnxProvider
from donna_tui.embedding.provider import EmbeddingProvider, Matrix, check_vectors
from donna_tui.embedding.sentence_transformers import SentenceTransformersProvider
from donna_tui.types.errors import ModelError, Reason
from donna_tui.types.status import ModelPhase

pytestmark = pytest.mark.model

PROVIDERS = ("model", pytest.param("reference", marks=pytest.mark.slow))
"""The two providers of the default model; sentence-transformers takes fifteen seconds to start."""

UNUSUAL = (
    "",
    " ",
    "a",
    ".",
    "日本語のノートを検索する",
    "한국어 메모 검색",
    "البحث في الملاحظات",
    "Ünïcödé ﬁgures, naïve cafés and Straße",
    "e\u0301 against \u00e9",
    "👩‍👩‍👧 family notes 🎉",
    "control \x00 \x07 \x1b[31m bytes",
    "zero\u200bwidth and \u202ebidi",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "```python\ndef main() -> None:\n    print('hello')\n```",
    "- [ ] call Ada @work #urgent 📅 2026-01-01",
    "https://example.org/a/very/long/path?with=query&and=more#fragment",
    "x" * 300,
    "word " * 250,
    "[[Weekly review|the review]] of ![[Budget 2026]]",
    "SELECT count(*) FROM notes WHERE path GLOB 'Projects/*'",
)
TEXTS = (*SAMPLES, *UNUSUAL, *(f"{sample} {sample}" for sample in SAMPLES[:10]))


def many_texts(count: int) -> list[str]:
    """Return `TEXTS` and runs of 1 to 160 words of them."""
    words, random = " ".join(TEXTS).split(), Random(7)
    starts = [random.randrange(len(words)) for _ in range(count - len(TEXTS))]
    return [*TEXTS, *(" ".join(words[start : start + random.randint(1, 160)])[:700] for start in starts)]


MIN_COSINE = 0.97


@pytest.fixture(scope="module")
def model(model_cache: Path) -> OnnxProvider:
    provider = build_embedding_provider("minilm-l6-v2", model_cache, lambda phase, detail: None)
    assert isinstance(provider, OnnxProvider)
    return provider


@pytest.fixture(scope="module")
def reference() -> SentenceTransformersProvider:
    weights = files.find_weights()
    assert weights is not None
    return SentenceTransformersProvider(weights, weights / files.TOKENIZER)


@pytest.fixture(scope="module")
def expected(reference: SentenceTransformersProvider) -> Matrix:
    return reference.embed_batch(TEXTS)


EXACT = """
import shutil, sys
from pathlib import Path
from donna_tui.embedding import export
export._quantise = shutil.copyfile
export.MIN_SPEEDUP = float("inf")
export.export(Path(sys.argv[1]))
assert not {"torch", "transformers", "sentence_transformers"} & set(sys.modules)
"""


@pytest.fixture(scope="module")
def exact_export(tmp_path_factory: pytest.TempPathFactory) -> ModelFiles:
    """Export as on a machine on which the 8-bit model is not faster, and is not even built."""
    folder = tmp_path_factory.mktemp("models") / "exact"
    subprocess.run([sys.executable, "-c", EXACT, str(folder)], check=True, stderr=subprocess.DEVNULL)
    export = files.load_export(folder)
    assert export is not None
    return export


def test_comparison_texts_are_distinct_and_complete() -> None:
    assert len(set(TEXTS)) == 50
    assert len(many_texts(500)) == 500


@pytest.mark.slow
def test_the_export_agrees_with_sentence_transformers(model: OnnxProvider, expected: Matrix) -> None:
    rows = check_vectors(model.embed_batch(TEXTS), len(TEXTS), 384)
    cosines = (rows * expected).sum(axis=1)
    assert cosines.mean() >= MIN_COSINE
    assert cosines.min() >= 0.9


@pytest.mark.stress
def test_the_exact_graph_agrees_with_sentence_transformers_to_five_decimals(
    exact_export: ModelFiles, reference: SentenceTransformersProvider
) -> None:
    assert exact_export.version_tag == "minilm-l6-v2@53aa5117/fp32"
    texts = many_texts(500)
    np.testing.assert_allclose(
        OnnxProvider(exact_export).embed_batch(texts), reference.embed_batch(texts), rtol=0, atol=1e-5
    )


@pytest.mark.slow
def test_neighbours_in_a_batch_do_not_change_a_vector(model: OnnxProvider) -> None:
    alone = np.stack([model.embed_batch([text])[0] for text in TEXTS])
    assert np.array_equal(model.embed_batch(TEXTS), alone)
    assert np.array_equal(model.embed_batch(TEXTS[::-1]), alone[::-1])


def test_a_question_and_a_passage_share_one_space(model: OnnxProvider) -> None:
    np.testing.assert_allclose(model.embed("sync two devices"), model.embed_batch(["sync two devices"])[0], atol=1e-6)


def test_the_model_reads_latin_letters_only(model: OnnxProvider) -> None:
    assert [model.readable_share(text) for text in ("größe", "寿司", "abc寿司x", "⭐ 0.5 %")] == [1.0, 0.0, 4 / 6, 0.0]


@pytest.mark.parametrize(
    ("words", "known"),
    [
        ("holiday plans", True), ("Kubernetes ingress", False), ("NL-999", False), ("2024-09-30", False),
        ("goals 2025", True), ("COVID-19", True),
    ],
)  # fmt: skip
def test_names_and_numbers_are_not_known(model: OnnxProvider, words: str, known: bool) -> None:
    assert model.knows(words) is known


def test_a_question_finds_its_answer(model: OnnxProvider) -> None:
    passages = model.embed_batch(SAMPLES[:10])
    best = SAMPLES[int((passages @ model.embed("keep a laptop and a phone in step")).argmax())]
    assert best.startswith("To sync two devices")


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["model", "reference"])
def test_a_very_long_question_is_answered(provider: str, request: pytest.FixtureRequest) -> None:
    served: EmbeddingProvider = request.getfixturevalue(provider)
    text = " ".join(SAMPLES) * 20
    assert len(served.counter.spans(text)) > 10_000
    check_vectors(served.embed(text)[None], 1, served.dim)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("text", ["", "\ud800", "\x00", "\n" * 1000])
def test_unusual_query_text_is_embedded(provider: str, text: str, request: pytest.FixtureRequest) -> None:
    served: EmbeddingProvider = request.getfixturevalue(provider)
    check_vectors(served.embed(text)[None], 1, served.dim)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_window_is_full_at_256_tokens_and_not_beyond(provider: str, request: pytest.FixtureRequest) -> None:
    served: EmbeddingProvider = request.getfixturevalue(provider)
    assert served.max_tokens == 256
    assert served.embed_batch(["word " * 254]).shape == (1, served.dim)
    with pytest.raises(ModelError):
        served.embed_batch(["word " * 255])


@pytest.mark.slow
def test_a_model_folder_is_served_by_sentence_transformers(
    reference: SentenceTransformersProvider, expected: Matrix, tmp_path: Path
) -> None:
    phases: list[ModelPhase] = []
    weights = files.find_weights()
    served = build_embedding_provider(str(weights), tmp_path, lambda phase, detail: phases.append(phase))
    assert served.version_tag == reference.version_tag
    assert phases == [ModelPhase.LOADING, ModelPhase.READY]
    np.testing.assert_allclose(served.embed_batch(TEXTS[:3]), expected[:3], atol=1e-5)


@pytest.mark.slow
def test_the_same_weights_under_another_provider_are_another_index(
    model: OnnxProvider, reference: SentenceTransformersProvider
) -> None:
    assert model.version_tag != reference.version_tag
    assert model.counter.name == reference.counter.name


async def test_a_service_answers_while_it_embeds(model_cache: Path, model: OnnxProvider) -> None:
    service = build_embedding_service(EmbeddingConfig(), model_cache, lambda phase, detail: None)
    try:
        rows = await service.embed_documents(TEXTS)
        answer = await service.embed_query(TEXTS[5])
    finally:
        await service.close()
    assert np.array_equal(rows, model.embed_batch(TEXTS))
    np.testing.assert_allclose(answer, rows[5], atol=1e-6)


WITHOUT_TORCH = """
import sys
from pathlib import Path
from donna_tui.embedding.build import build_embedding_provider, build_token_counter
build_token_counter("minilm-l6-v2", Path(sys.argv[1]))
model = build_embedding_provider("minilm-l6-v2", Path(sys.argv[1]), lambda phase, detail: None)
model.embed("hello")
print(*sorted({"torch", "transformers", "sentence_transformers", "onnx", "textual"} & set(sys.modules)))
"""


def test_serving_imports_neither_torch_nor_transformers(model_cache: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_TORCH, str(model_cache)]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip() == ""


def test_vectors_of_another_length_than_configured_are_refused(model_cache: Path) -> None:
    with pytest.raises(ModelError) as refused:
        build_embedding_service(EmbeddingConfig(dim=512), model_cache, lambda phase, detail: None)
    assert refused.value.reason is Reason.MODEL_INVALID
    assert "384" in str(refused.value.hint)
