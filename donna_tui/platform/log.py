"""The log: structlog, as JSON lines in a rotating file that only its owner can read. Never on the screen."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import sys
import threading
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from donna_tui.types.events import EngineEvent, IndexProgress

LOG_NAME = "donna.log"
MAX_BYTES = 2_000_000
KEPT_FILES = 3
FOR_TRACEBACKS = ("rich", "rich.pretty", "rich.traceback")


class LogFile:
    """A listener that writes events to the file at `path`, until `close`; `opened` is set if that is possible.

    A separate thread writes, so that neither a slow disk nor the import of structlog delays the poster of an event.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.touch(mode=0o600)
            self.opened = True
        except OSError:
            self.opened = False
        self._handler = _Handler(path, maxBytes=MAX_BYTES, backupCount=KEPT_FILES, delay=True)
        self._logger = logging.Logger(f"donna:{path}")  # not in the registry: each engine closes its own
        self._logger.addHandler(self._handler)
        self._queue: SimpleQueue[EngineEvent | None] = SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="donna-log", daemon=True)
        self._writer.start()

    def __call__(self, event: EngineEvent) -> None:
        if not isinstance(event, IndexProgress):
            self._queue.put(event)

    def close(self) -> None:
        self._queue.put(None)
        self._writer.join()
        self._handler.close()

    def _write(self) -> None:
        structlog = _structlog()
        log = structlog.wrap_logger(
            self._logger,
            processors=[structlog.processors.JSONRenderer(ensure_ascii=True)],
            wrapper_class=structlog.BoundLogger,
        )
        while (event := self._queue.get()) is not None:
            log.info(
                event.name,
                timestamp=datetime.fromtimestamp(event.at, UTC).isoformat().replace("+00:00", "Z"),
                **_fields(event),
            )


def _structlog() -> Any:
    """Import structlog without rich, pygments and attrs, which it uses to draw tracebacks on a terminal.

    They would take a tenth of a whole search from the shell, and as much of the time until the first results on the
    screen, which imports rich itself.
    """
    hidden = [] if "structlog" in sys.modules else [name for name in FOR_TRACEBACKS if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # makes an import fail
    try:
        import structlog
    finally:
        for name in hidden:
            sys.modules.pop(name, None)
    return structlog


class _Handler(logging.handlers.RotatingFileHandler):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # the name is logging's
        """Ignore errors: a log that cannot be written, as on a full disk, must not write over the screen."""

    def close(self) -> None:
        with contextlib.suppress(OSError):
            super().close()


def _fields(value: Any) -> dict[str, Any]:
    """Convert an event to plain values, except its time, which has a separate field."""
    return {
        field.name: _fields(inner) if is_dataclass(inner := getattr(value, field.name)) else inner
        for field in fields(value)
        if field.name != "at" and not field.metadata.get("unlogged")
    }
