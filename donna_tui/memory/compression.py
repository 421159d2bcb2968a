"""Extractive summaries of old conversations. The turns are kept, and a summary can be undone."""

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
from donna_tui.types.memory import ConversationRow, MemoryType, Turn
from donna_tui.types.search import ME

SENTENCES = 3
SENTENCE_CHARS = 240
MIN_WORDS = 4
SAMPLED_SENTENCES = 2_000
"""Maximum number of sentences of a conversation that are scored; longer conversations are sampled evenly."""


@dataclass(frozen=True, slots=True)
class SummaryMaterial:
    """A conversation with its key and title, the turns to summarise, and the numbers of all of its turns."""

    key: int
    conversation: ConversationRow
    title: str
    turns: tuple[Turn, ...]
    numbers: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Sentence:
    speaker: str
    text: str
    stems: frozenset[str]


def summary_of(title: str, turns: Iterable[Turn], counter: TokenCounter) -> str:
    """Extract up to three sentences that are most typical of a conversation, in their order, with their speakers.

    A sentence scores higher for words frequent in the conversation, and for names, numbers or preferences.
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


def due(database: Database, threshold: int, user_id: str = ME) -> list[ConversationRow]:
    """Return the oldest half of `threshold` conversations without a summary, if there are more than `threshold`."""
    found = conversations.list_conversations(database, user_id)
    open_ones = [conversation for conversation in found if not conversation.summary and conversation.turns]
    return open_ones[: threshold // 2] if len(open_ones) > threshold else []


def material(db: MemoryDb, conversation: ConversationRow, rules: TurnRules, user_id: str = ME) -> SummaryMaterial:
    key = conversations.find_conversation(db.database, conversation.name, user_id)
    assert key is not None
    turns = tuple(conversations.read_turns(db.database, key))
    title = title_of(conversation, conversations.speakers_of(db.database, key))
    counted, numbers = tuple(filter(rules.counts, turns)), frozenset(turn.number for turn in turns)
    return SummaryMaterial(key, conversation, title, counted, numbers)


def compress(db: MemoryDb, found: SummaryMaterial, summary: str, user_id: str = ME) -> Fact | None:
    """Store the summary of a conversation, link the conversation to it, and return it.

    Return None if turns were added or forgotten after the material was read.
    """
    with db.change():
        if found.numbers != {turn.number for turn in conversations.read_turns(db.database, found.key)}:
            return None
        fact = Fact(
            id=new_id(),
            type=MemoryType.SEMANTIC,
            content=summary,
            created_at=found.conversation.last_at or 0.0,
            user_id=user_id,
            session_id=found.conversation.name,
            sensitive=bool(db.database.value("SELECT sensitive FROM sessions WHERE id = ?", (found.key,))),
            source_session_id=found.conversation.name,
            compression_source=True,
        )
        add_facts(db, [fact])
        db.database.run("UPDATE sessions SET summary = ? WHERE id = ?", (fact.id, found.key))
        db.changed("chat", found.key)
    return fact


def expand(db: MemoryDb, name: str, now: float, user_id: str = ME) -> bool:
    """Undo a summary, so that the turns of its conversation are recalled again. Return False if there is none.

    Raises DonnaError (`missing`) if there is no such conversation.
    """
    key = conversations.find_anyones_conversation(db.database, name, user_id)
    if key is None:
        raise DonnaError(Reason.MISSING, f"there is no conversation {name}", hint="donna chat list shows them")
    with db.change():
        return conversations.drop_summary(db, key, now)
