"""Memories of some months of work, and a memory in which every text is hostile."""

from __future__ import annotations

from typing import Any

from donna_tui.types.memory import Importance, MemoryChunk, MemoryType, Signal
from donna_tui.types.search import MemorySource
from tests.tui import hostile
from tests.tui.sample_vault import NOW

DAY = 86_400.0
RUNBOOK = "Projects/gateway/runbook.md"
GATEWAY = "gateway-2026-11"
REDIS = "chat:gateway-2026-11:7-8"
LIKED = "memory:a1f3c09e11d2"


def chat(
    first: int, last: int, speaker: str, content: str, days: float, *, session: str = GATEWAY, **fields: Any
) -> MemoryChunk:
    """Return turns of a conversation."""
    defaults: dict[str, Any] = {
        "title": "Gateway, 18 Nov 2026",
        "session_id": session,
        "start_line": first,
        "end_line": last,
        "heading_path": (speaker,),
    }
    return memory(MemorySource.CHAT, f"{session}:{first}-{last}", content, days, **{**defaults, **fields})


def memory(source: MemorySource, source_id: str, content: str, days: float, **fields: Any) -> MemoryChunk:
    """Return a memory of so many days ago."""
    defaults: dict[str, Any] = {
        "id": f"{source}:{source_id}",
        "source": source,
        "source_id": source_id,
        "memory_type": MemoryType.EPISODIC,
        "content": content,
        "at": NOW - days * DAY,
        "importance": Importance(0.5, (Signal.ENTITY, Signal.NUMBER), 0.7),
    }
    return MemoryChunk(**{**defaults, **fields})


def remembered() -> tuple[MemoryChunk, ...]:
    """Return chats, tasks, facts and a correction."""
    return (
        memory(
            MemorySource.MEMORY,
            LIKED.partition(":")[2],
            "I prefer short answers with the number first.",
            0.1,
            title="Remembered, 20 Nov 2026",
            memory_type=MemoryType.PROCEDURAL,
            importance=Importance(0.4, (Signal.PREFERENCE,), 0.82),
        ),
        chat(7, 8, "assistant", "The failover of redis took 4.2 s in the drill of 12 March, against 31 ms with the "
             "embedded store. That is why the gateway moved off it.", 2.0,
             importance=Importance(0.5, (Signal.ENTITY, Signal.NUMBER), 0.91)),
        chat(6, 6, "Noor", "And what did the redis drill show in the end?", 2.01, importance=Importance(0.0, (), 0.61)),
        chat(5, 5, "Noor", "ok, thanks", 2.02, importance=Importance(0.0, (), 0.22)),
        memory(
            MemorySource.TASK,
            f"{RUNBOOK}#9b1d44c0",
            "Repeat the redis failover drill with Priya",
            3.0,
            title="Repeat the redis failover drill with Priya",
            memory_type=MemoryType.WORKING,
            start_line=14,
            end_line=14,
            importance=Importance(0.3, (Signal.ENTITY,), 0.64),
        ),
        memory(
            MemorySource.CORRECTION,
            "c7700a5121fe",
            "content: “the drill is twice a year” should be “the drill is every quarter from January on”",
            4.0,
            title="Correction of content",
            memory_type=MemoryType.SEMANTIC,
            importance=Importance(0.5, (Signal.ENTITY, Signal.NUMBER), 0.58),
        ),
        memory(
            MemorySource.MEMORY,
            "b2e4d10f22e3",
            "Priya is on leave until 8 December; Tomas decides about the redis gateway meanwhile.",
            5.0,
            title="Remembered, 15 Nov 2026",
            memory_type=MemoryType.SEMANTIC,
            pinned=True,
            importance=Importance(0.5, (Signal.ENTITY, Signal.NUMBER), 0.77),
        ),
        memory(
            MemorySource.MEMORY,
            "d4a6f3214405",
            "Blood test on 3 December, fasting; redis has nothing to do with it.",
            6.0,
            title="Remembered, 14 Nov 2026",
            sensitive=True,
            importance=Importance(0.5, (Signal.NUMBER, Signal.RARE), 0.88),
        ),
        memory(
            MemorySource.MEMORY,
            "e5b7043255a6",
            "We talked about the flaky end-to-end tests: the mail catcher starts too late, and redis is not flushed.",
            40.0,
            title="Summary, 11 Oct 2026",
            is_summary=True,
            session_id="tests-2026-10",
            importance=Importance(0.1, (Signal.RARE,), 0.66),
        ),
        chat(1, 2, "Tomas", "The end-to-end tests fail every second night since redis is shared.", 40.0, compressed=True,
             session="tests-2026-10"),
        *(
            chat(n, n, "Noor" if n % 2 else "assistant", f"Line {n} about rate limits behind a flag for the pilot.",
                 60.0 + n, session="limits", title="Rate limits, 20 Sep 2026", importance=Importance(0.2, (Signal.NUMBER,), 0.2 + n / 30))
            for n in range(1, 21)
        ),
        memory(
            MemorySource.VAULT,
            "Projects/gateway/decisions.md",
            "Projects/gateway/decisions.md: We moved off redis because failover made latency worse.",
            9.0,
            lead="Projects/gateway/decisions.md: ",
            title="Gateway decisions",
            memory_type=MemoryType.SEMANTIC,
            heading_path=("Decisions", "Cache"),
            start_line=12,
            end_line=16,
            importance=None,
        ),
    )  # fmt: skip


def many(count: int) -> tuple[MemoryChunk, ...]:
    """Return so many turns, the latest first."""
    return tuple(
        chat(n, n, "Noor", f"Turn {n} of a very long conversation.", n / 100, session="long")
        for n in range(count)
    )  # fmt: skip


def nasty() -> tuple[MemoryChunk, ...]:
    """Return memories in which every text is hostile."""
    sources = (MemorySource.CHAT, MemorySource.TASK, MemorySource.MEMORY, MemorySource.CORRECTION)
    plain = (
        memory(
            sources[n % 4],
            f"{payload}{n}",
            f"redis {payload}\n\n{hostile.EVERYTHING}",
            n,
            title=f"{payload} {hostile.EVERYTHING}",
            session_id=payload,
            heading_path=(payload,),
            memory_type=tuple(MemoryType)[n % 4],
            pinned=n % 5 == 0,
        )
        for n, payload in enumerate(hostile.ALL.values())
    )
    return (
        *plain,
        memory(MemorySource.CHAT, "long", f"redis {hostile.LONG_WORD}", 90.0, title=hostile.LONG_HEADING),
        memory(MemorySource.CHAT, "never", "redis at no time", 0.0, at=1e300),
    )
