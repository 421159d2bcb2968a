"""Measure the start of the app, the time to find that a vault is unchanged, and the cost of the idle app."""

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
IDLE_SECONDS, SMALL_IDLE_SECONDS = 10.0, 2.0
START_SECONDS = 5.0

QUESTION = "sync notes between two devices"
FIRST_FRAME = "Search your notes"
BY_WORDS = r"#\d+ keyword"
BY_MEANING = r"#\d+ semantic"

EMPTY = "an empty app"
EMPTY_APP = f"""
from textual.app import App
from textual.widgets import Label

class Empty(App):
    def compose(self):
        yield Label({EMPTY!r})

Empty().run()
"""

READY = "keyword and semantic ready|keyword only: (?:no model|the model failed)"


@dataclass(frozen=True, slots=True)
class Start:
    """The times of one start of the app, in seconds since its process started. `semantic` is None without a model;
    `empty` is the first frame of an empty app, started just before.
    """

    empty: float
    frame: float
    words: float
    semantic: float | None


def measure(*, small: bool = False) -> Report:
    report = Report("Start and idle", peer="an empty Textual app")
    number = SMALL_NOTES if small else NOTES
    with new_home() as home:
        vault = write_vault(home.folder / "vault", number)
        sys.stderr.write(f"  filling the index of {number} notes …\n")
        fill(home, vault)
        unchanged(report, home, vault)
        starts = [start(home, vault) for _ in range(1 + (SMALL_STARTS if small else STARTS))]
        report_starts(report, starts[1:])
        idle(report, home, vault, SMALL_IDLE_SECONDS if small else IDLE_SECONDS)
    report.remarks.append(f"{number} notes; the start is the median of {len(starts) - 1}, with a warm file cache.")
    return report


def fill(home: Home, vault: Path) -> None:
    """Index a vault with random vectors near real ones, or with words only if there is no model."""
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
    """Measure `donna index` on an unchanged vault."""
    home.donna("index", "--space", vault, "--json")
    again = home.donna("index", "--space", vault, "--json")
    report.add("unchanged vault: index again", again.seconds, "s", 2.0)
    report.add("unchanged vault: chunks embedded", again.json["embedded"], "chunks", 0.0)
    report.add("unchanged vault: status", home.donna("status", "--space", vault, "--json").seconds, "s")


def start(home: Home, vault: Path) -> Start:
    """Start an empty app, then the app. Type a question at the first frame, and wait for both kinds of results."""
    with on_screen([sys.executable, "-c", EMPTY_APP], home) as screen:
        empty = screen.wait_for(EMPTY)
    with app_on_screen(home, vault) as screen:
        frame = screen.wait_for(FIRST_FRAME)
        screen.type(QUESTION)
        words = screen.wait_for(BY_WORDS)
        if model_cache() is None:
            return Start(empty, frame, words, None)
        return Start(empty, frame, words, screen.wait_for(f"{BY_MEANING}|{READY}"))


def report_starts(report: Report, starts: Sequence[Start]) -> None:
    """Add the medians."""
    empty = median([start.empty for start in starts])
    report.add("start to first frame", median([start.frame for start in starts]), "s", 0.5, peer=empty)
    report.add("start to first keyword result", median([start.words for start in starts]), "s", 0.7)
    semantic = [start.semantic for start in starts if start.semantic is not None]
    report.add("start to semantic search", median(semantic) if semantic else None, "s", 1.2)


def idle(report: Report, home: Home, vault: Path, seconds: float) -> None:
    """Measure the CPU time and memory of an idle app with its model loaded."""
    with app_on_screen(home, vault) as screen:
        screen.wait_for(READY)
        screen.rest(START_SECONDS)
        before = _cpu(screen)
        written = screen.rest(seconds)
        after = _cpu(screen)
        share = None if before is None or after is None else (after - before) / seconds * 100
        report.add(f"{seconds:g} idle seconds: CPU", share, "% of a core", 1.0)
        report.add(f"{seconds:g} idle seconds: output", written, "bytes")
        report.add("idle memory", peak_mb(screen.pid, "VmRSS") or None, "MB", 400.0)
        report.add("peak memory", peak_mb(screen.pid) or None, "MB")


def _cpu(screen: Screen) -> float | None:
    try:
        return cpu_seconds(screen.pid)
    except OSError:
        return None


if __name__ == "__main__":
    finish(measure, arguments(__doc__))
