"""Load the questions of `donna eval`, from a folder, from a vault, or for conversations, and search with grep."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from donna_tui.search.evaluation import Gold, GoldQuestion, ResultRange
from donna_tui.search.query import parse_query
from donna_tui.text.markdown import split_sections
from donna_tui.types.errors import DonnaError, Reason, VaultReadError
from donna_tui.vault.client import VaultClient, VaultNote

OWN_QUESTIONS = 300
"""Maximum number of questions that are made from a vault; they are sampled by their hashes."""

STRETCH = 20
"""Maximum number of lines of one result of grep."""

R = TypeVar("R", bound=BaseModel)

_LINK = re.compile(r"\[\[([^\]|#\n]{1,200})(?:#[^\]|\n]{0,200})?\|([^\]\n]{3,200})\]\]")
_WORD = re.compile(r"\w+")


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class QuestionRow(_Row):
    id: str
    query: str
    gold: tuple[Gold, ...] = ()
    kind: str = ""
    category: str = ""
    vault: str = ""
    exclude: tuple[str, ...] = ()
    within: str = ""
    answerable: bool = True

    def question(self) -> GoldQuestion:
        """Convert to a Question, without gold if it is unanswerable."""
        gold, kind = self.gold if self.answerable else (), self.kind or self.category
        return GoldQuestion(self.id, self.query, gold, kind, self.vault, self.exclude, self.within)


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    name: str
    vaults: dict[Path, list[GoldQuestion]]


def read_set(folder: Path) -> EvaluationSet:
    """Read the set in a folder with `queries*.jsonl` and vaults, or any other folder as a vault. Raises DonnaError."""
    files = sorted(folder.glob("queries*.jsonl"))
    if not folder.is_dir():
        raise DonnaError(Reason.USAGE, f"there is no folder {folder}")
    if not files:
        return EvaluationSet(folder.resolve().name, {folder: own_questions(VaultClient(folder))})
    vaults: dict[Path, list[GoldQuestion]] = {}
    for row in (each for file in files for each in _rows(file, QuestionRow, "question with id, query and gold")):
        question = row.question()
        root = folder / "vaults" / question.vault if question.vault else folder / "vault"
        vaults.setdefault(root, []).append(question)
    return EvaluationSet(folder.resolve().name, vaults)


def _rows(file: Path, model: type[R], needed: str) -> Iterator[R]:
    """Parse each line of a file. Raises DonnaError with the number of an invalid one."""
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield model.model_validate_json(line)
                except ValueError as error:
                    message = f"{file.name}, line {number}: no {needed}"
                    raise DonnaError(Reason.USAGE, message) from error


def own_questions(client: VaultClient) -> list[GoldQuestion]:
    """Return questions whose gold is known: headings for sections, aliases for notes, link texts for targets."""
    notes = list(_notes(client))
    targets = {Path(note.path).stem.casefold(): note.path for note in notes}
    questions = [question for note in notes for question in _questions_of(note, targets)]
    return sorted(questions, key=lambda question: hashlib.sha256(question.id.encode()).digest())[:OWN_QUESTIONS]


def _notes(client: VaultClient) -> Iterator[VaultNote]:
    for path in client.list():
        try:
            yield client.read(path)
        except VaultReadError:
            continue


def _questions_of(note: VaultNote, targets: dict[str, str]) -> Iterator[GoldQuestion]:
    for alias in note.aliases:
        yield GoldQuestion(f"alias {note.path} {alias}", alias, (Gold(note.path),), "alias")
    for section in split_sections(note.text, note.body_start):
        heading = section.heading_path[-1] if section.heading_path else ""
        if section.level > 1 and len(_WORD.findall(heading)) > 1:
            gold = Gold(note.path, section.heading_path)
            yield GoldQuestion(f"heading {note.path} {section.start_line}", heading, (gold,), "heading")
    for target, words in _LINK.findall(note.content):
        target_path = targets.get(target.rsplit("/", 1)[-1].strip().casefold())
        if target_path and target_path != note.path:
            yield GoldQuestion(f"link {note.path} {words}", words, (Gold(target_path),), "link", exclude=(note.path,))


class Grep:
    """A baseline search: ranks chunks of lines by the number of query words they contain, then by frequency."""

    def __init__(self, client: VaultClient) -> None:
        self._chunks = [chunk for note in _notes(client) for chunk in _chunks(note)]

    def search(self, question: GoldQuestion, k: int) -> list[ResultRange]:
        words = {word for term in parse_query(question.text).terms for word in _WORD.findall(term.casefold())}
        candidates: list[tuple[int, int, ResultRange]] = []
        for place, text in self._chunks:
            counts = [count for word in words if (count := text.count(word))]
            if counts and place.path not in question.exclude and question.within in ("", place.path):
                candidates.append((len(counts), sum(counts), place))
        candidates.sort(key=lambda row: (-row[0], -row[1], row[2].path, row[2].start_line))
        return [place for _, _, place in candidates[:k]]


def _chunks(note: VaultNote) -> Iterator[tuple[ResultRange, str]]:
    lines = note.text.split("\n")
    for section in split_sections(note.text, note.body_start):
        for start in range(section.start_line, section.end_line + 1, STRETCH):
            end = min(section.end_line, start + STRETCH - 1)
            yield ResultRange(note.path, section.heading_path, start, end), "\n".join(lines[start - 1 : end]).casefold()


TURNS = "turns.jsonl"


class TurnRow(_Row):
    """A turn, with its id in the data set if it has one."""

    user_id: str
    session_id: str
    turn: int
    dia_id: str = ""


class TurnGold(_Row):
    """An expected answer: turns, named by their ids in the data set, or by session and numbers."""

    dia_id: str = ""
    session_id: str = ""
    turns: tuple[int, ...] = ()


class TurnQuestion(_Row):
    id: str
    query: str
    vault: str
    gold: tuple[TurnGold, ...] = ()
    kind: str = ""
    category: str = ""
    answerable: bool = True


@dataclass(frozen=True, slots=True)
class TurnSet:
    """A named set with the file of turns, and the questions about each person."""

    name: str
    file: Path
    people: dict[str, list[GoldQuestion]]


def read_turn_set(folder: Path) -> TurnSet:
    """Read the set in a folder with `turns.jsonl` and `queries*.jsonl`. Raises DonnaError if there is none."""
    file = folder / TURNS
    queries = sorted(folder.glob("queries*.jsonl"))
    if not file.is_file() or not queries:
        raise DonnaError(Reason.USAGE, f"{folder} has no {TURNS} beside queries*.jsonl")
    turns = _rows(file, TurnRow, "turn with user_id, session_id and turn")
    places = {(turn.user_id, turn.dia_id): (turn.session_id, turn.turn) for turn in turns if turn.dia_id}
    people: dict[str, list[GoldQuestion]] = defaultdict(list)
    for path in queries:
        for row in _rows(path, TurnQuestion, "question with id, query, vault and gold"):
            gold: list[Gold] = []
            for place in row.gold if row.answerable else ():
                if place.turns:
                    gold.append(Gold(place.session_id, lines=(min(place.turns), max(place.turns))))
                elif (row.vault, place.dia_id) in places:
                    session, number = places[row.vault, place.dia_id]
                    gold.append(Gold(session, lines=(number, number)))
            people[row.vault].append(GoldQuestion(row.id, row.query, tuple(gold), row.kind or row.category, row.vault))
    return TurnSet(f"{folder.resolve().name} (turns)", file, dict(people))


def with_turns_around(places: Sequence[ResultRange], turns: int) -> list[ResultRange]:
    """Widen each hit by this number of turns before and after. A hit within an earlier one is removed."""
    widened: list[ResultRange] = []
    for place in places:
        first, last = place.start_line, place.end_line
        if not any(hit.path == place.path and hit.start_line <= first and last <= hit.end_line for hit in widened):
            widened.append(replace(place, start_line=max(1, first - turns), end_line=last + turns))
    return widened
