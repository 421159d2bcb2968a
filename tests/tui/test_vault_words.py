"""The texts of the Vault screen and their layout: trees, pages, differences, templates, refusals."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from donna_tui.tui.lib.diff import MAX_LINES, DiffLayout, diff_rows, marked_line, pairs_of
from donna_tui.tui.lib.error_messages import REASONS, refusal_of, sentence
from donna_tui.tui.vault.conflict_dialogs import stretches_of, three_way_rows
from donna_tui.tui.vault.flows import fill, templates_of
from donna_tui.tui.vault.lists import HistoryList, undone
from donna_tui.tui.vault.note_detail import PAGE, pages_of
from donna_tui.tui.vault.plan_dialog import counted, note_path
from donna_tui.tui.vault.tree import TreeRow, folders_of, tree_rows
from donna_tui.tui.vault.wording import actor_name, author_of, done_by, what_of, when, why_special
from donna_tui.types.errors import DonnaError, Reason, VaultWriteError
from donna_tui.types.notes import NoteRow, NoteState, NoteText
from donna_tui.vault.note.diff import diff_bytes, diff_changes
from donna_tui.vault.obsidian import formatted
from donna_tui.vault.write.changes import BlobChange, Change, Clash, Operation, OperationKind, Revision
from tests.tui import hostile
from tests.tui.sample_vault import NOW

MOMENT = datetime(2026, 11, 5, 9, 7, 3)
TEXTS = st.one_of(
    st.lists(st.sampled_from(["# h\n", "a b\n", "a c\n", "\n", "x\r\n", "日本\n"]), max_size=12).map("".join),
    st.text(max_size=60),
    st.sampled_from(sorted(hostile.ALL.values())),
)


pytestmark = pytest.mark.usefixtures("utc")


def rows(*paths: str) -> list[NoteRow]:
    return [NoteRow(path=path) for path in paths]


def operation(kind: OperationKind = OperationKind.WRITE, *changes: BlobChange, **fields: object) -> Operation:
    known = {"id": "1", "actor": "you", "subject": "Write a.md", "at": NOW, "commit": "c"}
    return Operation(kind=kind, changes=changes, **{**known, **fields})  # type: ignore[arg-type]


def acted(text: str) -> bool:
    """Return whether a terminal would obey something in a row."""
    return any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or 0xD800 <= ord(char) < 0xE000 for char in text)


def test_tree_lists_folders_before_notes_in_case_insensitive_order() -> None:
    shown = tree_rows(rows("b.md", "A.md", "z/1.md", "Z/y/2.md"), folded=())
    assert [(row.name, row.depth) for row in shown] == [
        ("Z", 0),
        ("y", 1),
        ("2.md", 2),
        ("z", 0),
        ("1.md", 1),
        ("A.md", 0),
        ("b.md", 0),
    ]


def test_tree_is_in_the_order_of_obsidian() -> None:
    paths = (
        "Gateway risks.md",
        "Gateway.md",
        "Week 10.md",
        "Week 9.md",
        "Q 10/a.md",
        "Q 2/a.md",
        "2026-01-02.md",
        "9.md",
    )
    order = ["Q 2", "Q 10", "9.md", "2026-01-02.md", "Gateway.md", "Gateway risks.md", "Week 9.md", "Week 10.md"]
    assert [row.name for row in tree_rows(rows(*paths), folded={"Q 2", "Q 10"})] == order


def test_a_folded_folder_counts_what_is_inside() -> None:
    notes = [*rows("a/b/1.md", "a/2.md"), NoteRow(path="a/b/3.md", states=frozenset({NoteState.OUTSIDE}))]
    (row,) = tree_rows(notes, folded={"a"})
    assert (row.notes, row.edited, row.folded) == (3, 1, True)
    assert folders_of(notes) == {"a", "a/b"}


def test_a_filter_looks_at_every_word_and_opens_folders() -> None:
    notes = [*rows("a/one two.md", "a/one.md"), NoteRow(path="b.md", states=frozenset({NoteState.DRAFT}))]
    assert [row.name for row in tree_rows(notes, {"a"}, "TWO one")] == ["a", "one two.md"]
    assert [row.name for row in tree_rows(notes, (), "drafted")] == ["b.md"]
    assert not tree_rows(rows("Editing and formatting/Embed.md"), (), "edited")
    assert [row.name for row in tree_rows(notes, (), "sea", ["Z/Seaside", "Y"])] == ["Z", "Seaside"]


@given(st.text(max_size=300), st.integers(1, 40))
def test_pages_cover_a_note_and_know_their_lines(text: str, repeat: int) -> None:
    text = f"# one\n{text}\n\n## two\n" * repeat
    found = pages_of(text)
    assert "".join(page.text for page in found.pages) == text
    assert found.page_of(1) == 0
    for number, page in enumerate(found.pages):
        assert found.page_of(page.first_line) == number


@pytest.mark.parametrize("text", ["x" * (3 * PAGE), "line\n" * PAGE, "# h\n\ntext\n\n" * 20_000, ""])
def test_no_page_is_longer_than_what_can_be_drawn(text: str) -> None:
    found = pages_of(text)
    assert "".join(page.text for page in found.pages) == text
    assert all(len(page.text) <= PAGE for page in found.pages)


@given(TEXTS, TEXTS, st.integers(12, 140), st.booleans(), st.booleans())
def test_rows_of_a_difference_fit_and_hold_nothing_that_acts(
    before: str, after: str, width: int, beside: bool, wrap: bool
) -> None:
    old, new = (text.encode("utf-8", "surrogatepass") for text in (before, after))
    for row in diff_rows([diff_bytes("a\x1b.md", old, new)], DiffLayout(width, beside, wrap)):
        assert not acted(row.content.plain)
        if row.base != "gap" and "unchanged" not in row.content.plain:
            assert row.content.cell_length <= max(width, 24)


@given(TEXTS, TEXTS)
def test_side_by_side_diff_shows_every_line_once_on_its_side(before: str, after: str) -> None:
    diff = diff_bytes("a.md", before.encode("utf-8", "replace"), after.encode("utf-8", "replace"))
    for hunk in diff.hunks:
        pairs = list(pairs_of(hunk.lines))
        assert [old.old for old, _ in pairs if old] == [line.old for line in hunk.lines if line.old]
        assert [new.new for _, new in pairs if new] == [line.new for line in hunk.lines if line.new]


def test_changed_words_are_marked_where_they_are_shown() -> None:
    content = marked_line("a\tb\x1bc", ((2, 4),), "added-word")
    (span,) = content.spans
    assert content.plain[span.start : span.end] == "b␛"


def test_marks_that_would_hide_what_is_unsafe_are_given_up() -> None:
    text = "a" + "\u0301" * 12
    content = marked_line(text, tuple((place, place + 1) for place in range(1, 12, 2)), "added-word")
    assert content.plain.count("\u0301") == 4
    assert not content.spans


def test_a_long_difference_is_cut_and_says_so() -> None:
    many = "".join(f"{number}\n" for number in range(MAX_LINES + 50)).encode()
    shown = diff_rows(diff_changes([Change(path="a.md", before=None, after=many)]), DiffLayout(80))
    assert shown[-1].content.plain.strip() == "… and 50 more lines"


@given(TEXTS, TEXTS, TEXTS)
def test_three_versions_are_shown_whole(left: str, found: str, wanted: str) -> None:
    versions = [text.encode("utf-8", "replace") for text in (left, found, wanted)]
    clash = Clash(path="a.md", expected=versions[0], found=versions[1], wanted=versions[2])
    stretches = list(stretches_of(clash))
    for index, version in enumerate(versions):
        lines = [line for stretch in stretches for line in stretch.sides[index]]
        text = version.decode().replace("\r\n", "\n").replace("\r", "\n")
        assert lines == text.removesuffix("\n").split("\n") or not text
    for width in (40, 100, 160):
        assert not any(acted(row.content.plain) for row in three_way_rows(clash, width))


def test_a_note_that_is_gone_is_reported_in_its_column() -> None:
    clash = Clash(path="a.md", expected=b"one\n", found=None, wanted=b"two\n")
    assert any("As it is now  no note" in row.content.plain for row in three_way_rows(clash, 120))


def test_templates_are_filled_as_obsidian_fills_them() -> None:
    assert fill("# {{title}} {{date}} {{ time }}", title="A", now=MOMENT) == "# A 2026-11-05 09:07"
    assert fill("{{date:dddd D MMMM YYYY [at] H:mm}}", title="", now=MOMENT) == "Thursday 5 November 2026 at 9:07"
    assert fill("{{date:dddd, MMMM Do}} {{time:h:mm A}}", title="", now=MOMENT) == "Thursday, November 5th 9:07 AM"
    for unknown in ("{{other}} {{title", "{{date:gggg-[W]ww}}"):
        assert fill(unknown, title="A", now=MOMENT) == unknown
    assert fill("{{title}}", title="{{date}}", now=MOMENT) == "{{date}}"
    assert formatted(MOMENT, "YYYY-[W]WW hh:mm a") == "2026-W45 09:07 am"


def test_only_notes_in_the_templates_folder_are_templates() -> None:
    notes = rows("Templates/b.md", "templates/a.md", "Templates.md", "x/Templates/c.md")
    assert templates_of(notes) == ["Templates/b.md", "templates/a.md"]


def test_the_head_of_a_note_says_what_keeps_it_local_or_from_being_edited() -> None:
    row = TreeRow("a.md", "a.md", 0, note=NoteRow(path="a.md"))
    note = NoteText(path="a.md", text="", etag="", problem="the frontmatter is not valid YAML (line 2)", is_exact=False)
    assert why_special(row, note) == (
        "The frontmatter is not valid YAML (line 2), so the note is private. "
        "It is not UTF-8, so it cannot be edited here."
    )


@pytest.mark.parametrize("reason", [*REASONS], ids=str)
def test_every_refusal_has_a_title_a_sentence_and_a_next_step(reason: Reason) -> None:
    refusal = refusal_of(VaultWriteError(reason, ""))
    assert refusal.title
    assert refusal.what.endswith(".")
    assert refusal.step.endswith((".", "?"))
    assert refusal.what[0].isupper()


def test_every_reason_of_a_write_has_its_own_message() -> None:
    writing = {
        "path_escape not_markdown missing ignored not_regular unreadable too_large too_long not_text invalid_frontmatter",
        "outside_allowlist conflict sensitive encoding git_busy git_locked git_failed no_repository not_trusted",
        "ignored_by_git would_track nothing_to_undo nothing_to_redo undo_conflict root_missing busy disk_full io_error",
    }
    sentences = [REASONS[Reason(code)].what for codes in writing for code in codes.split()]
    assert "This is not possible." not in sentences
    assert len(set(sentences)) == len(sentences)


def test_the_message_of_the_engine_is_first_and_is_sanitised() -> None:
    error = VaultWriteError(Reason.CONFLICT, "there is a note\x1b of that name", hint="choose another", path="a\n.md")
    refusal = refusal_of(error)
    assert refusal.title == "Not written: conflict"
    assert (refusal.what, refusal.step) == ("There is a note␛ of that name.", "Choose another.")
    assert refusal.path == "a⏎.md"
    assert refusal_of(DonnaError(Reason.USAGE, "")).step
    assert sentence("") == ""


def test_actor_and_author_names_are_displayed_safely() -> None:
    assert [actor_name(name) for name in ("you", "Donna", "agent:claude", "", "a\x1bb")] == [
        "you",
        "Donna",
        "claude",
        "Donna",
        "a␛b",
    ]
    by_hand = Revision(commit="c", at=NOW, author="Noor\x07", subject="tidy\n", paths=("a.md",))
    assert (author_of(by_hand), what_of(by_hand)) == ("Noor␇", "tidy⏎")


def test_operations_are_described_by_kind_and_path() -> None:
    new, edit = BlobChange(path="a.md", before=None, after="1"), BlobChange(path="b.md", before="1", after="2")
    gone = BlobChange(path="c.md", before="1", after=None)
    assert done_by(operation(OperationKind.WRITE, new)) == "created a.md"
    assert done_by(operation(OperationKind.WRITE, edit)) == "wrote b.md"
    assert done_by(operation(OperationKind.MOVE, gone, new, edit)) == "moved c.md → a.md"
    assert done_by(operation(OperationKind.UNDO, edit, gone)) == "undid c.md and 1 more note"
    assert done_by(operation(OperationKind.DELETE)) == "Write a.md"


def test_a_decision_about_a_draft_has_the_name_that_review_gives_it() -> None:
    gone = BlobChange(path="a.md", before="1", after=None)
    assert done_by(operation(OperationKind.DELETE, gone, subject="Reject a.md")) == "rejected a.md"
    assert done_by(operation(OperationKind.MOVE, gone, subject="Approve b\x1b.md")) == "approved b␛.md"
    for verb in ("Redraft", "Regenerate"):
        assert done_by(operation(OperationKind.WRITE, gone, subject=f"{verb} a.md")) == "redrafted a.md"
    agents = operation(OperationKind.DELETE, gone, subject="Reject a.md", actor="agent:claude")
    assert done_by(agents) == "deleted a.md"


def test_when_shows_the_year_only_for_other_years() -> None:
    assert when(NOW, NOW) == "20 Nov 14:32"
    assert when(NOW - 400 * 86_400, NOW) == "16 Oct 2025"
    assert when(1e30, NOW) == "–"


def test_undone_contains_operations_undone_but_not_redone() -> None:
    def revision(number: int, **fields: object) -> Revision:
        done = operation(id=str(number), **fields)
        return Revision(commit=str(number), at=NOW, author="", subject="", paths=(), operation=done)

    history = [revision(3, undoes=("2",)), revision(2), revision(1)]
    assert undone(history) == {"2"}
    assert undone([revision(4, redoes=("2",)), *history]) == set()


async def test_history_says_what_an_undo_is_about_and_marks_what_is_undone_at_any_width() -> None:
    class Lists(App[None]):
        def compose(self) -> ComposeResult:
            yield HistoryList()

    def entry(number: int, kind: OperationKind = OperationKind.WRITE, **fields: object) -> Revision:
        done = operation(kind, BlobChange(path=f"{'a' * 50}.md", before=None, after="1"), id=str(number), **fields)
        return Revision(commit=str(number), at=NOW, author="", subject="", paths=(), operation=done)

    both, last = (entry(len(ids) + 2, OperationKind.UNDO, undoes=ids) for ids in (("1", "2"), ("2",)))
    async with Lists().run_test() as pilot:
        history = pilot.app.query_one(HistoryList)
        history.show((both, last, entry(2), entry(1)))
        shown = [history.row(index, 60).plain for index in range(4)]
    assert "undid 2 changes" in shown[0]
    assert "undid: created aaa" in shown[1]
    assert all(row.endswith("undone") for row in shown[2:])


@pytest.mark.parametrize("wrap", [True, False])
def test_the_title_of_a_long_move_shows_where_to_and_what_changes_or_that_it_is_cut(wrap: bool) -> None:
    old, new = "A folder with a long name/A note.md", "Another folder with a long name/A note.md"
    moved = diff_changes([Change(path=old, before=b"a", after=None), Change(path=new, before=None, after=b"a")])
    contents = [row.content for row in diff_rows(moved, DiffLayout(60, wrap=wrap))]
    assert all(content.cell_length <= 60 for content in contents)
    rows = [content.plain for content in contents]
    if wrap:
        assert " ".join(" ".join(rows).split()) == f"{old} → {new} moved unchanged"
    else:
        assert rows[0].endswith("…")


def test_a_move_of_notes_that_changes_no_line_says_so() -> None:
    moves = [Change(path=f"new/{name}.md", before=None, after=name.encode()) for name in "ab"]
    moves += [Change(path=f"{name}.md", before=name.encode(), after=None) for name in "ab"]
    assert counted(diff_changes(moves)).plain == "no lines changed · in 2 notes"


def test_the_preview_of_an_undo_counts_the_notes_that_it_deletes() -> None:
    changes = [Change(path="new.md", before=b"a\n", after=None), Change(path="old.md", before=b"b\n", after=b"")]
    words = "2 lines removed · in 2 notes"
    assert counted(diff_changes(changes)).plain == words
    assert counted(diff_changes(changes), is_undone=True).plain == f"{words} · 1 note deleted"


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("a", "a.md"),
        (" a/b.md ", "a/b.md"),
        ("a.markdown", "a.markdown"),
        ("a/", ""),
        ("  ", ""),
        ("v1.2", "v1.2.md"),
        ("a/../b/c", "b/c.md"),
        ("a/.//b", "a/b.md"),
        ("a/../../b", "../b.md"),
        ("/a", "/a.md"),
        ("a/..", ""),
        ("a/.", ""),
    ],
)
def test_typed_note_name_is_converted_to_a_path(typed: str, path: str) -> None:
    assert note_path(typed) == path
