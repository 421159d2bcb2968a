"""Requests and results of a search, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any, Literal, Protocol

Mode = Literal["hybrid", "semantic", "keyword"]
MODES: tuple[Mode, ...] = ("hybrid", "semantic", "keyword")

ME = "me"
"""The user where there is only one."""

ROLES = ("user", "assistant", "system", "tool")
"""The speakers in a chat with an assistant, which are not names of people."""


class MemorySource(StrEnum):
    """The source of a memory; the source types of the index."""

    VAULT = "vault"
    CHAT = "chat"
    TASK = "task"
    CORRECTION = "correction"
    MEMORY = "memory"


TASK_MARKS = {"todo": " ", "done": "x", "cancelled": "-", "in_progress": "/"}
"""The mark in the check box of a task, by its status."""


def note_containing(source: str, path: str) -> str:
    """Return the note that contains a document of a source; empty if none does. The path of a task ends in its hash."""
    if source == MemorySource.TASK:
        return path.rpartition("#")[0]
    return "" if source in (MemorySource.CHAT, MemorySource.MEMORY, MemorySource.CORRECTION) else path


def cited_path(source: str, path: str) -> str:
    """Return the path by which a passage is cited: that of its note, or its own, such as that of a conversation."""
    return note_containing(source, path) or path


DRAFTS = "draft"
"""The source of notes that Donna wrote and nobody has approved: they are found only on request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """The filters of a search. Empty means everything.

    Filters act inside the search: a scope with n matches gives min(k, n). `path_prefix` matches whole components:
    `Projects` holds `Projects/a.md`, not `Projects-old/a.md`. `path_parts` are found anywhere in a path, whatever their
    case. `after` and `before` are Unix seconds, compared with the note's own date.
    """

    user_id: str = ME
    sources: tuple[str, ...] = ()
    path_prefix: str = ""
    path_parts: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    note_type: str = ""
    tags: tuple[str, ...] = ()
    after: float | None = None
    before: float | None = None
    sensitive: bool | None = None

    @property
    def any_set(self) -> bool:
        return self != Filters(user_id=self.user_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One question. `text` is raw user input in the query syntax; it is never an error.

    `typing` says that the user is still typing: the last word may be the prefix of one. `everywhere` asks the other
    spaces of this installation as well. `uncapped` is set if a person requested this number of hits: the configured
    maximum, which is for programs, does not apply.
    """

    text: str
    k: int = 8
    mode: Mode = "hybrid"
    filters: Filters = field(default_factory=Filters)
    near_misses: bool = False
    typing: bool = False
    everywhere: bool = False
    uncapped: bool = False


class Excerpt(Protocol):
    """A line of text that shows why a passage matched; `marks` are half-open character ranges of matched words."""

    @property
    def text(self) -> str: ...

    @property
    def marks(self) -> tuple[tuple[int, int], ...]: ...

    def fitted(self, width: int) -> Excerpt:
        """Return the excerpt for a place of at most `width` characters."""
        ...


@dataclass(frozen=True, slots=True)
class Snippet:
    """An excerpt that is not lazy."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()

    def fitted(self, width: int) -> Snippet:
        """Return the same excerpt, since there is no text from which to choose another."""
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One passage, with its citation and its scores.

    `start_line` and `end_line` are 1-based, inclusive lines of the file. `score` is the cosine similarity, or None
    where there is no vector yet. `rank_score` (0 to 1) decided the order. Ranks are 1-based; None means that this leg
    did not find it. `space` names the space it is from, where several were asked. `dated_at` is the note's own date,
    Unix time. `draft` says that Donna wrote the note and nobody has approved it. `named` is the name of its note if the
    question is that name and the hit is first for that reason; a note without any text has no `content`. `in_note`
    is how many passages of its note were found, shown or not. All text here is raw: sanitise it before it reaches a
    terminal.
    """

    chunk_id: str
    document_id: str
    source_type: str
    path: str
    title: str
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int
    content: str
    snippet: Excerpt
    score: float | None
    rank_score: float
    vector_rank: int | None
    keyword_rank: int | None
    uri: str
    sensitive: bool
    metadata: dict[str, Any]
    space: str = ""
    dated_at: float | None = None
    draft: bool = False
    named: str = ""
    in_note: int = 1

    @property
    def cited_path(self) -> str:
        return cited_path(self.source_type, self.path)

    @property
    def note(self) -> str:
        """Return the note that contains this hit; empty if none does."""
        return note_containing(self.source_type, self.path)


@dataclass(frozen=True, slots=True)
class FilterProblem:
    """A typed filter, phrase or word that is invalid or matches nothing, the reason, and the nearest valid one."""

    text: str
    message: str
    nearest: str = ""

    @property
    def sentence(self) -> str:
        """Return a sentence for people, with what was typed as it is."""
        near = f"; did you mean {self.nearest}?" if self.nearest else ""
        return f"{self.text.removesuffix(':')}: {self.message}{near}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOutcome:
    """The answer to a `SearchRequest`.

    `hits` may be empty although `near_misses` is not: then nothing was judged relevant. `mode` is the mode that was
    used, and `note` says in one plain line why it differs from the one asked for, or what else limits the answer;
    `reason` is its code where there is one. `stale` says that the index was not up to date; without `indexed` there is
    none. `filter_problems` are filters in the question that are invalid or, if there is no hit, filters, phrases and
    misspelt words that match nothing. `searched_notes` counts the notes that pass the filters if there is no hit.
    `total` is how many passages were found, in `total_notes` notes, of which `hits` are the best; `at_least` says that
    there are more that nobody counted.
    """

    request: SearchRequest
    mode: Mode
    hits: tuple[Hit, ...]
    near_misses: tuple[Hit, ...] = ()
    searched_notes: int = 0
    note: str = ""
    reason: str = ""
    filter_problems: tuple[FilterProblem, ...] = ()
    stale: bool = False
    indexed: bool = True
    latency_ms: float = 0.0
    total: int = 0
    total_notes: int = 0
    at_least: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NameMatch:
    """A note, or a heading in it, whose name matches a query.

    `name` is written as in the note; `kind` is `file`, `title`, `alias`, `path` or `heading`, and `line` its line.
    `places` are the indices of the matched characters in `name`. All text here is raw: sanitise it before it reaches a
    terminal.
    """

    path: str
    title: str
    name: str
    kind: str
    line: int
    places: tuple[int, ...]
    score: float
    modified_at: float
    sensitive: bool

    @classmethod
    def of_file(cls, path: str, modified_at: float) -> NameMatch:
        """Build the match of a note of which only the file is known."""
        name = PurePosixPath(path).stem
        return cls(
            path=path, title=name, name=name, kind="file", line=1, places=(), score=0.0, modified_at=modified_at,
            sensitive=False,
        )  # fmt: skip
