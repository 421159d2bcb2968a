"""The settings of Donna as typed values: every name, its default, its bounds and one sentence of documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, AliasChoices, Field, model_validator
from pydantic_core import PydanticCustomError

from donna_tui.config.agents import AgentsConfig
from donna_tui.config.blocks import (
    AbsolutePath,
    Block,
    FromSpace,
    Glob,
    HomePath,
    Line,
    Number,
    Switch,
    TopFolder,
    Whole,
    related,
)
from donna_tui.config.calendars import Calendars

Autonomy = Annotated[
    Literal["low", "medium", "high"],
    Field(description="low: a draft in Inbox; medium: a draft in its target folder; high: a note, without review."),
]
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
    Whole, Field(ge=0, le=59, validation_alias=AliasChoices("minute", "minute_utc"), description="Minute of that hour.")
]
Weekday = Annotated[Whole, Field(ge=0, le=6, description="Day on which it runs: 0 is Monday, 6 is Sunday.")]
OFF_AT_FIRST = "Whether it is drafted automatically at its hour; `donna draft new` drafts one at any time."

Limit = Annotated[Whole, Field(ge=0, le=200)]


class Skill(Switch):
    """Settings shared by all skills. Those with an hour start once they are switched on."""

    autonomy_level: Autonomy = "medium"


class DailySkill(Skill):
    """A skill that runs each day at its hour."""

    enabled: bool = Field(False, strict=True, description=OFF_AT_FIRST)
    hour: Hour = 21
    minute: Minute = 0


class WeeklySkill(DailySkill):
    """A skill that runs on one day of the week."""

    day_of_week: Weekday = 6


class MeetingNoteLimits(Block):
    """Maximum number of passages of each kind that a meeting note may use."""

    prior_meetings: Limit = Field(5, description="Notes of the series whose open check boxes are carried over.")
    recent_chats: Limit = Field(0, description="Passages of your chats; 0 leaves chats out.")
    open_tasks: Limit = Field(25, description="Open check boxes that are carried over.")


class MeetingNoteConfig(Skill):
    """A brief before each meeting, which becomes its note."""

    poll_interval_seconds: Whole = Field(60, ge=5, le=3600, description="Seconds between two checks of the calendar.")
    lookback_minutes: Whole = Field(
        5,
        ge=1,
        le=10080,
        description="How long ago a meeting may have ended when Donna first follows its calendar, in minutes.",
    )
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
    """Maximum number of passages of each kind that a daily reflection may use."""

    meetings: Limit = Field(10, description="Meetings of the day.")
    completed_tasks: Limit = Field(25, description="Tasks completed that day.")
    chat_highlights: Limit = Field(10, description="Passages of the day's chats.")


class DailyReflectionConfig(DailySkill):
    """A look back at the day, in Reflections."""

    context_limits: DailyReflectionLimits = Field(default_factory=DailyReflectionLimits)


class CommitmentLogLimits(Block):
    """Maximum number of passages of each kind that are searched for promises."""

    chat_hits: Limit = Field(50, description="Passages of chats.")
    task_hits: Limit = Field(25, description="Tasks.")


class CommitmentLogConfig(DailySkill):
    """The promises made in notes and chats, and open tasks, in Commitments."""

    hour: Hour = 20
    minute: Minute = 30
    context_limits: CommitmentLogLimits = Field(default_factory=CommitmentLogLimits)


class WeeklyReviewLimits(Block):
    """Maximum number of passages of each kind that a weekly review may use."""

    tasks: Limit = Field(25, description="Tasks.", validation_alias=AliasChoices("tasks", "completed_tasks"))
    meetings: Limit = Field(15, description="Meetings of the week.")
    commitments: Limit = Field(15, description="Open commitments.")
    chats: Limit = Field(
        10, description="Passages of chats.", validation_alias=AliasChoices("chats", "chat_highlights")
    )


class WeeklyReviewConfig(WeeklySkill):
    """A look back at the week, in WeeklyReview."""

    context_limits: WeeklyReviewLimits = Field(default_factory=WeeklyReviewLimits)


class PersonProfileLimits(Block):
    """Maximum number of passages of each kind that a profile may use."""

    vault: Limit = Field(10, description="Passages of notes.", validation_alias=AliasChoices("vault", "vault_hits"))
    chat: Limit = Field(10, description="Passages of chats.", validation_alias=AliasChoices("chat", "chat_hits"))
    task: Limit = Field(10, description="Tasks.", validation_alias=AliasChoices("task", "task_hits"))
    corrections: Limit = Field(
        5, description="Corrections.", validation_alias=AliasChoices("corrections", "correction_hits")
    )


class PersonProfileConfig(WeeklySkill):
    """A page for each person who is mentioned often, in People."""

    autonomy_level: Autonomy = "low"
    hour: Hour = 22
    trigger_mentions_threshold: Whole = Field(3, ge=1, le=1000, description="Mentions that make a profile worthwhile.")
    lookback_days: Whole = Field(7, ge=1, le=366, description="Days in which mentions are counted.")
    min_body_chars: Whole = Field(120, ge=0, le=10000, description="A page with fewer characters counts as a stub.")
    context_limits: PersonProfileLimits = Field(default_factory=PersonProfileLimits)


class SkillsConfig(Block):
    """Skills that draft notes. Each can also be turned on or off with a plain true or false."""

    meeting_note: MeetingNoteConfig = Field(default_factory=MeetingNoteConfig)
    daily_reflection: DailyReflectionConfig = Field(default_factory=DailyReflectionConfig)
    commitment_log: CommitmentLogConfig = Field(default_factory=CommitmentLogConfig)
    weekly_review: WeeklyReviewConfig = Field(default_factory=WeeklyReviewConfig)
    person_profile: PersonProfileConfig = Field(default_factory=PersonProfileConfig)


MODEL = "minilm-l6-v2"
EMBEDDING_MODELS = {MODEL: "donna_tui.embedding.build:load_default_model"}
"""The embedding models by name, each with the function that loads it, as `module:function`."""


MINILM_POSITIONS = 512
"""Maximum number of tokens of all-MiniLM-L6-v2 (`max_position_embeddings` of its config.json)."""

VEC0_MAX_K = 4096
"""Maximum number of neighbours of one vec0 query (`SQLITE_VEC_VEC0_K_MAX` of sqlite-vec)."""

CANDIDATES_PER_HIT = 4
"""A search requests this many times k from the vector index."""


class VaultConfig(Block):
    """The folder of notes and its settings."""

    root: AbsolutePath | None = Field(None, description="The folder of Markdown notes. Without one, Donna asks.")
    git_author_name: Line = Field("Donna", description="Author of the commits that Donna makes.")
    git_author_email: Line = Field("donna@localhost", description="Email address of that author.")
    sync_method: Literal["webdav", "syncthing", "manual"] = Field(
        "webdav", description="How the vault is synced with other devices; `donna doctor` checks it."
    )
    templates_dir: HomePath = Field(
        Path("vault_templates"), description="Folder of note templates; a relative path is within Donna's own files."
    )
    ignore_globs: Annotated[tuple[Glob, ...], FromSpace.APPEND] = Field(
        (".obsidian/**", ".trash/**", ".git/**", "node_modules/**"),
        description="Files that Donna neither lists, reads nor watches. A folder pattern matches at any depth.",
    )


class SafetyConfig(Block):
    """Limits on what Donna reads and writes."""

    max_read_bytes: Whole = Field(
        2_000_000, ge=1_000, le=100_000_000, description="Notes larger than this are listed but not read, in bytes."
    )
    max_note_bytes: Whole = Field(
        200_000, ge=1_000, le=100_000_000, description="Donna writes no note larger than this, in bytes."
    )
    path_allowlist: Annotated[tuple[TopFolder, ...], FromSpace.NARROW] = Field(
        ("Inbox", "Meetings", "People", "Projects", "Daily", "Reviews", "WeeklyReview", "Reflections", "Commitments"),
        description="Top-level folders for what scripts, agents and drafts write; '*' allows every folder.",
    )
    sensitive_frontmatter_key: Line = Field(
        "donna_sensitive",
        description="Notes with this frontmatter key set to true stay on this machine and are never changed.",
    )

    @model_validator(mode="after")
    def _can_read_what_it_writes(self) -> SafetyConfig:
        if self.max_note_bytes > self.max_read_bytes:
            message = "safety.max_note_bytes must not be above safety.max_read_bytes"
            raise related(message, "safety.max_note_bytes", "safety.max_read_bytes")
        return self


def _known_or_folder(value: str) -> str:
    """Check a model: a value with a slash is a path. Raises PydanticCustomError for the name of an unknown model."""
    if value not in EMBEDDING_MODELS and not re.search(r"[/\\]", value):
        names = ", ".join(f"'{name}'" for name in EMBEDDING_MODELS)
        raise PydanticCustomError("literal_error", "unknown model", {"expected": f"{names} or 'a folder'"})
    return value


Provider = Annotated[Line, AfterValidator(_known_or_folder)]


class EmbeddingConfig(Block):
    """The embedding model, and the chunking of text for it."""

    provider: Provider = Field(
        MODEL,
        validation_alias=AliasChoices("provider", "model"),
        description="The embedding model: `minilm-l6-v2`, or the path of a folder with a sentence-transformers model.",
    )
    version_tag: Line = Field(
        "minilm-l6-v2@2024-05", description="Stamped on every vector. Change it to embed all notes again."
    )
    dim: Whole = Field(384, ge=8, le=8192, description="The length of a vector; must be that of the model.")
    max_tokens: Annotated[Whole, FromSpace.REPLACE] = Field(
        256,
        ge=32,
        le=MINILM_POSITIONS,
        validation_alias=AliasChoices("max_tokens", "chunk_tokens"),
        description="The maximum length of a passage, in tokens of the model.",
    )
    chunk_overlap: Annotated[Whole, FromSpace.REPLACE] = Field(
        32,
        ge=0,
        le=MINILM_POSITIONS,
        description="The overlap of adjacent passages, in tokens; at most half of max_tokens.",
    )

    @model_validator(mode="after")
    def _passages_advance(self) -> EmbeddingConfig:
        if self.chunk_overlap * 2 > self.max_tokens:
            message = "embedding.chunk_overlap must be at most half of embedding.max_tokens"
            raise related(message, "embedding.chunk_overlap", "embedding.max_tokens")
        return self


class RetrievalConfig(Block):
    """Number and minimum quality of the hits of a search."""

    default_k: Annotated[Whole, FromSpace.REPLACE] = Field(
        8, ge=1, validation_alias=AliasChoices("default_k", "top_k"), description="The default number of hits."
    )
    min_score: Annotated[Number, FromSpace.REPLACE] = Field(
        0.25, ge=0, le=1, description="The minimum cosine similarity of a semantic hit; keyword hits are exempt."
    )
    max_k: Annotated[Whole, FromSpace.REPLACE] = Field(
        32, ge=1, le=VEC0_MAX_K // CANDIDATES_PER_HIT, description="The maximum number of hits of a search."
    )
    reranker_enabled: bool = Field(
        False, strict=True, description="Whether the best hits of a search are ranked again by reranker_model."
    )
    reranker_model: HomePath | None = Field(
        None, description="The folder of a cross-encoder; needs the extra [sentence-transformers]."
    )

    @model_validator(mode="after")
    def _default_is_possible(self) -> RetrievalConfig:
        if self.default_k > self.max_k:
            message = "retrieval.default_k must not be above retrieval.max_k"
            raise related(message, "retrieval.default_k", "retrieval.max_k")
        return self


class VaultSourceConfig(Switch):
    """Notes of the vault."""

    chunker: Literal["markdown_heading"] = Field("markdown_heading", description="How notes are cut into passages.")
    ignore_globs: Annotated[tuple[Glob, ...], FromSpace.APPEND] = Field(
        (".obsidian/**", ".trash/**", ".git/**", "Templates/**"),
        description="Notes that are not indexed, on top of vault.ignore_globs.",
    )
    rename_window_seconds: Number = Field(
        2.0, ge=0, le=60, description="Seconds in which a deleted note that appears elsewhere counts as renamed."
    )


class ChatSourceConfig(Switch):
    """Turns of imported chats."""

    index_roles: tuple[Literal["user", "assistant", "system", "tool"], ...] = Field(
        ("user", "assistant"), description="Roles whose messages are indexed."
    )
    min_chars: Whole = Field(
        20, ge=0, le=10_000, description="The minimum length of a message to be indexed, in characters."
    )
    merge_consecutive_same_role: bool = Field(
        True, strict=True, description="Whether consecutive messages of one speaker become one passage."
    )
    chunker: Literal["chat_turn"] = Field("chat_turn", description="How chats are cut into passages.")
    task_verbs: tuple[Line, ...] = Field(
        ("do", "call", "email", "schedule", "remind", "send", "book", "buy", "check", "review"),
        description="A short message with one of these words is indexed anyway.",
    )


class TaskSourceConfig(Switch):
    """Tasks."""

    reindex_on_status: tuple[Line, ...] = Field(
        ("done", "cancelled"), description="A task that gets one of these states is embedded again."
    )
    chunker: Literal["task"] = Field("task", description="How tasks are cut into passages.")


class CorrectionSourceConfig(Switch):
    """Corrections of memories, passages and drafts."""


class SourcesConfig(Block):
    """Sources of memories. Each source can also be turned on or off with a plain true or false."""

    vault: VaultSourceConfig = Field(default_factory=VaultSourceConfig)
    chat: ChatSourceConfig = Field(default_factory=ChatSourceConfig)
    tasks: TaskSourceConfig = Field(default_factory=TaskSourceConfig, validation_alias=AliasChoices("tasks", "task"))
    corrections: CorrectionSourceConfig = Field(
        default_factory=CorrectionSourceConfig, validation_alias=AliasChoices("corrections", "correction")
    )


class RecallConfig(Block):
    """Settings of `donna recall` and of prompts."""

    memories: Whole = Field(
        0, ge=0, le=100, description="The default number of memories of a recall; 0 for as many as fit."
    )
    token_budget: Whole = Field(2_000, ge=0, le=1_000_000, description="The token budget of a recall.")
    reranker_enabled: bool = Field(
        False, strict=True, description="Whether the memories found are ranked again by reranker_model."
    )
    reranker_model: HomePath | None = Field(
        None, description="The folder of a cross-encoder. Without one, relevance, importance and age decide the order."
    )
    compression_threshold: Whole = Field(
        50,
        ge=2,
        le=1_000_000,
        description="The number of conversations above which `donna chat compress` summarises the oldest.",
    )


class MetricsConfig(Block):
    """Metrics for Prometheus, served to this machine only."""

    port: Whole = Field(0, ge=0, le=65_535, description="The port on which metrics are served; 0 turns them off.")


class UiConfig(Block):
    """Appearance of the screens, and key bindings."""

    theme: Line = Field("donna-dark", description="Name of the colour theme.")
    keymap: Line = Field("default", description="Name of a built-in set of keys, or a file with one.")
    keys: dict[Line, tuple[Line, ...]] = Field(
        {}, description="Keys of your own, by the name of the action: {search.focus: [slash, f2]}."
    )


class MemoryConfig(Block):
    """All settings of Donna."""

    vault: VaultConfig = Field(default_factory=VaultConfig)
    safety: SafetyConfig = Field(default_factory=SafetyConfig)
    embedding: EmbeddingConfig = Field(default_factory=EmbeddingConfig)
    retrieval: RetrievalConfig = Field(default_factory=RetrievalConfig)
    sources: SourcesConfig = Field(default_factory=SourcesConfig)
    recall: RecallConfig = Field(default_factory=RecallConfig)
    me: tuple[Line, ...] = Field(
        (),
        description="Your own names and mail addresses, as calendars and notes have them: [Ana Lima, ana@example.org].",
    )
    skills: SkillsConfig = Field(default_factory=SkillsConfig)
    calendars: Calendars = Field(
        (), description="Calendars to follow: [{name: Work, kind: ics, path: ~/work.ics}]. Each has the settings below."
    )
    agents: AgentsConfig = Field(default_factory=AgentsConfig)
    metrics: MetricsConfig = Field(default_factory=MetricsConfig)
    ui: UiConfig = Field(default_factory=UiConfig)
