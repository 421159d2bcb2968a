"""Check every byte that Donna writes to a pseudo-terminal."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager

import pytest

from tests.terminal import CSI, Terminal, plain, python_in_terminal
from tests.tui import hostile

OF_TEXTUAL = re.compile(
    rb"\x1b\["
    rb"(?:[0-9;]*[mHJK]"  # colours, cursor position, erasing
    rb"|\?(?:1000|1002|1003|1004|1006|1015|1016|1049|2004|2026|2031|2048|25|7)[hl]"  # modes that Textual sets
    rb"|\?(?:2026|2048)\$p"  # queries of a mode
    rb"|[<>=][0-9;]*u"  # keyboard protocol
    rb"|6n|\?996n"  # cursor position at the start, colour scheme
    rb")"
)

POINTER = re.compile(rb"\x1b\]22;[a-z-]+\x07")
"""The shape of the mouse pointer: the only other kind of sequence that Textual sends."""


def donna(*arguments: str) -> AbstractContextManager[Terminal]:
    """Run Donna on the hostile vault, in a separate terminal."""
    return python_in_terminal("-m", "tests.tui.hostile_app", *arguments)


WALKS = {
    "search and activity": (
        (b"invoice", "29 passages"),
        (b"\x1b[B\x1b[B\x1b[B", "DONNA-C1-TITLE"),
        (b"\x06", "Hostile"),
        (b"\x1b", "passages"),
        (b"\x1b", "keys"),
        (b"G", "ohne"),
        (b"+", "DONNA-LEFT-SCREEN"),
        (b"6", "Events"),
        (b"k\r", "Events"),
        (b"\x1b", "Needs attention"),
        (b"\tG\r", "What helps"),
        (b"\x1b", "Needs attention"),
        (b"R", "DONNA-LEFT-SCREEN"),
        (b"f\x1b[B\x1b[B", "problems"),
        (b"\x1b", "Events"),
        (b"?", "Everywhere"),
        (b"\x1b", "Events"),
    ),
    "vault": (
        (b"\x1b", "keys"),
        (b"2", "Hostile"),
        (b"jjjG", "ohne"),
        (b"\r", "DONNA-LEFT-SCREEN"),
        (b"]]b", "Blame"),
        (b"hh", "of the vault"),
        (b"d", "DONNA-RED"),
        (b"\x1b\x1b", "left out"),
        (b"fclip", "clipboard"),
        (b"\x1b", "left out"),
        (b"z", "esc cancel"),
        (b"sxw", "DONNA-RED"),
        (b"\x1b", "left out"),
        (b"gj", "[/].md"),
        (b"D", "delete it"),
        (b"\x1b", "left out"),
        (b"m", "Move or rename"),
        (b"\x1b", "left out"),
    ),
    "memory": (
        (b"\x1b", "keys"),
        (b"5", "newest first"),
        (b"jjjjj", "DONNA-RED"),
        (b"G", "Heading without end"),
        (b"gj", "DONNA-LEFT-SCREEN"),
        (b"/", "alt+n"),
        (b"redis", "In the prompt"),
        (b"\r", "DONNA-OVERWRITTEN"),
        (b"Gk", "ohneohne"),
        (b"w", "Correct it"),
        (b"\x1b", "In the prompt"),
        (b"\x1b", "newest first"),
        (b"gD", "Forget this"),
        (b"X", "This cannot be undone"),
        (b"\x1b", "newest first"),
    ),
    "drafts and calendars": (
        (b"\x1b", "keys"),
        (b"3", "waiting"),
        (b"\r", "DONNA-TITLE-TAKEN"),
        (b"jjjjjjjjjj", "DONNA-MODES"),
        (b" d", "new note"),
        (b"d", "DONNA-STYLE"),
        (b"\rj", ".md"),
        (b"\x1b\x1b", "meeting"),
        (b"a", "approve it"),
        (b"\x1b", "waiting"),
        (b"A", "approve them"),
        (b"\r", "approved in one commit"),
        (b"\r", "failed"),
        (b"4", "this week"),
        (b"jjjjjjjjjj", "DONNA-REWRITTEN"),
        (b"\t\x1b[6~", "DONNA-LEFT-SCREEN"),
        (b"\x1b", "people"),
        (b"n", "The draft is waiting"),
    ),
}
"""Keys to press on each screen, and a text that appears after each."""


@pytest.mark.slow
@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
def test_nothing_in_a_hostile_vault_reaches_the_terminal_as_anything_but_text(
    walk: tuple[tuple[bytes, str], ...],
) -> None:
    with donna() as terminal:
        terminal.wait_for("problems")
        for keys, text in walk:
            terminal.press(keys, until=text)
        terminal.quit()
        assert_only_text(bytes(terminal.written))


@pytest.mark.slow
def test_hostile_names_of_vaults_are_text_too() -> None:
    with donna("first_run") as terminal:
        terminal.wait_for("Or the folder")
        terminal.press(b"jjj\x1b[F", until="DONNA-ZERO")
        terminal.quit()
        assert_only_text(bytes(terminal.written))


def assert_only_text(output: bytes) -> None:
    """Check that the terminal obeys only what Textual itself sends, and that the payloads are drawn as symbols."""
    assert "␛]52;c;RE9OTkEtU1RPTEUtVEhJUw==␇" in plain(output)
    for payload in hostile.STOLEN:
        assert payload not in output
    output = POINTER.sub(b"", output)
    text = output.decode("utf-8")
    assert not re.search("[\x80-\x9f\u202a-\u202e\u2066-\u2069\u200b\u2028\u2029\ud800-\udfff]", text)
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]", text)
    unknown = {match.group() for match in CSI.finditer(output) if not OF_TEXTUAL.fullmatch(match.group())}
    assert unknown == set()
    assert re.findall(rb"\x1b[^\[].{0,20}", output) == []


@pytest.mark.parametrize(
    "stolen", [b"\x1b]52;c;eA==\x07", b"\x1b]0;title\x1b\\", "\x9b31m".encode(), b"\x1bc", b"\x1b[?1003s", b"\x07"]
)
def test_assert_only_text_detects_forbidden_escape_sequences(stolen: bytes) -> None:
    harmless = "␛]52;c;RE9OTkEtU1RPTEUtVEhJUw==␇".encode() + b"\x1b[1;31mred\x1b[0m"
    assert_only_text(harmless)
    with pytest.raises(AssertionError):
        assert_only_text(harmless + stolen)
