"""How soon the app is there, how soon an unchanged vault is known to be unchanged, and what the app costs at rest."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.engines import index
from bench.models import AroundReal, engines_get, no_model, serving
from bench.program import Home, cpu_seconds, model_cache, new_home, peak_mb
from bench.report import Report, arguments, finish, median
from bench.screen import Screen, app_on_screen, on_screen
from bench.vaults import material, write_vault
from donna_tui.embedding.prepare import prepare_model

NOTES, SMALL_NOTES = 10_000, 300
STARTS, SMALL_STARTS = 7, 2
ANCHORS = 300
QUIET_SECONDS, SMALL_QUIET_SECONDS = 10.0, 2.0
SETTLING_SECONDS = 3.0

QUESTION = "sync notes between two devices"
FIRST_FRAME = "Search your notes"
BY_WORDS = r"words \d"
BY_MEANING = r"#\d+ semantic|[━─]{3,} \d\.\d\d"
"""Its place among the nearest, or how near it is, which is known of no passage before there is a model."""

EMPTY = "an empty app"
EMPTY_APP = f"""
from textual.app import App
from textual.widgets import Label

class Empty(App):
    def compose(self):
        yield Label({EMPTY!r})

Empty().run()
"""

READY = "words and meaning ready|words ready . meaning off"


@dataclass(frozen=True, slots=True)
class Start:
    """One start of the app: seconds from the start of its process. `meaning` is None without a model; `empty` is the
    first frame of an app with nothing in it, started just before.
    """

    empty: float
    frame: float
    words: float
    meaning: float | None


def measure(*, small: bool = False) -> Report:
    """All figures."""
    report = Report("Start and rest", peer="an empty Textual app")
    number = SMALL_NOTES if small else NOTES
    with new_home() as home:
        vault = write_vault(home.folder / "vault", number)
        sys.stderr.write(f"  filling the index of {number} notes …\n")
        fill(home, vault)
        unchanged(report, home, vault)
        starts = [start(home, vault) for _ in range(1 + (SMALL_STARTS if small else STARTS))]
        report_starts(report, starts[1:])
        at_rest(report, home, vault, SMALL_QUIET_SECONDS if small else QUIET_SECONDS)
    report.remarks.append(f"{number} notes; the start is the median of {len(starts) - 1}, files in the system's cache.")
    return report


def fill(home: Home, vault: Path) -> None:
    """Index a vault as if it had been embedded: vectors around real ones, words only where there is no model."""
    cache = model_cache()
    if cache is None:
        build = no_model
    else:
        paragraphs = material().paragraphs
        texts = [text[:400] for text in paragraphs[:: max(1, len(paragraphs) // ANCHORS)]]
        build = serving(AroundReal(prepare_model(cache, lambda phase, detail: None), texts))
    with engines_get(build):
        asyncio.run(index(home, vault))


def unchanged(report: Report, home: Home, vault: Path) -> None:
    """What `donna index` costs when there is nothing to do."""
    home.donna("index", "--space", vault, "--json")
    again = home.donna("index", "--space", vault, "--json")
    report.add("unchanged vault: index again", again.seconds, "s", 2.0)
    report.add("unchanged vault: chunks embedded", again.json["embedded"], "chunks", 0.0)
    report.add("unchanged vault: status", home.donna("status", "--space", vault, "--json").seconds, "s")


def start(home: Home, vault: Path) -> Start:
    """Start an empty app, then the app; type a question as soon as there is a place for it, and wait for both kinds of
    results.
    """
    with on_screen([sys.executable, "-c", EMPTY_APP], home) as screen:
        empty = screen.wait_for(EMPTY)
    with app_on_screen(home, vault) as screen:
        frame = screen.wait_for(FIRST_FRAME)
        screen.type(QUESTION)
        words = screen.wait_for(f"{BY_WORDS}|{BY_MEANING}")
        if model_cache() is None:
            return Start(empty, frame, words, None)
        return Start(empty, frame, words, screen.wait_for(f"{BY_MEANING}|{READY}"))


def report_starts(report: Report, starts: Sequence[Start]) -> None:
    """The medians."""
    empty = median([each.empty for each in starts])
    report.add("start to first frame", median([each.frame for each in starts]), "s", 0.5, peer=empty)
    report.add("start to first result by words", median([each.words for each in starts]), "s", 0.7)
    meaning = [each.meaning for each in starts if each.meaning is not None]
    report.add("start to search by meaning", median(meaning) if meaning else None, "s", 1.2)


def at_rest(report: Report, home: Home, vault: Path, seconds: float) -> None:
    """Processor time and memory of an app with nothing to do, its model loaded."""
    with app_on_screen(home, vault) as screen:
        screen.wait_for(READY)
        screen.rest(SETTLING_SECONDS)
        before = _cpu(screen)
        written = screen.rest(seconds)
        after = _cpu(screen)
        share = None if before is None or after is None else (after - before) / seconds * 100
        report.add(f"{seconds:g} quiet seconds: processor", share, "% of a core", 1.0)
        report.add(f"{seconds:g} quiet seconds: drawn", written, "bytes")
        report.add("memory at rest", peak_mb(screen.pid, "VmRSS") or None, "MB", 400.0)
        report.add("memory, most so far", peak_mb(screen.pid) or None, "MB")


def _cpu(screen: Screen) -> float | None:
    try:
        return cpu_seconds(screen.pid)
    except OSError:
        return None


def main() -> None:
    """The command line."""
    options = arguments("Measure the start of the app and its rest.").parse_args()
    finish(lambda: measure(small=options.small), options)


if __name__ == "__main__":
    main()
