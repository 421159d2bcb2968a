"""Render a template and data to the body of a note, in a child process with resource limits."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import frontmatter
from frontmatter.default_handlers import YAMLHandler

from donna_tui.drafts import sandbox
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.vault.note.yaml import YamlError, load_yaml

ENDING = ".md.j2"
PATIENCE_SECONDS = 10.0
"""Wall-clock limit of the child on a busy machine; its limit of processor time is far lower."""

LARGEST_TEMPLATE = 200_000


class VaultTemplateRenderer:
    """Render the templates of one folder. Raises FileNotFoundError if `templates_dir` does not exist."""

    def __init__(self, templates_dir: Path) -> None:
        if not templates_dir.is_dir():
            raise FileNotFoundError(templates_dir)
        self._folder = templates_dir

    def render(self, template_name: str, context: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Render a note; return its body, and its frontmatter merged with the `frontmatter` of the context.

        A template may add keys, but cannot change those of the context or any that Donna reads. `context` must be JSON.
        Blocks. Raises DonnaError (`template_error`), with the line if it is known.
        """
        request = {
            "name": template_name,
            "source": self._source(template_name),
            "context": dict(context),
            "cpu_seconds": sandbox.CPU_SECONDS,
        }
        answer = _run_child(json.dumps(request), template_name)
        if not answer["ok"]:
            where = f", line {answer['line']}" if answer.get("line") else ""
            raise _refused(f"the template {template_name}{where} cannot be used: {answer['message']}")
        body, own = _apart(answer["text"], template_name)
        given = dict(context.get("frontmatter", {}))
        reserved = {"owned", "idempotency_key", "calendar_event_id", *given}
        added = {
            key: value
            for key, value in own.items()
            if key not in reserved and not key.startswith(("donna", "autowritten"))
        }
        return body, {**added, **given}

    def _source(self, name: str) -> str:
        if not name.replace("_", "").isalnum():
            raise _refused("the name of a template has only letters, digits and _")
        path = self._folder / f"{name}{ENDING}"
        try:
            found = path.lstat()
            if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_TEMPLATE:
                raise _refused(f"the template {path.name} is not a regular file, or too large")
            return path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise _refused(f"there is no template {path.name} in {self._folder}") from None
        except (OSError, UnicodeDecodeError):
            raise _refused(f"the template {path.name} cannot be read") from None


class _BoundedYaml(YAMLHandler):
    """Parse the YAML of a template's frontmatter with the bounded loader of notes."""

    def load(self, fm: str, **_: object) -> Any:
        return load_yaml(fm).value


def _apart(text: str, name: str) -> tuple[str, dict[str, Any]]:
    """Split a rendered note into its body and the frontmatter of its template.

    The library splits at any two thematic breaks, so it is used only where the text starts with one.
    """
    handler, note = _BoundedYaml(), text.lstrip("\n")
    if not handler.detect(note):
        return text, {}
    try:
        own, body = frontmatter.parse(note, handler=handler)
    except YamlError as error:
        raise _refused(f"the frontmatter of the template {name} cannot be read: it {error}") from error
    return (f"{body}\n", own) if own else (text, {})


def _run_child(question: str, name: str) -> dict[str, Any]:
    command = [sys.executable, "-I", sandbox.__file__]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command
            command, input=question, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False, env={}
        )
    except subprocess.TimeoutExpired:
        raise _refused(f"the template {name} did not finish") from None
    if done.returncode != 0:
        raise _refused(f"the template {name} needs too much time or memory")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _refused(message: str) -> DonnaError:
    return DonnaError(Reason.TEMPLATE_ERROR, message, hint="vault.templates_dir names the folder of templates")
