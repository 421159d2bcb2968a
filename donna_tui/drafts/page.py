"""Assemble the page of a draft from its context, for the template."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from donna_tui.drafts.drafters import EXTRACTIVE, NO_SOURCE, Answer, AnswerRequest, Statement, all_statements
from donna_tui.drafts.queue import ID_KEY, DraftSources
from donna_tui.drafts.text import inline, link_to, source_named, wikilink, words_only
from donna_tui.types.drafts import Evidence
from donna_tui.vault.note.read import DRAFT_KEY
from donna_tui.vault.write.changes import OWN_ACTOR

Autonomy = Literal["low", "medium", "high"]
INBOX = "Inbox"


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The context that a skill has gathered. `data` is for the template and `frontmatter` for the note; both are JSON.

    Untrusted text in `data` has been through `inline` already.
    """

    task: AnswerRequest
    data: Mapping[str, Any]
    frontmatter: Mapping[str, Any]
    listed: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Lines that the template lists itself, with the numbers of their passages."""
    all_passages: tuple[Evidence, ...] = ()
    """The passages of the task and of the listed lines."""
    is_empty: bool = False
    """Set if there is nothing to write about."""
    needs_answer: bool = False
    """Set if the note would be empty without an answer."""
    links_private: bool = False
    """Set if the note will link to a private one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftJob:
    """The note of one occasion that the writer is asked for."""

    template: str
    gather: Callable[[], Awaitable[Context]]
    target_path: str
    key: str
    title: str
    autonomy: Autonomy

    @property
    def effective_path(self) -> str:
        """Return the path of the note; a draft of low autonomy is written to the Inbox."""
        return f"{INBOX}/{PurePosixPath(self.target_path).name}" if self.autonomy == "low" else self.target_path


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A context with its answer, from which the note is rendered."""

    job: DraftJob
    context: Context
    parts: Mapping[str, list[Statement]]
    links: tuple[str, ...]
    remarks: tuple[str, ...]
    is_private: bool
    used: frozenset[int]
    """The numbers of the passages that the note may be based on."""

    @classmethod
    def of(
        cls, job: DraftJob, context: Context, answer: Answer, drafter: str, *, is_note: Callable[[str], bool]
    ) -> Page:
        """Build the page of an answer.

        A model may have used all its passages, an extract only those that it cites; links are kept only to existing
        notes.
        """
        parts = all_statements(answer, context.task.passages)
        cited = {number for part in parts.values() for statement in part for number in statement.evidence}
        cited |= {number for _, numbers in context.listed for number in numbers}
        used = cited if drafter == EXTRACTIVE else {passage.number for passage in context.task.passages} | cited
        suggested = {path: is_note(path) for path in getattr(answer, "links_suggested", [])}
        missing = (words_only(path, 80) or "a note" for path, known in suggested.items() if not known)
        return cls(
            job=job,
            context=context,
            parts=parts,
            links=tuple(link_to(path) for path, known in suggested.items() if known),
            remarks=tuple(f"a link to {name} was left out, because there is no such note" for name in missing),
            is_private=context.links_private or bool(used & context.task.private),
            used=frozenset(used),
        )

    @property
    def frontmatter(self) -> dict[str, Any]:
        front = dict(self.context.frontmatter)
        if self.is_private:
            front["donna"] = "local-only"
        if self.job.autonomy == "high":
            return {**front, ID_KEY: self.job.key}
        return {**front, "idempotency_key": self.job.key, "autowritten_by": OWN_ACTOR, DRAFT_KEY: True}

    @property
    def shown(self) -> dict[str, Any]:
        passages = self.context.task.passages
        parts = {name: [_shown(statement, passages) for statement in part] for name, part in self.parts.items()}
        return {**parts, "links_suggested": list(self.links)}

    @property
    def sources(self) -> DraftSources:
        known = self.context.all_passages or self.context.task.passages
        passages = tuple(passage for passage in known if passage.number in self.used)
        return DraftSources(passages, self.statements, self.remarks)

    @property
    def statements(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return (
            *((statement.text, statement.evidence) for part in self.parts.values() for statement in part),
            *self.context.listed,
        )


def _shown(statement: Statement, passages: tuple[Evidence, ...]) -> dict[str, Any]:
    """Return a statement for the template: its words as Markdown, and links to its passages or a mark that it has none.

    `box` is always empty, since only a person creates a task.
    """
    by_number = {passage.number: passage for passage in passages}
    cites = dict.fromkeys(_cite(by_number[number]) for number in statement.evidence)
    return {"text": inline(statement.text), "cites": list(cites) or [NO_SOURCE], "box": ""}


def _cite(passage: Evidence) -> str:
    if passage.source_type == "vault":
        return link_to(passage.path)
    if passage.source_type == "task":
        return wikilink(passage.cited_path, "task")
    return source_named(passage.source_type, passage.title)
