"""Measure the time from a keypress until its results are drawn, end to end, on a pseudo-terminal."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

from bench.program import Home, needed_model, new_home
from bench.report import Report, arguments, eval_questions, finish, median, percentile
from bench.screen import Piece, Screen, app_on_screen
from bench.startup import READY, START_SECONDS, fill
from bench.vaults import AREAS, write_vault

Sizes = tuple[tuple[int, float], ...]
"""Pairs of a number of notes and the budget for a key at p95, in milliseconds."""

SIZES: Sizes = ((1_400, 30.0), (14_000, 60.0))
"""About 10,000 and 100,000 passages."""

SMALL_SIZES: Sizes = ((150, 30.0),)
MILLION: Sizes = ((137_000, 150.0),)
"""About a million passages, which take half an hour to generate."""

KEYS, SMALL_KEYS = 400, 30
PAUSE_SECONDS = 0.2
"""The pause after each key, or three times its budget if that is longer. Faster typing would skip results."""

START_NOTES = 10_000
"""The number of notes that an app compares at its start; the wait is longer in proportion for more."""

READING_SECONDS = 1.0
"""The pause before each further question, as of a user reading the results."""

FRAME_GAP = 0.001
"""The seconds without output that end a frame. The count and the scroll bar are drawn 2 to 5 ms after the results, the
preview 30 ms.
"""

YEAR = timedelta(days=365)

TITLE = re.compile(rb"(?:passages?|notes?) \xc2\xb7 [\d.,]+ m?s|Nothing relevant")
"""The title above the results, with their number and the duration of the search, or what replaces it."""

CTRL_U = b"\x15"


def measure(*, small: bool = False, million: bool = False) -> Report:
    """Run the benchmark. Raises UnavailableError without the evaluation data or a model."""
    needed_model()
    report = Report("From key to results drawn, hybrid")
    for notes, budget in MILLION if million else SMALL_SIZES if small else SIZES:
        with new_home() as home:
            _measure_size(report, home, notes, budget, SMALL_KEYS if small else KEYS)
    return report


def _measure_size(report: Report, home: Home, notes: int, budget: float, keys: int) -> None:
    vault = write_vault(home.folder / "vault", notes)
    make_older(vault)
    fill(home, vault)
    passages = home.donna("status", "--space", vault, "--json").json["coverage"]["chunks"]
    with app_on_screen(home, vault) as screen:
        screen.wait_for(READY)
        screen.rest(START_SECONDS * max(1.0, notes / START_NOTES))
        for name, typed_before in filters().items():
            drawn = _type(screen, typed_before, keys, max(PAUSE_SECONDS, 3 * budget / 1000))
            _report(report, f"{passages:,} passages{name}", drawn, keys, budget)


def make_older(vault: Path) -> None:
    """Set the modification time of every second note back by a year."""
    then = time.time() - YEAR.total_seconds()
    for note in sorted(vault.rglob("*.md"))[::2]:
        os.utime(note, (then, then))


def filters() -> dict[str, str]:
    """Return the filters typed before each question, by label: none, a tenth of all notes, and the newer half."""
    return {"": "", ", in a folder": f"path:{AREAS[0]} ", ", by date": f"after:{date.today() - YEAR / 2} "}


def _report(report: Report, what: str, drawn: Sequence[float], keys: int, budget: float) -> None:
    report.add(f"{what}: p50", median(drawn), "ms")
    report.add(f"{what}: p95", percentile(drawn, 95), "ms", budget)
    report.add(f"{what}: slowest", max(drawn), "ms")
    report.remarks.append(f"{what}: {len(drawn)} of {keys} keys redrew the results with a new duration.")


def _type(screen: Screen, typed_before: str, keys: int, pause: float) -> list[float]:
    """Type questions letter by letter. Return the milliseconds of each key, without those of the first question."""
    questions = eval_questions("vault_help")
    drawn: list[float] = []
    counted = -len(questions[0])
    for question in questions:
        screen.rest(READING_SECONDS)
        screen.type(CTRL_U)
        screen.type(typed_before)
        screen.rest(pause)
        for letter in question:
            seconds = results_drawn(screen.written_after(letter, pause))
            if counted >= 0 and seconds is not None:
                drawn.append(seconds * 1000)
            counted += 1
            if counted == keys:
                return drawn
    return drawn


def results_drawn(written: Sequence[Piece]) -> float | None:
    """Return when the frame with the title above the results was complete, or None if the title was not redrawn."""
    drawn: float | None = None
    for piece in written:
        if drawn is not None and piece.at - drawn > FRAME_GAP:
            return drawn
        if drawn is not None or TITLE.search(piece.written):
            drawn = piece.at
    return drawn


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--million", action="store_true", help="measure only about a million passages")
    finish(measure, parser)
