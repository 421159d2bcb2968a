"""Measure how the cost per note changes with the size of a vault: index, index again, search."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path

from bench.engines import search_ms
from bench.models import engines_get, no_model
from bench.program import Home, Ran, needed_model, new_home
from bench.report import Report, arguments, finish, median, percentile
from bench.vaults import material, write_vault

SIZES, SMALL_SIZES = (6_000, 14_000, 38_000), (200, 600)
QUESTIONS, SMALL_QUESTIONS = 200, 30
FLAT = 1.5
"""The maximum cost of a note in the largest vault, as a multiple of that in the smallest."""

AGAIN_SECONDS = {10_000: 2.0, 38_000: 5.0}
SEARCH_MS = {10_000: 30.0, 100_000: 60.0}
"""Budgets by the largest size that they apply to: notes for indexing again, chunks for a search."""

AGAIN_RUNS = 3


def measure(*, small: bool = False, notes: Sequence[int] = (), vectors: bool = False) -> Report:
    """Measure vaults with these numbers of `notes`. Raises UnavailableError for vectors without a model."""
    if vectors:
        needed_model()
    sizes = notes or (SMALL_SIZES if small else SIZES)
    questions = SMALL_QUESTIONS if small else QUESTIONS
    report = Report(f"Scale, {'words and vectors' if vectors else 'words only'}")
    costs = [measure_size(report, number, vectors=vectors, questions=questions) for number in sizes]
    if len(costs) > 1:
        report.add(f"cost of a note in {sizes[-1]:,}, compared with {sizes[0]:,}", costs[-1] / costs[0], "×", FLAT)
    return report


def measure_size(report: Report, number: int, *, vectors: bool, questions: int) -> float:
    """Measure one vault. Return the milliseconds to index a note."""
    with new_home() as home:
        vault = write_vault(home.folder / "vault", number)
        cold = _index(home, vault, vectors=vectors)
        again = median([_index(home, vault, vectors=vectors).seconds for _ in range(AGAIN_RUNS)])
        cost = (cold.seconds - again) * 1000 / number
        report.add(f"{number:,} notes: index", cold.seconds, "s")
        report.add(f"{number:,} notes: for each note, without the start", cost, "ms")
        report.add(f"{number:,} notes: peak memory", cold.peak_mb, "MB")
        report.add(f"{number:,} notes: index again, unchanged", again, "s", _budget(AGAIN_SECONDS, number))
        status = home.donna("status", "--space", vault, "--json").json
        report.add(f"{number:,} notes: size of the index", status["database_bytes"] / 1e6, "MB")
        chunks = status["coverage"]["chunks"]
        times = _search(home, vault, made_questions(questions), vectors=vectors)
        what = f"{number:,} notes, {chunks:,} chunks: search"
        report.add(f"{what}, p50", percentile(times, 50), "ms")
        report.add(f"{what}, p95", percentile(times, 95), "ms", _budget(SEARCH_MS, chunks))
    return cost


def _budget(budgets: dict[int, float], size: int) -> float | None:
    """Return the budget of the smallest size that is not smaller than this one."""
    return next((budget for max_notes, budget in sorted(budgets.items()) if size <= max_notes), None)


def _index(home: Home, vault: Path, *, vectors: bool) -> Ran:
    verb = home.donna if vectors else home.wordless
    return verb("index", "--space", vault, "--json")


def _search(home: Home, vault: Path, questions: Sequence[str], *, vectors: bool) -> list[float]:
    if vectors:
        return asyncio.run(search_ms(home, vault, questions))
    with engines_get(no_model):
        return asyncio.run(search_ms(home, vault, questions, "keyword"))


def made_questions(number: int) -> list[str]:
    """Return questions of two to six adjacent words of the notes, always the same."""
    chance = random.Random(1)
    texts = [words for paragraph in material().paragraphs if len(words := paragraph.split()) >= 12]
    questions = []
    for _ in range(number):
        words, length = chance.choice(texts), chance.randint(2, 6)
        begin = chance.randrange(len(words) - length)
        questions.append(" ".join("".join(filter(str.isalnum, word)) for word in words[begin : begin + length]))
    return [question for question in questions if question.strip()]


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument(
        "--notes", type=int, nargs="+", metavar="N", default=(), help="sizes to measure instead of the usual ones"
    )
    parser.add_argument("--vectors", action="store_true", help="also embed: takes minutes for each thousand notes")
    finish(measure, parser)
