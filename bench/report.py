"""Report figures: rows with budgets, tables as text and Markdown, JSON, percentiles, a stopwatch."""

from __future__ import annotations

import json
import math
import os
import platform
import sys
import time
from argparse import ArgumentParser
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parent.parent
EVAL = REPOSITORY.parent / "shared" / "eval"
"""Real vaults and questions, read in place. They are not part of the repository."""


class UnavailableError(Exception):
    """Something that a benchmark needs is not on this machine; the message names it. This is not a failure."""


@dataclass(frozen=True, slots=True)
class Row:
    """A figure, None if it could not be measured.

    The budget is a maximum, or a minimum with `at_least`. `peer` is another program's figure from the same run,
    `published` one from elsewhere; both are in the unit of the row.
    """

    what: str
    figure: float | None
    unit: str
    budget: float | None = None
    at_least: bool = False
    peer: float | None = None
    published: float | None = None

    @property
    def verdict(self) -> str:
        """Return `ok`, `over` if the figure misses its budget, or an empty string without a figure or budget."""
        if self.figure is None or self.budget is None:
            return ""
        return "ok" if (self.figure >= self.budget if self.at_least else self.figure <= self.budget) else "over"

    @property
    def ratio(self) -> float | None:
        """Return how many times better the figure is than the peer's. Less is better, except for rates."""
        if not self.peer or not self.figure:
            return None
        return self.figure / self.peer if self.unit.endswith("/s") else self.peer / self.figure

    def fields(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        values = {name: getattr(self, name) for name in ("what", "figure", "unit", "budget", "peer", "published")}
        return {**values, "at_least": self.at_least, "ratio": self.ratio, "verdict": self.verdict}


@dataclass(slots=True)
class Report:
    """The rows of a benchmark, and remarks on how they were measured."""

    title: str
    rows: list[Row] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    peer: str = "peer"

    def add(self, what: str, figure: float | None, unit: str, budget: float | None = None, **more: Any) -> None:
        """Add a row, and print it on stderr to show progress."""
        row = Row(what, figure, unit, budget, **more)
        self.rows.append(row)
        sys.stderr.write(f"  {what}: {shown(figure)} {unit}\n")

    def add_share(self, what: str, hits: Collection[bool], budget: float, *, at_least: bool = True) -> None:
        """Add the share of true values as a row, with their number."""
        self.add(f"{what} (of {len(hits):,})", share(hits), "", budget, at_least=at_least)

    def fields(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "title": self.title,
            "machine": machine(),
            "rows": [row.fields() for row in self.rows],
            "remarks": self.remarks,
        }

    def cells(self) -> list[list[str]]:
        """Return the table with its header, without empty columns."""
        head = ["what", "figure", "unit", "budget", self.peer, "ratio", "published", "verdict"]
        body = [
            [row.what, shown(row.figure), row.unit, _budget(row), *_compared(row), row.verdict] for row in self.rows
        ]
        used = [number for number, name in enumerate(head) if number < 3 or any(line[number] for line in body)]
        return [[line[number] for number in used] for line in (head, *body)]

    def text(self) -> str:
        """Format the table for a terminal."""
        cells = self.cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ("  ".join(map(_aligned, line, widths, range(len(line)))).rstrip() for line in cells)
        return "\n".join([self.title, *lines, *self.remarks])

    def markdown(self) -> str:
        """Format the table for a documentation page."""
        head, *body = ([cell.replace("|", "\\|") for cell in line] for line in self.cells())
        rule = ["---:" if name not in ("what", "unit", "verdict") else "---" for name in head]
        table = "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *body))
        return "\n\n".join([f"### {self.title}", table, *self.remarks]) + "\n"


def _aligned(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column in (0, 2) else cell.rjust(width)


def _budget(row: Row) -> str:
    return "" if row.budget is None else f"{'≥' if row.at_least else '≤'} {shown(row.budget)}"


def _compared(row: Row) -> list[str]:
    return ["" if value is None else shown(value) for value in (row.peer, row.ratio, row.published)]


def shown(figure: float | None) -> str:
    """Format a figure with three significant digits, or as `–` for None."""
    if figure is None:
        return "–"
    if figure == 0 or not math.isfinite(figure):
        return f"{figure:g}"
    return f"{figure:,.{min(6, max(0, 2 - math.floor(math.log10(abs(figure)))))}f}"


def share(hits: Collection[bool]) -> float | None:
    """Return the share of true values, None if there are none."""
    return sum(hits) / len(hits) if hits else None


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest of `values` that at least `percent` % of them do not exceed. Raises ValueError if empty."""
    if not values:
        raise ValueError("there are no values")
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def median(values: Sequence[float]) -> float:
    """Return the lower median of `values`. Raises ValueError if empty."""
    return percentile(values, 50)


@contextmanager
def stopwatch() -> Iterator[Callable[[], float]]:
    """Yield a function that returns the elapsed seconds, which stop at the end of the block."""
    started, ended = time.perf_counter(), None

    def seconds() -> float:
        return (ended or time.perf_counter()) - started

    yield seconds
    ended = time.perf_counter()


async def milliseconds(work: Awaitable[object]) -> float:
    """Return the milliseconds until `work` is done."""
    with stopwatch() as seconds:
        await work
    return seconds() * 1000


def machine() -> dict[str, Any]:
    """Return the machine and date of the measurement."""
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "taken": time.strftime("%Y-%m-%d"),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")


def arguments(description: str | None) -> ArgumentParser:
    """Return a parser with the options that every benchmark has."""
    parser = ArgumentParser(description=description)
    parser.add_argument("--small", action="store_true", help="run for a few seconds; the figures prove nothing")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file")
    return parser


def finish(measure: Callable[..., Report], parser: ArgumentParser, args: Sequence[str] | None = None) -> None:
    """Run a benchmark with the parsed options, print its table and write its JSON.

    Missing data is reported and is not a failure.
    """
    options = vars(parser.parse_args(args))
    file = options.pop("json")
    try:
        report = measure(**options)
    except UnavailableError as missing:
        print(f"not measured: {missing}")
        return
    print(report.text())
    if file:
        write_json(file, report.fields())


def write_json(file: Path, fields: Any) -> None:
    """Write JSON that diffs well."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(fields, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def eval_folder(name: str) -> Path:
    """Return a folder of the evaluation data. Raises UnavailableError if it is missing."""
    folder = EVAL / name
    if not folder.is_dir():
        raise UnavailableError(f"the evaluation data is missing: {folder}")
    return folder


def eval_questions(name: str) -> list[str]:
    """Return the questions of a set of the evaluation data. Raises UnavailableError if it is missing."""
    lines = (eval_folder(name) / "queries.dev.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["query"] for line in lines]
