"""Measure the time from a keypress until it is drawn, while the app imports a large vault."""

from __future__ import annotations

from bench.program import model_cache, new_home
from bench.report import Report, arguments, finish, percentile
from bench.screen import Screen, app_on_screen
from bench.startup import FIRST_FRAME
from bench.vaults import write_vault

NOTES, SMALL_NOTES = 10_000, 300
PRESSES, SMALL_PRESSES = 500, 30
PAUSE_SECONDS = 0.05
"""The pause between two keys, half of that of a fast typist."""

LETTERS = "\u0436\u0448\u0449\u0444\u044e"
"""Cyrillic letters, which occur nowhere else on the screen."""

BACKSPACE = "\x7f"


def measure(*, small: bool = False) -> Report:
    """Measure an app that imports a vault for the first time."""
    number, presses = (SMALL_NOTES, SMALL_PRESSES) if small else (NOTES, PRESSES)
    report = Report("Keys while notes are imported")
    with new_home() as home:
        vault = write_vault(home.folder / "vault", number)
        with app_on_screen(home, vault) as screen:
            screen.wait_for(FIRST_FRAME)
            screen.rest(1.0)
            waited = [_press(screen, LETTERS[index % len(LETTERS)]) for index in range(presses)]
        coverage = home.donna("status", "--space", vault, "--json").json["coverage"]
    for percent, budget in ((50, None), (95, None), (99, 50.0)):
        report.add(f"from keypress to screen, p{percent}", percentile(waited, percent), "ms", budget)
    report.add("from keypress to screen, slowest", max(waited), "ms")
    embedding = " Its passages were embedded meanwhile." if model_cache() else ""
    report.remarks.append(
        f"{presses} keys in the search field while {number:,} notes were imported;"
        f" {coverage['text']:,} were indexed at the end.{embedding}"
    )
    return report


def _press(screen: Screen, letter: str) -> float:
    """Type a letter and delete it. Return the milliseconds until the letter is drawn."""
    seconds = screen.echo(letter)
    screen.type(BACKSPACE)
    screen.rest(PAUSE_SECONDS)
    return seconds * 1000


if __name__ == "__main__":
    finish(measure, arguments(__doc__))
