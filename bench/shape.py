"""Measure the source: packages, files, functions, inheritance across files, and imports between packages."""

from __future__ import annotations

import ast
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

from bench.report import REPOSITORY

PACKAGE = "donna_tui"
SPLIT = frozenset({"tui", "vault", "agents", "drafts"})
"""Packages whose subpackages are counted separately."""


class Source:
    """A module: its syntax tree, and what it imports from the package."""

    def __init__(self, root: Path, path: Path) -> None:
        self.parts = path.relative_to(root).with_suffix("").parts
        text = path.read_text(encoding="utf-8")
        self.lines = text.count("\n")
        self.tree = ast.parse(text)

    @property
    def name(self) -> str:
        return ".".join((PACKAGE, *self.parts))

    def imports(self) -> Iterator[tuple[str, str]]:
        """Yield the module and name of every `from … import …` of the package anywhere in the file."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == PACKAGE:
                yield from ((node.module, alias.name) for alias in node.names)


def package_of(parts: tuple[str, ...]) -> str:
    """Return the package of a module below `PACKAGE`, or its subpackage in those of `SPLIT`."""
    if len(parts) == 1:
        return "."
    inner = len(parts) > 2 and parts[0] in SPLIT
    return "/".join(parts[: 2 if inner else 1])


def functions(tree: ast.AST) -> Iterator[int]:
    """Yield the length of every function in lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def longest_chain(sources: list[Source]) -> list[str]:
    """Return the longest chain of classes in which each inherits from one in another file."""
    bases: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for source in sources:
        origin = {name: (module, name) for module, name in source.imports()}
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef):
                named = [ast.unparse(base).split("[")[0] for base in node.bases]
                bases[source.name, node.name] = [origin.get(each, (source.name, each)) for each in named]

    def chain(key: tuple[str, str]) -> list[str]:
        below = [chain(base) for base in bases.get(key, []) if base in bases]
        longest = max(below, key=len, default=[])
        here = "" if any(base[0] == key[0] for base in bases.get(key, []) if base in bases) else key[1]
        return [here, *longest] if here else longest or [key[1]]

    return max((chain(key) for key in bases), key=len, default=[])


def measure(root: Path) -> Iterator[str]:
    """Yield the lines of a Markdown table of figures, and of one with a row for each package."""
    sources = [Source(root, path) for path in sorted(root.rglob("*.py")) if path.stat().st_size]
    packages: dict[str, list[Source]] = defaultdict(list)
    for source in sources:
        packages[package_of(source.parts)].append(source)
    between = {
        (package_of(source.parts), package_of(tuple(module.split(".")[1:]) + ((name,) if module == PACKAGE else ())))
        for source in sources
        for module, name in source.imports()
    }
    files = [source.lines for source in sources]
    lengths = [each for source in sources for each in functions(source.tree)]
    chain = longest_chain(sources)
    rows = {
        "packages": len(packages) - ("." in packages),
        "files": len(files),
        "lines": f"{sum(files):,}",
        "file, median · p90": f"{median(files):.0f} · {quantiles(files, n=10)[-1]:.0f}",
        "function, median · p90": f"{median(lengths):.0f} · {quantiles(lengths, n=10)[-1]:.0f}",
        "longest chain of base classes across files": f"{len(chain)} ({' → '.join(chain)})",
        "imports between packages": len({pair for pair in between if pair[0] != pair[1]}),
    }
    yield from ("| what | figure |", "|---|---|")
    yield from (f"| {what} | {figure} |" for what, figure in rows.items())
    yield from ("", "| package | files | lines |", "|---|---:|---:|")
    for package, inside in sorted(packages.items()):
        yield f"| `{package}` | {len(inside)} | {sum(each.lines for each in inside):,} |"


def main() -> None:
    """Print the figures of the package, or of another checkout: `python -m bench.shape [FOLDER]`."""
    parser = ArgumentParser(description="Print the shape of the source as Markdown tables.")
    parser.add_argument("folder", nargs="?", type=Path, default=REPOSITORY / PACKAGE)
    for line in measure(parser.parse_args().folder):
        print(line)


if __name__ == "__main__":
    main()
