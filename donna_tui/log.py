"""The log: structlog, as JSON lines in a rotating file that only its owner can read. Never on the screen."""

from __future__ import annotations

import logging
import logging.handlers
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import structlog

from donna_tui.events import EngineEvent, IndexProgress, Listener

LOG_NAME = "donna.log"
MAX_BYTES = 2_000_000
KEPT_FILES = 3


def open_log(path: Path) -> Listener:
    """A listener that writes events to the file at `path`."""
    path.touch(mode=0o600)
    handler = logging.handlers.RotatingFileHandler(path, maxBytes=MAX_BYTES, backupCount=KEPT_FILES, delay=True)
    logger = logging.Logger(f"donna:{path}")  # not in the registry: each engine closes its own
    logger.addHandler(handler)
    write = structlog.wrap_logger(
        logger,
        processors=[
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(ensure_ascii=True),
        ],
        wrapper_class=structlog.BoundLogger,
    )

    def listen(event: EngineEvent) -> None:
        if not isinstance(event, IndexProgress):
            write.info(event.name, **_fields(event))

    return listen


def _fields(value: Any) -> dict[str, Any]:
    """An event as plain values; the time is the logger's own."""
    return {
        each.name: _fields(inner) if is_dataclass(inner := getattr(value, each.name)) else inner
        for each in fields(value)
        if each.name != "at"
    }
