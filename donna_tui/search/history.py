"""Store the questions that were asked, for the history of the search box."""

from __future__ import annotations

import json
from pathlib import Path

from donna_tui.safety.terminal import clean_line
from donna_tui.vault.write.durable import write_durably

MAX_QUESTIONS = 100
LONGEST_QUESTION = 300
LARGEST_FILE = 200_000


class QuestionHistory:
    """List and add questions. Several processes may share the file, so it is read again before each addition."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "questions.json"

    def questions(self) -> tuple[str, ...]:
        """Return the questions, latest first, sanitised; none from a file that cannot be read."""
        try:
            if self._path.stat().st_size > LARGEST_FILE:
                return ()
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return ()
        texts = (text for text in found if isinstance(text, str)) if isinstance(found, list) else ()
        return tuple(question for text in texts if (question := _one_line(text)))[:MAX_QUESTIONS]

    def add(self, text: str) -> tuple[str, ...]:
        """Add a question at the front, and return all of them. Raises VaultWriteError if the file cannot be written."""
        question, known = _one_line(text), self.questions()
        if not question or known[:1] == (question,):
            return known
        kept = (question, *(earlier for earlier in known if earlier != question))[:MAX_QUESTIONS]
        write_durably(self._path, json.dumps(kept, ensure_ascii=False, indent=0))
        return kept


def _one_line(text: str) -> str:
    return " ".join(clean_line(text[:LONGEST_QUESTION]).split())
