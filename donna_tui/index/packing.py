"""How vectors are stored: two bytes a number where they are kept, one byte where the nearest are looked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from donna_tui.numeric import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float32]"
Vectors: TypeAlias = "NDArray[np.float32]"
"""Several, a row each."""

Steps: TypeAlias = "NDArray[np.int8]"

WIDEST = 8
"""A byte reaches to eight standard deviations of a number in a random unit vector; what is larger is cut off."""


def packed(vector: Vector) -> bytes:
    """A unit vector in half precision: cosines change by less than 0.0001, a hundredth of what an int8 model costs."""
    halves: NDArray[np.float16] = vector.astype("<f2")
    return halves.tobytes()


def unpacked(stored: bytes) -> Vector:
    """The vector of `packed`."""
    return np.frombuffer(stored, dtype="<f2").astype(np.float32)


def unpacked_rows(stored: Sequence[bytes]) -> Vectors:
    """The vectors of several `packed`, a row each."""
    return np.frombuffer(b"".join(stored), dtype="<f2").reshape(len(stored), -1).astype(np.float32)


def steps(vectors: Vectors) -> Steps:
    """A unit vector, or a row each, in whole steps from -127 to 127: enough to say which are among the nearest."""
    step = min(1.0, WIDEST / math.sqrt(vectors.shape[-1])) / 127
    whole: Steps = np.clip(np.rint(vectors / step), -127, 127).astype(np.int8)
    return whole


def coarse(vector: Vector) -> bytes:
    """A unit vector in whole steps, as sqlite-vec takes it."""
    return steps(vector).tobytes()
