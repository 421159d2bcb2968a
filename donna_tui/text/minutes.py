"""The usual headings and labels of decisions and tasks in minutes, in English and other languages."""

from __future__ import annotations

DECISIONS_HEADING = (
    r"(?:(?:key|our|main|final|the) )?(?:decisions?(?: made| taken| log)?|decided|agreed|agreements?|resolutions?"
    r"|conclusions?|outcomes?)(?: and (?:next steps|actions))?|entscheidungen|beschlüsse|décisions|decisiones"
    r"|acuerdos"
)
TASKS_HEADING = (
    r"action items?|actions|next steps?|to[- ]?dos?|follow[- ]?ups?|tasks|my tasks|aufgaben|nächste schritte"
    r"|maßnahmen"
)
"""Patterns of whole headings, without the punctuation at their ends."""

DECISION_LABEL = (
    r"decision|decided|resolution|resolved|conclusion|agreed|entscheidung|entschieden|beschluss|beschlossen|vereinbart"
)
TASK_LABEL = r"action(?: item)?s?|next steps?|to-?do|follow[- ]?up|aufgabe"
"""Patterns of the words before the colon of a line."""
