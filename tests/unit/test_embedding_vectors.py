"""Invalid vectors are refused, whatever the model."""

from __future__ import annotations

import numpy as np
import pytest

from donna_tui.embedding.provider import Matrix, check_vectors, normalised, version_tag
from donna_tui.types.errors import ModelError, Reason

UNIT = np.eye(3, 4, dtype=np.float32)


def changed(value: float) -> Matrix:
    rows = UNIT.copy()
    rows[1] = value
    return rows


def test_unit_vectors_pass_unchanged() -> None:
    assert check_vectors(UNIT, 3, 4) is UNIT


def test_check_vectors_accepts_norms_within_one_thousandth() -> None:
    assert check_vectors((UNIT * 1.0009).astype(np.float32), 3, 4).shape == (3, 4)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(changed(float("nan")), id="nan"),
        pytest.param(changed(float("inf")), id="infinite"),
        pytest.param(changed(0.0), id="zero"),
        pytest.param((UNIT * 1.002).astype(np.float32), id="too long"),
        pytest.param(UNIT[:2], id="short list"),
        pytest.param(UNIT[:, :3], id="wrong dimension"),
        pytest.param(UNIT[0], id="no rows"),
        pytest.param(UNIT.astype(np.float64), id="double precision"),
    ],
)
def test_check_vectors_rejects_invalid_vectors(rows: Matrix) -> None:
    with pytest.raises(ModelError) as refusal:
        check_vectors(rows, 3, 4)
    assert refusal.value.reason is Reason.EMBEDDING_FAILED


def test_normalising_keeps_a_zero_row_for_the_check_to_find() -> None:
    rows = normalised(np.array([[3, 4], [0, 0]], dtype=np.float32))
    assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 0]]
    with pytest.raises(ModelError):
        check_vectors(rows, 2, 2)


def test_a_version_tag_names_model_weights_and_variant() -> None:
    assert version_tag("minilm-l6-v2", "53aa51172d142c89", "int8") == "minilm-l6-v2@53aa5117/int8"
