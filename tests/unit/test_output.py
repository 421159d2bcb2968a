"""Results are written to stdout, messages to stderr; no text, encoding or broken pipe breaks that."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from donna_tui.cli.output import ExitCode, emit, exit_code, fail, print_message
from donna_tui.types.errors import DonnaError, Reason

HOSTILE = "a\x1b[31m\x9b2J\u202eb\ud800\rc\nd"
ROOT = Path(__file__).parents[2]


def test_words_are_sanitised_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    emit({}, [HOSTILE, "fine"], as_json=False)
    out, err = capsys.readouterr()
    assert err == ""
    assert len(out.splitlines()) == 2
    assert out.replace("\n", "").isprintable()


def test_json_is_one_ascii_line_that_says_ok(capsys: pytest.CaptureFixture[str]) -> None:
    emit({"results": [HOSTILE, "ü"]}, (), as_json=True)
    out = capsys.readouterr().out
    assert out.isascii()
    assert out.count("\n") == 1
    assert json.loads(out) == {"ok": True, "results": [HOSTILE, "ü"]}


def test_an_error_in_words_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        fail(DonnaError(Reason.TOO_LARGE, f"Too large: {HOSTILE}", hint="Cut it."), as_json=False)
    assert caught.value.code == ExitCode.REFUSED
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("donna: Too large: a")
    assert err.endswith("Cut it.\n")
    assert err.replace("\n", "").isprintable()


def test_an_error_as_json_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        fail(DonnaError(Reason.CONFIG_INVALID, "Bad.", hint="Mend it."), as_json=True)
    assert caught.value.code == ExitCode.USAGE
    printed = json.loads(capsys.readouterr().out)
    assert printed == {"ok": False, "reason": "config_invalid", "message": "Bad.", "hint": "Mend it."}


def test_messages_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    print_message("one", "two")
    assert capsys.readouterr() == ("", "one\ntwo\n")


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        (Reason.USAGE, ExitCode.USAGE),
        (Reason.KEYMAP_INVALID, ExitCode.USAGE),
        (Reason.PATH_ESCAPE, ExitCode.REFUSED),
        (Reason.BUSY, ExitCode.REFUSED),
        (Reason.MODEL_MISSING, ExitCode.DEGRADED),
        (Reason.INTERNAL, ExitCode.FAILED),
    ],
)
def test_reasons_have_exit_codes(reason: Reason, code: ExitCode) -> None:
    assert exit_code(reason) is code


def test_a_narrow_encoding_never_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii", errors="strict"))
    emit({}, ["Übung › Ziel"], as_json=False)
    assert raw.getvalue() == b"\\xdcbung \\u203a Ziel\n"


def run(code: str, stdout: int | None = None) -> subprocess.CompletedProcess[bytes]:
    program = f"from donna_tui.cli.output import emit, print_message\n{code}"
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, stdout=stdout, stderr=subprocess.PIPE, check=False)


def test_broken_stdout_pipe_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    result = run("emit({}, ['x' * 100] * 10_000, as_json=False)", stdout=writer)
    os.close(writer)
    assert (result.returncode, result.stderr) == (ExitCode.FINE, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_result_that_cannot_be_written_is_a_failure() -> None:
    with Path("/dev/full").open("wb") as full:
        result = run("emit({'x': 1}, [], as_json=True)", stdout=full.fileno())
    assert result.returncode == ExitCode.FAILED
    assert result.stderr.startswith(b"donna: the result cannot be written: ")
    assert b"Traceback" not in result.stderr


def test_a_closed_stdout_is_no_error() -> None:
    program = "import sys; sys.stdout = None; emit({}, [], as_json=True)"
    assert run(program).returncode == ExitCode.FINE
