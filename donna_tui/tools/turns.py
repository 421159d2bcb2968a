"""Questions about conversations for `donna eval`: the turns of a set, and which of them answer what."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from donna_tui.errors import DonnaError, Reason
from donna_tui.records import dataclass
from donna_tui.search.evaluation import Gold, Place, Question

TURNS = "turns.jsonl"


class TurnGold(BaseModel):
    """A gold place of a question: turns by the set's own id of one, or by their session and numbers."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    dia_id: str = ""
    session_id: str = ""
    turns: tuple[int, ...] = ()


class TurnQuestion(BaseModel):
    """A line of a file of questions."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    query: str
    vault: str
    gold: tuple[TurnGold, ...] = ()
    kind: str = ""
    category: str = ""
    answerable: bool = True


@dataclass(frozen=True, slots=True)
class TurnSet:
    """A name, the file of turns, and the questions for each person whose turns they are about."""

    name: str
    file: Path
    people: dict[str, list[Question]]


def read_turn_set(folder: Path) -> TurnSet:
    """The set in a folder with `turns.jsonl` beside `queries*.jsonl`. Raises DonnaError if it is none."""
    file = folder / TURNS
    queries = sorted(folder.glob("queries*.jsonl"))
    if not file.is_file() or not queries:
        raise DonnaError(Reason.USAGE, f"{folder} has no {TURNS} beside queries*.jsonl")
    places = dict(_places(file))
    people: dict[str, list[Question]] = defaultdict(list)
    for path in queries:
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if line.strip():
                try:
                    row = TurnQuestion.model_validate_json(line)
                except ValueError as error:
                    message = f"{path.name}, line {number}: no question with id, query, vault and gold"
                    raise DonnaError(Reason.USAGE, message) from error
                people[row.vault].append(_question(row, places))
    return TurnSet(f"{folder.resolve().name} (turns)", file, dict(people))


def with_turns_around(places: Sequence[Place], turns: int) -> list[Place]:
    """Each hit with so many turns before and after, as it is read; one that was seen beside another is none."""
    seen: list[Place] = []
    for place in places:
        if not any(_holds(each, place) for each in seen):
            seen.append(replace(place, start_line=max(1, place.start_line - turns), end_line=place.end_line + turns))
    return seen


def _holds(whole: Place, part: Place) -> bool:
    return whole.path == part.path and whole.start_line <= part.start_line and part.end_line <= whole.end_line


def _places(file: Path) -> Iterator[tuple[tuple[str, str], tuple[str, int]]]:
    """By person and the set's own id: the session and number of each turn that has such an id."""
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if "dia_id" in row:
                yield (row["user_id"], row["dia_id"]), (row["session_id"], row["turn"])


def _question(row: TurnQuestion, places: dict[tuple[str, str], tuple[str, int]]) -> Question:
    gold = tuple(_gold(row.vault, row.gold, places)) if row.answerable else ()
    return replace(Question(row.id, row.query, gold, row.kind or row.category), vault=row.vault)


def _gold(person: str, rows: Iterable[TurnGold], places: dict[tuple[str, str], tuple[str, int]]) -> Iterator[Gold]:
    for each in rows:
        if each.turns:
            yield Gold(each.session_id, lines=(min(each.turns), max(each.turns)))
        elif (person, each.dia_id) in places:
            session, number = places[person, each.dia_id]
            yield Gold(session, lines=(number, number))
