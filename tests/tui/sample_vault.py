"""The notes of one working person, and a search over them that is simple enough to predict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from donna_tui.engine.passages import Passage
from donna_tui.types.search import Hit, SearchOutcome, SearchRequest, Snippet
from tests.tui.fake_backend import new_passage

ROOT = "/home/noor/notes"
NOW = datetime(2026, 11, 20, 14, 32, 5, tzinfo=UTC).timestamp()

NOTES: dict[str, str] = {
    "Projects/gateway/decisions.md": """\
# Gateway

What we decided, newest first.

## Decisions

### Cache

We moved off Redis on 12 March because the latency of Redis under failover was
longer than a request may take: p99 went from 40 ms to 2.3 s for as long as the
replica needed to catch up.

The embedded store keeps the hot set in the process. It costs 180 MB per node and
we gave up sharing between nodes, which nobody used.

- Decided by Priya Raman, Tomas and me
- Revisit when a node has more than 2 million sessions

### Time-outs

Upstream calls give up after 800 ms, once. No retries in the gateway: the callers
retry already, and two layers of retries made the outage of January three times longer.
""",
    "Projects/gateway/runbook.md": """\
# Gateway runbook

## Failover

1. Drain the node in the load balancer, wait 30 s.
2. Check that sessions fall below 200 before you stop the process.
3. Start the spare. The cache warms within two minutes.

## Rotating the signing key

Both keys are valid for an hour. Announce it in #platform before you begin.
""",
    "Meetings/2026-03-12-standup.md": """\
---
type: meeting
tags: [gateway, platform]
---
# Stand-up 2026-03-12

## Gateway

Redis is gone from the gateway as of this morning. Tomas watches the latency until
Friday; Priya writes the decision down.

## Open points

- [ ] Move the session dashboards
- [x] Tell support about the maintenance window
""",
    "Meetings/2026-11-18-gateway-sync.md": """\
---
type: meeting
tags: [gateway]
---
# Gateway sync

## Numbers

p95 latency is 31 ms over the week, down from 44 ms. Two time-outs, both at the
payment provider.

## Next

Priya looks at rate limits per tenant. I write up the failover drill.
""",
    "People/Priya Raman.md": """\
# Priya Raman

Platform lead since 2024. Prefers a written page before a meeting.

## One-to-ones

### 6 November

Wants to hand over the on-call rota by January. Thinks the failover drill should
be every quarter.
""",
    "Reading/Designing Data-Intensive Applications.md": """\
# Designing Data-Intensive Applications

## Replication

Failover is where most of the surprises are: the new leader may miss writes, and
whoever had them acknowledged will not be amused.

## Caches

A cache is a copy that you promise to throw away. Say who throws it away, and when.
""",
    "Journal/2026-11-19.md": """\
# Thursday

Slept well. Wrote the drill page before lunch, then reviewed rate limits with Priya.
The redis question came up again; linked the decision instead of answering it.
""",
    "Ideas/Garden.md": """\
# Garden

## Spring

Garlic in before the frost. Move the rhubarb to the north bed, it had too much sun.
""",
}

FOLDERS = ("Ideas", "Journal", "Meetings", "People", "Projects", "Projects/gateway", "Reading")
SCORES = (0.71, 0.63, 0.58, 0.52, 0.47, 0.41, 0.36, 0.31)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a sample note: from its heading to the next one. Lines are 1-based and inclusive."""

    path: str
    title: str
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int
    text: str


def sections(path: str, note: str) -> Iterator[Section]:
    """Return the sections of a note with text below their heading."""
    lines = note.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("#")]
    headings: list[str] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        marker, _, heading = lines[start].partition(" ")
        headings = [*headings[: len(marker) - 1], heading]
        text = "\n".join(lines[start:end]).rstrip()
        if "\n" in text:
            yield Section(path, headings[0], tuple(headings), start + 1, start + 1 + text.count("\n"), text)


SECTIONS: tuple[Section, ...] = tuple(each for path, note in NOTES.items() for each in sections(path, note))


def passages() -> tuple[Passage, ...]:
    """Return every section as the preview gets it, with the text below the heading marked."""
    return tuple(_passage(section) for section in SECTIONS)


def answer(request: SearchRequest) -> SearchOutcome:
    """Return the sections that share a word with the question, those with most of its words first."""
    words = re.findall(r"\w{4,}", request.text.lower())
    found = [(sum(word in section.text.lower() for word in words), section) for section in SECTIONS]
    ranked = [section for count, section in sorted(found, key=lambda each: -each[0]) if count]
    allowed = [section for section in ranked if _in_folder(section, request.filters.path_prefix)]
    hits = tuple(_hit(section, rank, words) for rank, section in enumerate(allowed[: request.k], start=1))
    return SearchOutcome(request=request, mode=request.mode, hits=hits, searched_notes=len(NOTES), latency_ms=11.4)


def _in_folder(section: Section, prefix: str) -> bool:
    return not prefix or section.path.startswith(prefix.rstrip("/") + "/")


def _passage(section: Section) -> Passage:
    body = section.text.partition("\n")[2].lstrip()
    linked = ("Meetings/2026-03-12-standup.md",) if section.path.endswith("decisions.md") else ()
    return new_passage(
        path=section.path,
        title=section.title,
        heading_path=section.heading_path,
        text=section.text,
        start_line=section.start_line,
        end_line=section.end_line,
        mark_start=section.start_line + section.text[: len(section.text) - len(body)].count("\n"),
        mark_end=section.end_line,
        linked_from=linked,
    )


def _hit(section: Section, rank: int, words: list[str]) -> Hit:
    body = " ".join(section.text.split("\n")[1:]).strip()
    score = SCORES[min(rank, len(SCORES)) - 1]
    return Hit(
        chunk_id=f"{section.path}#{section.start_line}",
        document_id=section.path,
        source_type="vault",
        path=section.path,
        title=section.title,
        heading_path=section.heading_path,
        start_line=section.start_line,
        end_line=section.end_line,
        content=section.text,
        snippet=_snippet(body, words),
        score=score,
        rank_score=score,
        vector_rank=rank,
        keyword_rank=rank + rank % 2,
        uri=f"obsidian://open?vault=notes&file={section.path}",
        sensitive=section.path.startswith("Journal/"),
        metadata={"type": "meeting"} if section.path.startswith("Meetings/") else {},
    )


def _snippet(body: str, words: list[str]) -> Snippet:
    places = [match.span() for word in words for match in re.finditer(re.escape(word), body.lower())]
    first = min((start for start, _ in places), default=0)
    start = body.rfind(" ", 0, max(0, first - 30)) + 1
    text = body[start : start + 160]
    marks = sorted((a - start, b - start) for a, b in places if a >= start and b <= start + len(text))
    return Snippet(text=text, marks=tuple(marks))
