"""The program `donna`."""

from __future__ import annotations

import contextlib
import gc
import os
import sys

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for plugins costs a tenth of the start

os.environ.setdefault("TEXTUAL_FPS", "1000")  # Textual draws at the next tick of a clock: results wait 0.7 ms, not 10

COLLECT_AFTER = (200_000, 5, 10)
"""Until a first search is answered, the collector finds little to free: with Python's own 700 objects it takes a tenth
of the time until the first frame, with 25,000 a twentieth.
"""


def main() -> None:
    """Run the command line and end the process.

    Everything is closed by then: taking the interpreter apart would only cost time, a fifth of a search from the shell.
    """
    code = run()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # nobody may be reading any more
            stream.flush()
    os._exit(code)


def run() -> int:
    """Run the command line; an unexpected error becomes one line and a log entry, unless DONNA_DEBUG is set."""
    gc.disable()  # imports leave no garbage
    from donna_tui.cli.failure import open_closed_streams, report_failure

    open_closed_streams()
    from donna_tui.cli.main import run_command_line

    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
    gc.enable()
    try:
        run_command_line(sys.argv[1:])
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if os.environ.get("DONNA_DEBUG"):
            raise
        return report_failure(error)
    return 0


if __name__ == "__main__":
    main()
