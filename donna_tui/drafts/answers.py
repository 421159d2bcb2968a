"""What is composed for a draft, whoever composes it: schemas for models, and the same shape from passages alone."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

LONGEST_STATEMENT = 600

Statement = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_STATEMENT)]
"""One sentence. `[1]` or `[1][3]` at its end names the passages that it rests on."""

Statements = Annotated[list[Statement], Field(max_length=25)]


class Answer(BaseModel):
    """Base of all answers: unknown keys are left out, wrong types are errors."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class MeetingNoteAnswer(Answer):
    """`draft_meeting_note`."""

    summary: Annotated[str, StringConstraints(max_length=4_000)] = Field(
        description="What is known about the subject from the passages, in up to six sentences."
    )
    action_item_candidates: Statements = Field(description="What somebody may have to do, one sentence each.")
    open_questions: Statements = Field(description="What is not decided, one sentence each.")
    links_suggested: Statements = Field(description="Paths of notes among the passages that belong to the meeting.")


class DailyReflectionAnswer(Answer):
    """`draft_daily_reflection`."""

    summary: Annotated[str, StringConstraints(max_length=4_000)] = Field(description="What the day was about.")
    highlights: Statements = Field(description="What went well or was finished.")
    open_questions: Statements = Field(description="What stays open.")


class CommitmentsAnswer(Answer):
    """`extract_commitments`."""

    commitments: Statements = Field(description="Explicit promises: who promised what to whom, by when.")


class WeeklyReviewAnswer(Answer):
    """`draft_weekly_review`."""

    summary: Annotated[str, StringConstraints(max_length=4_000)] = Field(description="What the week was about.")
    highlights: Statements = Field(description="What was finished or decided.")
    carried_over: Statements = Field(description="Promises that are still open.")
    open_questions: Statements = Field(description="What stays open.")


class PersonProfileAnswer(Answer):
    """`draft_person_profile`."""

    summary: Annotated[str, StringConstraints(max_length=4_000)] = Field(description="Who the person is.")
    facts: Statements = Field(description="What is known of them, one sentence each.")
    open_threads: Statements = Field(description="What is open between them and the user.")
