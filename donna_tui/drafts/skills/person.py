"""The pages of people: of those who were mentioned often lately, and of pages that are hardly begun."""

from __future__ import annotations

import datetime
import json
from collections import Counter

from donna_tui.config.skills import PersonProfileConfig
from donna_tui.drafts.answers import PersonProfileAnswer
from donna_tui.drafts.days import iso_week
from donna_tui.drafts.page import Context, Run
from donna_tui.drafts.passages import Passages, is_draft
from donna_tui.drafts.people import ACTOR, FOLDER
from donna_tui.drafts.plain import can_be_linked, inline, words_only
from donna_tui.drafts.skills.cadence import CadenceParts, Material
from donna_tui.errors import VaultReadError
from donna_tui.index.database import Database
from donna_tui.memories import ME, MemorySource
from donna_tui.vault.client import VaultClient
from donna_tui.vault.links import extract_links

TEMPLATE, TASK_TYPE = "person_profile", "draft_person_profile"
MOST_PEOPLE = 50


def profile(parts: CadenceParts, name: str, day: datetime.date) -> Run:
    """The page of somebody, brought up to date in the week of a day."""
    week = iso_week(day)
    return Run(
        template=TEMPLATE,
        task_type=TASK_TYPE,
        gather=lambda: _gather(parts, name, week),
        target_path=f"{FOLDER}/{name}.md",
        key=f"{name}@{week}",
        title=name,
        autonomy=parts.config.skills.person_profile.autonomy_level,
    )


def people_due(index: Database, client: VaultClient, config: PersonProfileConfig, now: float) -> list[str]:
    """Who gets a page: mentioned often enough in the notes of the look-back, or with a page that is a stub.

    A page that somebody else wrote is never among them.
    """
    since = now - config.lookback_days * 86_400.0
    often = Counter(name for path in _dated_since(index, since) for name in _names_in(client, path))
    named = [name for name, times in often.most_common() if times >= config.trigger_mentions_threshold]
    wanted = dict.fromkeys([*named, *_stubs(client, config.min_body_chars)])
    return [name for name in wanted if may_be_written(client, name)][:MOST_PEOPLE]


def may_be_written(client: VaultClient, name: str) -> bool:
    """Whether Donna may write the page of somebody: there is none, it is hers, or it is empty."""
    try:
        note = client.read(f"{FOLDER}/{name}.md")
    except VaultReadError:
        return True
    return note.frontmatter.data.get("autowritten_by") == ACTOR or not _text_of(note.content)


def _dated_since(index: Database, since: float) -> list[str]:
    rows = index.rows(
        "SELECT source_id, metadata_json FROM memory_documents WHERE source_type = ? AND user_id = ?"
        " AND deleted_at IS NULL AND dated_at >= ?",
        (MemorySource.VAULT.value, ME, since),
    )
    return [path for path, metadata in rows if not is_draft(json.loads(metadata or "{}"))]


def _names_in(client: VaultClient, path: str) -> list[str]:
    """The people that a note links to, as often as it has links to different ones; their own page does not count."""
    try:
        links = extract_links(client.read(path).content)
    except VaultReadError:
        return []
    names = [link.removeprefix(f"{FOLDER}/") for link in links if "/" not in link or link.startswith(f"{FOLDER}/")]
    known = [name for name in names if can_be_linked(name) and path != f"{FOLDER}/{name}.md"]
    return [name for name in known if _is_person(client, name)]


def _is_person(client: VaultClient, name: str) -> bool:
    """Whether a page of this name is in `People`; a bare name may be anything else."""
    try:
        client.stat(f"{FOLDER}/{name}.md")
    except VaultReadError:
        return False
    return True


def _stubs(client: VaultClient, min_body_chars: int) -> list[str]:
    names = []
    for path in client.list(FOLDER):
        try:
            note = client.read(path)
        except VaultReadError:
            continue
        if note.frontmatter.data.get("stub") and len(_text_of(note.content)) < min_body_chars:
            names.append(path.removeprefix(f"{FOLDER}/").removesuffix(".md"))
    return names


def _text_of(body: str) -> str:
    """What a page says beside its title."""
    return "\n".join(line for line in body.splitlines() if not line.startswith("# ")).strip()


async def _gather(parts: CadenceParts, name: str, week: str) -> Context:
    limits = parts.config.skills.person_profile.context_limits
    material = Material(Passages(), [])
    gatherer = parts.gatherer
    notes = [hit for hit in await gatherer.hits(name, MemorySource.VAULT, limits.vault + 1) if hit.title != name]
    material.passages.add_hits(notes[: limits.vault])
    material.passages.add_hits(await gatherer.hits(name, MemorySource.CHAT, limits.chat))
    told = tuple(material.passages.taken)
    tasks = await gatherer.open_tasks(name, limits.task)
    titles = [str(hit.metadata.get("title", "")) for hit in tasks]
    rests = [(passage.number,) for passage in material.passages.add_hits(tasks)]
    material.listed += zip(map(words_only, titles), rests, strict=True)
    data = {"name": inline(name), "tasks": [{"text": inline(title)} for title in titles]}
    front = {"type": "person", "name": name, "stub": None, "week": week}
    corrections = await parts.corrections(TASK_TYPE)
    return material.context(TASK_TYPE, PersonProfileAnswer, name, data, front, corrections, told)
