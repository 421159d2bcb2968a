"""The log: structlog, as JSON lines in a rotating file that only its owner can read. Never on the screen."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import structlog

from donna_tui.events import EngineEvent, IndexProgress

LOG_NAME = "donna.log"
MAX_BYTES = 2_000_000
KEPT_FILES = 3


class LogFile:
    """A listener that writes events to the file at `path`, until `close`; `opened` says whether that is possible."""

    def __init__(self, path: Path) -> None:
        self.opened = _touch(path)
        self._handler = _Handler(path, maxBytes=MAX_BYTES, backupCount=KEPT_FILES, delay=True)
        logger = logging.Logger(f"donna:{path}")  # not in the registry: each engine closes its own
        logger.addHandler(self._handler)
        self._write = structlog.wrap_logger(
            logger,
            processors=[
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.JSONRenderer(ensure_ascii=True),
            ],
            wrapper_class=structlog.BoundLogger,
        )

    def __call__(self, event: EngineEvent) -> None:
        """Write one event."""
        if not isinstance(event, IndexProgress):
            self._write.info(event.name, **_fields(event))

    def close(self) -> None:
        """Close the file."""
        self._handler.close()


def _touch(path: Path) -> bool:
    try:
        path.touch(mode=0o600)
    except OSError:
        return False
    return True


class _Handler(logging.handlers.RotatingFileHandler):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # the name is logging's
        """A log that cannot be written, as on a full disk, must not write over the screen instead."""

    def close(self) -> None:
        """What is still buffered may be lost."""
        with contextlib.suppress(OSError):
            super().close()


def _fields(value: Any) -> dict[str, Any]:
    """An event as plain values; the time is the logger's own."""
    return {
        each.name: _fields(inner) if is_dataclass(inner := getattr(value, each.name)) else inner
        for each in fields(value)
        if each.name != "at"
    }
