"""Compare drafts of meetings with their sources: `python -m bench.drafts`.

It drafts real meetings from the minutes before them, and thirty meetings of a made-up vault in which some notes must
not leak into others. The expected results are derived from the raw files, without the code that drafts.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from bench.engines import opened
from bench.program import Home, new_home
from bench.report import Report, arguments, eval_folder, finish
from donna_tui.calendar import mirror
from donna_tui.calendar.ics import read_ics
from donna_tui.calendar.values import Fetched, Window
from donna_tui.config.models import MemoryConfig
from donna_tui.engine.engine import Engine
from donna_tui.types.drafts import Attendee, Meeting

DATA = Path(__file__).parent / "data"
UTC = datetime.UTC
WINDOW = Window(datetime.datetime(2019, 1, 1, tzinfo=UTC), datetime.datetime(2027, 1, 1, tzinfo=UTC))
SMALL = 12
CARRIED = 5
"""The number of earlier notes whose open boxes are carried over, `prior_meetings` in the settings."""

WEEKS = 3
"""The number of weeks in which a draft with typed notes is approved, to see what the next one quotes."""

_ITEM = re.compile(r"^(\s*)(?:[-*+]|\d{1,9}[.)])\s+(?:\[(.)\]\s+)?(.*)$")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
_DECISION_HEADING = re.compile(r"^(?:decisions?|conclusions?|resolutions?|outcomes?|agreed)\W*$", re.IGNORECASE)
_DECISION = re.compile(r"^\W*(?:decision|decided|conclusion|resolution|resolved|agreed)\W{0,3}:", re.IGNORECASE)
_REPORTED = re.compile(
    r"\b(?:agreed|decided|approved)\b|\b(?:was|is|were|reached|have|had|general) (?:a )?consensus\b", re.IGNORECASE
)
_NOT_YET = re.compile(
    r"\b(?:no|not|if|needs?|would|should|could|can|to be|until|before|whether|seek\w*)\b|\?", re.IGNORECASE
)
"""In minutes without a section for decisions, an item counts as a decision if it matches `_REPORTED` and not this."""

_BEGINS = re.compile(
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)\d{1,2}"
)
_NAIVE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]*_]*\s+")
_INITIAL = re.compile(r"(?:\b[A-Z]|\be\.g|\bi\.e|\bProf|\bDr|\bMr|\bMrs)\.$")
TYPED_LINE = "\n"
"""Stands before an unindented line that does not begin in lower case, which Obsidian shows as a line of its own."""

_FENCE = re.compile(r"^\s*(?:```|~~~)")


@dataclass(slots=True)
class Source:
    """The expected content of a note: the list items, their lines and sentences that may be quoted, its decisions and
    open boxes.
    """

    units: set[str] = field(default_factory=set)
    decisions: list[str] = field(default_factory=list)
    boxes: list[str] = field(default_factory=list)
    done: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Drafted:
    """The content of a draft: the note that it names as the last one, and the lines that it quotes and carries over."""

    last: str
    quoted: tuple[str, ...]
    carried: tuple[str, ...]
    new_boxes: tuple[str, ...]
    links: tuple[str, ...]


@dataclass(slots=True)
class Score:
    """Counts over all drafts."""

    lasts: list[bool] = field(default_factory=list)
    decisions: list[bool] = field(default_factory=list)
    carried: list[bool] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    no_boxes: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    lines: int = 0


def words(text: str) -> str:
    """Return the letters and digits of a text, which are the same whatever is done to its markup."""
    text = re.sub(r"\[\[([^\]|]*\|)?([^\]]*)\]\]", lambda match: match[2].rpartition("/")[2], text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"~~.*?~~|<!--.*?-->|\s\^[\w-]+$", " ", text)
    text = re.sub(r"[✅❌➕⏳🛫📅🆔🔺⏫🔼🔽⏬🔁]\ufe0f?\s*(?:\d{4}-\d\d-\d\d)?", " ", text)
    text = re.sub(r"https?://(?:www\.)?([\w.-]+)/?(?=[\s<>)]|$)", r"\1", text)
    text = re.sub(r"<?(?:https?://)?(?:www\.)?\w[\w.-]*\.[a-z]{2,}/[^\s<>)\]]*>?|https?://[^\s<>)]+", " ", text)
    return "".join(char for char in text.casefold() if char.isalnum())


def source_of(text: str) -> Source:
    """Parse a note line by line."""
    source = Source()
    heading, block, box, is_item = "", "", "", False
    fenced = False

    def close() -> None:
        nonlocal block
        if block:
            _add(source, block, box, is_decision=bool(_DECISION_HEADING.match(heading)), is_item=is_item)
        block = ""

    for line in _body(text):
        if _FENCE.match(line):
            fenced = not fenced
            close()
        elif fenced:
            continue
        elif heads := _HEADING.match(line.strip()):
            close()
            heading = heads[1]
        elif item := _ITEM.match(line):
            close()
            block, box, is_item = item[3], item[2] or "", True
        elif not line.strip():
            close()
        elif block:
            block += f"{' ' if line[0].isspace() or line[0].islower() else TYPED_LINE}{line.strip()}"
        else:
            block, box, is_item = line.strip(), "", False
    close()
    return source


def _body(text: str) -> list[str]:
    lines = text.splitlines()
    if lines and lines[0] == "---" and "---" in lines[1:]:
        return lines[lines.index("---", 1) + 1 :]
    return lines


def _add(source: Source, block: str, box: str, *, is_decision: bool, is_item: bool) -> None:
    lines = block.split(TYPED_LINE)
    block = " ".join(lines)
    source.units.add(words(block))
    if box:
        if box in "xX-":
            source.done.add(words(block))
        else:
            source.boxes.append(words(block))
        return
    for start in range(len(lines)):
        for end in range(start + 1, min(len(lines), start + 6) + 1):
            _add_sentences(source, " ".join(lines[start:end]))
    _add_sentences(source, block)
    has_code = "`" in block or "::" in block
    is_decision = is_decision or bool(_REPORTED.search(block) and not _NOT_YET.search(block))
    if (_DECISION.match(block) or (is_decision and is_item)) and not has_code and words(block) and len(block) < 480:
        source.decisions.append(words(block))


def _add_sentences(source: Source, text: str) -> None:
    pieces = _NAIVE_END.split(text)
    for start in range(len(pieces)):
        for end in range(start + 1, min(len(pieces), start + 6) + 1):
            is_cut = end < len(pieces) and _INITIAL.search(pieces[end - 1])
            if not is_cut and not (start and _INITIAL.search(pieces[start - 1])):
                source.units.add(words(" ".join(pieces[start:end])))


def drafted(text: str) -> Drafted:
    """Parse a draft by its sections."""
    sections: dict[str, list[str]] = defaultdict(list)
    heading = ""
    for line in _body(text):
        if heads := _HEADING.match(line):
            heading = heads[1].casefold()
        else:
            sections[heading].append(line)
    items = [line for line in sections["last time"] + sections["background"] if _ITEM.match(line)]
    carried = [line for line in sections["still open from last time"] + sections["open tasks"] if _ITEM.match(line)]
    link = re.search(r"^\[\[([^\]|]+)", "\n".join(sections["last time"]), re.MULTILINE)
    return Drafted(
        last=f"{link[1]}.md" if link else "",
        quoted=tuple(_said(line) for line in items if not re.match(r"\s*- \[\[[^\]]*\]\]$", line)),
        carried=tuple(_said(re.sub(r"(?:, due [\d-]+)? \(\[\[[^\]]*\]\]\)$", "", line)) for line in carried),
        new_boxes=tuple(line for line in text.splitlines() if (item := _ITEM.match(line)) and item[2]),
        links=tuple(re.findall(r"\[\[([^\]|#]+)", "\n".join(_body(text)))),
    )


def _said(line: str) -> str:
    return re.sub(r"\\(.)", r"\1", line.strip().removeprefix("- "))


# The series


@dataclass(frozen=True, slots=True)
class Held:
    """A meeting of the evaluation set, the path of its note, and the earlier notes of its series in order of date."""

    meeting: Meeting
    path: str
    earlier: tuple[str, ...]
    last: str


def held_meetings(meetings: Sequence[Meeting], notes: dict[str, str]) -> list[Held]:
    """Match meetings with their notes by day and title. The last note has the same title, or else the same people."""
    by_key: dict[tuple[str, str], str] = {}
    people: dict[str, frozenset[str]] = {}
    for path, text in notes.items():
        folder, _, name = path.removeprefix("Meetings/").partition("/")
        by_key[(name[:10], _title(f"{folder} {name[10:].removesuffix('.md')}"))] = path
        front = text.split("---")[1] if text.startswith("---") else ""
        people[path] = frozenset(each.strip().casefold() for each in re.findall(r"^  - (.+)$", front, re.MULTILINE))
    result = []
    for meeting in meetings:
        title = _title(meeting.title)
        path = by_key.get((meeting.day.isoformat(), title), "")
        if not path:
            continue
        same = sorted(each for (day, name), each in by_key.items() if name == title and day < meeting.day.isoformat())
        took_place = [each for each in same if "meeting cancelled" not in notes[each].casefold()]
        last = next(reversed(took_place or same), "")
        if not same and (who := frozenset(each.name.casefold() for each in meeting.attendees)):
            days = [
                each for each in sorted(notes, key=_day) if people[each] == who and _day(each) < meeting.day.isoformat()
            ]
            last, same = (days[-1], days) if days else ("", [])
        result.append(Held(meeting, path, tuple(same), last))
    return sorted(result, key=lambda each: each.path)


def open_boxes(earlier: Sequence[Source]) -> list[str]:
    """Return the open boxes of notes in order of date, each once, without those that a later note ticks."""
    boxes: dict[str, None] = {}
    for source in earlier:
        boxes = {box: None for box in [*boxes, *source.boxes] if box not in source.done}
    return list(boxes)


def is_long_past(box: str, written: str, day: datetime.date) -> bool:
    """Return whether a box is an entry of a schedule, such as “April 21: …”, two months or more before a meeting."""
    begins = _BEGINS.match(box)
    if not begins:
        return False
    scheduled = datetime.datetime.strptime(f"{begins[0]} {written[:4]}", "%B%d %Y").date()
    return day - scheduled > datetime.timedelta(days=60)


def _day(path: str) -> str:
    return path.rpartition("/")[2][:10]


def _title(text: str) -> str:
    return " ".join(word for word in text.casefold().split() if word != "meeting")


def score_draft(score: Score, draft: Drafted, held: Held, sources: dict[str, Source]) -> None:
    """Compare a draft with the earlier notes of its meeting."""
    score.lasts.append(draft.last == held.last)
    if draft.last != held.last:
        score.wrong.append(f"{held.path}: the last note is {held.last or 'none'}, not {draft.last or 'none'}")
    score.lines += len(draft.quoted) + len(draft.carried)
    said = {words(each) for each in draft.quoted}
    last = sources[held.last] if held.last else Source()
    score.decisions += [each in said for each in last.decisions]
    score.missing += [f"{held.path}: {each} is missing" for each in last.decisions if each not in said]
    carried = {words(each) for each in draft.carried}
    notes = held.earlier[-CARRIED:]
    for box in open_boxes([sources[path] for path in notes]):
        note = next(path for path in reversed(notes) if box in sources[path].boxes)
        is_past = note != notes[-1] and is_long_past(box, _day(note), held.meeting.day)
        score.carried.append((box in carried) is not is_past)
    own: set[str] = set().union(*(sources[each].units for each in held.earlier))
    boxes = {box for each in held.earlier for box in sources[each].boxes}
    for line in draft.quoted:
        if words(line) not in own:
            elsewhere = any(words(line) in each.units for path, each in sources.items() if path not in held.earlier)
            (score.foreign if elsewhere else score.cut).append(f"{held.path}: {line}")
    score.no_boxes += [f"{held.path}: {line}" for line in draft.carried if words(line) not in boxes]
    score.no_boxes += [f"{held.path}: {line}" for line in draft.new_boxes]


async def series(home: Home, *, held_out: bool, small: bool, keep: Path | None) -> tuple[Score, int]:
    """Draft each meeting of the evaluation set from the earlier notes."""
    folder = eval_folder("meetings")
    vault = home.folder / "series"
    shutil.copytree(folder / "vault", vault)
    notes = {str(path.relative_to(vault)): path.read_text(encoding="utf-8") for path in sorted(vault.rglob("*.md"))}
    fetched = await read_ics((folder / "meetings.ics").read_bytes(), "work", WINDOW, ZoneInfo("UTC"))
    every = held_meetings(fetched.meetings, notes)
    chosen = every[1 if held_out else 0 :: 2]
    chosen = chosen[:: max(1, len(chosen) // SMALL)] if small else chosen
    sources = {path: source_of(text) for path, text in notes.items()}
    score = Score()
    async with with_calendar(home, vault, [held.meeting for held in every]) as engine:
        for held in chosen:
            text = (await engine.drafts.preview(held.meeting.event_id)).text
            score_draft(score, drafted(text), held, sources)
            _keep(keep, held.path, text)
    return score, len(chosen)


# Week after week


TYPED = (
    ("Notes", "- Ana showed the numbers of week {week}, and #finance \\# agreed with {week} of them"),
    ("Decisions", "- The report of week {week} goes out on Fridays"),
    ("Action items", "- [ ] Send the report of week {week} to Karin"),
)


async def second_weeks(home: Home, *, small: bool) -> tuple[list[str], list[bool], int]:
    """Approve drafts with typed notes, week after week.

    Return what later drafts quote besides the typed lines, whether all typed lines are there, and the number of
    duplicated tasks.
    """
    vault = home.folder / "weeks"
    (vault / "Meetings").mkdir(parents=True)
    (vault / "Meetings" / "2026-02-04-report.md").write_text(
        "---\ntype: meeting\ndate: 2026-02-04\n---\n# Report\n\n## Decisions\n"
        "- The report of week 0 goes out on Fridays\n\n## Action items\n- [ ] Send the report of week 0 to Karin\n"
    )
    await asyncio.to_thread(_commit_all, vault)
    days = [
        datetime.date(2026, 2, 4) + datetime.timedelta(weeks=week) for week in range(1, (2 if small else WEEKS) + 2)
    ]
    meetings = [
        _meeting(f"report/{day:%Y%m%d}", "Report", day, ["Ana Lima", "Ben Long"], "1. Numbers", "report")
        for day in days
    ]
    own: list[str] = []
    stays: list[bool] = []
    async with with_calendar(home, vault, meetings) as engine:
        for week, meeting in enumerate(meetings):
            row = await engine.drafts.write_now(meeting.event_id)
            file = vault / row.path
            draft = drafted(file.read_text(encoding="utf-8"))
            typed = {words(line.format(week=week)) for _, line in TYPED[:2]} | {
                words("The report of week 0 goes out on Fridays")
            }
            own += [line for line in draft.quoted if words(line) not in typed]
            if week:
                stays += [
                    words(line.format(week=week)[2:]) in {words(each) for each in draft.quoted} for _, line in TYPED[:2]
                ]
            boxes = {words(f"Send the report of week {number} to Karin") for number in range(week + 1)}
            stays.append({words(each) for each in draft.carried} == boxes)
            text = file.read_text(encoding="utf-8")
            for name, line in TYPED:
                text = text.replace(f"## {name}\n", f"## {name}\n\n{line.format(week=week + 1)}\n", 1)
            file.write_text(text, encoding="utf-8")
            plan = await engine.drafts.plan_approval(row.id)
            await engine.drafts.approve(row.id, plan)
            await engine.sync()
        titles = [task.title for task in await engine.memory.tasks()]
    return own, stays, len(titles) - len(set(titles))


def _commit_all(vault: Path) -> None:
    identity = ["-c", "user.name=b", "-c", "user.email=b@example.org"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "base"]):
        subprocess.run(["git", "-C", str(vault), *command], check=True, capture_output=True)


# The mixed vault


@dataclass(slots=True)
class Mixed:
    """The result for the meetings of the mixed vault."""

    leaks: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    lasts: list[bool] = field(default_factory=list)
    found: list[bool] = field(default_factory=list)
    lines: int = 0


def mixed_notes() -> dict[str, str]:
    """Return the notes of the mixed vault by path."""
    parts = re.split(r"^=== (.+)$", (DATA / "mixed_vault.txt").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {path: text.lstrip("\n") for path, text in zip(parts[1::2], parts[2::2], strict=True)}


async def mixed(home: Home, keep: Path | None, only: Collection[str] = ()) -> tuple[Mixed, int]:
    """Draft all or some meetings of the mixed vault. Each may quote only the notes that are listed for it."""
    vault = home.folder / "mixed"
    notes = mixed_notes()
    for path, text in notes.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(text, encoding="utf-8")
    cases: list[dict[str, Any]] = json.loads((DATA / "mixed_meetings.json").read_text(encoding="utf-8"))
    cases = [case for case in cases if not only or case["id"] in only]
    meetings = {
        case["id"]: _meeting(case["id"], case["title"], datetime.date.fromisoformat(case["day"]), case["people"])
        for case in cases
    }
    sources = {path: source_of(text) for path, text in notes.items()}
    result = Mixed()
    async with with_calendar(home, vault, list(meetings.values())) as engine:
        for case in cases:
            text = (await engine.drafts.preview(case["id"])).text
            _judge(result, case, text, sources)
            _keep(keep, f"{case['id']}.md", text)
    return result, len(cases)


def _judge(result: Mixed, case: dict[str, Any], text: str, sources: dict[str, Source]) -> None:
    draft, allowed = drafted(text), case.get("allowed", [])
    said = {words(each) for each in (*draft.quoted, *draft.carried)}
    mine: set[str] = set().union(*(sources[path].units for path in allowed))
    result.lines += len(said)
    result.lasts.append(draft.last == case.get("last", ""))
    result.leaks += [f"{case['id']}: {line}" for line in (*draft.quoted, *draft.carried) if words(line) not in mine]
    linked = [f"{link}.md" for link in draft.links if f"{link}.md" in sources]
    result.leaks += [f"{case['id']}: link to {path}" for path in linked if path not in allowed]
    expected = [*case.get("decisions", []), *case.get("open", [])]
    result.found += [words(each) in said for each in expected]
    result.missing += [f"{case['id']}: {each} is missing" for each in expected if words(each) not in said]
    result.found += [case["background"].removesuffix(".md") in draft.links] if "background" in case else []
    result.wrong += [f"{case['id']}: {each}" for each in case.get("never", []) if each in text]
    result.wrong += [f"{case['id']}: {line}" for line in draft.new_boxes]


def _meeting(
    event: str, title: str, day: datetime.date, people: Iterable[str], description: str = "", series_id: str = ""
) -> Meeting:
    start = datetime.datetime.combine(day, datetime.time(10), UTC)
    return Meeting(
        event_id=event, calendar="work", title=title, start=start, end=start + datetime.timedelta(hours=1), day=day,
        series_id=series_id, description=description, attendees=tuple(Attendee(name) for name in people),
    )  # fmt: skip


@contextlib.asynccontextmanager
async def with_calendar(home: Home, vault: Path, meetings: Sequence[Meeting]) -> AsyncIterator[Engine]:
    """Start an engine without a model on an indexed vault and these meetings."""
    without_model = MemoryConfig.model_validate({"embedding": {"provider": str(home.folder / "no model")}})
    fetched, at = Fetched(tuple(meetings), complete=False), datetime.datetime(2026, 6, 1, tzinfo=UTC).timestamp()
    async with opened(home, vault, config=without_model) as engine:
        await engine.sync()
        await engine.memory.db.run(lambda db: mirror.store(db, "work", mirror.IMPORTED, WINDOW, fetched, at))
        yield engine


def _keep(folder: Path | None, path: str, text: str) -> None:
    if folder:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def measure(*, held_out: bool = False, small: bool = False, keep: Path | None = None) -> Report:
    """Run the benchmark. Raises UnavailableError without the evaluation data."""
    report = Report("Drafts of meetings")
    with new_home() as home:
        score, drafts = asyncio.run(series(home, held_out=held_out, small=small, keep=keep))
        report.add("series: drafts", drafts, "")
        report.add_share("right last note", score.lasts, 0.97)
        report.add_share("decisions of that note quoted whole", score.decisions, 0.9)
        report.add_share("open boxes carried over, or not if long past", score.carried, 0.95)
        report.add("quoted lines that are not a whole bullet, line or sentence", len(score.cut), "", 0)
        report.add("quoted lines from outside the series", len(score.foreign), "", 0)
        report.add("check boxes that were not check boxes in the source", len(score.no_boxes), "", 0)
        report.add("lines per draft", score.lines / max(1, drafts), "")
        own, stays, doubled = asyncio.run(second_weeks(home, small=small))
        report.add("lines of Donna's own sections in later weeks", len(own), "", 0)
        report.add_share("typed lines and boxes in the draft a week later", stays, 1)
        report.add("tasks duplicated by approving", doubled, "", 0)
        mix, cases = asyncio.run(mixed(home, keep))
        report.add("mixed vault: drafts", cases, "")
        report.add("leaks across meetings", len(mix.leaks), "", 0)
        report.add_share("right last note, or none", mix.lasts, 0.97)
        report.add_share("decisions, boxes and background found", mix.found, 0.9)
        report.add("lines that must not be quoted", len(mix.wrong), "", 0)
        report.add("lines per draft of the mixed vault", mix.lines / cases, "")
    found_wrong = (
        score.wrong, score.missing, mix.missing, score.cut, score.foreign, score.no_boxes, own, mix.leaks, mix.wrong,
    )  # fmt: skip
    for problem in chain.from_iterable(found_wrong):
        sys.stderr.write(f"  ! {problem}\n")
    return report


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--held-out", action="store_true", help="the other half of the meetings")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="save the drafts in this folder")
    finish(measure, parser)
