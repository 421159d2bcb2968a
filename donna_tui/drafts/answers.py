"""What is composed for a draft, whoever composes it: schemas for models, and the same shape from passages alone."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

LONGEST_STATEMENT = 600

Statement = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_STATEMENT)]
"""One sentence. `[1]` or `[1][3]` at its end names the passages that it rests on."""

Statements = Annotated[list[Statement], Field(max_length=25)]


_SENTENCE_END = re.compile(r"(?<=[.!?])(\s*(?:\[\d{1,3}\])*)\s+(?=[^\s\[])")


def _sentences(said: Any) -> Any:
    """A text of several sentences as a list of them; models give either."""
    if not isinstance(said, str):
        return said
    marked = _SENTENCE_END.sub(lambda found: f"{found[1]}\n", " ".join(said.split()))
    return [sentence[:LONGEST_STATEMENT] for sentence in marked.split("\n") if sentence][:25]


Summary = Annotated[Statements, BeforeValidator(_sentences)]
"""A text, one sentence each."""


class Answer(BaseModel):
    """Base of all answers: unknown keys are left out, wrong types are errors."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class MeetingNoteAnswer(Answer):
    """`draft_meeting_note`."""

    summary: Summary = Field(description="What is known about the subject from the passages, in up to six sentences.")
    action_item_candidates: Statements = Field(description="What somebody may have to do, one sentence each.")
    open_questions: Statements = Field(description="What is not decided, one sentence each.")
    links_suggested: Statements = Field(description="Paths of notes among the passages that belong to the meeting.")


class DailyReflectionAnswer(Answer):
    """`draft_daily_reflection`."""

    summary: Summary = Field(description="What the day was about.")
    highlights: Statements = Field(description="What went well or was finished.")
    open_questions: Statements = Field(description="What stays open.")


class CommitmentsAnswer(Answer):
    """`extract_commitments`."""

    commitments: Statements = Field(description="Explicit promises: who promised what to whom, by when.")


class WeeklyReviewAnswer(Answer):
    """`draft_weekly_review`."""

    summary: Summary = Field(description="What the week was about.")
    highlights: Statements = Field(description="What was finished or decided.")
    carried_over: Statements = Field(description="Promises that are still open.")
    open_questions: Statements = Field(description="What stays open.")


class PersonProfileAnswer(Answer):
    """`draft_person_profile`."""

    summary: Summary = Field(description="Who the person is.")
    facts: Statements = Field(description="What is known of them, one sentence each.")
    open_threads: Statements = Field(description="What is open between them and the user.")
