"""Chats as a source: select the turns to index, merge consecutive turns in a buffer, and build documents from them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import accumulate

from donna_tui.config.models import ChatSourceConfig
from donna_tui.index.documents import Document
from donna_tui.memory.splitter import TextSplitter
from donna_tui.text.chunker import Chunk
from donna_tui.text.dates import MONTHS
from donna_tui.types.memory import ConversationRow, MemoryType, Turn
from donna_tui.types.search import ROLES, MemorySource

BETWEEN_TURNS = "\n\n"
NAMED_SPEAKERS = 4
"""Maximum number of speakers that a conversation without a title is named after."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def inflections(verb: str) -> frozenset[str]:
    """Return a verb with its -s, -ed and -ing forms, without a silent e: schedule, schedules, scheduling."""
    word = verb.casefold()
    stem = word.removesuffix("e")
    return frozenset({word, f"{word}s", f"{stem}ed", f"{stem}ing"})


class TurnRules:
    """Select the turns to index: by role, and by length unless a short turn contains a task verb."""

    def __init__(self, config: ChatSourceConfig) -> None:
        self._roles = frozenset(config.index_roles)
        self._least = config.min_chars
        self._verbs = frozenset(form for verb in config.task_verbs for form in inflections(verb))

    def counts(self, turn: Turn) -> bool:
        if turn.role not in self._roles or not turn.text.strip():
            return False
        is_long = len(turn.text.strip()) >= self._least
        return is_long or any(word.casefold() in self._verbs for word in _WORD.findall(turn.text))


class ChatSource:
    def __init__(self, config: ChatSourceConfig, splitter: TextSplitter) -> None:
        self._rules = TurnRules(config)
        self._merge = config.merge_consecutive_same_role
        self._splitter = splitter

    def documents(
        self, conversation: ConversationRow, title: str, turns: Iterable[Turn], numbers: Sequence[int], user_id: str
    ) -> Iterator[tuple[Document, list[Chunk]]]:
        """Yield the documents of a conversation with their passages, one for each run of turns of a speaker that fits
        into the window. The last run of an open conversation waits for more turns.

        `numbers` are those of all its turns, forgotten ones included, in ascending order. A run is named by its first
        and last number, so it ends where a forgotten turn is between, or the order is another. A system message ends
        a run even if it is not indexed itself, because the topic changes there.
        """
        places = {number: place for place, number in enumerate(numbers)}
        run: list[Turn] = []
        expected = tokens = 0
        for turn in turns:
            place = places.get(turn.number, expected)  # one that was added meanwhile follows
            ends = place != expected or turn.role == "system"
            expected = place + 1
            counts = self._rules.counts(turn)
            more = len(self._splitter.counter.spans(turn.text)) if counts else 0
            if run and (ends or (counts and not self._continues(run, turn, tokens + more))):
                yield self._document(conversation, title, run, user_id)
                run, tokens = [], 0
            if counts:
                run.append(turn)
                tokens += more
        if run and conversation.closed:
            yield self._document(conversation, title, run, user_id)

    def _continues(self, run: Sequence[Turn], turn: Turn, tokens: int) -> bool:
        return self._merge and run[-1].speaker == turn.speaker and tokens <= self._splitter.window

    def _document(
        self, conversation: ConversationRow, title: str, run: Sequence[Turn], user_id: str
    ) -> tuple[Document, list[Chunk]]:
        first, last = run[0], run[-1]
        source_id = f"{conversation.name}:{first.number}-{last.number}"
        text = BETWEEN_TURNS.join(turn.text for turn in run)
        at = next((turn.at for turn in reversed(run) if turn.at is not None), conversation.last_at)
        document = Document(
            source_type=MemorySource.CHAT.value,
            source_id=source_id,
            title=title,
            text=text,
            user_id=user_id,
            uri=f"chat:{source_id}",
            note_type=MemoryType.EPISODIC.value,
            modified_at=at or 0.0,
            sensitive=conversation.sensitive,
            metadata={
                "type": MemoryType.EPISODIC.value,
                "session_id": conversation.name,
                "turns": [first.number, last.number],
                "role": first.role,
                "speaker": first.speaker,
                "at": at,
                "pinned": any(turn.pinned for turn in run),
                "compressed": bool(conversation.summary),
            },
        )
        heading = (first.speaker,) if first.speaker else ()
        starts = list(accumulate((len(turn.text) + len(BETWEEN_TURNS) for turn in run[:-1]), initial=0))
        return document, self._splitter.chunks(
            document, heading, lambda offset: run[bisect_right(starts, offset) - 1].number
        )


def title_of(conversation: ConversationRow, speakers: Sequence[str]) -> str:
    """Return the name of a conversation: its title or its speakers, and the day on which it began."""
    people = [speaker for speaker in speakers if speaker.casefold() not in ROLES]
    named = " and ".join(people) if 0 < len(people) <= NAMED_SPEAKERS and not conversation.title else ""
    name = conversation.title or named or "Chat"
    day = day_of(conversation.started_at)
    return f"{name}, {day}" if day else name


def day_of(at: float | None) -> str:
    """Format a moment's local day as `8 May 2023`; empty for None or a time outside the calendar's range."""
    if at is None:
        return ""
    try:
        moment = datetime.fromtimestamp(at)
    except (ValueError, OverflowError, OSError):
        return ""
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"
