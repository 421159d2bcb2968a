"""The event log: what it stores, shows and drops."""

from __future__ import annotations

from donna_tui.tui.activity.log import EventRing
from donna_tui.tui.lib.event_messages import Kind, Sentence, Tone


def note(path: str, kind: Kind = Kind.NOTES) -> Sentence:
    return Sentence(kind, Tone.PLAIN, "Edited", path, "4 passages")


def search(hits: int) -> Sentence:
    return Sentence(Kind.SEARCHES, Tone.QUIET, "Search", detail=f"{hits} passages")


def filled(count: int, kept: int = 5) -> EventRing:
    ring = EventRing(kept)
    for number in range(count):
        ring.add(float(number), note(f"{number}.md"))
    return ring


def shown(ring: EventRing) -> list[str]:
    return [row.sentence.path for row in ring.shown]


def test_only_the_newest_rows_are_kept() -> None:
    ring = filled(8)
    assert len(ring) == 5
    assert shown(ring) == ["3.md", "4.md", "5.md", "6.md", "7.md"]


def test_a_filter_finds_every_word_in_any_case_and_follows_new_rows() -> None:
    ring = EventRing()
    ring.narrow("GATE edited")
    ring.add(1, note("Projects/gateway.md"))
    ring.add(2, note("Ideas/garden.md"))
    assert shown(ring) == ["Projects/gateway.md"]
    ring.narrow()
    assert shown(ring) == ["Projects/gateway.md", "Ideas/garden.md"]
    assert not ring.filtered


def test_event_ring_filters_by_kind() -> None:
    ring = EventRing()
    ring.add(1, note("a.md"))
    ring.add(2, note("b.md", Kind.PROBLEMS))
    ring.narrow(kind=Kind.PROBLEMS)
    assert shown(ring) == ["b.md"]
    assert ring.filtered


def test_paused_event_ring_keeps_shown_rows_and_queues_new_ones() -> None:
    ring = filled(5)
    ring.pause()
    for number in range(5, 12):
        ring.add(float(number), note(f"{number}.md"))
    assert shown(ring) == ["0.md", "1.md", "2.md", "3.md", "4.md"]
    assert ring.waiting == 7
    ring.resume()
    assert shown(ring) == ["7.md", "8.md", "9.md", "10.md", "11.md"]
    assert ring.waiting == 0


def test_changing_the_filter_while_paused_shows_no_new_events() -> None:
    ring = filled(3)
    ring.pause()
    ring.add(9.0, note("new.md"))
    ring.narrow("md")
    assert "new.md" not in shown(ring)


def test_searches_made_by_typing_become_one_row() -> None:
    ring = EventRing()
    ring.add(1.0, search(3))
    ring.add(2.0, search(5))
    ring.add(9.0, search(7))
    assert [(row.times, row.sentence.detail) for row in ring.shown] == [(2, "5 passages"), (1, "7 passages")]


def test_the_last_search_is_replaced_only_where_it_is_shown() -> None:
    ring = EventRing()
    ring.add(1.0, note("a.md"))
    ring.narrow(kind=Kind.NOTES)
    ring.add(2.0, search(1))
    ring.add(3.0, search(2))
    assert shown(ring) == ["a.md"]


def test_a_row_is_found_by_its_number_after_older_ones_are_gone() -> None:
    ring = filled(8)
    assert ring.index_of(5) == 2
    assert ring.index_of(0) == 0
    assert ring.index_of(99) == 5
