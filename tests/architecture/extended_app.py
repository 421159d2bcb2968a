"""Add a pane and an action from outside, and print what the app shows: `python -m tests.architecture.extended_app`.

This is a separate program, because the two tables must be extended before the app is imported.
"""

from __future__ import annotations

import asyncio
import json

from donna_tui.tui.lib.panes import PANES, PaneEntry

PANES["clock"] = PaneEntry(
    name="clock", title="Clock", keys=("7", "alt+7"), module="tests.architecture.clock.pane", widget="ClockPane"
)

from donna_tui.tui.lib.action import Action  # noqa: E402
from donna_tui.tui.lib.actions import ACTIONS  # noqa: E402

ACTIONS["clock.tick"] = Action("clock.tick", "t", "tick", "Advance the clock.", footer=True)

from donna_tui.tui.lib.keymap import keys_table  # noqa: E402
from tests.tui import scenarios  # noqa: E402
from tests.tui.driving import driving  # noqa: E402


async def main() -> None:
    async with driving(scenarios.normal()) as donna:
        await donna.press("alt+7")
        await donna.until(lambda: donna.main.header.active == "clock", "the pane is shown")
        await donna.press("t", "t")
        pane = donna.screen_text()
        await donna.press("f1")
        help_page = donna.screen_text()
    print(json.dumps({"pane": pane, "help": help_page, "keys": [row.id for row in keys_table()]}))


if __name__ == "__main__":
    asyncio.run(main())
