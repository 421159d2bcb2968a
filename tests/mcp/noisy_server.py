"""Run `donna` with libraries that print, warn and fail: `python -m tests.mcp.noisy_server mcp …`."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from typing import Any

from donna_tui.__main__ import main
from donna_tui.agents.tools import catalogue
from donna_tui.embedding import files
from donna_tui.engine.engine import Engine

LOUD = "THIS IS NO PROTOCOL"


def noise() -> None:
    """Produce every kind of output that could reach stdout."""
    print(LOUD)
    sys.__stdout__.write(f"{LOUD}\n")  # type: ignore[union-attr]
    os.write(1, f"{LOUD}\n".encode())
    subprocess.run([sys.executable, "-c", f"print({LOUD!r})"], check=True)
    warnings.warn(LOUD, stacklevel=1)
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()


def fail() -> None:
    raise RuntimeError(LOUD)


if __name__ == "__main__":
    files.find_weights = lambda: None
    quiet_start, quiet_stop, quiet_call = Engine.start, Engine.stop, catalogue.call

    async def start(engine: Engine) -> None:
        noise()
        await quiet_start(engine)

    async def stop(engine: Engine) -> None:
        await quiet_stop(engine)
        noise()

    async def call(space: Any, name: str, arguments: Any) -> dict[str, Any]:
        noise()
        if name == "draft_list":
            fail()
        return await quiet_call(space, name, arguments)

    Engine.start, Engine.stop, catalogue.call = start, stop, call  # type: ignore[method-assign]
    main()
