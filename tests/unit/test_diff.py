"""Differences between files: what they show, that they are complete, and that no input makes them slow or fail."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.text.merge import common_runs, merge_texts
from donna_tui.text.word_diff import changed_words, partners
from donna_tui.vault.note.diff import WHOLE, FileDiff, LineKind, as_unified, diff_bytes, diff_changes
from donna_tui.vault.write.changes import Change
from tests.examples import examples

NOTE = b"# Gateway\n\n## Cache\n\nWe use Redis.\nIt is fast.\n\n## Time-outs\n\nOnce.\n"

FEW_LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "d\r", "# h\n"]), max_size=14).map("".join)
ANY_BYTES = st.one_of(FEW_LINES.map(str.encode), st.binary(max_size=60), st.text(max_size=40).map(str.encode))


def applied(diff: FileDiff) -> tuple[bytes, bytes]:
    """Reconstruct both versions of a file from a complete difference."""
    lines = [line for hunk in diff.hunks for line in hunk.lines]
    old = "".join(line.text + line.ending for line in lines if line.kind is not LineKind.ADDED)
    new = "".join(line.text + line.ending for line in lines if line.kind is not LineKind.REMOVED)
    return old.encode("utf-8", "surrogateescape"), new.encode("utf-8", "surrogateescape")


@given(ANY_BYTES, ANY_BYTES)
def test_applying_a_difference_yields_the_other_version(before: bytes, after: bytes) -> None:
    diff = diff_bytes("a.md", before, after, context=WHOLE)
    if before == after:
        assert diff.hunks == ()
    else:
        assert applied(diff) == (before, after)


@given(ANY_BYTES, ANY_BYTES, st.integers(0, 4))
def test_diff_counts_omitted_lines_and_numbers_the_others(before: bytes, after: bytes, context: int) -> None:
    whole = diff_bytes("a.md", before, after, context=WHOLE)
    lines = [line for hunk in whole.hunks for line in hunk.lines]
    diff = diff_bytes("a.md", before, after, context=context)
    shown = [line for hunk in diff.hunks for line in hunk.lines]
    left_out = sum(hunk.skipped for hunk in diff.hunks) + diff.after_skipped
    assert before == after or len(shown) + left_out == len(lines)
    assert [line for line in lines if line.kind is not LineKind.SAME] == [
        line for line in shown if line.kind is not LineKind.SAME
    ]
    assert [line.old for line in lines if line.old] == list(range(1, len([x for x in lines if x.old]) + 1))
    assert (diff.added, diff.removed) == (whole.added, whole.removed)


@given(ANY_BYTES, ANY_BYTES)
def test_spans_lie_within_their_lines_and_partners_are_mutual(before: bytes, after: bytes) -> None:
    lines = [line for hunk in diff_bytes("a.md", before, after).hunks for line in hunk.lines]
    added = {line.new: line for line in lines if line.kind is LineKind.ADDED}
    for line in lines:
        assert all(0 <= start < end <= len(line.text) for start, end in line.spans)
        if line.kind is LineKind.REMOVED and line.partner is not None:
            assert added[line.partner].partner == line.old


@given(ANY_BYTES, ANY_BYTES)
def test_the_unified_text_contains_nothing_that_a_terminal_obeys(before: bytes, after: bytes) -> None:
    text = as_unified(diff_bytes("a\x1b.md", before, after))
    assert not any((ord(char) < 32 and char != "\n") or 0x7F <= ord(char) < 0xA0 for char in text)


def test_a_changed_word_is_marked_and_the_heading_is_named() -> None:
    diff = diff_bytes("a.md", NOTE, NOTE.replace(b"Redis", b"the embedded store"), context=1)
    (hunk,) = diff.hunks
    removed, added = (line for line in hunk.lines if line.kind is not LineKind.SAME)
    assert (diff.added, diff.removed, hunk.heading, hunk.skipped) == (1, 1, "Cache", 3)
    assert [removed.text[a:b] for a, b in removed.spans] == ["Redis"]
    assert [added.text[a:b] for a, b in added.spans] == ["the embedded store"]
    assert (removed.partner, added.partner) == (5, 5)


def test_a_heading_in_the_frontmatter_does_not_count() -> None:
    before = b"---\n# comment\ntitle: x\n---\ntext\n"
    (hunk,) = diff_bytes("a.md", before, before + b"more\n", context=0).hunks
    assert hunk.heading == ""


def test_line_endings_and_a_missing_newline_are_reported() -> None:
    diff = diff_bytes("a.md", b"one\r\ntwo\r\n", b"one\ntwo", context=3)
    remarks = [(line.kind.value, line.remark) for hunk in diff.hunks for line in hunk.lines]
    assert remarks == [
        ("-", "ends with CR LF"),
        ("-", "ends with CR LF"),
        ("+", "ends with LF"),
        ("+", "no newline at end"),
    ]


def test_a_file_with_other_endings_throughout_needs_no_remarks() -> None:
    diff = diff_bytes("a.md", b"one\r\ntwo\r\n", b"one\r\nthree\r\n")
    assert not any(line.remark for hunk in diff.hunks for line in hunk.lines)


def test_diff_of_a_new_or_deleted_file_counts_all_lines() -> None:
    new, gone = diff_bytes("a.md", None, NOTE), diff_bytes("a.md", NOTE, None)
    assert (new.before_exists, new.added, new.removed) == (False, 10, 0)
    assert (gone.after_exists, gone.added, gone.removed) == (False, 0, 10)
    assert diff_bytes("a.md", None, b"").hunks == ()
    assert as_unified(new).startswith("--- /dev/null\n+++ b/a.md\n@@ -0,0 +1,10 @@")


def test_as_unified_formats_a_diff_like_git() -> None:
    diff = diff_bytes("a.md", b"1\n2\n3\n4\n5\n", b"1\n2\n3\n4\nfive")
    assert as_unified(diff) == (
        "--- a/a.md\n+++ b/a.md\n@@ -2,4 +2,4 @@\n 2\n 3\n 4\n-5\n+five\n\\ No newline at end of file\n"
    )


def test_several_moved_files_are_paired_by_their_bytes_or_their_names() -> None:
    edited = NOTE.replace(b"Once", b"Twice")
    moves = {"a.md": ("Old/a.md", NOTE, "New/b.md", NOTE), "c.md": ("Old/c.md", NOTE, "New/c.md", edited)}
    changes = [
        Change(path="Old/gone.md", before=b"x\n", after=None),
        Change(path="New/come.md", before=None, after=b"y\n"),
    ]
    for source, before, target, after in moves.values():
        changes += [Change(path=target, before=None, after=after), Change(path=source, before=before, after=None)]
    diffs = {(diff.old_path, diff.path): (diff.added, diff.removed) for diff in diff_changes(changes)}
    assert diffs == {
        ("Old/a.md", "New/b.md"): (0, 0),
        ("Old/c.md", "New/c.md"): (1, 1),
        ("", "Old/gone.md"): (0, 1),
        ("", "New/come.md"): (1, 0),
    }


def test_a_move_is_one_difference() -> None:
    gone = Change(path="old.md", before=NOTE, after=None)
    come = Change(path="new.md", before=None, after=NOTE.replace(b"Once", b"Twice"))
    link = Change(path="other.md", before=b"[[old]]\n", after=b"[[new]]\n")
    moved, other = diff_changes((gone, link, come))
    assert (moved.old_path, moved.path, moved.added, moved.removed) == ("old.md", "new.md", 1, 1)
    assert other.path == "other.md"


def test_a_deleted_file_and_a_different_new_one_are_not_a_move() -> None:
    gone, come = Change(path="a.md", before=NOTE, after=None), Change(path="b.md", before=None, after=b"x\n")
    assert [diff.old_path for diff in diff_changes((gone, come))] == ["", ""]


@pytest.mark.cases(3)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ab\n" * 30_000, "ba\n" * 30_000),
        ("\n" * 60_000, "x\n\n" * 30_000),
        ("".join(f"{i}\n" for i in range(40_000)), "".join(f"{i}\n" for i in range(40_000, 0, -1))),
        ("a " * 200_000, "b " * 200_000),
        ("x" * 500_000, "y" * 500_000 + "\r"),
    ],
    ids=["swapped", "blank", "reversed", "one long line", "one long word"],
)
def test_hostile_texts_are_compared_in_bounded_steps(before: str, after: str) -> None:
    assert applied(diff_bytes("a.md", before.encode(), after.encode(), context=WHOLE)) == (
        before.encode(),
        after.encode(),
    )


@given(st.lists(st.integers(0, 4), max_size=24), st.lists(st.integers(0, 4), max_size=24))
def test_common_runs_form_the_longest_common_subsequence(left: list[int], right: list[int]) -> None:
    runs = common_runs(left, right)
    for run in runs:
        assert left[run.left : run.left + run.size] == right[run.right : run.right + run.size] != []
    for one, two in pairwise(runs):
        assert one.left + one.size <= two.left
        assert one.right + one.size <= two.right
    assert sum(run.size for run in runs) == longest_common(left, right)


@given(st.lists(st.integers(0, 30), max_size=60), st.lists(st.integers(0, 30), max_size=60))
def test_common_runs_are_valid_beyond_the_edit_limit(left: list[int], right: list[int]) -> None:
    for run in common_runs(left, right, most_edits=2):
        assert left[run.left : run.left + run.size] == right[run.right : run.right + run.size]


def longest_common(left: list[int], right: list[int]) -> int:
    row = [0] * (len(right) + 1)
    for a in left:
        above, row = row, [0]
        for index, b in enumerate(right):
            row.append(above[index] + 1 if a == b else max(above[index + 1], row[index]))
    return row[-1]


@examples(200)
@given(FEW_LINES, FEW_LINES, FEW_LINES)
def test_a_merge_with_one_unchanged_side_is_the_other_side(base: str, mine: str, theirs: str) -> None:
    assert merge_texts(base, mine, base).text == mine
    assert merge_texts(base, base, theirs).text == theirs
    assert merge_texts(base, mine, mine).text == mine
    merged, mirrored = merge_texts(base, mine, theirs), merge_texts(base, theirs, mine)
    assert merged.is_clean == mirrored.is_clean
    assert merged.text == mirrored.text


def test_merge_texts_combines_separate_edits_and_reports_collisions() -> None:
    base = "one\ntwo\nthree\nfour\nfive\n"
    mine, theirs = base.replace("one", "1"), base.replace("five", "5")
    assert merge_texts(base, mine, theirs).text == "1\ntwo\nthree\nfour\n5\n"
    assert merge_texts(base, mine, base.replace("one", "I")).collisions == ((1, 1),)


def test_similar_lines_are_paired_and_unrelated_lines_are_not() -> None:
    assert list(partners(["a b c d", "zzz"], ["new", "a b c e"])) == [(0, 1)]
    assert changed_words("all of this", "nothing there at all like it") == ((), ())
    assert changed_words("来週の会議", "来週の予定") == (((3, 5),), ((3, 5),))
