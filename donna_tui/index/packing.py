"""How vectors are stored: two bytes a number where they are kept, one byte where the nearest are looked for."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]

WIDEST = 8
"""A byte reaches to eight standard deviations of a number in a random unit vector; what is larger is cut off."""


def packed(vector: Vector) -> bytes:
    """A unit vector in half precision: cosines change by less than 0.0001, a hundredth of what an int8 model costs."""
    halves: NDArray[np.float16] = vector.astype("<f2")
    return halves.tobytes()


def unpacked(stored: bytes) -> Vector:
    """The vector of `packed`."""
    return np.frombuffer(stored, dtype="<f2").astype(np.float32)


def coarse(vector: Vector) -> bytes:
    """A unit vector in whole steps from -127 to 127, good enough to say which are among the nearest."""
    step = min(1.0, WIDEST / math.sqrt(len(vector))) / 127
    steps: NDArray[np.int8] = np.clip(np.rint(vector / step), -127, 127).astype(np.int8)
    return steps.tobytes()
