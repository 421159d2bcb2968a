"""The part of the memory's desk that has to do with conversations: imported, going on, summed up."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from donna_tui.config.models import MemoryConfig
from donna_tui.events import EventHub
from donna_tui.memories import ME, ImportReport, MemoryChunk, SessionRow, Suggestion
from donna_tui.memory.book import Book
from donna_tui.memory.bookthread import BookThread
from donna_tui.memory.chat import TurnRules
from donna_tui.memory.compression import Material, compress, due, expand, material, summary_of
from donna_tui.memory.conversations import NewTurn, Recorder, expire_sessions, list_sessions, users_of
from donna_tui.memory.facts import Fact
from donna_tui.memory.importing import Import, Progress
from donna_tui.memory.listing import memory_of_fact
from donna_tui.memory.passages import Cut
from donna_tui.memory.recall import Read, Search
from donna_tui.memory.suggestions import list_suggestions
from donna_tui.memory.watching import LogFolder
from donna_tui.records import dataclass

FOREVER_SECONDS = 1e8

Summarize = Callable[[Material], Awaitable[str]]
"""The summary that a language model gives; empty where none may be asked, or it gave no answer."""


async def no_model(found: Material) -> str:
    """Nobody is asked."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskParts:
    """What the desk works with.

    `folder` is the space's state folder; `cut` makes the cutter on a thread; `changed` tells the index that there is
    something new; `settle` waits until the index has it, for so many seconds, and says whether it does; `summarize`
    asks a language model.
    """

    folder: Path
    config: MemoryConfig
    hub: EventHub
    cut: Callable[[], Cut]
    read: Read
    search: Search
    changed: Callable[[], None]
    settle: Callable[[float], Awaitable[bool]]
    summarize: Summarize = no_model


class ConversationDesk:
    """Every method raises only DonnaError."""

    def __init__(self, parts: DeskParts) -> None:
        self.parts = parts
        self.book = BookThread(parts.folder, parts.hub, parts.changed)

    async def sessions(self, user_id: str | None = ME) -> tuple[SessionRow, ...]:
        """The conversations of a user, or with None of everybody, those that began first at the beginning."""
        return await self.book.run(lambda book: tuple(list_sessions(book.database, user_id)))

    async def say(
        self, turns: list[NewTurn], *, user_id: str = ME, sensitive: bool = False, closed: bool = False
    ) -> tuple[int, int]:
        """Store turns of a conversation that goes on; how many are new, and how many were stored before.

        They become memories as their buffer is flushed, the last ones once the conversation is `closed`.
        """

        def add(book: Book) -> tuple[int, int]:
            recorder = Recorder(book, user_id, sensitive, one_user=True)
            recorder.add(turns)
            if closed:
                recorder.close_sessions()
            return recorder.added, recorder.known

        return await self.book.change(add)

    async def follow(
        self, logs: LogFolder, *, sensitive: bool = False, on_step: Callable[[int], None] = lambda _: None
    ) -> ImportReport:
        """Import what is new in a folder of logs; their sessions stay open. Being cancelled loses no turn."""
        importing = await self.book.run(lambda book: Import(Recorder(book, sensitive=sensitive)))
        steps = logs.read_new(importing)
        while (step := await self.book.run(lambda _: next(steps, None))) is not None:
            on_step(step)
        if importing.report.turns:
            self.parts.changed()
        return importing.report

    async def close_quiet_sessions(self, before: float) -> int:
        """Close the sessions in which nothing was said since `before` (Unix time); how many those are."""
        return await self.book.change(lambda book: expire_sessions(book, before))

    async def suggestions(self, *, limit: int = 50, user_id: str = ME) -> tuple[Suggestion, ...]:
        """The preferences that were stated in chats and wait for an answer, the latest first."""
        return await self.book.run(lambda book: tuple(list_suggestions(book.database, limit, user_id)))

    async def import_chat(
        self,
        path: Path,
        *,
        user: str = "",
        sensitive: bool = False,
        on_progress: Callable[[Progress], None] = lambda _: None,
    ) -> ImportReport:
        """Import a file of chats. Being cancelled or killed between batches loses no turn that was told.

        `user` takes only the turns of that person, as the owner's, from a file with those of several; otherwise each
        turn is stored for the user that it names.
        """
        importing = await self.book.run(
            lambda book: Import(Recorder(book, sensitive=sensitive, one_user=bool(user)), user)
        )
        steps = importing.run(path)
        while (progress := await self.book.run(lambda _: next(steps, None))) is not None:
            on_progress(progress)
        self.parts.changed()
        await self.book.back_up()
        return importing.report

    async def compress_due(self) -> tuple[MemoryChunk, ...]:
        """Sum up the oldest sessions of every user who has too many; the summaries."""
        users = await self.book.run(lambda book: users_of(book.database))
        return tuple([summary for user in users for summary in await self.compress(user)])

    async def compress(self, user_id: str = ME) -> tuple[MemoryChunk, ...]:
        """Sum up the oldest sessions, if there are more than the configured number that are not; the summaries."""
        threshold = self.parts.config.recall.compression_threshold
        sessions = await self.book.run(lambda book: due(book.database, threshold, user_id))
        return tuple([memory_of_fact(await self._compressed(session, user_id)) for session in sessions])

    async def _compressed(self, session: SessionRow, user_id: str) -> Fact:
        rules, cut = TurnRules(self.parts.config.sources.chat), await self._cut()
        found = await self.book.run(lambda book: material(book, session, rules, user_id))
        told = await self.parts.summarize(found)
        summary = told or summary_of(found.title, found.turns, cut.counter)
        return await self.book.change(lambda book: compress(book, found, summary, user_id))

    async def expand(self, session: str, user_id: str = ME) -> bool:
        """Take the summary of a session back. False if it has none."""
        return await self.book.change(lambda book: expand(book, session, time.time(), user_id))

    async def settle(self, patience: float | None = None) -> bool:
        """Wait until the index has what is remembered; False if another process or some trouble holds that up."""
        return await self.parts.settle(FOREVER_SECONDS if patience is None else patience)

    async def close(self) -> None:
        """Back up what has changed if it is time, and close the memory."""
        await self.book.close()

    async def _cut(self) -> Cut:
        return await self.book.run(lambda _: self.parts.cut())
