"""The hunks of a draft that can be excluded cover its whole content, and excluding one removes nothing else."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.drafts.hunks import claims_of, hunks_of, without_hunks
from donna_tui.types.drafts import Claim, DraftHunk
from donna_tui.vault.note.read import parse_frontmatter

FRONT = "---\ntype: meeting\nattendees:\n  - Ana\ndonna_draft: true\n---\n"
NOTE = f"""{FRONT}# Team

Monday, 10:00–11:00

## Attendees

- [[Ana]]
- [[Bo]]

## Notes

## Action items

- [ ] Ana will write
  it down
- [ ] Bo reads
1. first
two lines of
one paragraph
"""

LINES = st.sampled_from(
    ["", "", "# Title", "## Part", "### Deep", "- one", "- [ ] two", "  wrapped", "    far in", "1. first", "words",
     "more words", "#tag is no heading", "* star", "---", "> said", "| a |"]
)  # fmt: skip
NOTES = st.lists(LINES, max_size=12).map(lambda lines: FRONT + "".join(f"{line}\n" for line in lines))


def is_heading(line: str) -> bool:
    return line.startswith(("# ", "## ", "### "))


def test_the_parts_of_a_note() -> None:
    lines = NOTE.splitlines()
    parts = ["\n".join(lines[hunk.start_line - 1 : hunk.end_line]) for hunk in hunks_of(NOTE)]
    assert parts == [
        "Monday, 10:00–11:00", "- [[Ana]]", "- [[Bo]]", "- [ ] Ana will write\n  it down", "- [ ] Bo reads",
        "1. first\ntwo lines of\none paragraph",
    ]  # fmt: skip
    assert [hunk.number for hunk in hunks_of(NOTE)] == [1, 2, 3, 4, 5, 6]


@given(NOTES)
def test_every_line_that_says_something_is_in_one_part(note: str) -> None:
    covered = [line for hunk in hunks_of(note) for line in range(hunk.start_line, hunk.end_line + 1)]
    first = len(FRONT.splitlines()) + 1
    lines = enumerate(note.splitlines(), 1)
    assert covered == [n for n, line in lines if n >= first and line.strip() and not is_heading(line)]


def test_all_ways_to_leave_parts_out_keep_the_others() -> None:
    lines = NOTE.splitlines()
    hunks = hunks_of(NOTE)
    texts = {hunk.number: lines[hunk.start_line - 1 : hunk.end_line] for hunk in hunks}
    for size in range(len(hunks) + 1):
        for gone in itertools.combinations(texts, size):
            left = without_hunks(NOTE, gone).splitlines()
            said = [line for line in left[len(FRONT.splitlines()) :] if line and not is_heading(line)]
            assert said == [line for number, part in texts.items() if number not in gone for line in part]
            assert left[: len(FRONT.splitlines())] == FRONT.splitlines()


@given(NOTES, st.sets(st.integers(1, 8)))
def test_excluding_hunks_removes_no_other_line(note: str, gone: set[int]) -> None:
    lines = note.splitlines()
    out = {line for hunk in hunks_of(note) if hunk.number in gone for line in range(hunk.start_line, hunk.end_line + 1)}
    left = without_hunks(note, gone)
    first = len(FRONT.splitlines()) + 1
    kept = [line for n, line in enumerate(lines, 1) if n not in out and (n < first or line.strip())]
    said = [line for line in kept if not is_heading(line)]
    assert [line for line in left.splitlines() if line.strip() and not is_heading(line)] == said
    assert parse_frontmatter(left).data == parse_frontmatter(note).data


def test_nothing_is_changed_where_nothing_is_left_out() -> None:
    assert without_hunks(NOTE, frozenset()) == NOTE
    assert without_hunks("\n\n\nodd\n\n\n\n", frozenset()) == "\n\n\nodd\n\n\n\n"


def test_a_heading_goes_only_with_all_that_was_below_it() -> None:
    assert "## Attendees" in without_hunks(NOTE, {2})
    assert "## Attendees" not in without_hunks(NOTE, {2, 3})
    assert "## Notes" in without_hunks(NOTE, {1, 2, 3, 4, 5, 6})
    assert "# Team" in without_hunks(NOTE, {1, 2, 3, 4, 5, 6})


def test_a_heading_stays_for_what_is_below_the_headings_in_it() -> None:
    note = "# Title\n\n## Part\n\ngone\n\n### Deep\n\n- stays\n"
    assert without_hunks(note, {1}) == "# Title\n\n## Part\n\n### Deep\n\n- stays\n"


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_hunks_are_the_same_for_all_line_endings(end: str) -> None:
    note = NOTE.replace("\n", end)
    assert [(h.start_line, h.end_line) for h in hunks_of(note)] == [(h.start_line, h.end_line) for h in hunks_of(NOTE)]
    assert "Bo reads" not in without_hunks(note, {5})
    assert parse_frontmatter(without_hunks(note, {5})).data == parse_frontmatter(NOTE).data


def test_a_heading_in_a_code_block_does_not_count() -> None:
    note = "# Title\n\n```sh\n# a comment\nls\n```\n\nend\n"
    assert hunks_of(note) == (DraftHunk(1, 3, 6), DraftHunk(2, 8, 8))
    assert without_hunks(note, {1}) == "# Title\n\nend\n"


def test_claims_are_located_at_the_lines_that_contain_them() -> None:
    note = "# T\n\n- Ana will write\\_it.\n- both: one said. two said.\n- nothing\n"
    said = [("Ana will write_it.", (2,)), ("one said.", (1, 3)), ("two said.", (3,)), ("", (9,))]
    assert claims_of(note, said) == (Claim(3, 3, (2,)), Claim(4, 4, (1, 3)))
