"""The log: one JSON object a line, private, rotated, without progress and without text of notes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from donna_tui.platform import log as log_module
from donna_tui.platform.log import LogFile
from donna_tui.types.errors import Reason
from donna_tui.types.events import IndexProgress, ModelStateChanged, NoteDeleted, NoteIndexed, ProblemRaised, StageTimes
from donna_tui.types.status import ModelPhase


@pytest.fixture
def log(tmp_path: Path) -> Iterator[LogFile]:
    opened = LogFile(tmp_path / "donna.log")
    yield opened
    opened.close()


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "donna.log").read_text(encoding="utf-8").splitlines()]


def test_an_event_is_a_line_with_its_name_and_time(log: LogFile, tmp_path: Path) -> None:
    log(NoteDeleted(path="a.md", at=1_700_000_000.25))
    log.close()
    (line,) = lines(tmp_path)
    assert (line["event"], line["path"]) == ("memory_delete", "a.md")
    assert line["timestamp"] == "2023-11-14T22:13:20.250000Z"
    assert "at" not in line


def test_values_inside_an_event_are_plain(log: LogFile, tmp_path: Path) -> None:
    log(NoteIndexed(path="a.md", why="new", chunks=2, embedded=0, stages=StageTimes(read=1.5)))
    log(ModelStateChanged(phase=ModelPhase.READY, model="m@1"))
    log(ProblemRaised(reason=Reason.DISK_FULL, message="full"))
    log.close()
    indexed, model, problem = lines(tmp_path)
    assert indexed["stages"] == {"read": 1.5, "chunk": 0.0, "store": 0.0, "embed": 0.0}
    assert (model["phase"], problem["reason"]) == ("ready", "disk_full")


def test_progress_is_left_out(log: LogFile, tmp_path: Path) -> None:
    log(
        IndexProgress(
            notes=1, text_done=1, chunks=1, chunks_embedded=0,
            seconds_left=None,
        )
    )  # fmt: skip
    log.close()
    assert lines(tmp_path) == []


def test_a_hostile_name_stays_on_its_line_and_in_ascii(log: LogFile, tmp_path: Path) -> None:
    log(NoteDeleted(path="a\nb\x1b[31m\u202e\ud800.md"))
    log.close()
    text = (tmp_path / "donna.log").read_text(encoding="ascii")
    assert text.count("\n") == 1
    assert text.strip().isprintable()
    assert lines(tmp_path)[0]["path"] == "a\nb\x1b[31m\u202e\ud800.md"


def test_only_its_owner_can_read_it(log: LogFile, tmp_path: Path) -> None:
    assert (tmp_path / "donna.log").stat().st_mode & 0o777 == 0o600


def test_log_file_is_rotated_at_its_size_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "MAX_BYTES", 2_000)
    log = LogFile(tmp_path / "donna.log")
    for number in range(200):
        log(NoteDeleted(path=f"{number}.md"))
    log.close()
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["donna.log", "donna.log.1", "donna.log.2", "donna.log.3"]
    assert all(path.stat().st_size <= 2_000 for path in tmp_path.iterdir())
    assert lines(tmp_path)[-1]["path"] == "199.md"


def test_a_log_that_cannot_be_written_disturbs_nothing(
    log: LogFile, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "donna.log").unlink()
    (tmp_path / "donna.log").mkdir()
    log(NoteDeleted(path="a.md"))
    log.close()
    assert capfd.readouterr() == ("", "")


def test_two_logs_do_not_share_what_they_write(tmp_path: Path) -> None:
    one, two = LogFile(tmp_path / "one.log"), LogFile(tmp_path / "two.log")
    one(NoteDeleted(path="a.md"))
    one.close()
    two.close()
    assert (tmp_path / "one.log").stat().st_size > 0
    assert (tmp_path / "two.log").stat().st_size == 0
