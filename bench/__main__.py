"""Run all benchmarks in turn: `python -m bench [--small] [--markdown FILE]`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path

from bench import (
    abstention,
    drawn,
    ingest,
    keypress,
    memory,
    names,
    peers,
    recall,
    refusals,
    scale,
    search,
    startup,
    write,
)
from bench.report import Report, UnavailableError, machine, write_json

LATEST = Path(__file__).parent / "results" / "latest.json"

MEASURED = (
    ingest, startup, keypress, drawn, search, abstention, names, scale, memory, recall, refusals, write, peers,
)  # fmt: skip
ALL: dict[str, Callable[..., Report]] = {each.__name__.removeprefix("bench."): each.measure for each in MEASURED}


def main() -> None:
    parser = ArgumentParser(description="Run every benchmark.")
    parser.add_argument(
        "--small", action="store_true", help="take a minute, not half an hour; the figures prove nothing"
    )
    parser.add_argument("--only", nargs="+", choices=ALL, default=list(ALL), help="only these")
    parser.add_argument(
        "--json", type=Path, default=LATEST, metavar="FILE", help=f"default: bench/results/{LATEST.name}"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables to this file as well")
    options = parser.parse_args()
    reports = list(filter(None, (run(name, options.small) for name in options.only)))
    write_json(options.json, {"machine": machine(), "small": options.small, "reports": [r.fields() for r in reports]})
    if options.markdown:
        options.markdown.write_text(page(reports), encoding="utf-8")


def run(name: str, small: bool) -> Report | None:
    """Run a benchmark and print its table. Return None if it cannot run on this machine."""
    try:
        report = ALL[name](small=small)
    except UnavailableError as missing:
        print(f"{name} not measured: {missing}\n", flush=True)
        return None
    print(f"{report.text()}\n", flush=True)
    return report


def page(reports: list[Report]) -> str:
    """Return all tables as Markdown, headed by the machine that they were measured on."""
    facts = machine()
    environment = f"{facts['processor'] or facts['machine']}, {facts['cores']} cores, {facts['system']}"
    head = f"Measured on {facts['taken']}: {environment}, Python {facts['python']}.\n"
    return "\n".join([head, *(report.markdown() for report in reports)])


if __name__ == "__main__":
    main()
