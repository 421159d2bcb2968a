"""Citations are links that Obsidian resolves and that no title can break out of."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.ops.hits import grouped_lines
from donna_tui.search.citations import citation, citation_link, cited_lines, location
from donna_tui.types.search import Hit, Snippet


def hit(path: str, *headings: str, lines: tuple[int, int] = (41, 58)) -> Hit:
    return Hit(
        chunk_id="c", document_id="d", source_type="vault", path=path, title="t", heading_path=headings,
        start_line=lines[0], end_line=lines[1], content="", snippet=Snippet(""), score=None, rank_score=0.0,
        vector_rank=None, keyword_rank=None, uri="", sensitive=False, metadata={},
    )  # fmt: skip


def test_citation_is_formatted_for_people() -> None:
    assert citation(hit("Projects/a.md", "A", "B")) == "Projects/a.md › A › B : 41–58"
    assert citation(hit("a.md", lines=(7, 7))) == "a.md : 7"
    assert location(hit("a.md")) == "a.md:41–58"


def test_a_task_is_cited_by_its_note_and_line() -> None:
    task = replace(hit("Inbox/Tasks.md#0a1b2c3d4e5f", lines=(7, 7)), source_type="task")
    assert (citation(task), location(task)) == ("Inbox/Tasks.md : 7", "Inbox/Tasks.md:7")
    assert citation_link(task) == "[[Inbox/Tasks]]"


@pytest.mark.parametrize("headings", [(), ("A",), ("A: b", "C › d : 3–4", "x.md"), ("#",)])
@pytest.mark.parametrize("lines", [(7, 7), (41, 58)])
@pytest.mark.parametrize("path", ["Projects/a : 3.md", "a.md"])
@pytest.mark.parametrize("space", ["", "my notes"])
def test_a_citation_can_be_read_again(headings: tuple[str, ...], lines: tuple[int, int], path: str, space: str) -> None:
    cited = replace(hit(path, *headings, lines=lines), space=space)
    assert cited_lines(citation(cited)) == (space, path, *lines)
    assert cited_lines(location(cited)) == ("", path, *lines)


@pytest.mark.parametrize("path", ["a.md", "a : 3.md", "notes.md/b.md", "a", "2026-03-12", ""])
def test_a_path_without_lines_is_no_citation(path: str) -> None:
    assert cited_lines(path) == ("", path, 1, None)


def test_a_link_names_the_note_and_its_headings() -> None:
    assert citation_link(hit("Projects/gateway/decisions.md", "Decisions", "Cache")) == (
        "[[Projects/gateway/decisions#Decisions#Cache]]"
    )
    assert citation_link(hit("a.MD")) == "[[a]]"
    assert citation_link(hit("v1.2.md")) == "[[v1.2]]"


def test_citation_link_removes_characters_that_break_wikilinks() -> None:
    assert citation_link(hit("a.md", "Plan: Q3 | [[x]] #1")) == "[[a#Plan Q3 x 1]]"
    assert citation_link(hit("a.md", "##", "B")) == "[[a#B]]"
    assert citation_link(hit("a.md", "100 %% hidden")) == "[[a#100 hidden]]"


@given(st.text(), st.lists(st.text(), max_size=3))
def test_no_text_breaks_out_of_the_link(path: str, headings: list[str]) -> None:
    link = citation_link(hit(path, *headings))
    inner = link.removeprefix("[[").removesuffix("]]")
    assert link == f"[[{inner}]]"
    assert not set(inner) & set("[]|\n\r^")
    assert inner.count("#") <= len(headings)


@pytest.mark.parametrize(("in_note", "last"), [(2, "            second"), (5, "      … 3 more in this note")])
def test_passages_of_a_note_that_are_not_listed_are_counted(in_note: int, last: str) -> None:
    first = replace(hit("a.md", "A"), in_note=in_note)
    second = replace(hit("a.md", "B"), in_note=in_note, snippet=Snippet("second"))
    assert list(grouped_lines([first, second]))[-1] == last
    assert next(grouped_lines([first, second], near=True)).startswith("near  ")
