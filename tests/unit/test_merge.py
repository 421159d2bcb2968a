"""A merge of frontmatter changes only the bytes of the keys that change, or is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from donna_tui.text.merge import marked_text
from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.note.merge import merge_frontmatter
from donna_tui.vault.note.read import LARGEST_BLOCK, parse_frontmatter
from donna_tui.vault.note.yaml import top_level_nodes

EVALUATION = Path(__file__).resolve().parents[3] / "shared" / "eval"
VAULTS = sorted(EVALUATION.glob("*/vault"))
BOM = "\ufeff"


def note(block: str, body: str = "body\n") -> str:
    return f"---\n{block}---\n{body}"


def refusal(existing: str, incoming: str) -> VaultWriteError:
    with pytest.raises(VaultWriteError) as caught:
        merge_frontmatter(existing, incoming)
    assert caught.value.reason is Reason.INVALID_FRONTMATTER
    assert caught.value.hint
    return caught.value


USER = """\
# what this note is
title: "Day 1"   # as on the cover

date: 2024-05-01
time: 12:30
code: 007
done: no
empty:
# the people
people:
  - name: Ann # boss
    age: 0x1F

  - name: Bob
summary: >-
  two
  lines


long: |
  # no comment
  text

flow: [a,
  "b, c"]  # behind
# the end
"""


@pytest.mark.parametrize(
    ("edit", "before", "after"),
    [
        ("title: Day 2", '"Day 1"', "Day 2"),
        ("title: 'Day 1'", "", ""),
        ("code: '007'\ntime: \"12:30\"\ndone: 'no'\ndate: '2024-05-01'", "", ""),
        ("code: 7", "007", "7"),
        ("time: 750", "12:30", "750"),
        ("done: false", "done: no", "done: false"),
        ("done: null", "done: no\n", ""),
        ("empty: full # of it", "empty:\n", "empty: full\n"),
        ("absent: null", "", ""),
        ("flow: [a, 'b, c']", "", ""),
        ("flow: null", 'flow: [a,\n  "b, c"]  # behind\n', ""),
        ("flow: [b]", 'flow: [a,\n  "b, c"]  # behind\n', "flow: [b]\n"),
        ("people: null", USER[USER.index("people:") : USER.index("summary")], ""),
        ("people:\n- Cy\n- Di # new", USER[USER.index("people:") : USER.index("summary")], "people:\n- Cy\n- Di # new\n"),
        ("summary: one", "summary: >-\n  two\n  lines\n", "summary: one\n"),
        ("long: |\n  other\n\n", "  # no comment\n  text\n", "  other\n"),
        ("title:\n  - a", 'title: "Day 1"   # as on the cover\n', "# as on the cover\ntitle:\n  - a\n"),
        ("title: |\n  a", 'title: "Day 1"   # as on the cover\n', "# as on the cover\ntitle: |\n  a\n"),
        ("# why\nnew: 1 # c\n\nlast: {a: [1]}", "# the end\n", "# the end\n# why\nnew: 1 # c\nlast: {a: [1]}\n"),
        ("new: null\ntitle: null\ndate: x", 'title: "Day 1"   # as on the cover\n\ndate: 2024-05-01', "\ndate: x"),
    ],
)  # fmt: skip
def test_one_edit_changes_its_own_bytes(edit: str, before: str, after: str) -> None:
    assert USER.count(before) == 1 or not before
    merged = merge_frontmatter(note(USER), note(edit + "\n", "new body"))
    assert merged == note(USER.replace(before, after) if before else USER, "new body")
    assert merge_frontmatter(merged, note(edit + "\n", "new body")) == merged


@pytest.mark.parametrize("text", [note(USER), note(USER).replace("\n", "\r\n"), note(USER).replace("\n", "\r"), BOM + note(USER)])  # fmt: skip
def test_a_note_merged_with_itself_stays(text: str) -> None:
    assert merge_frontmatter(text, text) == text


@pytest.mark.parametrize(
    ("existing", "incoming", "merged"),
    [
        (note("a: 1\n"), "new", note("a: 1\n", "new")),
        (note("a: 1\n"), "", note("a: 1\n", "")),
        ("---\na: 1\n---", "new", "---\na: 1\n---\nnew"),
        ("---\r\na: 1\r\n---", "new", "---\r\na: 1\r\n---\r\nnew"),
        ("---\na: 1\n---", "---\nb: 2\n---", "---\na: 1\nb: 2\n---"),
        ("--- \na: 1\n...\t\nold", note("a: 2\n", "new"), "--- \na: 2\n...\t\nnew"),
        ("old", note("a: 1\nb: null\n# c\nc: ~\n"), note("a: 1\n# c\n")),
        ("", note("a: 1\nb:\n"), note("a: 1\n")),
        ("old", note("a: null\n"), note("")),
        (note("a: |\n  x\n"), note("a: |\n  x\nc: 1\n  # of c\nb: 1\n"), note("a: |\n  x\nc: 1\nb: 1\n")),
        (note("a: 1\n"), note("# of a\na: 1\n# far\n\n# near\n# nearer\nb: 1\n"), note("a: 1\n# near\n# nearer\nb: 1\n")),
        ("old", "new", "new"),
        (note(""), note("a: 1\n"), note("a: 1\n")),
        (note("# c\n\n"), note("a: 1\n"), note("# c\n\na: 1\n")),
        (note("a: 1\n"), note("a: null\n"), note("")),
        (note("a: 1\n"), note("# nothing\n", "new"), note("a: 1\n", "new")),
        (note("a:\n"), note("a: null\n"), note("a:\n")),
        (note("a: true\n"), note("a: 1\n"), note("a: 1\n")),
        (note("a: [1]\n"), note("a: [true]\n"), note("a: [true]\n")),
        (note("a: {x: 1, y: 2}\n"), note("a:\n  y: 2\n  x: 1\n"), note("a: {x: 1, y: 2}\n")),
        (note("a: {x: 1, y: 2}\n"), note("a: {x: null}\n"), note("a: {x: null}\n")),
        (note('"1": a\n2 : b\n'), note("1: c\n'2': d\n"), note('"1": c\n2 : d\n')),
        (note('"true": a\n'), note("true: b\n"), note('"true": b\n')),
        (note("1: a\n"), note('"1": [c,\n d]\n'), note("1: [c,\n d]\n")),
        (note("~: a\n"), note("null: b\n"), note("~: b\n")),
        (note("ключ: а\n😀: 1\n"), note("😀: 2\n"), note("ключ: а\n😀: 2\n")),
        (note("Tags: a\n"), note("tags: b\n"), note("Tags: a\ntags: b\n")),
        (note("a: &x 1\nb: *x\nc: 2\n"), note("c: 3\n"), note("a: &x 1\nb: *x\nc: 3\n")),
        (note("{a: 1, b: 2}\n"), note("b: 2\n", "new"), note("{a: 1, b: 2}\n", "new")),
        (note("  a: 1\n"), "new", note("  a: 1\n", "new")),
        (note("a: |+\n  x\n\nb: 1\n"), note("b: 2\n"), note("a: |+\n  x\n\nb: 2\n")),
        (note("a: |+\n  x\n\nb: 1\n"), note("a: y\n"), note("a: y\nb: 1\n")),
        (note("a: |\n\nb: 1\n"), note("a: y\n"), note("a: y\n\nb: 1\n")),
        (note("a: | # c\n  x\nb: 1\n"), note("a: y\n"), note("# c\na: y\nb: 1\n")),
        (note("a: | # c\nb: 1\n"), note("a: y\n"), note("# c\na: y\nb: 1\n")),
        (note("a: x # c\nb: 1\n"), note("a: | # d\n"), note("# c\na: | # d\nb: 1\n")),
        (note("a: # c\n  - x\n"), note("a: [y]\n"), note("# c\na: [y]\n")),
        (note('a: "x # y\n  z"\n'), note("a: [y]\n"), note("a: [y]\n")),
        (note("a: # c\nb: 1\n"), note("a: y\n"), note("a: y # c\nb: 1\n")),
        (note("a:   \n"), note("a: y\n"), note("a: y   \n")),
        (note('a: "x\u2028y"\nb: 1\n'), note("b: 2\n"), note('a: "x\u2028y"\nb: 2\n')),
        (note("a: x\n  y\n\n  z\nb: 1\n"), note("a: x\n  z\n"), note("a: x\n  z\nb: 1\n")),
        (note("a: !!str 5\n"), note("a: 5\n"), note("a: 5\n")),
    ],
)  # fmt: skip
def test_merge_frontmatter_writes_expected_text_and_is_idempotent(existing: str, incoming: str, merged: str) -> None:
    assert merge_frontmatter(existing, incoming) == merged
    assert merge_frontmatter(merged, incoming) == merged
    assert merge_frontmatter(merged, merged) == merged


@pytest.mark.parametrize(
    ("existing", "incoming", "merged"),
    [
        ("---\r\na: 1\r\n---\r\nold\r\n", "new\n\ntext\n", "---\r\na: 1\r\n---\r\nnew\r\n\r\ntext\r\n"),
        ("---\r\na: 1\r\n---\r\n", "---\nb: |\n  x\n---\ny\n", "---\r\na: 1\r\nb: |\r\n  x\r\n---\r\ny\r\n"),
        ("---\r\na: 1\r\n---\r\nold\n", "---\na:\n- 2\n---\nnew\n", "---\r\na:\r\n- 2\r\n---\r\nnew\n"),
        ("---\ra: 1\r---\rold\r", "---\nb:\n- 2\n---\nnew\n", "---\ra: 1\rb:\r- 2\r---\rnew\n"),
        ("---\na: 1\n---\nold\n", "---\r\nb:\r\n- 2\r\n---\r\nnew\r\n", "---\na: 1\nb:\n- 2\n---\nnew\r\n"),
        ("---\r\na: 1\r\n---\r\n", "new\n\rtext", "---\r\na: 1\r\n---\r\nnew\n\rtext"),
        ("old\r\n", "---\na: 1\n---\nnew\n", "---\r\na: 1\r\n---\r\nnew\r\n"),
    ],
)
def test_line_ends_are_those_of_the_note(existing: str, incoming: str, merged: str) -> None:
    assert merge_frontmatter(existing, incoming) == merged
    assert merge_frontmatter(merged, incoming) == merged


@pytest.mark.parametrize("existing", [note("a: 1\n"), "old", "", "old\n"])
@pytest.mark.parametrize("incoming", [note("a: 2\n"), "new"])
def test_the_byte_order_mark_is_that_of_the_note(existing: str, incoming: str) -> None:
    merged = merge_frontmatter(existing, incoming)
    assert merge_frontmatter(existing, BOM + incoming) == merged
    assert merge_frontmatter(BOM + existing, incoming) == BOM + merged
    assert merge_frontmatter(BOM + existing, BOM + incoming) == BOM + merged


BROKEN = {
    "broken": "a: [\n",
    "a colon too many": "a: b: c\n",
    "the same key twice": "a: 1\na: 2\n",
    "the same number twice": '1: a\n"1": b\n',
    "a list": "- a\n",
    "a tab for indentation": "a:\n\t- b\n",
    "too large": f"a: {'x' * LARGEST_BLOCK}\n",
    "contains itself": "a: &x [*x]\n",
    "unknown tag": "a: !x 1\n",
}


@pytest.mark.parametrize("block", BROKEN.values(), ids=BROKEN)
def test_frontmatter_that_cannot_be_read_is_refused(block: str) -> None:
    assert refusal(note(block), "new").message.startswith("in the note, the frontmatter ")
    refusal(note(block), note("b: 1\n"))
    assert refusal(note("b: 1\n"), note(block)).message.startswith("in the new text, the frontmatter ")
    refusal("old", note(block))


UNSURE = {
    "flow mapping": "{a: 1, b: 2}\n",
    "flow mapping on lines": "{\na: 1,\nb: 2\n}\n",
    "empty flow mapping": "{}\n",
    "null": "~\n",
    "indented": "  a: 1\n  b: 2\n",
    "explicit key": "? a\n: 1\n",
    "merge key": "b: 1\n<<: {a: 1}\n",
    "document start": "--- # here\na: 1\n",
    "document end": "a: 1\n... # there\n",
    "directive": "%YAML 1.1\n--- # here\na: 1\n",
    "tagged": "!!map\na: 1\n",
    "key behind a line separator": "b: x\u2028a: 1\n",
    "key behind a next line": "b: x\x85a: 1\n",
    "byte order mark": "\ufeffa: 1\n",
    "anchor in the value": "a: &x 1\nb: *x\n",
    "anchor inside the value": "a: [&x 1]\nb: *x\n",
    "anchor at the key": "&x a: 1\nb: *x\n",
    "alias as the value": "b: &x 1\na: *x\n",
    "null and its sign": "~: 1\nnull: 2\na: 1\n",
    "true and 1": "true: 1\n1: 2\na: 1\n",
}  # fmt: skip


@pytest.mark.parametrize("block", UNSURE.values(), ids=UNSURE)
@pytest.mark.parametrize("value", ["2", "null", "\n- x"])
def test_merge_frontmatter_rejects_ambiguous_edits(block: str, value: str) -> None:
    refusal(note(block), note(f"a: {value}\nc: 2\n"))


@pytest.mark.parametrize("block", ["a: &x 1\n", "a: [&x 1, *x]\n", "{a: 1}\n", "  a: 1\n", "? a\n: 1\n"])
def test_a_new_value_of_unsure_form_is_refused(block: str) -> None:
    refusal(note("b: 1\n"), note(block))
    refusal(note("a: 2\n"), note(block))


@pytest.mark.parametrize(
    ("existing", "incoming"),
    [
        (note("a: |+\n  x\nb: 1\n\nc: 1\n"), note("b: null\n")),
        (note("a: 1\n\nb: 1\n"), note("a: |+\n  x\n")),
        (note("a: |\n  x\nb: 1\n  # in b\nc: 1\n"), note("b: null\n")),
        ("---\ra: 1\r---\rold", "\nnew"),
        (BOM + BOM + "a", BOM + BOM + "a"),
        ("a", BOM + BOM + note("a: 1\n")),
        (note(f"a: {'x' * 40_000}\n"), note(f"b: {'x' * 40_000}\n")),
        ("---\ntitle: x\nno end\n", "new"),
        ("old", "---\ntitle: x\nno end\n"),
        (note("a: 1\n"), "---\r\ntitle:\r\n"),
    ],
    ids=lambda text: re.sub(r"x{9,}", "…", text),
)  # fmt: skip
def test_merge_frontmatter_rejects_results_that_parse_differently(existing: str, incoming: str) -> None:
    refusal(existing, incoming)


@pytest.mark.parametrize("prose", ["---\n\nText: with\ntwo rules\n\n---\n", "---\n", "---\nno key\n", "---\n\na: b\n"])
def test_text_after_a_thematic_break_is_not_frontmatter(prose: str) -> None:
    assert merge_frontmatter(note("a: 1\n"), prose) == note("a: 1\n", prose)
    assert merge_frontmatter(prose, "new") == "new"


def test_a_refusal_never_contains_text_of_the_note() -> None:
    secret = refusal(note("secret: &x 1\n"), note("secret: 2\n"))
    assert "secret" not in f"{secret.message} {secret.hint}"


def test_a_long_block_is_edited_in_place() -> None:
    keys = [f"key-{number}: {number} # comment\n" for number in range(2_000)]
    merged = merge_frontmatter(note("".join(keys)), note("key-1000: x\nkey-1999: null\n"))
    keys[1000:] = ["key-1000: x # comment\n", *keys[1001:-1]]
    assert merged == note("".join(keys))


def test_top_level_nodes_have_exact_text_spans() -> None:
    block = "é: |\n  x\n\n# c\nb: [1,\n 2] # c\n\nc:\n- y\n-\n# c\nd: |+\n  z\n\ne:\n"
    nodes = top_level_nodes(block)
    assert [block[node.start : node.end] for node in nodes] == [
        "é", "|\n  x", "b", "[1,\n 2]", "c", "- y\n-", "d", "|+\n  z\n\n", "e", "",
    ]  # fmt: skip


@pytest.mark.skipif(not VAULTS, reason="the vaults of the evaluation are not beside the repository")
@pytest.mark.cases(1)
@pytest.mark.parametrize("vault", VAULTS, ids=lambda vault: vault.parent.name)
def test_every_note_of_the_evaluation_keeps_its_bytes(vault: Path) -> None:
    notes = sorted(vault.rglob("*.md"))
    assert notes
    for number, file in enumerate(notes):
        text = file.read_bytes().decode("utf-8-sig")
        found = parse_frontmatter(text)
        if found.present and not found.problem:
            keys = [key for key, value in found.data.items() if value is not None]
            check_edits(text, keys[number % len(keys)] if keys else "")


def check_edits(text: str, key: str) -> None:
    """Change, remove and add a key; the lines of the note's other keys must be exactly the same."""
    body = text[parse_frontmatter(text).body_start :]
    head = text[: len(text) - len(body)]
    assert merge_frontmatter(text, text) == text
    assert merge_frontmatter(text, "new") == head + "new"
    lines = head.splitlines(keepends=True)
    added = merge_frontmatter(text, note("an added key: [1, 2]\n", body))
    assert added == "".join([*lines[:-1], "an added key: [1, 2]\n", lines[-1]]) + body
    assert merge_frontmatter(added, note("an added key: null\n", body)) == text
    if key:
        start = next(number for number, line in enumerate(lines) if line.startswith(f"{key}:"))
        end = next(number for number in range(start + 1, len(lines)) if not lines[number].startswith((" ", "- ")))
        before, after = "".join(lines[:start]), "".join(lines[end:])
        assert merge_frontmatter(text, note(f"{key}: null\n", body)) == before + after + body
        assert merge_frontmatter(text, note(f"{key}:\n  - new\n", body)) == f"{before}{key}:\n  - new\n{after}{body}"


def test_conflict_markers_enclose_what_both_changed_and_nothing_else() -> None:
    base, mine, theirs = "a\nb\nc\nd\n", "a\nB\nc\nd\nmine\n", "a\nbb\nc\nd\n"
    assert marked_text(base, mine, theirs) == ("a\n<<<<<<< mine\nB\n=======\nbb\n>>>>>>> theirs\nc\nd\nmine\n")
    assert marked_text("x", "y", "z") == "<<<<<<< mine\ny\n=======\nz\n>>>>>>> theirs\n"
    assert marked_text(base, base, theirs) == theirs
