"""Which note is that of an occasion, by its frontmatter: wherever it was moved, whatever it is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ID_KEY = "donna_id"
"""The key of its occasion in an approved note, in which it is the only key of the machine."""

MACHINE_KEYS = ("idempotency_key", "autowritten_by", "autowritten_at")
"""The keys of a draft that are removed when it is approved."""

_SKILLS = {
    "meeting": "meeting_note",
    "reflection": "daily_reflection",
    "commitments": "commitment_log",
    "weekly_review": "weekly_review",
    "person": "person_profile",
}
"""The skill whose notes have a type."""


def is_of(front: Mapping[str, Any], skill: str, key: str) -> bool:
    """Whether a note with this frontmatter was written for the occasion `key` of a skill.

    A key alone does not tell: the reflection and the commitments of a day have the same. A type that no skill has was
    given by the user, and says nothing.
    """
    note_type = front.get("type")
    known = _SKILLS.get(note_type, skill) if isinstance(note_type, str) else skill
    return key in (front.get("idempotency_key"), front.get(ID_KEY)) and known == skill
