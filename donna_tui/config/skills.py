"""Settings of the skills that draft notes: when each runs, how freely it writes, how much it reads first."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AliasChoices, Field

from donna_tui.config.blocks import Block, Switch, Whole

Hour = Annotated[
    Whole,
    Field(
        ge=0,
        le=23,
        validation_alias=AliasChoices("hour", "hour_utc"),
        description="Hour at which it runs, in local time.",
    ),
]
Minute = Annotated[
    Whole,
    Field(
        ge=0,
        le=59,
        validation_alias=AliasChoices("minute", "minute_utc"),
        description="Minute of that hour.",
    ),
]
Weekday = Annotated[Whole, Field(ge=0, le=6, description="Day on which it runs: 0 is Monday, 6 is Sunday.")]
OFF_AT_FIRST = "Whether it is written by itself at its hour; `donna draft new` writes one at any time."

Limit = Annotated[Whole, Field(ge=0, le=200)]


class Skill(Switch):
    """What all skills share. Those with an hour of their own begin once they are switched on."""

    autonomy_level: Literal["low", "medium", "high"] = Field(
        "medium", description="low writes to Inbox for review; medium and high write to the target folder."
    )


class MeetingNoteLimits(Block):
    """How many passages of each kind a meeting note may draw on."""

    prior_meetings: Limit = Field(5, description="Notes of the series whose open check boxes are carried over.")
    recent_chats: Limit = Field(0, description="Passages of your chats; 0 leaves chats out.")
    open_tasks: Limit = Field(25, description="Open check boxes that are carried over.")


class MeetingNoteConfig(Skill):
    """A brief before each meeting, which becomes its note."""

    poll_interval_seconds: Whole = Field(60, ge=5, le=3600, description="Seconds between two looks at the calendar.")
    lookback_minutes: Whole = Field(5, ge=1, le=10080, description="How long ago a meeting may have ended, in minutes.")
    person_pages: bool = Field(
        True,
        strict=True,
        description="Whether approving adds an empty page for attendees without one; never where git ignores People.",
    )
    brief_minutes: Whole = Field(
        10, ge=0, le=1440, description="How long before a meeting its draft is written, in minutes."
    )
    context_limits: MeetingNoteLimits = Field(default_factory=MeetingNoteLimits)


class DailyReflectionLimits(Block):
    """How many passages of each kind a daily reflection may draw on."""

    meetings: Limit = Field(10, description="Meetings of the day.")
    completed_tasks: Limit = Field(25, description="Tasks completed that day.")
    chat_highlights: Limit = Field(10, description="Passages of the day's chats.")


class DailyReflectionConfig(Skill):
    """A look back at the day, in Reflections."""

    enabled: bool = Field(False, strict=True, description=OFF_AT_FIRST)
    hour: Hour = 21
    minute: Minute = 0
    context_limits: DailyReflectionLimits = Field(default_factory=DailyReflectionLimits)


class CommitmentLogLimits(Block):
    """How many passages of each kind are searched for promises."""

    chat_hits: Limit = Field(50, description="Passages of chats.")
    task_hits: Limit = Field(25, description="Tasks.")


class CommitmentLogConfig(Skill):
    """The promises made in chats and tasks, in Commitments."""

    enabled: bool = Field(False, strict=True, description=OFF_AT_FIRST)
    hour: Hour = 20
    minute: Minute = 30
    context_limits: CommitmentLogLimits = Field(default_factory=CommitmentLogLimits)


class WeeklyReviewLimits(Block):
    """How many passages of each kind a weekly review may draw on."""

    tasks: Limit = Field(25, description="Tasks.", validation_alias=AliasChoices("tasks", "completed_tasks"))
    meetings: Limit = Field(15, description="Meetings of the week.")
    commitments: Limit = Field(15, description="Open commitments.")
    chats: Limit = Field(
        10, description="Passages of chats.", validation_alias=AliasChoices("chats", "chat_highlights")
    )


class WeeklyReviewConfig(Skill):
    """A look back at the week, in WeeklyReview."""

    enabled: bool = Field(False, strict=True, description=OFF_AT_FIRST)
    day_of_week: Weekday = 6
    hour: Hour = 21
    minute: Minute = 0
    context_limits: WeeklyReviewLimits = Field(default_factory=WeeklyReviewLimits)


class PersonProfileLimits(Block):
    """How many passages of each kind a profile may draw on."""

    vault: Limit = Field(10, description="Passages of notes.", validation_alias=AliasChoices("vault", "vault_hits"))
    chat: Limit = Field(10, description="Passages of chats.", validation_alias=AliasChoices("chat", "chat_hits"))
    task: Limit = Field(10, description="Tasks.", validation_alias=AliasChoices("task", "task_hits"))
    corrections: Limit = Field(
        5, description="Corrections.", validation_alias=AliasChoices("corrections", "correction_hits")
    )


class PersonProfileConfig(Skill):
    """A page for each person who is mentioned often, in People."""

    enabled: bool = Field(False, strict=True, description=OFF_AT_FIRST)
    autonomy_level: Literal["low", "medium", "high"] = Field(
        "low", description="low writes to Inbox for review; medium and high write to the target folder."
    )
    day_of_week: Weekday = 6
    hour: Hour = 22
    minute: Minute = 0
    trigger_mentions_threshold: Whole = Field(3, ge=1, le=1000, description="Mentions that make a profile worthwhile.")
    lookback_days: Whole = Field(7, ge=1, le=366, description="Days in which mentions are counted.")
    min_body_chars: Whole = Field(120, ge=0, le=10000, description="A page with fewer characters counts as a stub.")
    context_limits: PersonProfileLimits = Field(default_factory=PersonProfileLimits)


class SkillsConfig(Block):
    """Skills that draft notes. Each can also be switched with a plain true or false."""

    meeting_note: MeetingNoteConfig = Field(default_factory=MeetingNoteConfig)
    daily_reflection: DailyReflectionConfig = Field(default_factory=DailyReflectionConfig)
    commitment_log: CommitmentLogConfig = Field(default_factory=CommitmentLogConfig)
    weekly_review: WeeklyReviewConfig = Field(default_factory=WeeklyReviewConfig)
    person_profile: PersonProfileConfig = Field(default_factory=PersonProfileConfig)
