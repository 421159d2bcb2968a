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

Measure = Callable[[bool], Report]


def measure_scale(small: bool) -> Report:
    if small:
        return scale.measure(scale.SMALL_SIZES, questions=scale.SMALL_QUESTIONS)
    return scale.measure(scale.SIZES)


ALL: dict[str, Measure] = {
    "ingest": lambda small: ingest.measure(small=small),
    "startup": lambda small: startup.measure(small=small),
    "keypress": lambda small: keypress.measure(small=small),
    "drawn": lambda small: drawn.measure(drawn.SMALL_SIZES, drawn.SMALL_KEYS) if small else drawn.measure(),
    "search": lambda small: search.measure(search.SMALL_SIZES if small else search.SIZES),
    "abstention": lambda small: abstention.measure(small=small),
    "names": lambda small: names.measure(small=small),
    "scale": measure_scale,
    "memory": lambda small: memory.measure(small=small),
    "recall": lambda small: recall.measure(small=small),
    "refusals": lambda small: refusals.measure(small=small),
    "write": lambda small: write.measure(small=small),
    "peers": lambda small: peers.measure(small=small),
}


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
        report = ALL[name](small)
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
