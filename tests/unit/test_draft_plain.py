"""Text by others in a draft is reduced to its words, on one line without any effect."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from donna_tui.drafts.text import LONGEST_LINE, can_be_linked, inline, slug, source_named, wikilink, words_only

PIECES = st.sampled_from(
    [
        "http", "https", "javascript", ":", "/", "//", "://evil.example", "evil.example/x", "[", "[[", "]]", "]", "(",
        ")", "!", "![[", "|", "#", "# ", "^", "<", ">", "<!--", "-->", "<%", "%>", "%%", "%", "`", "```", "*", "**",
        "_", "__", "==", "~~", "$", "$$", "{{", "}}", "{%", "::", ":", "\\", "\n", "\r\n", "\t", " ", "\u2028", "\x00",
        "\x1b[2J", "\u202e", "\u200b", "\u2066", "\xad", "\ufeff", "- ", "- [ ] ", "1. ", "1)", "> ", "---", "===",
        "+", "&lt;", "&#91;", "&", "key", "= this", "img", "<img src=x>", "<script>", "due", "7", "Ana", "é", "日本",
        "👍", "\ud800", "tp.file", "../../x", "//", "www.", "@",
    ]
)  # fmt: skip
HOSTILE = st.one_of(st.lists(PIECES, max_size=14).map("".join), st.text(max_size=60))

INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@given(HOSTILE)
def test_a_text_is_one_line_without_hidden_characters(text: str) -> None:
    for line in (words_only(text), inline(text)):
        assert not any(unicodedata.category(char) in INVISIBLE for char in line)
        assert len(line.splitlines()) <= 1
        assert line == line.strip()


@given(HOSTILE)
def test_a_text_contains_no_address(text: str) -> None:
    assert "://" not in words_only(text)
    assert "://" not in inline(text)


@given(HOSTILE)
@example(":::")
def test_a_text_contains_nothing_that_obsidian_or_a_plugin_interprets(text: str) -> None:
    line = inline(text)
    bare = re.sub(r"\\.", "·", line)
    for mark in ("[[", "]]", "![", "](", "<", ">", "`", "%%", "==", "~~", "$", "{", "}", "|", "^", "::"):
        assert mark not in bare, mark
    for command in ("<%", "%>", "::", "{{"):  # checked in the raw text
        assert command not in line
    assert not re.search(r"(?<![\w&])#[^\s#]", bare)


@given(HOSTILE)
def test_a_text_is_rendered_as_itself(text: str) -> None:
    """CommonMark renders it as one paragraph of the words and nothing else."""
    words, line = words_only(text), inline(text)
    tokens = MARKDOWN.parse(f"{line}\n")
    assert [token.type for token in tokens] in ([], ["paragraph_open", "inline", "paragraph_close"])
    children = tokens[1].children or [] if tokens else []
    assert {child.type for child in children} <= {"text", "text_special"}
    assert "".join(child.content for child in children) == words


@given(HOSTILE)
def test_words_only_is_idempotent(text: str) -> None:
    once = words_only(text)
    assert words_only(once) == once


@given(HOSTILE)
def test_inline_is_idempotent(text: str) -> None:
    assert inline(inline(text)) == inline(text)


@given(HOSTILE, st.integers(10, 60))
def test_a_text_is_cut(text: str, longest: int) -> None:
    assert len(words_only(text * 20, longest)) <= longest


def test_a_long_text_is_cut_between_words() -> None:
    cut = words_only("word " * 300)
    assert cut == " ".join(["word"] * 99) + "…"
    assert len(cut) <= LONGEST_LINE


@given(HOSTILE)
def test_slug_is_always_a_valid_file_name(text: str) -> None:
    name = slug(text, otherwise="meeting")
    assert name
    assert len(name.encode()) <= 200
    assert not re.search(r"[\s/\\.:*?\"<>|#^\[\]%]", name)
    assert name.strip("-") == name
    assert not any(unicodedata.category(char) in INVISIBLE for char in name)


@given(st.text(alphabet="日本語の会議é", min_size=1, max_size=300))
def test_a_name_of_wide_letters_is_cut_at_a_letter(text: str) -> None:
    assert len(slug(text, otherwise="x", longest=250).encode()) <= 200


@pytest.mark.parametrize(
    ("source", "title", "named"),
    [
        ("chat", "Chat, 8 May 2023", "chat, 8 May 2023"),
        ("chat", "Chat", "chat"),
        ("chat", "Chatting, 8 May 2023", "chat Chatting, 8 May 2023"),
        ("memory", "Chat", "memory Chat"),
    ],
)
def test_a_chat_without_a_title_is_named_once(source: str, title: str, named: str) -> None:
    assert source_named(source, title) == named


def test_a_link_shows_a_name_without_its_marks_and_without_gaps() -> None:
    assert wikilink("Board/Steering #7.md", "Steering #7") == "[[Board/Steering #7|Steering 7]]"


@given(HOSTILE)
def test_wikilink_with_any_text_stays_one_link(text: str) -> None:
    link = wikilink("Meetings/a note.md", text)
    assert re.fullmatch(r"\[\[Meetings/a note(?:\|[^\[\]|#^\\]+)?\]\]", link)


@given(HOSTILE)
def test_a_name_that_can_be_linked_is_no_path(text: str) -> None:
    if can_be_linked(text):
        assert not set(text) & set('[]|#^\\/:*?"<>\n\r')
        assert not text.startswith(".")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("see [our plan](https://evil.example/a?b=c) now", "see our plan now"),
        ("see https://evil.example/a?b=c now", "see evil.example/a now"),
        ("see <https://github.com/nodejs/node/pull/35398#issuecomment-1>.", "see github.com/nodejs/node/pull/35398."),
        ("(https://www.example.org/notes/)", "(example.org/notes)"),
        ("https://me:secret@example.org, done", "example.org, done"),
        (r"ask \#finance about T\:\:m()", "ask #finance about T::m()"),
        (r"\\\\\#finance", "#finance"),
        (r"\[\[Secret/diary\]\]", "diary"),
        ("![pixel](https://evil.example/p.png) hello", "pixel hello"),
        ("![[Secret/diary]] and [[People/Ana|Ana]]", "diary and Ana"),
        ("**bold** and `code` and ==marked==", "bold and code and marked"),
        ("snake_case_name stays", "snake_case_name stays"),
        ("CE file: Kim waits, data: none", "CE file: Kim waits, data: none"),
        ("run javascript:alert and FILE:hosts", "run javascript alert and FILE hosts"),
        ("a\r\nb\u2028c", "a b c"),
        ("x <!-- hidden --> y", "x y"),
        ("http:/**/evil.example", "evil.example"),
        ("_http://evil.example/x", "evil.example/x"),
        ("http:///evil.example", "http: evil.example"),
        ("ht\u200btp:/\u2060/evil.example", "evil.example"),
        ("[[a|http:]]//evil.example", "evil.example"),
        ("Émile's 5 % and AT&T", "Émile's 5 % and AT&T"),
        ("", ""),
        ("\u200b\u2060", ""),
    ],
)
def test_words_only_reduces_text_to_plain_words(text: str, words: str) -> None:
    assert words_only(text) == words


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# title", "\\# title"),
        ("- [ ] pay", "\\- \\[ \\] pay"),
        ("1. first", "1\\. first"),
        ("1.", "1\\."),
        ("a #secret tag and issue#1", "a \\#secret tag and issue#1"),
        ("due:: tomorrow", "due\\:\\: tomorrow"),
        ("<% tp.file.delete() %>", "\\<\\% tp.file.delete() \\%\\>"),
        ("&lt;b&gt; AT&T", "\\&lt;b\\&gt; AT&T"),
        ("100% sure", "100% sure"),
    ],
)
def test_inline_escapes_markdown(text: str, line: str) -> None:
    assert inline(text) == line
