"""The program `donna`."""

from __future__ import annotations

import os
import sys

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for plugins costs a tenth of the start


def main() -> None:
    """Run the command line; an error that nobody foresaw becomes one line, unless DONNA_DEBUG is set."""
    from donna_tui.cli.main import app
    from donna_tui.cli.output import ExitCode, say

    try:
        app(prog_name="donna")
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except Exception as error:
        if os.environ.get("DONNA_DEBUG"):
            raise
        say(f"donna: something went wrong that should not ({type(error).__name__}); set DONNA_DEBUG=1 to see where")
        sys.exit(ExitCode.FAILED)


if __name__ == "__main__":
    main()
