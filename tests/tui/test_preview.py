"""The preview: Markdown as readable lines with the passage marked, safe and fast on any text."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.engine.passages import Passage
from donna_tui.search.snippets import LazySnippet
from donna_tui.tui.lib.markdown import Block, markdown_blocks
from donna_tui.tui.lib.passage_view import wrapped
from donna_tui.tui.search.preview import backlinks, heading
from donna_tui.types.errors import Reason, VaultReadError
from tests.tui import hostile, scenarios
from tests.tui.driving import driving, hit, marked_rows, outcome
from tests.tui.fake_backend import FakeBackend, new_passage


def lines(text: str) -> list[str]:
    return [block.content.plain for block in markdown_blocks(text)]


def styles(text: str) -> dict[str, str]:
    """Return the styled parts of the first block, by their text."""
    (block, *_) = markdown_blocks(text)
    return {
        block.content.plain[span.start : span.end]: span.style
        for span in block.content.spans
        if isinstance(span.style, str)
    }


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("### Cache ###", "Cache"),
        ("- point", "• point"),
        ("  * [ ] open", "  ☐ open"),
        ("- [x] done", "☑ done"),
        ("12. step", "12. step"),
        ("> said", "▎ said"),
        ("> - said", "▎ • said"),
        ("see [[Notes/Gateway#Cache|the cache]] and [this](https://x.example)", "see the cache and this"),
        ("**bold** *soft* _soft_ ~~gone~~ ==mark== `co_d_e`", "bold soft soft gone mark co_d_e"),
        ("***bold and soft*** **[[Notes/Gateway|the _gateway_]]** __bold__", "bold and soft the _gateway_ bold"),
        ("![[cat.png|100x80]] ![a cat|100](cat.png) ![[cat.png|a cat]]", "cat.png a cat a cat"),
        ("snake_case_name and 2 * 3 * 4 ** 5 ** 6", "snake_case_name and 2 * 3 * 4 ** 5 ** 6"),
        ("***", "────────────"),
        ("a\tb", "a   b"),
    ],
)
def test_preview_hides_markdown_markers(source: str, shown: str) -> None:
    assert lines(source) == [shown]


def test_preview_styles_inline_markdown() -> None:
    found = styles("a **b** `c` [[d]] #e")
    assert found == {"b": "strong", "c": "code", "d": "link", "#e": "link"}
    assert styles("**a *c* [[b]]**") == {"a c b": "strong", "c": "emphasis", "b": "link"}


def test_code_is_shown_as_it_is_behind_a_rail_without_fences() -> None:
    assert lines("```py\n# no heading\n- no list\n```\n# heading") == [
        "╭─ py",
        "│ # no heading",
        "│ - no list",
        "╰─",
        "heading",
    ]


def test_code_has_colours() -> None:
    _, code, _ = markdown_blocks('```\nreturn "a # b" + 42  # why\n```')
    found = {code.content.plain[span.start : span.end]: str(span.style) for span in code.content.spans[2:]}
    assert found == {"return": "keyword", '"a # b"': "string", "42": "number", "# why": "comment"}


def test_headings_have_levels() -> None:
    levels = [str(block.content.spans[0].style) for block in markdown_blocks("# a\n## b\n### c\n#### d\n")][:4]
    assert levels == ["h1", "h2", "h3", "heading"]


def test_an_underlined_line_is_a_heading_and_its_underline_a_rule() -> None:
    text = "---\na: b\n---\nTop\n===\ntext\n\n---\n\nTwo lines\nof one\n-\r\n- item\n===\n```\ncode\n---\n```"
    drawn = [(block.line, block.content.plain, str(block.content.spans[0].style)) for block in markdown_blocks(text)
             if block.content.spans]  # fmt: skip
    rule = "─" * 12
    assert drawn == [
        (0, "a b", "dim"), (3, "Top", "h1"), (4, rule, "dim"), (7, rule, "dim"), (9, "Two lines", "h2"), (10, "of one", "h2"),
        (11, rule, "dim"), (12, "• item", "mark"), (14, "╭─ ", "dim"), (15, "│ code", "dim"), (16, "│ ---", "dim"), (17, "╰─", "dim"),
    ]  # fmt: skip


def test_block_ids_are_not_shown() -> None:
    assert lines("A claim. ^cache-decision\n^alone\n- item ^x1\n2^10 stays ^ alone") == [
        "A claim. ",
        "",
        "• item ",
        "2^10 stays ^ alone",
    ]


def test_preview_shows_frontmatter_as_chips() -> None:
    text = "---\ntitle: Gateway\ntags: [a, b]\nempty:\nwho:\n  - '[[Priya Raman]]'\n---\n# Head"
    first, second = markdown_blocks(text)
    assert first.content.plain == "title Gateway   tags a · b   who Priya Raman"
    assert (first.line, len(first.starts), second.line) == (0, 7, 7)
    assert [lines for _, lines in wrapped(first, 20)] == [range(7)] * 3


def test_a_callout_has_an_icon_and_one_colour() -> None:
    blocks = list(markdown_blocks("> [!warning] Mind\n> the step\n\n> plain\n> [!unknown-kind]\n"))
    assert [block.content.plain for block in blocks[:5]] == [
        "▎ ▲ Mind",
        "▎ the step",
        "",
        "▎ plain",
        "▎ ✎ Unknown-kind",
    ]
    assert {str(block.content.spans[0].style) for block in blocks[:2]} == {"warning"}


def test_a_table_is_drawn_in_columns_that_fit() -> None:
    text = "| Size | What it is |\n|:--|--:|\n| **S** | a short one |\n| M | a \\| b |\nafter"
    blocks = list(markdown_blocks(text))
    rows = [(row.plain.rstrip(), numbers.start) for block in blocks for row, numbers in wrapped(block, 40)]
    assert rows == [
        ("Size │ What it is", 0),
        ("─────┼────────────", 1),
        ("S    │ a short one", 2),
        ("M    │ a | b", 3),
        ("after", 4),
    ]
    narrow = [row.plain.rstrip() for row, _ in wrapped(blocks[2], 14)]
    assert narrow == ["S    │ a short", "     │ one"]


def test_prose_that_an_editor_broke_is_put_together_and_short_lines_are_not() -> None:
    long = "This line of prose was broken by an editor because it was too long"
    assert lines(f"{long}\nand goes on here.\n\nshort\nlines") == [f"{long} and goes on here.", "", "short", "lines"]
    assert lines(f"- {long}\n  and goes on.\n- next") == [f"• {long} and goes on.", "• next"]
    assert lines(f"{long}  \nhard break") == [f"{long}  ", "hard break"]
    assert lines(f"{long}\n# heading") == [long, "heading"]
    assert lines(f"| {long} |\n| x |") == [f"| {long} |", "| x |"]


def test_a_block_knows_which_lines_its_rows_come_from() -> None:
    first, second = "word " * 14, "other " * 12
    (block,) = markdown_blocks(f"{first.strip()}\n{second.strip()}")
    rows = list(wrapped(block, 30))
    for row, numbers in rows:
        words = set(row.plain.split())
        assert {("word", "other")[number] for number in numbers} == words
    assert any(len(numbers) == 2 for _, numbers in rows)


@pytest.mark.slow
@given(st.text(alphabet=st.sampled_from("ab -*_`#>[]()|=~\n\r\t1.x!:^'\"/"), max_size=300), st.integers(2, 60))
def test_every_line_is_shown_once_and_in_order_at_any_width(text: str, width: int) -> None:
    blocks = list(markdown_blocks(text))
    numbers = [number for block in blocks for number in range(block.line, block.line + len(block.starts))]
    assert numbers == list(range(len(numbers)))
    for block in blocks:
        assert_rows(block, width)


def assert_rows(block: Block, width: int) -> None:
    rows = list(wrapped(block, width))
    assert all(row.cell_length <= width for row, _ in rows)
    assert all(before.start <= after.start for (_, before), (_, after) in pairwise(rows))
    if block.table is None and block.rail is None:
        assert letters("".join(row.plain for row, _ in rows)) == letters(block.content.plain)


def letters(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "**a" * 20_000,
        "***a " * 15_000,
        "**_==~~__" * 6_000,
        "`" * 60_000,
        "[[" * 30_000,
        "[a](" * 15_000,
        ">" * 60_000,
        "_a " * 20_000,
        "==a" * 20_000,
        "- " * 30_000,
        "```\n" + "'" * 30_000,
        "```\n" + '\\"' * 30_000,
        "|" * 60_000 + "\n" + "|-" * 2_000,
        "-|" * 30_000,
        " ^a" * 20_000,
    ],
)
def test_hostile_repetition_is_read_in_linear_time(text: str) -> None:
    """With a quadratic pattern each of these would take minutes."""
    assert sum(len(block.starts) for block in markdown_blocks(text)) == 1 + text.count("\n")


@pytest.mark.parametrize("payload", hostile.ALL.values(), ids=hostile.ALL)
def test_preview_contains_no_control_characters(payload: str) -> None:
    for line in lines(
        f"# {payload}\n\n- {payload}\n> {payload}\n\n`{payload}` **{payload}** [[{payload}]]\n\n```{payload}"
    ):
        assert not [char for char in line if ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or 0xD800 <= ord(char) < 0xE000]


def passage(text: str, mark: tuple[int, int], **fields: object) -> Passage:
    last = 10 + text.count("\n")
    return new_passage(
        path="Notes/one.md", title="One", heading_path=("One",), text=text, start_line=10, end_line=last,
        mark_start=mark[0], mark_end=mark[1], **fields,  # type: ignore[arg-type]
    )  # fmt: skip


async def shown(text: str, mark: tuple[int, int], **fields: object) -> tuple[str, list[str], int]:
    """Return the visible text, the marked rows, and how far the preview is scrolled."""
    backend = FakeBackend(scenarios.AT_REST, passages=[passage(text, mark, **fields)])
    backend.answers = lambda request: outcome(request, "one")
    async with driving(backend) as donna:
        await donna.search_for("one")
        found = hit("one", start_line=mark[0], end_line=mark[1])
        donna.search.preview.follow(found)
        await donna.until(lambda: marked_rows(donna.search.preview.view), "the passage is shown")
        await donna.pilot.pause()
        view = donna.search.preview.view
        return donna.screen_text(), marked_rows(view), view.scroll_offset.y


@pytest.mark.slow
async def test_a_passage_that_cannot_be_read_says_why_in_a_sentence() -> None:
    backend = scenarios.normal()
    backend.fail("passage", VaultReadError(Reason.MISSING, "there is no such file"))
    backend.answers = lambda request: outcome(request, "one")
    async with driving(backend) as donna:
        await donna.search_for("one")
        await donna.until(lambda: "There is no such file." in donna.screen_text(), "the reason is shown")


async def test_exactly_the_lines_of_the_passage_are_marked() -> None:
    text = "# One\n\nfirst\nsecond\nthird\nfourth"
    _, marked, _ = await shown(text, (13, 14))
    assert marked == ["second", "third"]


@pytest.mark.slow
async def test_the_passage_is_scrolled_into_view() -> None:
    text = "\n".join(f"line {number}" for number in range(200))
    screen, marked, scrolled = await shown(text, (160, 161))
    assert marked == ["line 150", "line 151"]
    assert scrolled == 148
    assert "line 151" in screen


async def test_another_section_is_shown_without_laying_out_the_screen() -> None:
    long, longer = ("\n".join(f"line {number}" for number in range(count)) for count in (100, 300))
    other = passage(longer, (200, 201), linked_from=tuple(f"Notes/{number}.md" for number in range(40)))
    sections = [
        passage(long, (20, 21)),
        replace(other, path="Notes/two.md", heading_path=("A long heading",) * 12, truncated=True),
    ]
    backend = FakeBackend(scenarios.AT_REST, passages=sections)
    backend.answers = lambda request: outcome(request, "one", "two")
    laid_out = list[object]()
    async with driving(backend) as donna:
        await donna.search_for("one")
        view = donna.search.preview.view
        donna.search.preview.follow(hit("one", start_line=20, end_line=21))
        await donna.until(lambda: marked_rows(view) == ["line 10", "line 11"], "the first is shown")
        await donna.rest()
        donna.app.screen.screen_layout_refresh_signal.subscribe(donna.app.screen, laid_out.append)
        donna.search.preview.follow(hit("two", start_line=200, end_line=201))
        await donna.until(lambda: marked_rows(view) == ["line 190", "line 191"], "the second is shown")
        await donna.rest()
        assert "line 191" in donna.screen_text()
        assert (view.virtual_size.height, view.vertical_scrollbar.window_virtual_size) == (300, 300)
        assert laid_out == []


@pytest.mark.slow
async def test_the_best_sentence_is_scrolled_into_view_and_its_words_are_marked() -> None:
    lines = [f"line {number}" for number in range(200)]
    lines[120] = "Here the walrus certificate was renewed."
    text = "\n".join(lines)
    backend = FakeBackend(scenarios.AT_REST, passages=[passage(text, (30, 190))])
    backend.answers = lambda request: outcome(request, "one")
    async with driving(backend) as donna:
        await donna.search_for("one")
        snippet = LazySnippet(text, ("walrus certificate",))
        donna.search.preview.follow(hit("one", start_line=30, end_line=190, snippet=snippet))
        await donna.until(lambda: marked_rows(donna.search.preview.view), "the passage is shown")
        await donna.pilot.pause()
        view = donna.search.preview.view
        assert "walrus certificate was renewed" in donna.screen_text()
        strips = map(view.render_line, range(view.size.height))
        row = next(strip for strip in strips if "walrus" in strip.text)
        match = view.screen.get_visual_style("md--hit").rich_style.bgcolor
        assert [each.text for each in row if each.style and each.style.bgcolor == match] == ["walrus", "certificate"]


@pytest.mark.slow
async def test_a_cut_section_and_links_to_it_are_reported() -> None:
    screen, _, _ = await shown(
        "text", (10, 10), truncated=True, linked_from=("a/Stand-up.md", "b/[x].md"), sensitive=True
    )
    assert "linked from  Stand-up · [x]  " in screen
    assert "↵ opens the whole note" in screen
    assert "private" in screen


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (60, "Gateway › Decisions › Cache  private"),
        (36, "Gateway › Decisions › Cache  private"),
        (35, "… › Decisions › Cache  private"),
        (22, "… › Cache  private"),
        (14, "Cache  private"),
        (13, "C…he  private"),
    ],
)
def test_of_headings_that_do_not_fit_the_inner_ones_are_kept(width: int, shown: str) -> None:
    assert heading(("Gateway", "Decisions", "Cache"), width, sensitive=True).plain == shown


@pytest.mark.parametrize(
    ("width", "truncated", "shown"),
    [
        (44, False, "linked from  Stand-up · Plan · Retrospective"),
        (43, False, "linked from  Stand-up · Plan · 1 more"),
        (36, False, "linked from  Stand-up · 2 more"),
        (29, False, "linked from  Sta…-up · 2 more"),
        (16, False, "linked from  … …"),
        (68, True, "linked from  Stand-up · Plan · Retrospective  ↵ opens the whole note"),
        (67, True, "linked from  Stand-up · Plan · 1 more        ↵ opens the whole note"),
        (55, True, "linked from  Stand-up · Plan · 1 more      ↵ whole note"),
        (45, True, "linked from  Stand-up · Plan · Retrospective"),
    ],
)
def test_as_many_backlinks_are_shown_as_fit(width: int, truncated: bool, shown: str) -> None:
    line = backlinks(("a/Stand-up.md", "Plan.md", "Retrospective.md"), width, truncated=truncated)
    assert line.plain == shown


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (51, "linked from  Stand-up · [x]  ↵ opens the whole note"),
        (50, "linked from  Stand-up · [x]           ↵ whole note"),
        (40, "linked from  Stand-up · [x]"),
    ],
)
def test_the_hint_stays_while_the_backlinks_fit_beside_it(width: int, shown: str) -> None:
    assert backlinks(("a/Stand-up.md", "b/[x].md"), width, truncated=True).plain == shown
