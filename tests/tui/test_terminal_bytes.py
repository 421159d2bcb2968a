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


@pytest.mark.slow
def test_nothing_in_a_hostile_vault_reaches_the_terminal_as_anything_but_text() -> None:
    with donna() as terminal:
        terminal.wait_for("problems")
        terminal.press(b"invoice", until="29 passages")
        terminal.press(b"\x1b[B\x1b[B\x1b[B", until="DONNA-C1-TITLE")
        terminal.press(b"\x06", until="Hostile")
        terminal.press(b"\x1b", until="passages")
        terminal.press(b"\x1b", until="keys")
        terminal.press(b"G", until="ohne")
        terminal.press(b"+", until="DONNA-LEFT-SCREEN")
        terminal.press(b"6", until="Events")
        terminal.press(b"k\r", until="Events")
        terminal.press(b"\x1b", until="Needs attention")
        terminal.press(b"\tG\r", until="What helps")
        terminal.press(b"\x1b", until="Needs attention")
        terminal.press(b"R", until="DONNA-LEFT-SCREEN")
        terminal.press(b"f\x1b[B\x1b[B", until="problems")
        terminal.press(b"\x1b", until="Events")
        terminal.press(b"?", until="Everywhere")
        terminal.press(b"\x1b", until="Events")
        terminal.quit()
        assert_only_text(bytes(terminal.written))


@pytest.mark.slow
def test_nothing_in_a_hostile_vault_acts_on_the_vault_screen_or_in_its_windows() -> None:
    with donna() as terminal:
        terminal.wait_for("problems")
        terminal.press(b"\x1b", until="keys")
        terminal.press(b"2", until="Hostile")
        terminal.press(b"jjjG", until="ohne")
        terminal.press(b"\r", until="DONNA-LEFT-SCREEN")
        terminal.press(b"]]b", until="Blame")
        terminal.press(b"hh", until="of the vault")
        terminal.press(b"d", until="DONNA-RED")
        terminal.press(b"\x1b\x1b", until="left out")
        terminal.press(b"fclip", until="clipboard")
        terminal.press(b"\x1b", until="left out")
        terminal.press(b"z", until="esc cancel")
        terminal.press(b"sxw", until="DONNA-RED")
        terminal.press(b"\x1b", until="left out")
        terminal.press(b"gj", until="[/].md")
        terminal.press(b"D", until="delete it")
        terminal.press(b"\x1b", until="left out")
        terminal.press(b"m", until="Move or rename")
        terminal.press(b"\x1b", until="left out")
        terminal.quit()
        assert_only_text(bytes(terminal.written))


@pytest.mark.slow
def test_nothing_in_a_hostile_memory_acts_on_the_memory_screen_or_in_its_windows() -> None:
    with donna() as terminal:
        terminal.wait_for("problems")
        terminal.press(b"\x1b", until="keys")
        terminal.press(b"5", until="newest first")
        terminal.press(b"jjjjj", until="DONNA-RED")
        terminal.press(b"G", until="Heading without end")
        terminal.press(b"gj", until="DONNA-LEFT-SCREEN")
        terminal.press(b"/", until="alt+c")
        terminal.press(b"redis", until="In the prompt")
        terminal.press(b"\r", until="DONNA-OVERWRITTEN")
        terminal.press(b"Gk", until="ohneohne")
        terminal.press(b"w", until="Correct it")
        terminal.press(b"\x1b", until="In the prompt")
        terminal.press(b"\x1b", until="newest first")
        terminal.press(b"gD", until="Forget this")
        terminal.press(b"X", until="This cannot be undone")
        terminal.press(b"\x1b", until="newest first")
        terminal.quit()
        assert_only_text(bytes(terminal.written))


@pytest.mark.slow
def test_nothing_in_a_hostile_draft_or_calendar_acts_on_their_screens_or_in_their_windows() -> None:
    with donna() as terminal:
        terminal.wait_for("problems")
        terminal.press(b"\x1b", until="keys")
        terminal.press(b"3", until="waiting")
        terminal.press(b"\r", until="DONNA-TITLE-TAKEN")
        terminal.press(b"jjjjjjjjjj", until="DONNA-MODES")
        terminal.press(b" d", until="new note")
        terminal.press(b"d", until="DONNA-STYLE")
        terminal.press(b"\rj", until=".md")
        terminal.press(b"\x1b\x1b", until="meeting")
        terminal.press(b"a", until="approve it")
        terminal.press(b"\x1b", until="waiting")
        terminal.press(b"A", until="approve them")
        terminal.press(b"\r", until="approved in one commit")
        terminal.press(b"\r", until="failed")
        terminal.press(b"4", until="this week")
        terminal.press(b"jjjjjjjjjj", until="DONNA-REWRITTEN")
        terminal.press(b"\t\x1b[6~", until="DONNA-LEFT-SCREEN")
        terminal.press(b"\x1b", until="people")
        terminal.press(b"n", until="The draft is waiting")
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
