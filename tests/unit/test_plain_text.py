"""Markdown as one line of plain text."""

from __future__ import annotations

import pytest

from donna_tui.text.markdown import plain_text


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        (
            "## Head ##\n\nSome **bold**, *it*, _und_, ~~gone~~ and ==lit==.",
            "Head Some bold, it, und, ~~gone~~ and lit.",
        ),
        ("snake_case_x, 2 * 3 * 4, a__b__c", "snake_case_x, 2 * 3 * 4, a__b__c"),
        ("[text](https://x.y/(z) 'title') and [[note|alias]], [[note#part]]", "text and alias, note#part"),
        ("![[image.png|100]] ![alt|100](a.png) <https://e.org> [a][ref] b[^1]", "alt https://e.org a b"),
        ("> [!warning]- Watch out\n> the body", "Watch out the body"),
        ("- > [!warning] Watch out\n  > the body\n- > 5 %", "• Watch out the body • > 5 %"),
        ("a<!-- hidden\nstill -->b %%also\nhidden%% c<br>d &amp; e", "a b c d & e"),
        ("| a | b |\n|:-:|---|\n| c | d |", "a · b • c · d"),
        ("| a |   |  |\n|---|---|---|\n|  |  | d |\n\nafter a || b", "a • d after a || b"),
        ("a | b\n--- | ---\nc | d", "a · b c · d"),
        ("|[[a\\|b]]|`c`|\n|-|-|\n|d|e|\ntext", "b · c • d · e text"),
        ("end of a row | b |\n| c | d |", "end of a row · b • c · d"),
        ("a | b |", "a · b"),
        ("> | a | b |\n> |---|---|\n> | c | d |\n> ```\n> code\n> ```", "a · b • c · d code"),
        ("| a | <br> | b |\n|---|---|---|\n| 1 | [^1] | 2 |", "a · b • 1 · 2"),
        ("code `that ends\nelsewhere` and \\` is a backtick", "code that ends elsewhere and ` is a backtick"),
        ("- [ ] todo\n- [x] done\n* item\n---\n```python\nx = `1`\n```", "☐ todo ☑ done • item x = `1`"),
        ("- [-] no longer\n- [/] begun\n1. [?] a question", "☒ no longer ◩ begun ☐ a question"),
        ("kept for a year^[by *law*], then deleted", "kept for a year (by law), then deleted"),
        (
            "1\n00:00:01,000 --> 00:00:02,500\nHi\n\n00:03.000 --> 00:04.000\n<v.loud Kim Roe>Hello</v>",
            "Hi Kim Roe: Hello",
        ),
        ('class="a" id="b">the end</span> of a <b>tag</b>', "the end of a tag"),
        ("note|the end]] of a [[link]]", "the end of a link"),
        ("the end](https://e.org/) of a [link](x)", "the end of a link"),
        ("A line of text. ^block-id", "A line of text."),
        ("| a |\n|---|\n| b |\n\n^block-id\n\nafter", "a • b after"),
        (r"\*not emphasis\* and `**code**`", "*not emphasis* and **code**"),
        ("click ![[send.svg#icon]]. ![[photo.jpg|a cat]]", "click. a cat"),
        ("![[photo.jpg|100x80]]", "photo.jpg"),
        (
            "> ```md\n> ![[a.png\\|100]] [[b|c]] <kbd>\n> ```\n> a `[[b|c]]` <kbd>d</kbd>",
            "![[a.png\\|100]] [[b|c]] <kbd> a [[b|c]] d",
        ),
        ("```\n- [ ] **not closed** <b>", "- [ ] **not closed** <b>"),
        ("end of `code` | `b |\n| c` | `**d**` |", "end of code · b • c · **d**"),
        ("cut code\n```\nAfter **it** [[a|b]]", "cut code After it b"),
        ("Intro **bold**\n````\n```python\ncode\n```\n````", "Intro bold ```python code ```"),
        ("see A | B guide](http://x) next", "see A · B guide next"),
        ("```\n\nAfter **it** [[a|b]]", "After it b"),
        ("**cut**\n```\nAfter **it**\n```py\n**c**\n```", "**cut** After it **c**"),
        ("1. ```py\n   **a**\n   ```\n2. **b**", "**a** 2. b"),
        ("```x``` **y**", "x y"),
        ("`%%time` and `&lt;` %%gone%% &lt;", "%%time and &lt; <"),
        ("", ""),
    ],
)
def test_marks_are_left_out_and_words_are_kept(markdown: str, text: str) -> None:
    assert plain_text(markdown) == text


@pytest.mark.parametrize(
    "part",
    [
        "*", "[", "[[a", "<a", "`", "**a", "| ", "- ", "> ", "_a ", "==a ", "[a](", "<!--", "![[a.png", "~~~a\n",
        'a="b" ', "^[a",
    ],
)  # fmt: skip
def test_hostile_repetition_ends(part: str) -> None:
    assert len(plain_text(part * 3_000)) <= 9_000
