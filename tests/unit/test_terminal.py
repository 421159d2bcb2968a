"""Control sequences are removed for the terminal, and ordinary text stays unchanged."""

from __future__ import annotations

import unicodedata

import pytest

from donna_tui.safety.terminal import clean, clean_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;cHduZWQ=\x07", "␛]52;c;cHduZWQ=␇"),
        ("\x9b31mred", "␦31mred"),
        ("a\x00b\x7f\x08", "a␀b␡␈"),
        ("gpj\u202eexe.\u202c", "gpj⇠exe.⇆"),
        ("\u200eleft \u2067right\u2069", "⇢left ⇠right⇆"),
        ("pass\u200bword\ufeff\u2060", "pass␣word␣␣"),
        ("soft\xadhyphen", "soft‐hyphen"),
        ("bad\ud800name", "bad�name"),
        ("a\u2028b\x85c\x0bd", "a␤b␤c␋d"),
        ("tag\U000e0041", "tag␣"),
    ],
)
def test_clean_makes_control_and_hidden_characters_visible(text: str, shown: str) -> None:
    assert clean(text) == shown
    assert clean_line(text) == shown


def test_lines_stay_lines_in_a_block_and_become_marks_in_a_row() -> None:
    assert clean("a\r\nb\rc\n\td") == "a\nb\nc\n    d"
    assert clean_line("a\r\nb\rc\n\td") == "a⏎b⏎c⏎    d"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain text, “quotes” – dashes…",
        "Ünïcödé 会議メモ اجتماع שלום",
        "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 ❤️‍🔥 🏃‍♀️",
        "می‌خواهم क्‍ष",
        "[bold]markup[/] is text",
        "e\u0301 and \u1ec7",
        "\ue000\uf8ff",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert clean(text) == text
    assert clean_line(text) == text


@pytest.mark.parametrize("text", ["a\u200db", "\u200d", "👩\u200d", "\u200d💻", "a\u200c", "ا\u200d\u200dا"])
def test_clean_shows_stray_joiners(text: str) -> None:
    assert "␣" in clean(text)


def test_stacked_marks_are_cut_to_four() -> None:
    assert clean("Z" + "\u0335\u0321" * 30 + "a") == "Z\u0335\u0321\u0335\u0321a"


def test_every_control_and_invisible_character_is_replaced() -> None:
    # Marks that Arabic and related scripts draw with a width of their own.
    drawn = {0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    hieroglyphs = set(range(0x13430, 0x13440))
    for code in range(0x110000):
        char = chr(code)
        if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and code not in drawn | hieroglyphs:
            assert char not in clean_line(f"a{char}b"), hex(code)
