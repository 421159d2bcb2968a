"""`w`: why a passage is found, and why a note is not."""

from __future__ import annotations

import pytest

from donna_tui.search.why_not import Cause, WhyNot
from donna_tui.tui.lib.dialogs import DetailScreen
from donna_tui.tui.search.dialogs import facts_of
from donna_tui.tui.vault.switcher import Switcher
from tests.tui import scenarios
from tests.tui.bursts import send
from tests.tui.driving import driving, outcome
from tests.tui.fake_backend import no_hits
from tests.tui.vault_scenarios import GARDEN


@pytest.mark.slow
async def test_why_key_on_a_hit_explains_its_rank() -> None:
    backend = scenarios.normal()
    backend.answers = lambda request: outcome(request, "one", "two")
    async with driving(backend) as donna:
        await donna.search_for("plan")
        await donna.press("escape", "j", "w")
        await donna.window(DetailScreen)
        text = donna.screen_text()
        assert "Why it is found" in text
        assert "It is number 2 of the passages found." in text
        assert "similarity 0.50" in text


@pytest.mark.slow
async def test_why_key_without_hits_asks_for_a_note_first() -> None:
    backend = scenarios.normal()
    backend.answers = no_hits
    async with driving(backend) as donna:
        await donna.search_for("plan")
        assert "why is a note not found?" in donna.screen_text()
        send(donna.app, ["\x1b[17~"])
        switcher = await donna.window(Switcher)
        await donna.type("garden")
        await donna.until(lambda: switcher._answered == "garden", "the name is answered")
        assert not any("Create note" in str(option.prompt) for option in switcher.options.options)
        await donna.press("enter")
        await donna.window(DetailScreen)
        text = donna.screen_text()
        assert "Why it is not found" in text
        assert "No note is close enough to the question. This one is near miss 7." in text
        assert GARDEN in text
        assert [path for path, _ in backend.called("why_not")] == [GARDEN]


@pytest.mark.parametrize("cause", list(Cause))
def test_every_cause_has_a_message_and_a_next_step(cause: Cause) -> None:
    facts = dict(facts_of(WhyNot(path="a\x1b.md", cause=cause, detail="it is so", rank=3), "why"))
    assert facts[""].endswith(".")
    assert bool(facts["What helps"]) is (cause is not Cause.NOTHING)
    assert "\x1b" not in facts["Note"]
