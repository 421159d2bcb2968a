"""A run in a fork behaves like one in a new interpreter, as far as the tests of the commands can tell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forks import REPOSITORY, run_module
from tests.git_vaults import new_folder, remove_stale_folders

PROGRAM = """
import json, os, sys, time
print(json.dumps([sys.argv[1:], os.getcwd(), sorted(os.environ.keys() - {"LC_CTYPE"}), time.tzname, sys.stdin.read(), sys.stdout.encoding]))
print([each.isatty() for each in (sys.stdin, sys.stdout, sys.stderr)], os.environ["HERE"], __name__, sys.flags.utf8_mode)
print("on the other stream", file=sys.stderr)
if sys.argv[1] == "raise":
    raise ValueError("a fault")
sys.exit({"text": "said", "none": None}.get(sys.argv[1], 7))
"""


def environment(**more: str) -> dict[str, str]:
    """Return the environment that the tests of the commands use."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("DONNA_")}
    return {**inherited, "PYTHONPATH": str(REPOSITORY), "PYTHONWARNINGS": "error::ResourceWarning", **more}


@pytest.mark.parametrize("how", ["raise", "text", "none", "number"])
def test_forked_run_behaves_like_a_new_interpreter(tmp_path: Path, how: str) -> None:
    (tmp_path / "a_program.py").write_text(PROGRAM)
    env = environment(TZ="Asia/Tokyo", HERE="wörd")
    forked = run_module("a_program", [how, "ä"], cwd=tmp_path, env=env, timeout=60, given="told\n")
    alone = subprocess.run(
        [sys.executable, "-m", "a_program", how, "ä"],
        input=b"told\n", cwd=tmp_path, env=env, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (forked.returncode, forked.stdout) == (alone.returncode, alone.stdout)
    first_and_last = [(each.stderr.splitlines()[0], each.stderr.splitlines()[-1]) for each in (forked, alone)]
    assert first_and_last[0] == first_and_last[1]


def test_forked_run_is_killed_after_its_timeout(tmp_path: Path) -> None:
    (tmp_path / "a_sleeper.py").write_text("import time\ntime.sleep(600)\n")
    with pytest.raises(subprocess.TimeoutExpired):
        run_module("a_sleeper", [], cwd=tmp_path, env=environment(), timeout=0.1)


def test_only_the_folders_of_processes_that_are_gone_are_removed(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    for name in (f"donna-test-{gone.pid}-x", "donna-test-1-x", "donna-test-models", "donna-test-a-b", "other-1-x"):
        (tmp_path / name / "full").mkdir(parents=True)
    mine = new_folder(tmp_path)
    remove_stale_folders(tmp_path)
    kept = {"donna-test-1-x", "donna-test-models", "donna-test-a-b", "other-1-x", mine.name}
    assert {each.name for each in tmp_path.iterdir()} == kept
