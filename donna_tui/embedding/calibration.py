"""Decides on this machine, by measuring, whether the 8-bit model is worth its loss of precision."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from donna_tui.embedding.provider import Matrix, Vector
from donna_tui.records import dataclass

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
"""Twenty English texts: ten of 5 to 20 tokens and ten of some 130, the length of a usual passage."""

REFERENCE = {
    0: (0.033046, 0.018236, 0.030086, 0.060316),
    4: (-0.026333, -0.044199, -0.02971, 0.09558),
    8: (0.008699, -0.036677, -0.037299, 0.087179),
    10: (-0.048353, -0.064963, -0.035703, 0.041009),
    19: (-0.057242, -0.060463, -0.038832, 0.025492),
}
"""The first four numbers of the vectors of some samples, by sentence-transformers 6.2 with torch 2.13 in fp32."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many times faster the 8-bit model is, and its mean cosine similarity to the exact one."""

    speedup: float
    cosine: float

    @property
    def worth_it(self) -> bool:
        """Whether the 8-bit model is clearly faster and hardly less precise: a CPU may be neither."""
        return self.speedup >= MIN_SPEEDUP and self.cosine >= MIN_COSINE


def compare(exact: Embed, quantised: Embed, texts: Sequence[str] = SAMPLES) -> Comparison:
    """Measure both models on the same texts, in turns so that other load on the machine meets both."""
    similarity = np.sum(embed_all(exact, texts) * embed_all(quantised, texts), axis=1)
    rounds = [(_seconds(exact, texts), _seconds(quantised, texts)) for _ in range(ROUNDS)]
    slow, fast = (min(times) for times in zip(*rounds, strict=True))
    return Comparison(speedup=slow / fast, cosine=float(similarity.mean()))


def embed_all(embed: Embed, texts: Sequence[str] = SAMPLES) -> Matrix:
    """The vectors of `texts`, one row each."""
    return np.stack([embed(text) for text in texts])


def _seconds(embed: Embed, texts: Sequence[str]) -> float:
    started = time.perf_counter()
    embed_all(embed, texts)
    return time.perf_counter() - started
