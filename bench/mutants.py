"""Mutation testing: apply small faults one at a time to a copy of the tree, and report the first test that fails.

`python -m bench.mutants --suite test --first --jobs 2`. The faults are in bench/data/mutants.toml.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import SimpleQueue

from bench.report import REPOSITORY, median, stopwatch
from bench.shape import PACKAGE, package_of

FILE = Path(__file__).parent / "data" / "mutants.toml"
TABLE = REPOSITORY / "docs" / "testing.md"
SUITES = {"test": "not stress and not slow", "check": "slow and not stress"}
"""The marker expressions of `make test`, and of the remaining tests of `make check`."""

TIMEOUT_MINUTES = 15.0
PROCESSES = "3"
"""The number of processes of pytest, if only one runs at a time."""

MAX_LINES = 3
MAX_BROKEN = 10
LEFT_OUT = frozenset({"tests/unit/test_mutants.py"})
"""The test file that would fail on every fault, since it checks the texts that faults replace."""

TIMED_OUT = "(timed out)"
FINE = (0, 5)
"""The exit codes of pytest for a run without a failure: all tests passed, or none was collected."""

_ROW = re.compile(r"^\| ([\w-]+) \|.*\| `([\w/]+\.py::\w+)` \|$", re.MULTILINE)
_FAILURE = re.compile(r"^(?:FAILED|ERROR) (tests/[^\s\[]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault: `new` replaces `old`, which occurs once in the file. `notice` describes the effect for a user."""

    id: str
    file: str
    old: str
    new: str
    notice: str

    @property
    def package(self) -> str:
        """Return the package of its file."""
        return package_of(Path(self.file).relative_to(PACKAGE).parts)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a suite for a fault. `found_by` is the first test that failed; empty if the fault survived."""

    mutant: Mutant
    found_by: str
    seconds: float

    @property
    def row(self) -> str:
        """Format the result as a row of the table."""
        mutant = self.mutant
        return f"| {mutant.id} | {mutant.package} | {mutant.notice} | {self.found_by or '–'} | {self.seconds:.0f} |"


def read_mutants() -> list[Mutant]:
    """Read all faults, in the order of the file."""
    return [Mutant(**fields) for fields in tomllib.loads(FILE.read_text(encoding="utf-8"))["mutant"]]


def problems(mutants: Sequence[Mutant]) -> list[str]:
    """Validate the list. Return a line for each fault that cannot be applied."""
    messages = []
    for place, mutant in enumerate(mutants):
        file = REPOSITORY / mutant.file
        times = file.read_text(encoding="utf-8").count(mutant.old) if file.is_file() else 0
        if times != 1:
            messages.append(f"{mutant.id}: its text occurs {times} times in {mutant.file}, not once")
        if mutant.old == mutant.new or mutant.old.count("\n") >= MAX_LINES:
            messages.append(f"{mutant.id}: it changes nothing, or more than {MAX_LINES} lines")
        if any(mutant.id == other.id for other in mutants[:place]):
            messages.append(f"{mutant.id}: another fault has the same id")
    return messages


def first_failure(output: str) -> str:
    """Return the first failed test in pytest's summary, without parameters; empty if there is none."""
    match = _FAILURE.search(output)
    return match[1] if match else ""


def named_tests() -> dict[str, str]:
    """Return the test that the table in docs/testing.md names for each fault, by the id of the fault."""
    return {fault: f"tests/{test}" for fault, test in _ROW.findall(TABLE.read_text(encoding="utf-8"))}


def every_test() -> list[str]:
    """Return all test files, relative to the repository."""
    files = (file.relative_to(REPOSITORY).as_posix() for file in sorted((REPOSITORY / "tests").rglob("test_*.py")))
    return [file for file in files if file not in LEFT_OUT]


def related_tests(mutant: Mutant) -> list[str]:
    """Return the test files that import the module of a fault, also through a helper, or share words of its name.

    The most closely related are first.
    """
    texts = {file: file.read_text(encoding="utf-8") for file in (REPOSITORY / "tests").rglob("*.py")}
    direct = _importing(texts, mutant.file)
    by_helper = {path for helper in direct for path in _importing(texts, helper)}
    near = {
        test: (2 * (test in direct) + (test in by_helper), len(_words(test) & _words(mutant.file)))
        for test in every_test()
    }
    chosen = [test for test, (imports, named) in near.items() if imports or named > 1]
    return sorted(chosen or [test for test, (_, named) in near.items() if named], key=lambda test: -sum(near[test]))


def _importing(texts: dict[Path, str], path: str) -> set[str]:
    """Return the files that import the module at `path`."""
    package, _, name = path.removesuffix(".py").replace("/", ".").rpartition(".")
    pattern = re.compile(rf"{re.escape(package)}(?:\.| import [^\n]*\b){name}\b")
    return {file.relative_to(REPOSITORY).as_posix() for file, text in texts.items() if pattern.search(text)}


def _words(path: str) -> set[str]:
    words = re.split(r"[/_]", path.removeprefix(f"{PACKAGE}/").removesuffix(".py"))
    return {word.removesuffix("s") for word in words} - {"test"}


@dataclass(slots=True)
class Copy:
    """A copy of the working tree, and of the files beside it that tests use, in which pytest runs isolated."""

    folder: Path
    timeout: float
    broken: set[str] = field(default_factory=set)
    """Tests that fail without any fault, and are deselected."""
    running: subprocess.Popen[str] | None = None

    @property
    def tree(self) -> Path:
        """Return the root of the copy."""
        return self.folder / "tree"

    @property
    def environ(self) -> dict[str, str]:
        """Return the environment of the tests: the copy is first on the import path and has its own model cache."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "DONNA_"))}
        models = str(self.folder / "models")
        return {**inherited, "PYTHONPATH": str(self.tree), "PYTHONDONTWRITEBYTECODE": "1", "DONNA_TEST_CACHE": models}

    def fill(self) -> None:
        """Copy the files of the working tree that git does not ignore.

        Raises RuntimeError if another tree would be tested.
        """
        command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        listed = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout
        for name in filter(None, listed.split("\0")):
            source, target = REPOSITORY / name, self.tree / name
            if name not in LEFT_OUT and (source.is_file() or source.is_symlink()):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target, follow_symlinks=False)
        if (shared := REPOSITORY.parent / "shared").is_dir():
            (self.folder / "shared").symlink_to(shared)
        if (models := Path(os.environ.get("DONNA_TEST_CACHE") or Path(sys.prefix, "donna-test-models"))).is_dir():
            shutil.copytree(models, self.folder / "models")
        imported = self._python("-c", f"import {PACKAGE}; print({PACKAGE}.__file__)")[1].strip()
        if not Path(imported).is_relative_to(self.tree):
            raise RuntimeError(f"the tests would import {imported or 'nothing'}, not the copy in {self.tree}")

    def find(self, mutant: Mutant, stages: Iterable[Sequence[str]]) -> str:
        """Run the stages until a test fails because of a fault, and return that test; empty if none does."""
        return next(filter(None, (self._failure(mutant, words) for words in stages)), "")

    def _failure(self, mutant: Mutant, words: Sequence[str]) -> str:
        for _ in range(MAX_BROKEN):
            failure = self._with(mutant, words)
            if failure in ("", TIMED_OUT) or self._pytest([failure])[0] in FINE:
                return failure
            self.broken.add(failure)
        raise RuntimeError(f"too many tests fail without a fault: {', '.join(sorted(self.broken))}")

    def _with(self, mutant: Mutant, words: Sequence[str]) -> str:
        file = self.tree / mutant.file
        right = file.read_text(encoding="utf-8")
        file.write_text(right.replace(mutant.old, mutant.new), encoding="utf-8")
        try:
            code, output = self._pytest([*words, *(f"--deselect={test}" for test in sorted(self.broken))])
        finally:
            file.write_text(right, encoding="utf-8")
        failure = TIMED_OUT if output == TIMED_OUT else first_failure(output)
        if not failure and code not in FINE:
            raise RuntimeError(f"{mutant.id}: pytest ended with {code}\n{output[-2_000:]}")
        return failure

    def _pytest(self, words: Sequence[str]) -> tuple[int, str]:
        for path in (*self.tree.rglob("__pycache__"), self.tree / ".hypothesis"):  # left by some programs
            shutil.rmtree(path, ignore_errors=True)
        return self._python("-m", "pytest", "-x", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", *words)

    def _python(self, *words: str) -> tuple[int, str]:
        """Run the interpreter in the copy, with a time limit. Return its exit code and output."""
        self.running = process = subprocess.Popen(
            (sys.executable, "-P", *words),
            cwd=self.tree,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output = process.communicate(timeout=self.timeout)[0]
            return process.returncode, output
        except subprocess.TimeoutExpired:
            return -1, TIMED_OUT
        finally:
            self.stop()

    def stop(self) -> None:
        """Kill the running process and its children."""
        process, self.running = self.running, None
        if process is not None and process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def stages_of(suite: str, mutant: Mutant, *, first: bool, related: bool, processes: Sequence[str]) -> list[list[str]]:
    """Return the arguments of the successive runs of pytest for a fault."""
    words = ["-m", SUITES[suite]] if suite in SUITES else shlex.split(suite)
    names_paths = any((REPOSITORY / word.partition("::")[0]).exists() for word in words)
    if names_paths or not (first or related):
        return [[*words, *processes]]
    near = related_tests(mutant)
    others = [] if related else [test for test in every_test() if test not in near]
    return [[*words, *options, *files] for options, files in (((), near), (processes, others)) if files]


def measure(
    mutants: Sequence[Mutant], copies: Sequence[Copy], stages: Callable[[Mutant], list[list[str]]]
) -> Iterable[Result]:
    """Test all faults, in parallel in the copies. Yield the results in the order of the faults."""
    free: SimpleQueue[Copy] = SimpleQueue()
    for each in copies:
        free.put(each)

    def run_one(mutant: Mutant) -> Result:
        copy = free.get()
        try:
            with stopwatch() as elapsed:
                failed_test = copy.find(mutant, stages(mutant))
            return Result(mutant, failed_test, elapsed())
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        try:
            yield from pool.map(run_one, mutants)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for each in copies:
                each.stop()
            raise


def report(suite: str, mutants: Sequence[Mutant], results: Iterable[Result]) -> list[Mutant]:
    """Print the table of a suite, row by row, and its summary. Return the surviving faults."""
    print(f"### {suite}\n\n| id | package | fault | found by | seconds |\n|---|---|---|---|---:|", flush=True)
    finished = []
    for result in results:
        print(result.row, flush=True)
        finished.append(result)
    durations = [result.seconds for result in finished if result.found_by]
    pace = f", half of them within {median(durations):.0f} s" if durations else ""
    print(f"\n{suite}: {len(durations)} of {len(mutants)} faults found{pace}.\n", flush=True)
    return [result.mutant for result in finished if not result.found_by]


def main() -> None:
    parser = ArgumentParser(description="Show what the test suites catch.")
    parser.add_argument(
        "--suite",
        nargs="+",
        default=["test"],
        help="test, check (what make check runs besides), or arguments for pytest; each gets what those before missed",
    )
    parser.add_argument("--named", action="store_true", help="only the test in docs/testing.md, of make test")
    parser.add_argument("--only", nargs="+", metavar="ID", help="only these faults")
    parser.add_argument("--jobs", type=int, default=1, help="faults at the same time, each with one process")
    parser.add_argument("--first", action="store_true", help="first the tests that import the module of the fault")
    parser.add_argument("--related", action="store_true", help="only the tests that import the module of the fault")
    parser.add_argument("--timeout", type=float, default=TIMEOUT_MINUTES, metavar="MINUTES", help="of each pytest")
    parser.add_argument("--check", action="store_true", help="only check that each fault can be applied")
    options = parser.parse_args()
    mutants = read_mutants()
    if wrong := problems(mutants):
        sys.exit("\n".join(wrong))
    if options.check:
        return
    if unknown := set(options.only or ()) - {mutant.id for mutant in mutants}:
        sys.exit(f"there is no fault {', '.join(sorted(unknown))}")
    missed = [mutant for mutant in mutants if not options.only or mutant.id in options.only]
    processes = ("-n", PROCESSES) if options.jobs == 1 else ()
    with tempfile.TemporaryDirectory(prefix="donna-mutants-", ignore_cleanup_errors=True) as folder:
        copies = [Copy(Path(folder, str(number)), options.timeout * 60) for number in range(max(1, options.jobs))]
        for copy in copies:
            copy.tree.mkdir(parents=True)
            copy.fill()
        if options.named:
            named = named_tests()
            report("named", missed, measure(missed, copies, lambda mutant: [["-m", SUITES["test"], named[mutant.id]]]))
            return
        for suite in options.suite:
            stages = partial(stages_of, suite, first=options.first, related=options.related, processes=processes)
            missed = report(suite, missed, measure(missed, copies, stages))


if __name__ == "__main__":
    main()
