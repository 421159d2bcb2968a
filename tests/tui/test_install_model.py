"""Downloading the model for semantic search in the app."""

from __future__ import annotations

import pytest

from donna_tui.tui.lib.dialogs import RefusalScreen
from donna_tui.types.errors import ModelError, Reason
from donna_tui.types.status import ModelPhase
from tests.tui import scenarios
from tests.tui.driving import driving, notices


@pytest.mark.slow
async def test_the_download_is_offered_where_there_is_no_model_and_asked_before() -> None:
    backend = scenarios.normal()
    backend.change(model_phase=ModelPhase.MISSING)
    async with driving(backend) as donna:
        assert "download model" in donna.screen_text()
        await donna.pilot.press("alt+m")
        assert isinstance(donna.app.screen, RefusalScreen)
        assert "84 MB" in donna.screen_text()
        await donna.pilot.press("escape")
        assert backend.called("install_model") == []
        await donna.pilot.press("alt+m", "enter")
        await donna.until(lambda: backend.called("install_model") == [()], "the model is downloaded")


async def test_a_model_that_is_there_is_not_downloaded() -> None:
    backend = scenarios.normal()
    async with driving(backend) as donna:
        assert "download model" not in donna.screen_text()
        await donna.pilot.press("alt+m")
        await donna.until(lambda: "is installed" in notices(donna.app), "the reason is shown")


@pytest.mark.slow
async def test_a_download_that_fails_says_why() -> None:
    backend = scenarios.normal()
    backend.change(model_phase=ModelPhase.MISSING)
    backend.fail(
        "install_model", ModelError(Reason.MODEL_MISSING, "The model cannot be downloaded (pypi.org: HTTP 403).")
    )
    async with driving(backend) as donna:
        await donna.pilot.press("alt+m", "enter")
        await donna.until(lambda: "HTTP 403" in notices(donna.app), "the reason is shown")
