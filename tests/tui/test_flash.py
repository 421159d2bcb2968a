"""The lines that a write changed are highlighted for a moment, and stay in view."""

from __future__ import annotations

import pytest

from donna_tui.tui.vault.note_detail import changed_lines
from tests.tui import scenarios
from tests.tui.driving import driving
from tests.tui.vault_scenarios import RUNBOOK


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("a\nb\nc", "a\nx\nc", range(2, 3)),
        ("a\nb\nc", "a\nb\nnew\nc", range(3, 4)),
        ("a\nb\nc", "x\nb\ny", range(1, 4)),
        ("a\nb\nc", "a\nc", range(2, 3)),
        ("a", "a\nb", range(2, 3)),
        ("a\nb", "a", range(1, 2)),
    ],
)
def test_changed_lines_excludes_common_start_and_end(before: str, after: str, lines: range) -> None:
    assert changed_lines(before, after) == lines


@pytest.mark.slow
async def test_a_change_far_below_flashes_and_comes_into_view() -> None:
    backend = scenarios.normal()
    text = "# Long\n" + "".join(f"\nParagraph {number}.\n" for number in range(80))
    backend.vault.files[RUNBOOK] = backend.vault.recorded[RUNBOOK] = text.encode()
    async with driving(backend) as donna:
        await donna.open_note(RUNBOOK)
        backend.vault.files[RUNBOOK] = text.replace("Paragraph 70.", "Paragraph seventy.").encode()
        donna.vault.detail.reload()
        await donna.until(lambda: donna.vault.detail.text.flashed, "the changed line is highlighted")
        await donna.until(lambda: "Paragraph seventy." in donna.screen_text(), "it is in view")
        await donna.until(lambda: not donna.vault.detail.text.flashed, "only for a moment")
