"""Draft the pages of people who were mentioned often lately, or whose page is a stub."""

from __future__ import annotations

import asyncio
import datetime
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from donna_tui.config.models import PersonProfileConfig
from donna_tui.drafts.blocks import ONLY_NAMES, SPEAKER, Block, Role, bare, blocks_of
from donna_tui.drafts.drafters import SOMEBODY, PersonProfileAnswer
from donna_tui.drafts.page import Context, DraftJob
from donna_tui.drafts.passages import IndexedNote, approved_notes
from donna_tui.drafts.people import FOLDER, page_names, page_of, pages_by_name, text_of_page, untitled
from donna_tui.drafts.promises import initials_of, is_promise
from donna_tui.drafts.quotable import is_greeting, is_quotable
from donna_tui.drafts.quotes import LINKS, LONG_PAST, Read, was_cancelled
from donna_tui.drafts.series import (
    WITH,
    Gatherer,
    day_in,
    day_of,
    is_meeting_note,
    people_in,
    people_of,
    person_key,
    title_key,
)
from donna_tui.drafts.skills.cadence import (
    Material,
    Span,
    done_elsewhere,
    known_tasks,
    read_notes,
    series_of,
    task_key,
    task_lines,
)
from donna_tui.drafts.text import can_be_linked, inline, iso_week, source_named, words_only
from donna_tui.index.database import Database
from donna_tui.index.documents import link_key
from donna_tui.search.ranking import stems_of
from donna_tui.text.dates import MONTHS
from donna_tui.text.sentences import sentence_spans
from donna_tui.text.words import ONE_ON_ONE, STOP_WORDS
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import TaskRow
from donna_tui.vault.client import VaultClient
from donna_tui.vault.note.read import is_by_donna

TEMPLATE, TASK_TYPE = "person_profile", "draft_person_profile"
MAX_PEOPLE, MAX_NOTES = 50, 60

_PRONOUN = re.compile(
    rf"\W*(?:{SOMEBODY.pattern}|[Ii]ts?\b"
    r"|(?:[Tt]his|[Tt]hat|[Tt]hese|[Tt]hose)(?:['’]s| (?:is|was|are|were|has|had|will))\b)"
)
"""The beginning of a line about somebody or something that the line before it names."""

_INITIALS = re.compile(r"([A-ZÀ-Þ]{2,3}): ")
"""The initials of the speaker of a paragraph in a transcript. In a list, “DOB: 3 May” is a field."""

_LINK = re.compile(r"(?<!!)\[\[([^\[\]|#^\n]{1,200})")


def profile(gatherer: Gatherer, name: str, day: datetime.date) -> DraftJob:
    """Return the job that updates the page of a person in the week of a day."""
    week = iso_week(day)
    return DraftJob(
        template=TEMPLATE,
        gather=lambda: _gather(gatherer, name, day),
        target_path=page_of(name),
        key=f"{name}@{week}",
        title=name,
        autonomy=gatherer.config.skills.person_profile.autonomy_level,
    )


def people_due(
    index: Database, client: VaultClient, config: PersonProfileConfig, now: float, templates: Collection[str]
) -> list[str]:
    """Return the people whose page is due: mentioned often in the look-back period, or with a stub page.

    Pages written by the user are excluded.
    """
    since = now - config.lookback_days * 86_400.0
    notes = list(approved_notes(index, templates))
    people = known_people(notes, client)
    often: Counter[str] = Counter()
    for note in notes:
        if since <= _written_at(note) <= now:
            often.update(_mentions_in(client, note.path, people))
    named = [name for name, times in often.most_common() if times >= config.trigger_mentions_threshold]
    for name in page_names(client):
        page = client.try_read(page_of(name))
        if page and page.frontmatter.data.get("stub") and len(text_of_page(page.content)) < config.min_body_chars:
            named.append(name)
    wanted = dict.fromkeys(named)
    return [name for name in wanted if may_be_written(client, name)][:MAX_PEOPLE]


def may_be_written(client: VaultClient, name: str) -> bool:
    """Check whether Donna may write the page of a person: it is missing, written by Donna, or empty."""
    note = client.try_read(page_of(name))
    return note is None or is_by_donna(note.frontmatter.data) or not text_of_page(note.content)


def named_person(client: VaultClient, name: str) -> str:
    """Return the person whose page was requested.

    Raises DonnaError if the page was written by the user, and for a word without a page that is the first name or
    surname of others who have one.
    """
    plain = words_only(name, 80)
    if not can_be_linked(plain):
        raise DonnaError(Reason.USAGE, f"“{plain}” cannot be the name of a note")
    same = [page for page in page_names(client) if person_key(page) == person_key(plain)]
    other = pages_by_name(client).get(untitled(plain).casefold(), plain)
    known = min(same, key=lambda page: (page.casefold() != plain.casefold(), page), default=other)
    if known not in page_names(client):
        like = [page for page in page_names(client) if person_key(plain) in person_key(page).split()]
        if like:
            named = " or ".join(f"“{page}”" for page in sorted(like)[:3])
            hint = f"if it is somebody else, create an empty {page_of(plain)} first"
            raise DonnaError(Reason.USAGE, f"“{plain}” has no page: give the full name, such as {named}", hint=hint)
    if not may_be_written(client, known):
        message = f"{page_of(known)} was written by you: Donna does not change it"
        raise DonnaError(Reason.CONFLICT, message, hint="only pages that Donna wrote or that are empty are drafted")
    return known


def known_people(notes: Iterable[IndexedNote], client: VaultClient) -> set[str]:
    """Return the names of people who have a page or attended meetings."""
    found = set(page_names(client))
    for note in notes:
        listed = note.front.get("attendees")
        for each in listed if isinstance(listed, list) else []:
            found.update(name for name in _LINK.findall(str(each)) if "/" not in name)
    return found


def _written_at(note: IndexedNote) -> float:
    day = day_in(note.path, note.front)
    return datetime.datetime.combine(day, datetime.time(12)).timestamp() if day else note.modified_at


def _mentions_in(client: VaultClient, path: str, people: Collection[str]) -> list[str]:
    """Return the people that a note links to, with repetitions; of Donna's own notes only the person's additions."""
    note = client.try_read(path)
    if note is None:
        return []
    own = is_by_donna(note.frontmatter.data)
    text = "\n".join(block.raw for block in blocks_of(note.text, note.body_start, own=True)) if own else note.content
    found = []
    for link in _LINK.findall(text):
        name = link.strip().removesuffix(".md").removeprefix(f"{FOLDER}/")
        is_person = link.startswith(f"{FOLDER}/") or name in people
        if is_person and can_be_linked(name) and path != page_of(name):
            found.append(name)
    return found


async def _gather(gatherer: Gatherer, name: str, day: datetime.date) -> Context:
    limits = gatherer.config.skills.person_profile.context_limits
    material = await Material.of(gatherer, TASK_TYPE)
    page = await asyncio.to_thread(gatherer.client.try_read, page_of(name))

    def all_names(index: Database) -> tuple[_Named, dict[object, datetime.date]]:
        notes = list(approved_notes(index, gatherer.templates))
        people = known_people(notes, gatherer.client) | people_in(notes)
        return _Named.of(name, people, page.aliases if page else ()), _last_days(notes, day)

    names, last_days = await gatherer.read(all_names)
    about = await _notes_about(gatherer, name, names, day)
    reads = [read for read in about if not (is_meeting_note(read.note) and was_cancelled(read))]
    if page is None and not any(names.full.search(read.text) for read in reads):
        names = replace(names, first=None)  # somebody else's, or a word: “Nobody Known”
    names_in = {read.note.path: names.within(people_of(read.note.front)) for read in reads}
    lately = Span(day - LONG_PAST, day)
    known = await known_tasks(gatherer)
    done_on = _days_done(known)
    facts: list[dict[str, str]] = []
    pending: list[tuple[Read, Block]] = []
    for read in reads:
        here = names_in[read.note.path]
        found = _about(read.blocks, here)
        found = [block for block in found if not here.is_below_action(read.blocks, block)]
        said = [block for block in found if here.is_fact(block)]
        facts += material.quote(read, said[: limits.vault - len(facts)])
        still = [block for block in _pending(read, found, last_days, lately) if not here.are_all_of(block.text)]
        pending += [(read, block) for block in still if not _is_done_since(read, block, done_on)]
        material.for_model += [
            material.passages.add(read.evidence(block), sensitive=read.note.sensitive)
            for block in found
            if block in still or not _is_action(block)
        ]
    named = [task for task in known if task.is_open and names_in.get(task.note, names).are_in(task.title)]
    done, _ = await done_elsewhere(gatherer, named, known, lately)
    tasks = [task for task in named if task.id not in done]
    chats = await gatherer.own_chats(name, limits.chat)
    for passage in material.passages.add_hits([hit for hit in chats if names.are_in(hit.content)]):
        material.for_model.append(passage)
        text, where = passage.text, source_named("chat", passage.title)
        sentences = (words_only(material.fixed(bare(text[start:end]))) for start, end in sentence_spans(text))
        for sentence in sentences:
            if names.are_in(sentence) and not _PRONOUN.match(sentence) and not is_greeting(sentence):
                material.listed.append((sentence, (passage.number,)))
                facts.append({"text": inline(sentence), "indent": "", "topic": "", "link": where})
    lines = await task_lines(tasks, limits.task, material)
    boxes = {task_key(task.title) for task in tasks}
    others: dict[str, tuple[Read, Block]] = {}
    for read, block in pending:
        if (key := task_key(block.text)) not in boxes:
            others.setdefault(key, (read, block))
    for read, block in [*others.values()][: max(0, limits.task - len(tasks))]:
        lines += [{**line, "due": ""} for line in material.quote(read, [block])]
    data = {"name": inline(name), "facts": facts[: limits.vault], "tasks": lines}
    stub = {"stub": None} if page and "stub" in page.frontmatter.data else {}  # the approval removes it from the page
    front = {"type": "person", "name": name, **stub, "week": iso_week(day)}
    material.corrections = material.corrections[: limits.corrections]
    return material.context(PersonProfileAnswer, name, data, front)


def _is_action(block: Block) -> bool:
    """Check whether a line without a check box says what somebody is to do."""
    return not block.box and (block.role is Role.ACTIONS or is_promise(block.text))


def _is_about_me(block: Block) -> bool:
    """Check whether a sentence says something about the user, and promises nothing."""
    return bool(re.match(r"(?:I|Ich)\b", block.text)) and not (block.is_bullet or _is_action(block))


def _series_key(path: str) -> object:
    """Return what the notes of a series have in common; a daily note is no series."""
    folder, title = series_of(path)
    return (folder, title) if title else path


def _last_days(notes: Iterable[IndexedNote], until: datetime.date) -> dict[object, datetime.date]:
    """Return the day of the last note of each series up to a day."""
    found: dict[object, datetime.date] = {}
    for note in notes:
        day, key = day_in(note.path, note.front), _series_key(note.path)
        if day and day <= until:
            found[key] = max(day, found.get(key, day))
    return found


def _day_said(read: Read, block: Block) -> datetime.date | None:
    """Return the day of a note or, in a running note, of the section that a line is in."""
    said = filter(None, map(day_of, reversed(block.heading_path)))
    return day_in(read.note.path, read.note.front) or next(said, None)


def _pending(
    read: Read, found: Iterable[Block], last_days: Mapping[object, datetime.date], lately: Span
) -> list[Block]:
    """Return the action items without a check box that may still be open: those of the last note of a series, or of
    the last day in a running note, if that is not long past.
    """
    days = filter(None, (_day_said(read, block) for block in read.blocks))
    last = last_days.get(_series_key(read.note.path)) or max(days, default=lately.first)
    since = max(last, lately.first)
    return [block for block in found if _is_action(block) and (_day_said(read, block) or since) >= since]


def _days_done(tasks: Iterable[TaskRow]) -> dict[str, str]:
    """Return the last day on which each of some tasks was done, by its words; empty if its note has no day."""
    found: dict[str, str] = {}
    for task in tasks:
        if not task.is_open:
            key, day = task_key(task.title), task.done or str(day_in(task.note, {}) or "")
            found[key] = max(day, found.get(key, ""))
    return found


def _is_done_since(read: Read, block: Block, done_on: Mapping[str, str]) -> bool:
    """Check whether a note from the day of an action item on has it as a task that is done."""
    key = task_key(block.text)
    return key in done_on and done_on[key] >= str(_day_said(read, block) or "")


@dataclass(frozen=True, slots=True)
class _Named:
    """Match the full names of a person, and the first name if it is unique and not part of another full name.

    `others` matches the full and first names of the other people; `initials` are the letters of the person's `name`.
    `names` are the person's names and aliases, `keys` the same as lists of attendees have them.
    """

    full: re.Pattern[str]
    first: re.Pattern[str] | None
    others: re.Pattern[str]
    initials: frozenset[str]
    name: str
    names: tuple[str, ...]
    keys: frozenset[str]

    @classmethod
    def of(cls, name: str, people: Collection[str], aliases: Iterable[str] = ()) -> _Named:
        name = untitled(name)
        names = dict.fromkeys((name, *map(untitled, aliases)))
        first = name.split()[0] if name.split() else name
        keys = {untitled(person).casefold() for person in people} - {*map(str.casefold, names), first.casefold()}
        is_unambiguous = _is_distinct(first) and not any(first.casefold() in key.split() for key in keys)
        others = {key for each in keys for key in (each, *each.split()[:1])} - {first.casefold()}
        listed = "|".join(re.escape(each) for each in sorted(others, key=len, reverse=True) if len(each) > 2)
        return cls(
            _words(*names),
            _first_name(name) if is_unambiguous else None,
            re.compile(rf"(?<!\w)(?![a-z])(?i:{listed or '(?!)'})(?!\w|\s+\d)"),  # neither “will” nor “May 2026”
            frozenset(word[0].upper() for word in name.split()),
            name,
            tuple(names),
            frozenset(map(person_key, names)),
        )

    def within(self, people: Collection[str]) -> _Named:
        """Match also the first name, a title and the surname, or the initials, if nobody else of these `people` of a
        note has them.
        """
        words = self.name.casefold().split()

        def is_only(place: slice) -> bool:
            return [each for each in people if each.split()[place] == words[place]] == [person_key(self.name)]

        is_first = is_only(slice(1)) and _is_distinct(self.name.split()[0])
        first = _first_name(self.name) if is_first else self.first
        found = [first, _surname(self.name)] if is_only(slice(-1, None)) else [first]
        mine, others = initials_of([self.name]), initials_of({*people} - self.keys)
        found += map(_words, mine - others if self.keys & {*people} else ())
        listed = "|".join(each.pattern for each in found if each)
        return replace(self, first=re.compile(listed) if listed else None)

    def are_in(self, text: str) -> bool:
        return bool(self.full.search(text) or (self.first and self.first.search(text)))

    def is_said_by_others(self, block: Block) -> bool:
        """Check whether a line begins with the name of another person who says it, as in “Ben: …” or “Ben, …”."""
        text, initials = block.text, _INITIALS.match(block.text)
        if initials and not block.is_bullet and not self.initials <= set(initials[1]):
            return True
        said = self.others.match(text)
        return bool(said and re.match(r"\s*[:,]|\s+[-–>]", text[said.end() :]))

    def without_speaker(self, text: str) -> str:
        """Remove the speaker's name from the beginning of a line, but not “Called Ben: ”, which names its subject."""
        speaker = SPEAKER.match(text)
        is_subject = speaker and self.are_in(speaker[0]) and not self.are_all_of(speaker[0])
        return text[speaker.end() :] if speaker and not is_subject else text

    def is_fact(self, block: Block) -> bool:
        """Check whether a line says something about the person, and is not only links or names. A cell of a table with
        just the name is its owner.
        """
        cells = block.text.split(" – ") if block.raw.startswith("|") else [block.text]
        is_said = stems_of(LINKS.sub(" ", block.raw))
        is_list = not block.is_bullet and ONLY_NAMES.fullmatch(block.text)
        return bool(is_said) and not (is_list or block.box or _is_action(block) or any(map(self.are_all_of, cells)))

    def is_below_action(self, blocks: Sequence[Block], block: Block) -> bool:
        """Check whether a line is a detail of an action item, and no item below the name of the person."""
        above = blocks[block.parent] if block.parent >= 0 else None
        return above is not None and _is_action(above) and not self.are_all_of(above.text)

    def are_all_of(self, text: str) -> bool:
        """Check whether a text is only the name of the person."""
        words = text.strip(" :-–")
        return bool(self.full.fullmatch(words) or (self.first and self.first.fullmatch(words)))


def _is_distinct(first: str) -> bool:
    """Check whether a first name is neither a word, such as “Will” and “May”, nor initials, such as “JP”."""
    return (len(first) > 2 or first[1:].islower()) and first.casefold() not in STOP_WORDS and first not in MONTHS


def _first_name(name: str) -> re.Pattern[str]:
    return _words(name.split()[0], after=r"(?!\s+[A-ZÀ-Þ]\w)")


def _surname(name: str) -> re.Pattern[str]:
    title = r"(?<!\w)(?:(?:Frau|Herrn?|Mr|Mrs|Ms|Mme|Dr|Prof)\b\.?\s+)+"
    return re.compile(rf"{title}{_words(name.split()[-1]).pattern}")


def _words(*names: str, after: str = "") -> re.Pattern[str]:
    words = "|".join(r"\s+".join(map(re.escape, name.split())) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{words})(?!\w){after}")


async def _notes_about(gatherer: Gatherer, name: str, names: _Named, day: datetime.date) -> list[Read]:
    """Return the notes that name the person, latest first, without those with a date after a day: those that link to
    the page, list the person as an attendee or contain the name.
    """
    naming = (
        "SELECT DISTINCT d.source_id FROM memory_chunks c JOIN memory_documents d ON d.id = c.document_id"
        " WHERE d.source_type = 'vault' AND instr(c.heading_path || ' ' || c.content, ?)"
    )
    linking = (
        "SELECT DISTINCT d.source_id FROM links l JOIN memory_documents d ON d.id = l.document_id"
        " WHERE l.target = ? AND d.source_type = 'vault'"
    )

    def found(index: Database) -> list[IndexedNote]:
        words = {*names.names, name.split()[0] if names.first else name}
        linked = {path for word in words for path in index.column(naming, (word,))}
        linked.update(index.column(linking, (link_key(name),)))
        known = approved_notes(index, gatherer.templates)
        notes = [note for note in known if note.path != page_of(name)]
        notes = [note for note in notes if (day_in(note.path, note.front) or day) <= day]
        return [note for note in notes if note.path in linked or names.keys & people_of(note.front)]

    ordered = sorted(await gatherer.read(found), key=_written_at, reverse=True)[:MAX_NOTES]
    return [read for read in await read_notes(gatherer, ordered) if names.are_in(read.text)]


def _about(blocks: Sequence[Block], names: _Named) -> list[Block]:
    """Return the blocks that name the person, or are below a heading of nobody else or a bullet that does.

    What is below the title of a meeting with the person, other than a 1:1, may be about anybody, but actions count.
    Greetings and thanks are left out. So is one that begins with a pronoun, unless what it is below is just the name,
    and one below the name that somebody else says.
    """
    found: dict[int, Block] = {}
    by_others, last = False, 0
    for number, block in enumerate(blocks):
        continues = by_others and not (block.is_bullet or SPEAKER.match(block.text)) and block.start_line <= last + 1
        by_others, last = continues or names.is_said_by_others(block), block.end_line
        titled = [heading for heading in block.heading_path if title_key(heading)]  # not just a day
        heading = words_only(titled[-1]) if titled else ""
        is_with = WITH.search(heading) and not ONE_ON_ONE.search(heading) and not _is_action(block)
        is_labelled = names.are_all_of(block.topic.rpartition(": ")[2])
        is_named = names.are_in(heading) and not (is_with or names.others.search(heading))
        is_below = block.parent in found or is_labelled or (is_named and not _is_about_me(block))
        above = found.get(block.parent)
        is_answer = above is not None and above.text.endswith("?")
        is_about = names.are_in(block.text) or (is_below and not by_others)
        is_clear = is_labelled or names.are_all_of(blocks[block.parent].text if block.parent >= 0 else heading)
        if (
            is_about
            and is_quotable(block)
            and (is_answer or not is_greeting(block.text))
            and (is_clear or not _PRONOUN.match(names.without_speaker(block.text)))
        ):
            depth = above.depth + names.is_fact(above) if above else 0
            found[number] = replace(block, depth=depth, topic="" if names.are_in(block.topic) else block.topic)
    return list(found.values())
