"""The same for the tools that list, read and write notes, and list drafts."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from donna_tui.tools.agent.shapes import LONGEST_PATH, Asked, Count, Given, IsoTime, NotePath, Offset, Row

MOST_LISTED = 1_000


class ReadAsked(Asked):
    """Which note."""

    path: NotePath


class Section(Row):
    """A section of a note: its headings and its lines, 1-based and inclusive."""

    heading_path: tuple[str, ...]
    start_line: int
    end_line: int


class ReadGiven(Given):
    """A whole note, exactly as it stands on disk. `etag` is what `vault_write` must be given to change it."""

    path: str
    title: str
    text: str
    etag: str
    tags: tuple[str, ...]
    type: str
    sections: tuple[Section, ...]


class ListAsked(Asked):
    """Which notes to list, and which page of them."""

    folder: str = Field(
        default="",
        max_length=LONGEST_PATH,
        description="Only notes below this folder, vault-relative, such as Projects.",
    )
    recursive: bool = Field(default=True, description="Also those in folders below it.")
    offset: Offset = 0
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED, description="How many rows at the most.")] = 200


class Note(Row):
    """A note: its path, size in bytes, and when its file was changed."""

    path: str
    size: Count
    modified: IsoTime


class ListGiven(Given):
    """Notes by path, and how many there are in all."""

    notes: tuple[Note, ...]
    count: Count
    total: Count


class LinkAsked(Asked):
    """The note whose links are meant."""

    path: NotePath


class LinkGiven(Given):
    """The notes that a note links to, and those with a wikilink to it. Links that lead nowhere are left out."""

    path: str
    links: tuple[str, ...]
    linked_from: tuple[str, ...]


class WriteAsked(Asked):
    """A note to write. `etag` is that of the version which was read; a note that is new has none."""

    path: NotePath
    content: Annotated[str, Field(max_length=2_000_000)] = Field(
        description="The text. Frontmatter that it does not name is kept, unless `replace` is true."
    )
    etag: Annotated[str, Field(max_length=128)] | None = Field(
        default=None, description="The `etag` of vault_read, to change a note; left out for a new one."
    )
    replace: bool = Field(default=False, description="The content is the whole note, frontmatter too.")


class SectionAsked(Asked):
    """A change of one section of a note. The rest of the note keeps its bytes."""

    path: NotePath
    heading_path: tuple[str, ...] = Field(
        default=(),
        max_length=12,
        description="The headings down to the section, exactly as in `headingPath` of vault_read; empty for the text"
        " before the first heading.",
    )
    content: Annotated[str, Field(max_length=2_000_000)] = Field(
        description="The text to add or to put in place of what is there, without the heading of the section itself."
    )
    mode: Literal["append", "replace"] = Field(
        default="append",
        description="append adds to the end of the section's own text, replace puts the content in its place. Sections"
        " below it stay as they are.",
    )
    etag: Annotated[str, Field(min_length=1, max_length=128, description="The `etag` of vault_read.")]


class WriteGiven(Given):
    """What came of a write: its operation, and the etag of the note now."""

    path: str
    changed: bool
    operation: str
    etag: str
    session: str
    writes_left: Count
    remarks: tuple[str, ...]


class UndoAsked(Asked):
    """How much of this session to take back."""

    n: Annotated[int, Field(ge=1, le=1_000)] = Field(default=1, description="How many of the last operations.")
    everything: bool = Field(default=False, description="All of this session, and what it remembered.")


class UndoGiven(Given):
    """What was taken back: operations, the notes that they had changed, and memories that are forgotten again."""

    undone: tuple[str, ...]
    paths: tuple[str, ...]
    forgotten: Count


class DraftsAsked(Asked):
    """Which drafts."""

    everything: bool = Field(default=False, description="Also those that were approved or rejected.")


class Draft(Row):
    """A note that Donna drafted. `path` is where it stands, empty if nowhere; `target` is where it goes if approved."""

    id: str
    skill: str
    title: str
    state: str
    path: str
    target: str
    created_at: IsoTime


class DraftsGiven(Given):
    """Drafts, the newest first. Only the person at the keyboard approves them."""

    drafts: tuple[Draft, ...]
    count: Count
