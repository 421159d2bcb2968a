"""Render one template in a child process that can be killed. Run this file directly: it does not import Donna.

It reads one JSON object `{"name", "source", "context"}` from stdin and prints one: `{"ok": true, "text"}`, or `{"ok":
false, "message", "line"}`. Jinja's sandbox restricts access to Python objects, but not memory and time, so the process
has its own resource limits.
"""

from __future__ import annotations

import json
import resource
import sys
import traceback
from typing import Any

CPU_SECONDS = 2
MEMORY_BYTES = 512 * 1024 * 1024
LONGEST_TEXT = 1_000_000
_TEMPLATE = "<template>"
"""Jinja's file name of a template that was given as text."""


def render(name: str, source: str, context: dict[str, Any]) -> dict[str, Any]:
    from jinja2 import DictLoader, StrictUndefined, TemplateError
    from jinja2.exceptions import SecurityError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        loader=DictLoader({name: source}),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    try:
        text = ""
        for part in environment.get_template(name).generate(context):
            text += part
            if len(text) > LONGEST_TEXT:
                raise ValueError
        return {"ok": True, "text": text}
    except SecurityError:
        return {"ok": False, "message": "the template uses something that templates may not use", "line": None}
    except TemplateError as error:
        message = f"{type(error).__name__}: {error.message}"
        return {"ok": False, "message": message, "line": getattr(error, "lineno", None) or _line(error)}
    except MemoryError:
        return {"ok": False, "message": "the template needs too much memory", "line": None}
    except Exception as error:  # a template can make Python's own functions and compiler raise anything
        return {"ok": False, "message": type(error).__name__, "line": _line(error)}


def _line(error: BaseException) -> int | None:
    """Return the line of the template at which an error was raised, in the innermost frame."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == _TEMPLATE]
    return lines[-1] if lines else None


def main() -> None:
    request = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CPU, (request["cpu_seconds"], request["cpu_seconds"] + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    if sys.platform == "linux":  # elsewhere the address space is not the memory that a process uses
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    json.dump(render(request["name"], request["source"], request["context"]), sys.stdout)


if __name__ == "__main__":
    main()
