"""Extractive summaries of old sessions. The turns are kept, and a summary can be undone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from donna_tui.index.database import Database
from donna_tui.memory import conversations
from donna_tui.memory.chat import TurnRules, title_of
from donna_tui.memory.database import MemoryDb
from donna_tui.memory.facts import Fact, add_facts, new_id
from donna_tui.memory.scores import salience
from donna_tui.search.ranking import stems_of
from donna_tui.text.markdown import shorten
from donna_tui.text.sentences import sentences_by_line
from donna_tui.text.tokens import TokenCounter
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import MemoryType, SessionRow, Turn
from donna_tui.types.search import ME

SENTENCES = 3
SENTENCE_CHARS = 240
MIN_WORDS = 4
SAMPLED_SENTENCES = 2_000
"""Maximum number of sentences of a session that are scored; longer sessions are sampled evenly."""


@dataclass(frozen=True, slots=True)
class Material:
    """A session with its key and title, the turns to summarise, and the numbers of all of its turns."""

    key: int
    session: SessionRow
    title: str
    turns: tuple[Turn, ...]
    numbers: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Sentence:
    speaker: str
    text: str
    stems: frozenset[str]


def summary_of(title: str, turns: Iterable[Turn], counter: TokenCounter) -> str:
    """Extract up to three sentences that are most typical of a session, in their order, with their speakers.

    A sentence scores higher for words frequent in the session, and for names, numbers or preferences.
    """
    sentences = [sentence for turn in turns for sentence in _sentences(turn)]
    sentences = sentences[:: -(-len(sentences) // SAMPLED_SENTENCES) or 1]
    if not sentences:
        return title
    often = Counter(word for sentence in sentences for word in sentence.stems)

    def weight(sentence: _Sentence) -> float:
        common = sum(math.log(often[word]) for word in sentence.stems) / math.sqrt(len(sentence.stems))
        return common * (1.0 + salience(sentence.text, counter).salience)

    best = sorted(range(len(sentences)), key=lambda place: (-weight(sentences[place]), place))[:SENTENCES]
    excerpts = (
        f"{sentences[place].speaker}: {shorten(sentences[place].text, SENTENCE_CHARS)}" for place in sorted(best)
    )
    return f"{title}. {' '.join(excerpts)}"


def _sentences(turn: Turn) -> list[_Sentence]:
    found = []
    for start, end in sentences_by_line(turn.text):
        text = " ".join(turn.text[start:end].split())
        stems = stems_of(text)
        if len(stems) >= MIN_WORDS:
            found.append(_Sentence(turn.speaker, text, stems))
    return found


def due(database: Database, threshold: int, user_id: str = ME) -> list[SessionRow]:
    """Return the oldest half of `threshold` sessions without a summary, if there are more than `threshold` of them."""
    sessions = conversations.list_sessions(database, user_id)
    open_ones = [session for session in sessions if not session.summary and session.turns]
    return open_ones[: threshold // 2] if len(open_ones) > threshold else []


def material(db: MemoryDb, session: SessionRow, rules: TurnRules, user_id: str = ME) -> Material:
    key = conversations.find_session(db.database, session.name, user_id)
    assert key is not None
    turns = tuple(conversations.read_turns(db.database, key))
    title = title_of(session, conversations.speakers_of(db.database, key))
    return Material(key, session, title, tuple(filter(rules.counts, turns)), frozenset(turn.number for turn in turns))


def compress(db: MemoryDb, found: Material, summary: str, user_id: str = ME) -> Fact | None:
    """Store the summary of a session, link the session to it, and return it.

    Return None if turns were added or forgotten after the material was read.
    """
    with db.change():
        if found.numbers != {turn.number for turn in conversations.read_turns(db.database, found.key)}:
            return None
        fact = Fact(
            id=new_id(),
            type=MemoryType.SEMANTIC,
            content=summary,
            created_at=found.session.last_at or 0.0,
            user_id=user_id,
            session_id=found.session.name,
            sensitive=bool(db.database.value("SELECT sensitive FROM sessions WHERE id = ?", (found.key,))),
            source_session_id=found.session.name,
            compression_source=True,
        )
        add_facts(db, [fact])
        db.database.run("UPDATE sessions SET summary = ? WHERE id = ?", (fact.id, found.key))
        db.changed("chat", found.key)
    return fact


def expand(db: MemoryDb, name: str, now: float, user_id: str = ME) -> bool:
    """Undo a summary, so that the turns of its session are recalled again. Return False if there is none.

    Raises DonnaError (`missing`) if there is no such session.
    """
    key = conversations.find_anyones_session(db.database, name, user_id)
    if key is None:
        raise DonnaError(Reason.MISSING, f"there is no conversation {name}", hint="donna chat list shows them")
    with db.change():
        return conversations.drop_summary(db, key, now)
