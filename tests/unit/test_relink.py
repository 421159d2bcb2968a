"""How each form of link changes when its target moves, and when the note that contains it does."""

from __future__ import annotations

import pytest

from donna_tui.vault.links.resolve import LinkIndex
from donna_tui.vault.links.rewrite import Relinked, relink, unlink
from donna_tui.vault.links.spans import find_links

NOTES = (
    "a/old.md",
    "a/other.md",
    "a/deep/note.md",
    "b/note.md",
    "b/other.md",
    "top.md",
    "Long/Way/Down/plain.markdown",
)


def relink_one(text: str, *, note: str, old: str, new: str, notes: LinkIndex) -> Relinked:
    return relink(text, note=note, moves={old: new}, notes=notes)


def moved(text: str, note: str = "top.md", old: str = "a/old.md", new: str = "b/new.md") -> str:
    return relink_one(text, note=note, old=old, new=new, notes=LinkIndex([*NOTES, note, old])).text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[[old]]", "[[new]]"),
        ("[[old|alias]]", "[[new|alias]]"),
        ("[[old|old]]", "[[new|old]]"),
        ("[[old#old]]", "[[new#old]]"),
        ("[[old#Heading#Below|alias]]", "[[new#Heading#Below|alias]]"),
        ("[[old#^block]]", "[[new#^block]]"),
        ("[[old#^block|x|y]]", "[[new#^block|x|y]]"),
        ("![[old]]", "![[new]]"),
        ("![[old#Heading|200]]", "![[new#Heading|200]]"),
        ("[[ old ]] [[\told |x]]", "[[ new ]] [[\tnew |x]]"),
        ("[[OLD]] [[Old.MD]]", "[[new]] [[new.md]]"),
        ("[[old.md]]", "[[new.md]]"),
        ("[[a/old]]", "[[b/new]]"),
        ("[[a/old.md#x]]", "[[b/new.md#x]]"),
        ("[[/a/old]]", "[[/b/new]]"),
        ("[[./a/old]]", "[[./b/new]]"),
        ("| [[old\\|alias]] | [[a/old\\|x]] |", "| [[new\\|alias]] | [[b/new\\|x]] |"),
        ("[[[old]]] ([[old]]) **[[old]]**[[old]]", "[[[new]]] ([[new]]) **[[new]]**[[new]]"),
        ("[see [[old]]](top.md)", "[see [[new]]](top.md)"),
        ("[text](a/old.md)", "[text](b/new.md)"),
        ("![text](a/old.md)", "![text](b/new.md)"),
        ("[](a/old.md)", "[](b/new.md)"),
        ("[text](./a/old.md)", "[text](./b/new.md)"),
        ("[text](/a/old.md)", "[text](/b/new.md)"),
        ("[text](a/old)", "[text](b/new)"),
        ("[text](old.md)", "[text](new.md)"),
        ("[text](<a/old.md>)", "[text](<b/new.md>)"),
        ("[text](a/old.md#old)", "[text](b/new.md#old)"),
        ("[text](<a/old.md#a b>)", "[text](<b/new.md#a b>)"),
        ('[text](a/old.md "old")', '[text](b/new.md "old")'),
        ("[text]( a/old.md\n 'old' )", "[text]( b/new.md\n 'old' )"),
        ("[text](a/old.md#x (old))", "[text](b/new.md#x (old))"),
        ("[a [b] c](a/old.md)", "[a [b] c](b/new.md)"),
        ("[a `]` c](a/old.md)", "[a `]` c](b/new.md)"),
        ("[![x](y.png)](a/old.md)", "[![x](y.png)](b/new.md)"),
        ("[a\\](b](a/old.md)", "[a\\](b](b/new.md)"),
        ("[text](%61/%6Fld.md)", "[text](b/new.md)"),
        ("[text](a\\/old\\.md)", "[text](b/new.md)"),
        ("[text](a&#47;old&period;md)", "[text](b/new.md)"),
        ("[label]: a/old.md", "[label]: b/new.md"),
        ('[label]: <a/old.md> "old"\n[two]:\n  a/old.md#x\n', '[label]: <b/new.md> "old"\n[two]:\n  b/new.md#x\n'),
        ("> [label]: a/old.md\n> [two]: a/old.md\n", "> [label]: b/new.md\n> [two]: b/new.md\n"),
        ("[^1]: [[old]]", "[^1]: [[new]]"),
        ("# [[old]]\n> [[old]]\n- [ ] [[old]]\n1. [[old]]", "# [[new]]\n> [[new]]\n- [ ] [[new]]\n1. [[new]]"),
        ("[[old]]\r\n[[old]]\r[[old]]\n", "[[new]]\r\n[[new]]\r[[new]]\n"),
        ("\ufeff[[old]]", "\ufeff[[new]]"),
        (
            '\ufeff---\nup: "[[old]]"\nall:\n    - "[[a/old|x]]"\n---\n',
            '\ufeff---\nup: "[[new]]"\nall:\n    - "[[b/new|x]]"\n---\n',
        ),
        ("---\nx: `[[old]]`\n---\n    [[old]]", "---\nx: `[[new]]`\n---\n    [[old]]"),
    ],
)
def test_links_follow_the_note(before: str, after: str) -> None:
    assert moved(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "`[[old]]` ``[[old]] ` [[old]]`` `a\n[[old]]`",
        "```\n[[old]]\n```",
        "~~~md\n[[old]]\n```\n[[old]]",
        "> ```\n> [[old]]\n> ```",
        "- a\n  ```\n  [[old]]\n  ```",
        "1. a\n\n   ~~~\n   [[old]]\n\n   [a](a/old.md)\n   ~~~",
        "    [[old]]\n\t[a](a/old.md)",
        "text\n\n    [[old]]",
        "- a\n\n      [[old]]",
        "-     [[old]]",
        ">     [[old]]",
        "# Heading\n    [[old]]",
        "<!-- [[old]] --> <!-- [a](a/old.md)\n[[old]] -->",
        "<!--\n\n[[old]]\n\n-->",
        "text\n<!-- open\n\n[[old]]",
        "%%[[old]]%% x %%a\n[[old]]%%",
        "%%\n\n[[old]]\n\n```\n%%",
        "- %% a\n\n  [[old]]",
        "\\[[old]] [\\[old]] [[old] ] [ [old]] [[old\n]]",
        "[x] (a/old.md) [x](a/ old.md) [x](<a/old.md) [x]\\(a/old.md) \\[x](a/old.md) x](a/old.md)",
        "[a [b](top.md) c](a/old.md)",
        "[x](https://a/old.md) [x](mailto:a/old.md) [x](//a/old.md) [x](old.md:a/old.md)",
        "[x](../a/old.md) [[../a/old]] [x](/old.md) [[/old]] [x](b/../../a/old.md)",
        "[x](a/old.txt) [[a/old.txt]] [[old2]] [[b/old]] [[xa/old]] [[old.md.md]]",
        "[[other]] [[top]] [x](b/note.md) [[#old]] [x](#old) [[]] [x]() [x](<>)",
        "x [label]: a/old.md",
        "[label]: a/old.md x",
        "[[" + "x/" * 200 + "old]]",
    ],
)
def test_relink_leaves_other_text_unchanged(text: str) -> None:
    assert moved(text) == text


def test_links_in_nested_lists_are_no_code() -> None:
    text = "- a\n    - [[old]]\n        - [[old]]\n\n            [[old]]\n\n\t- [[old]]\n1. x\n\n    [[old]]\n"
    assert moved(text) == text.replace("old", "new")


def test_text_after_the_end_of_a_comment_or_code_block_counts() -> None:
    assert moved("```\n```\n[[old]]") == "```\n```\n[[new]]"
    assert moved("> ```\n[[old]]") == "> ```\n[[new]]"
    assert moved("<!--\n--> [[old]]") == "<!--\n--> [[new]]"
    assert moved("%%\n%% [[old]]\n\n[[old]]") == "%%\n%% [[new]]\n\n[[new]]"
    assert moved("<!---> [[old]] 100%% [[old]] ` [[old]] <!-- [[old]]").count("new") == 4


@pytest.mark.parametrize(
    ("new", "before", "after"),
    [
        ("b/my new.md", "[[old]] [x](a/old.md) [x](<a/old.md>)", "[[my new]] [x](b/my%20new.md) [x](<b/my new.md>)"),
        ("b/ü.md", "[[old]] [x](a/old.md) [x](<a/old.md>)", "[[ü]] [x](b/ü.md) [x](<b/ü.md>)"),
        ("b/(x) [y].md", "[x](a/old.md) [x](<a/old.md>)", "[x](b/%28x%29%20%5By%5D.md) [x](<b/(x) [y].md>)"),
        ("b/a [x] b.md", "[[old]] [x](a/old.md)", "[[a [x] b]] [x](b/a%20%5Bx%5D%20b.md)"),
        ("b/x [y].md", "[[old]] [x](a/old.md)", "[[x [y].md]] [x](b/x%20%5By%5D.md)"),
        ("b/x^y.md", "[[old]] [x](a/old.md)", "[[x^y]] [x](b/x^y.md)"),
        ("b/50% & more.md", "[[old]] [x](a/old.md)", "[[50% & more]] [x](b/50%25%20&%20more.md)"),
        ("b/R&amp;D.md", "[x](a/old.md) [x](<a/old.md>)", "[x](b/R%26amp;D.md) [x](<b/R%26amp;D.md>)"),
        ("b/<x>.md", "[x](a/old.md) [x](<a/old.md>)", "[x](b/%3Cx%3E.md) [x](<b/%3Cx%3E.md>)"),
        ("ab:c.md", "[[old]] [x](a/old.md)", "[[ab:c]] [x](./ab:c.md)"),
        ("b/new.markdown", "[[old]] [[a/old.md]] [x](a/old.md)", "[[new]] [[b/new.markdown]] [x](b/new.markdown)"),
        ("b/new.md.md", "[[old]] [[old.md]]", "[[new.md]] [[new.md.md]]"),
        ("b/x.y.md", "[[old]]", "[[x.y]]"),
        ("b/md.md", "[[old]] [[old.md]]", "[[md]] [[md.md]]"),
    ],
)
def test_names_are_written_as_each_kind_of_link_needs_them(new: str, before: str, after: str) -> None:
    assert moved(before, new=new) == after


@pytest.mark.parametrize("name", ["a#b", "a|b", "[x] y", "a]]b", "a[[b", "a`b", "a%%b", "a-->b", " a", "n" * 400])
def test_a_name_that_no_wikilink_can_hold_leaves_it_dangling(name: str) -> None:
    found = relink_one(
        "[[old|x]] [x](a/old.md)", note="top.md", old="a/old.md", new=f"{name}.md", notes=LinkIndex(NOTES)
    )
    assert (found.count, found.dangling) == (1, 1)
    assert found.text.startswith("[[old|x]] [x](")
    assert [link.target for link in find_links(found.text)][1] in (f"{name}.md", f"./{name}.md")


def test_a_long_alias_leaves_less_room_for_the_target() -> None:
    alias = "x" * 390
    found = relink_one(f"[[old|{alias}]]", note="top.md", old="a/old.md", new="longer name.md", notes=LinkIndex(NOTES))
    assert (found.text, found.dangling) == (f"[[old|{alias}]]", 1)


@pytest.mark.parametrize("name", ["it's", 'say "x"', "a, b", "a: b", "{x}", "a & b"])
def test_a_name_that_could_break_the_frontmatter_stays_out_of_it(name: str) -> None:
    found = relink_one(
        '---\nup: "[[old]]"\n---\n[[old]]', note="top.md", old="a/old.md", new=f"{name}.md", notes=LinkIndex(NOTES)
    )
    assert found == Relinked(f'---\nup: "[[old]]"\n---\n[[{name}]]', 1, 1)


def test_percent_encoding_is_kept() -> None:
    text = "[x](%C3%BC.md#%C3%BC) [x](ü.md)"
    assert moved(text, old="ü.md", new="b/ö ß.md") == "[x](b/%C3%B6%20%C3%9F.md#%C3%BC) [x](b/ö%20ß.md)"


@pytest.mark.parametrize("written", ["\u00e9t\u00e9", "e\u0301te\u0301", "\u00c9T\u00c9", "E\u0301te\u0301"])
def test_unicode_form_and_case_do_not_matter(written: str) -> None:
    for old in ("a/\u00e9t\u00e9.md", "a/e\u0301te\u0301.md"):
        assert moved(f"[[{written}]] [x](a/{written}.md)", old=old) == "[[new]] [x](b/new.md)"


def test_relink_keeps_a_bare_name_only_if_unambiguous() -> None:
    assert moved("[[old]]", new="c/note.md") == "[[c/note]]"
    assert moved("[[old]]", new="note.md") == "[[note]]"
    assert moved("[[old]]", new="c/old.md") == "[[old]]"
    assert moved("[[a/old]]", new="c/old.md") == "[[c/old]]"
    assert (
        moved("[[Way/Down/plain]]", old="Long/Way/Down/plain.markdown", new="Long/Way/Up/plain.md")
        == "[[Way/Up/plain]]"
    )
    assert moved("[[old]]", old="a/old.md", new="c/old.md", note="x/old.md") == "[[old]]"


def test_relinked_markdown_links_are_relative_to_their_note() -> None:
    assert moved("[x](old.md)", note="a/z.md") == "[x](../b/new.md)"
    assert moved("[x](../a/old.md)", note="b/z.md") == "[x](new.md)"
    assert moved("[x](./old.md)", note="a/z.md", new="a/z2.md") == "[x](./z2.md)"
    assert moved("[x](../old.md)", note="a/deep/z.md") == "[x](../../b/new.md)"
    assert moved("[x](a/old.md)", note="b/z.md") == "[x](b/new.md)"


def test_a_markdown_link_says_the_same_on_the_web_and_in_obsidian() -> None:
    assert moved("[x](old.md)", note="b/z.md", new="b/top.md") == "[x](b/top.md)"
    assert moved("[x](../a/old.md)", note="b/z.md", new="b/top.md") == "[x](./top.md)"


def test_a_move_that_changes_only_case_renames_what_was_written_exactly() -> None:
    assert moved("[[old]] [[OLD]] [x](a/old.md)", new="a/Old.md") == "[[Old]] [[OLD]] [x](a/Old.md)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[[old]] [x](old.md) [[#h]] [x](#h) [[a/old#h]]", "[[new]] [x](new.md) [[#h]] [x](#h) [[c/d/new#h]]"),
        ("[x](other.md)", "[x](../../a/other.md)"),
        ("[x](deep/note.md#h)", "[x](../../a/deep/note.md#h)"),
        ("[x](../b/note.md)", "[x](../../b/note.md)"),
        ("[x](../top.md) [x](/top.md) [[top]]", "[x](../../top.md) [x](/top.md) [[top]]"),
        ("[x](b/note.md) [[b/note]] [x](/a/other.md)", "[x](b/note.md) [[b/note]] [x](/a/other.md)"),
        ("[[other]] [[note]]", "[[a/other]] [[a/deep/note]]"),
        ("[[./other]] [[../b/other|x]]", "[[../../a/other]] [[../../b/other|x]]"),
        ("![](./pic.png) ![](../pic%20a.png) [x](../b/)", "![](../../a/pic.png) ![](../../pic%20a.png) [x](../../b/)"),
        (
            "![](pic.png) [x](gone.md) [x](https://a.b/) [[gone]]",
            "![](pic.png) [x](gone.md) [x](https://a.b/) [[gone]]",
        ),
        ("[x](../../outside.md) [x](./%FF.png)", "[x](../../outside.md) [x](../../a/%FF.png)"),
        ("`[x](other.md)`", "`[x](other.md)`"),
    ],
)
def test_the_note_that_moves_keeps_its_links(before: str, after: str) -> None:
    assert relink_one(before, note="a/old.md", old="a/old.md", new="c/d/new.md", notes=LinkIndex(NOTES)).text == after


def test_a_rename_in_the_same_folder_leaves_other_links_alone() -> None:
    text = "[x](other.md) [[other]] ![](./pic.png)"
    assert relink_one(text, note="a/old.md", old="a/old.md", new="a/new.md", notes=LinkIndex(NOTES)) == Relinked(
        text, 0
    )


def test_attachments_in_the_index_are_followed_too() -> None:
    notes = LinkIndex([*NOTES, "a/pic.png"])
    assert (
        relink_one("![](pic.png) ![[pic.png]]", note="a/old.md", old="a/old.md", new="c/new.md", notes=notes).text
        == "![](../a/pic.png) ![[pic.png]]"
    )


RANKED = (
    "x/y/n.md",
    "b/n.md",
    "a/n.md",
    "c/d/n.md",
    "c/d/e/n.md",
    "m.md",
    "a/m.md",
    "N2.md",
    "n2.md",
    "p/r.markdown",
    "p/s.md.md",
)


@pytest.mark.parametrize(
    ("target", "note", "path"),
    [
        ("m", "a/x.md", "m.md"),
        ("m.md", "a/x.md", "m.md"),
        ("a/m", "x.md", "a/m.md"),
        ("n", "x.md", "a/n.md"),
        ("n", "b/x.md", "b/n.md"),
        ("n", "c/x.md", "c/d/n.md"),
        ("n", "c/d/e/x.md", "c/d/e/n.md"),
        ("n", "x/x.md", "x/y/n.md"),
        ("N.MD", "B/x.md", "b/n.md"),
        ("d/n", "x.md", "c/d/n.md"),
        ("/n", "x.md", None),
        ("/a/n", "x.md", "a/n.md"),
        ("./n", "a/x.md", "a/n.md"),
        ("./n", "x.md", None),
        ("../n", "a/z/x.md", "a/n.md"),
        ("../../n", "a/x.md", None),
        ("n2", "x.md", "n2.md"),
        ("N2", "x.md", "N2.md"),
        ("r", "x.md", "p/r.markdown"),
        ("s.md", "x.md", "p/s.md.md"),
        ("s", "x.md", None),
        ("", "a/x.md", "a/x.md"),
        ("missing", "x.md", None),
        ("xa/n", "x.md", None),
    ],
)
def test_link_index_resolves_targets(target: str, note: str, path: str | None) -> None:
    hit = LinkIndex(RANKED).find(target, note)
    assert (hit.path if hit else None) == path


@pytest.mark.parametrize(
    ("target", "note", "path"),
    [
        ("m.md", "a/x.md", "a/m.md"),
        ("/m.md", "a/x.md", "m.md"),
        ("d/n.md", "c/x.md", "c/d/n.md"),
        ("b/n.md", "a/x.md", "b/n.md"),
        ("n", "a/x.md", "a/n.md"),
        ("https://m.md", "x.md", None),
        ("", "x.md", "x.md"),
    ],
)
def test_markdown_links_are_looked_up_from_the_folder_first(target: str, note: str, path: str | None) -> None:
    hit = LinkIndex(RANKED).find_url(target, note)
    assert (hit.path if hit else None) == path


@pytest.mark.parametrize(
    ("text", "expected", "count", "dangling"),
    [
        ("See [[Old]], [[Old|that]] and [[Old#Part]].", "See Old, that and Old#Part.", 3, 0),
        ("![[Old]] and [words](Old.md) and ![pic](Old.md)", "Old and words and pic", 3, 0),
        ("[**bold** `x`](Old.md#part)", "**bold** `x`", 1, 0),
        ("`[[Old]]` and [[Older]] stay", "`[[Old]]` and [[Older]] stay", 0, 0),
        ("[a][b]\n\n[b]: Old.md\n", "[a][b]\n\n[b]: Old.md\n", 0, 1),
        ("[](Old.md)", "[](Old.md)", 0, 1),
        ('---\nup: "[[Old]]"\n---\n', '---\nup: "Old"\n---\n', 1, 0),
        ('---\nup: "[[Old|a: b]]"\n---\n', '---\nup: "[[Old|a: b]]"\n---\n', 0, 1),
        ("[[Old|a`b]] [[Older]] `[[Note]] `", "[[Old|a`b]] [[Older]] `[[Note]] `", 0, 1),
    ],
)
def test_unlinking_keeps_the_words_and_nothing_else_changes(
    text: str, expected: str, count: int, dangling: int
) -> None:
    index = LinkIndex(["Old.md", "Older.md", "Note.md"])
    assert unlink(text, note="Note.md", deleted={"Old.md"}, notes=index) == Relinked(expected, count, dangling)
