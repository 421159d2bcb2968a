"""Implement `donna eval`: measure the quality of search, compared with its single legs and plain grep."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from donna_tui.cli.options import AsJson, new_app
from donna_tui.cli.output import emit
from donna_tui.cli.progress import shown_progress
from donna_tui.cli.session import Session, engine_for, run, session_for
from donna_tui.engine.engine import Engine
from donna_tui.ops.evaluation import Grep, read_set, read_turn_set, with_turns_around
from donna_tui.platform.paths import AppPaths, app_paths
from donna_tui.platform.spaces import space_at
from donna_tui.search.evaluation import GoldQuestion, ResultRange, Scores, mean, score
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.search import MODES, Filters, Hit, MemorySource, Mode, SearchRequest
from donna_tui.vault.client import VaultClient

app = new_app()

SYSTEMS = (*MODES, "grep")
K = 32
AROUND, TURNS_AROUND = "in context", 4
"""Hybrid search with four turns before and after each hit, as much text as a passage of a session note."""

Answers = dict[str, list[tuple[GoldQuestion, Scores | None]]]
"""The questions of each system with their scores; None for an unanswerable question without hits."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A line of the table. `abstained` is the share of unanswerable questions without hits; None if there are none."""

    name: str
    system: str
    count: int
    scores: Scores
    abstained: float | None


@app.command("eval")
def evaluate(
    folders: Annotated[
        list[str], typer.Argument(metavar="DIR", help="A vault, or a folder with vault/ and files of questions.")
    ],
    mode: Annotated[str, typer.Option("--mode", help="Only hybrid, semantic, keyword or grep.")] = "",
    turns: Annotated[
        bool, typer.Option("--turns", help="Search turns of turns.jsonl, imported as chats, instead of notes.")
    ] = False,
    by_kind: Annotated[bool, typer.Option("--by-kind", help="Print a line for each kind of question too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the quality of search, compared with grep. Keyword and semantic search are also measured alone."""
    systems = [system for system in (MODES if turns else SYSTEMS) if mode in ("", system)]
    if not systems:
        raise DonnaError(Reason.USAGE, f"there is no mode {mode}", hint=f"the modes are {', '.join(SYSTEMS)}")
    known = app_paths()
    paths = replace(known, state=known.cache / "eval")  # apart from the indexes of the user's vaults
    rows_of = partial(_evaluate_turns if turns else _evaluate, systems=systems, paths=paths, by_kind=by_kind)
    rows = [row for folder in folders for row in rows_of(Path(folder))]
    if not any(row.count for row in rows):
        message = "there are no questions: no headings, aliases or links to make them from, and no queries.jsonl"
        raise DonnaError(Reason.USAGE, message)
    emit({"rows": [asdict(row) for row in rows]}, _table(rows), as_json=as_json)


def _evaluate(folder: Path, systems: Sequence[str], paths: AppPaths, *, by_kind: bool) -> Iterator[TableRow]:
    loaded = read_set(folder)
    answers: Answers = {system: [] for system in systems}
    for root, questions in loaded.vaults.items():
        session = session_for(space_at(root, paths), paths)
        run(_answer(session, questions, answers))
    yield from _rows(loaded.name, answers, by_kind=by_kind)


def _evaluate_turns(folder: Path, systems: Sequence[str], paths: AppPaths, *, by_kind: bool) -> Iterator[TableRow]:
    loaded = read_turn_set(folder)
    answers: Answers = {system: [] for system in (*systems, *([AROUND] if "hybrid" in systems else []))}
    for person, questions in loaded.people.items():
        root = paths.state / "turns" / folder.resolve().name / person
        root.mkdir(parents=True, exist_ok=True)
        session = session_for(space_at(root, paths), paths)
        run(_answer_turns(session, loaded.file, person, questions, answers))
    yield from _rows(loaded.name, answers, by_kind=by_kind)


async def _answer_turns(
    session: Session, file: Path, person: str, questions: Sequence[GoldQuestion], answers: Answers
) -> None:
    async with engine_for(session, "donna eval") as engine:
        with shown_progress(engine):
            await engine.memory.import_chat(file, user=person)
            await engine.memory.wait_until_indexed()
        for question in questions:
            for system in [answer for answer in answers if answer != AROUND]:
                places = await _search(engine, question, system, sources=(MemorySource.CHAT,))
                answers[system].append((question, _scored(question, places)))
                if system == "hybrid":
                    answers[AROUND].append((question, _scored(question, with_turns_around(places, TURNS_AROUND))))


def _rows(name: str, answers: Answers, *, by_kind: bool) -> Iterator[TableRow]:
    for system, answered in answers.items():
        yield _row(name, system, answered)
        kinds = {question.kind for question, _ in answered if question.kind} if by_kind else ()
        for kind in sorted(kinds):
            yield _row(f"  {kind}", system, [each for each in answered if each[0].kind == kind])


async def _answer(session: Session, questions: Sequence[GoldQuestion], answers: Answers) -> None:
    async with engine_for(session, "donna eval") as engine:
        with shown_progress(engine):
            await engine.sync()
        grep = Grep(VaultClient(session.space.root)) if "grep" in answers else None
        for system, answered in answers.items():
            for question in questions:
                by_grep = grep.search(question, K) if system == "grep" and grep else None
                places = await _search(engine, question, system) if by_grep is None else by_grep
                answered.append((question, _scored(question, places)))


async def _search(
    engine: Engine, question: GoldQuestion, system: str, sources: tuple[str, ...] = ()
) -> list[ResultRange]:
    mode: Mode = next(known for known in MODES if known == system)
    within = (question.within,) if question.within else ()
    filters = Filters(exclude=question.exclude, within=within, sources=sources)
    outcome = await engine.search(SearchRequest(text=question.text, k=K, mode=mode, filters=filters))

    def place_of(hit: Hit) -> str:
        return str(hit.metadata["session_id"]) if hit.source_type == MemorySource.CHAT else hit.path

    return [ResultRange(place_of(hit), hit.heading_path, hit.start_line, hit.end_line) for hit in outcome.hits]


def _scored(question: GoldQuestion, places: Sequence[ResultRange]) -> Scores | None:
    if question.gold:
        return score(question, places)
    return Scores(0.0, 0.0, 0.0, 0.0, 0.0, 1.0) if places else None


def _row(name: str, system: str, answered: Sequence[tuple[GoldQuestion, Scores | None]]) -> TableRow:
    known = [scores for question, scores in answered if question.gold and scores]
    unknown = [scores is None for question, scores in answered if not question.gold]
    averages = mean(known) if known else Scores(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return TableRow(name, system, len(answered), averages, sum(unknown) / len(unknown) if unknown else None)


def _table(rows: Sequence[TableRow]) -> Iterator[str]:
    yield f"{'':24}{'':10}{'asked':>6}{'nDCG@10':>9}{'MRR':>7}{'recall':>8}{'place@1':>9}{'place@5':>9}{'abstains':>10}"
    sets: dict[str, list[TableRow]] = defaultdict(list)
    for row in rows:
        sets[row.name].append(row)
    widths = {"ndcg": 9, "mrr": 7, "recall": 8, "place_1": 9, "place_5": 9}
    for name, lines in sets.items():
        for number, row in enumerate(lines):
            scores = "".join(f"{getattr(row.scores, each):>{width}.3f}" for each, width in widths.items())
            abstained = "" if row.abstained is None else f"{row.abstained:>10.2f}"
            yield f"{name[:23] if number == 0 else '':24}{row.system:10}{row.count:>6}{scores}{abstained}"
