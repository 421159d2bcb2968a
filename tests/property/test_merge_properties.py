"""A merge of frontmatter changes only the bytes of changed keys, and has the values of both blocks."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.note.merge import merge_frontmatter
from donna_tui.vault.note.read import parse_frontmatter
from tests.examples import examples

KEYS = [
    ["title", '"title"', "'title'"], ["tags"], ["1", '"1"'], ["2024"], ["007", '"007"'], ["false", "'false'"], ["no", '"no"'],
    ["12:30"], ["null", '"null"'], ["ключ", '"ключ"'], ["日本語"], ["😀"], ["with space", "'with space'"], ["a-b_c.d"], ["x/y"],
    ['"# not a comment"'], ["long" * 20], ["A"], ["a"], ["-x"], ["?x"],
]  # fmt: skip
"""Groups of spellings of the same key."""

NULLS = ["", "null", "~", "Null"]
ONE_LINE = [
    "007", "12:30", "no", "on", "yes", "true", "True", "1", "1.10", "0x1F", "-0", "2024-05-01", "2024-05-01T10:00:00Z", "text",
    "a b  c", "it's", "http://example.org/#part", '"quoted"', '"\\u00e9 \\" # no"', "'it''s # no'", '""', "''", "[]", "{}", "[a, b]",
    "[1, [2, {x: y}]]", "{a: 1, b: [2]}", '["#tag", \'x\']', "[[Link]]", '"[[Link|name]]"', "!!str 5", "naïve café", "日本語 😀", "\"x\u2028y\"",
    "a" * 300, '"<<"', "|", ">-", "-1", ".5", "'%x'", '"&"', "'*'",
]  # fmt: skip
MORE_LINES = [
    ("", "\n  - a\n  - b"), ("", "\n- a\n- b"), ("", "\n  - a # one\n  # two\n\n  - b"), ("", "\n-\n- "), ("", "\n  a: 1\n  b:\n    - c"),
    ("", "\n  - x: 1\n    y: |\n      text\n  - z"), ("", "\n  plain text\n  on lines"), ("", "\n  # before\n  value"), ("", "\n  k:"),
    ("|", "\n  text\n  # no comment\n\n  key: no"), ("|-", "\n  text"), (">", "\n  folded\n  text\n\n  more"), (">-", "\n  x"),
    ("|2", "\n    indented"), ("|", "\n\n  blank first"), (None, "[a,\n  b, # c\n  c]"), (None, "{a: 1,\n  b: 2}"), (None, "[\n]"),
    (None, '"on\n  two # no\n\n  lines"'), (None, "'it''s\n  two'"), (None, "plain\n  on lines\n\n  yes"), ("", "\n  " + "x" * 200 + "\n  y"),
]  # fmt: skip
"""The text on the line of the key, if a comment may follow it there, and the rest."""

COMMENTS = ["# a comment", "# key: value", "#", "# [", '# "', "# ---", "# ünï 😀", "# - item"]
LEAVES = (
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.text(st.characters(exclude_categories=["Cs", "Cc"]))
)
DATA = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc1 "), inner, max_size=3),
    max_leaves=6,
)


@dataclass(frozen=True)
class Line:
    """A line of a block without a key: a comment, or blank."""

    text: str


@dataclass(frozen=True)
class Key:
    """A key as it is written: `head` is on its line, then comes `remark`, then `rest`."""

    name: int
    spelling: str
    gap: str
    head: str
    remark: str
    rest: str

    @property
    def is_long(self) -> bool:
        return bool(self.rest) or self.head.startswith(("|", ">"))

    @property
    def text(self) -> str:
        return f"{self.spelling}:{self.gap}{self.head}{self.remark}{self.rest}\n"

    @property
    def value(self) -> Any:
        (value,) = parse_frontmatter(f"---\n{self.text}---\n").data.values()
        return value


@st.composite
def values(draw: st.DrawFn) -> tuple[str, str, bool]:
    """Generate the text on the key's line, the rest, and whether a comment may be between them."""
    kind = draw(st.sampled_from(["null", "one", "one", "more", "dumped"]))
    if kind == "null":
        return draw(st.sampled_from(NULLS)), "", True
    if kind == "one":
        return draw(st.sampled_from(ONE_LINE)), "", True
    if kind == "more":
        head, rest = draw(st.sampled_from(MORE_LINES))
        return ("", rest, False) if head is None else (head, rest, True)
    return dumped(draw(DATA), draw(st.booleans()), draw(st.sampled_from([20, 10_000])))


def dumped(data: object, is_flow: bool, width: int) -> tuple[str, str, bool]:
    """Return the parts of `values` as a YAML library writes them, with the same rule for comments."""
    text = yaml.safe_dump({"k": data}, default_flow_style=is_flow, width=width, allow_unicode=True)
    source = text.strip().removeprefix("{").removesuffix("}" if is_flow else "").removeprefix("k:")
    if "\n" not in source:
        return source.strip(" "), "", True
    return ("", source, True) if source.startswith("\n") else ("", source.removeprefix(" "), False)


@st.composite
def keys(draw: st.DrawFn, name: int) -> Key:
    head, rest, has_room = draw(values())
    gap = draw(st.sampled_from([" ", " ", "   "])) if head or (rest and rest[0] != "\n") else ""
    remark = draw(st.sampled_from(["", "", " # remark", "   #", "  # a: b"])) if has_room else ""
    return Key(name, draw(st.sampled_from(KEYS[name])), gap, head, remark, rest)


@st.composite
def blocks(draw: st.DrawFn) -> list[Line | Key]:
    names = draw(st.lists(st.sampled_from(range(len(KEYS))), unique=True, max_size=7))
    block: list[Line | Key] = []
    for name in [*names, None]:
        block += [Line(text) for text in draw(st.lists(st.sampled_from([*COMMENTS, "", "", "  "]), max_size=2))]
        if name is not None:
            block.append(draw(keys(name)))
    return block


@dataclass(frozen=True)
class Case:
    """Two notes, and how each is written to its file."""

    old: list[Line | Key]
    new: list[Line | Key]
    mark: str
    line_end: str
    new_line_end: str
    fences: tuple[str, str]
    bodies: tuple[str, str]

    @property
    def existing(self) -> str:
        return self.mark + self.laid_out(self.old, self.bodies[0])

    @property
    def incoming(self) -> str:
        return written(self.new, ("---\n", "---\n"), self.bodies[1], self.new_line_end)

    @property
    def seam_is_lost(self) -> bool:
        """Return whether the line end of the fence and that of an empty first line would be read as one."""
        body = self.bodies[1].replace("\n", self.new_line_end)
        return self.line_end == "\r" and body.startswith("\n")

    def laid_out(self, block: list[Line | Key], body: str) -> str:
        return written(block, self.fences, "", self.line_end) + body.replace("\n", self.line_end)


def written(block: list[Line | Key], fences: tuple[str, str], body: str, line_end: str) -> str:
    lines = "".join(part.text if isinstance(part, Key) else f"{part.text}\n" for part in block)
    return (fences[0] + lines + fences[1] + body).replace("\n", line_end)


LINE_ENDS = st.sampled_from(["\n", "\n", "\r\n", "\r"])
BODIES = st.sampled_from(["", "body\n", "no end", "\n# H\n\ntext\n---\nrule\n", "---\nx: y\n---\n", "\n\n", "...\n"])


@st.composite
def again(draw: st.DrawFn, key: Key) -> Key:
    """Generate the same key as it was written, as a YAML library writes it, or with any other value."""
    kind = draw(st.sampled_from(["as it was", "dumped", "changed", "changed"]))
    if kind == "as it was":
        return key
    other = draw(keys(key.name))
    if kind == "changed":
        return other
    head, rest, _ = dumped(key.value, draw(st.booleans()), 10_000)
    return replace(other, gap="" if rest[:1] == "\n" else " ", head=head, remark="", rest=rest)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Generate two notes; the second retains some keys of the first, changes others and adds new ones."""
    old, new = draw(blocks()), draw(blocks())
    named = [draw(again(part)) for part in old if isinstance(part, Key) and draw(st.booleans())]
    names = {part.name for part in named}
    new = named + [part for part in new if isinstance(part, Line) or part.name not in names]
    fences = draw(st.sampled_from(["---\n", "--- \n"])), draw(st.sampled_from(["---\n", "...\n", "---\t\n"]))
    bodies = draw(BODIES), draw(BODIES)
    return Case(old, new, draw(st.sampled_from(["", "\ufeff"])), draw(LINE_ENDS), draw(LINE_ENDS), fences, bodies)


def expected(case: Case) -> str:
    """Return the expected text, from the parts that the two notes were made of, without reading YAML."""
    mine = {part.name for part in case.old if isinstance(part, Key)}
    theirs = {part.name: part for part in case.new if isinstance(part, Key)}
    block: list[Line | Key] = []
    for part in case.old:
        if isinstance(part, Line) or part.name not in theirs:
            block.append(part)
        else:
            block += changed(part, theirs[part.name])
    for place, part in enumerate(case.new):
        if isinstance(part, Key) and part.name not in mine and part.value is not None:
            block += [*comments_above(case.new[:place]), part]
    if case.line_end == "\r\n" and "\r" not in case.incoming:
        return case.mark + case.laid_out(block, case.bodies[1])
    return case.mark + written(block, case.fences, "", case.line_end) + case.bodies[1].replace("\n", case.new_line_end)


def changed(old: Key, new: Key) -> list[Line | Key]:
    if says(old.value) == says(new.value):
        return [old]
    if new.value is None:
        return []
    if not old.is_long and not new.is_long:
        return [replace(old, head=new.head, gap=old.gap if old.head else " ")]
    remark = [Line(old.remark.strip())] if old.remark else []
    return [*remark, replace(new, spelling=old.spelling)]


def comments_above(parts: list[Line | Key]) -> list[Line]:
    run: list[Line] = []
    for part in reversed(parts):
        if isinstance(part, Key) or not part.text.strip():
            break
        run.insert(0, part)
    return run


def says(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def patched(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return what the merged block must contain. A null that is already there is not a change."""
    gone = {key for key, value in new.items() if value is None and old.get(key, 0) is not None}
    return {
        key: value for key, value in (old | new).items() if key not in gone and not (value is None and key not in old)
    }


def check(case: Case) -> None:
    existing, incoming = case.existing, case.incoming
    if case.seam_is_lost:
        with pytest.raises(VaultWriteError):
            merge_frontmatter(existing, incoming)
        return
    merged = merge_frontmatter(existing, incoming)
    assert merged == expected(case)
    old, new, found = (parse_frontmatter(text.removeprefix("\ufeff")) for text in (existing, incoming, merged))
    assert not old.problem
    assert not new.problem
    assert says(found.data) == says(patched(old.data, new.data))
    assert merge_frontmatter(merged, incoming) == merged
    assert merge_frontmatter(existing, existing) == existing
    assert merge_frontmatter(merged, merged) == merged


@pytest.mark.slow
@examples(300)
@given(cases())
def test_only_changed_keys_change_their_bytes(case: Case) -> None:
    check(case)


@pytest.mark.stress
@examples(5_000)
@given(cases())
def test_random_frontmatter_edits_are_merged_correctly(case: Case) -> None:
    check(case)


@examples(150)
@given(blocks(), BODIES, st.sampled_from(["", "new", "# new\n\ntext"]), LINE_ENDS)
def test_without_frontmatter_in_the_new_text_the_block_stays_whole(
    block: list[Line | Key], old_body: str, body: str, line_end: str
) -> None:
    head = written(block, ("---\n", "---\n"), "", line_end)
    new_body = body.replace("\n", "\r\n") if line_end == "\r\n" else body
    assert merge_frontmatter(head + old_body.replace("\n", line_end), body) == head + new_body


@examples(150)
@given(blocks(), BODIES)
def test_a_new_note_is_written_as_it_is_but_for_its_nulls(block: list[Line | Key], body: str) -> None:
    kept = [part for part in block if isinstance(part, Line) or part.value is not None]
    fences = ("---\n", "---\n")
    assert merge_frontmatter("old", written(block, fences, body, "\n")) == written(kept, fences, body, "\n")


FRAGMENTS = st.sampled_from(
    [
        "---\n", "...\n", "\n", "\r\n", "\r", "a: ", "b: ", "c:", "1: ", "true: ", "null", "[", "]", "{", "}", "&a ", "*a", "<<: ", "- ",
        "? ", ": ", "|\n", "|+\n", ">\n", "\t", "  ", "!!set ", "!x ", '"', "'", " #", "x", "1", "\x85", "\u2028", "\ufeff", ",", "%",
    ]
)  # fmt: skip
WILD = st.lists(FRAGMENTS, max_size=20).map("".join)
WILD_NOTES = (
    WILD | WILD.map(lambda block: f"---\n{block}\n---\nbody") | WILD.map(lambda block: f"---\na: 1\n{block}\n---\n")
)


def merge_or_refuse(existing: str, incoming: str) -> str | None:
    try:
        return merge_frontmatter(existing, incoming)
    except VaultWriteError as error:
        refusal = error
    assert refusal.reason is Reason.INVALID_FRONTMATTER
    return None


def check_wild(existing: str, incoming: str) -> None:
    merged = merge_or_refuse(existing, incoming)
    if merged is None:
        return
    old, new, found = (parse_frontmatter(text.removeprefix("\ufeff")) for text in (existing, incoming, merged))
    assert not found.problem
    assert says(found.data) == says(patched(old.data, new.data))
    assert merged.startswith("\ufeff") == existing.startswith("\ufeff")
    assert merge_frontmatter(merged, incoming) == merged
    assert merge_frontmatter(merged, merged) == merged


@pytest.mark.slow
@examples(500)
@given(WILD_NOTES, WILD_NOTES)
def test_any_two_texts_are_merged_right_or_refused(existing: str, incoming: str) -> None:
    check_wild(existing, incoming)


@pytest.mark.stress
@examples(50_000)
@given(WILD_NOTES, WILD_NOTES)
def test_random_text_pairs_are_merged_correctly_or_rejected(existing: str, incoming: str) -> None:
    check_wild(existing, incoming)
