"""ctrl+k opens a note or a heading by some letters of its name, or creates a note."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from donna_tui.platform.paths import resource
from donna_tui.tui.vault.switcher import Switched, Switcher, SwitchTo
from tests.terminal import plain, python_in_terminal
from tests.tui import scenarios
from tests.tui.bursts import send
from tests.tui.driving import Driver, driving, notices
from tests.tui.vault_scenarios import DECISIONS, GARDEN


def rows(switcher: Switcher) -> list[str]:
    return [str(option.prompt) for option in switcher.options.options]


async def opened(donna: Driver, typed: str = "") -> Switcher:
    switcher = await donna.window(Switcher, "ctrl+k")
    await donna.type(typed)
    await donna.until(lambda: switcher._answered == typed, f"{typed!r} is answered")
    return switcher


async def arrived(donna: Driver, path: str) -> None:
    await donna.until(lambda: donna.vault.detail.note is not None, "a note is read")
    await donna.until(lambda: donna.vault.detail.note and donna.vault.detail.note.path == path, f"{path} is read")
    await donna.rest()
    assert donna.app.screen is donna.main
    assert donna.main.header.active == "vault"


@pytest.mark.slow
async def test_while_typing_a_question_it_opens_and_the_question_stays() -> None:
    async with driving(scenarios.normal()) as donna:
        await donna.search_for("plan")
        switcher = await opened(donna)
        assert len(rows(switcher)) > 2, "without letters notes are listed"
        await donna.press("escape")
        assert donna.app.screen is donna.main
        assert donna.search.bar.input.value == "plan"


@pytest.mark.cases(1)
@pytest.mark.parametrize("action", ["move('cursor_down')", "pick('create')"])
async def test_a_key_before_it_has_its_widgets_is_ignored(action: str) -> None:
    backend = scenarios.normal()
    async with driving(backend) as donna:
        switcher = Switcher(backend.names)
        donna.app.push_screen(switcher)
        assert not switcher.is_mounted
        await donna.app.run_action(action, switcher)
        assert await donna.window(Switcher) is switcher


async def test_a_heading_is_opened_in_the_editor_at_its_line() -> None:
    backend = scenarios.normal()
    picked: list[Switched | None] = []
    async with driving(backend) as donna:
        switcher = Switcher(backend.names)
        donna.app.push_screen(switcher, picked.append)
        await donna.window(Switcher)
        await donna.type("#cache")
        await donna.until(lambda: switcher._answered == "#cache", "it is answered")
        await donna.press("alt+e")
        await donna.until(lambda: picked, "it is picked")
    (found,) = picked
    assert isinstance(found, SwitchTo)
    assert found.line > 1
    assert found.in_editor


@pytest.mark.slow
async def test_it_opens_on_every_screen() -> None:
    async with driving(scenarios.normal()) as donna:
        for view in "123456":
            await donna.press("escape", view)
            await opened(donna, "garden")
            await donna.press("escape")
            assert donna.app.screen is donna.main
        await opened(donna, "garden")
        await donna.press("enter")
        await arrived(donna, GARDEN)


@pytest.mark.slow
async def test_switcher_enter_opens_the_match_for_letters_typed_before_it() -> None:
    backend = scenarios.normal()
    async with driving(backend) as donna:
        backend.gates.hold("names", "")
        send(donna.app, ["\x0b"])
        await donna.window(Switcher)
        send(donna.app, ["gar", "den", "\r"])
        await donna.rest()
        assert isinstance(donna.app.screen, Switcher), "the list must wait for the answer to the letters"
        backend.gates.release("names", "")
        await arrived(donna, GARDEN)
        asked = [query for query, _ in backend.called("names")]
        assert asked == ["", "garden"], "only the newest letters are searched for"


@pytest.mark.slow
async def test_a_heading_is_opened_at_its_section() -> None:
    async with driving(scenarios.normal()) as donna:
        text = donna.vault._backend.vault.files[DECISIONS]  # type: ignore[union-attr, attr-defined]
        heading = [line for line in text.decode().splitlines() if line.startswith("## ")][-1].strip("# ")
        switcher = await opened(donna, f"#{heading.lower()}")
        assert all(row.startswith("# ") for row in rows(switcher))
        assert f"# {heading}" in rows(switcher)[0]
        await donna.press("enter")
        await arrived(donna, DECISIONS)
        section = donna.vault.detail.text.section
        assert section.heading_path[-1] == heading


@pytest.mark.slow
async def test_matched_letters_are_marked() -> None:
    async with driving(scenarios.normal()) as donna:
        switcher = await opened(donna, "grdn")
        prompt = switcher.options.options[0].prompt
        marked = [prompt.plain[span.start : span.end] for span in prompt.spans if "accent" in str(span.style)]  # type: ignore[union-attr]
        assert "".join(marked).lower() == "grdn"


@pytest.mark.slow
async def test_a_new_name_is_created_and_opened_in_the_editor(edited: list[tuple[Path, int]]) -> None:
    backend = scenarios.normal()
    async with driving(backend) as donna:
        switcher = await opened(donna, "zzq new")
        assert rows(switcher) == ["Create note “zzq new”"]
        await donna.press("enter")
        await donna.until(lambda: edited, "the editor runs")
        assert backend.vault.files["zzq new.md"] == b""
        await donna.until(lambda: notices(donna.app) == "Created · z undo", "it says so once, after the editor")


async def test_leading_slash_means_the_vault_root_in_the_switcher() -> None:
    async with driving(scenarios.normal()) as donna:
        switcher = await opened(donna, "/Zzq/new")
        assert rows(switcher) == ["Create note “Zzq/new”"]


@pytest.mark.slow
async def test_the_last_row_creates_unless_there_is_a_note_of_that_name() -> None:
    async with driving(scenarios.normal()) as donna:
        name = GARDEN.rpartition("/")[2].removesuffix(".md")
        switcher = await opened(donna, name[:-1])
        assert rows(switcher)[-1].startswith("Create note")
        await donna.type(name[-1])
        await donna.until(lambda: switcher._answered == name, "the name is answered")
        assert not rows(switcher)[-1].startswith("Create note")
        await donna.press("alt+n")
        assert isinstance(donna.app.screen, Switcher)


@pytest.mark.slow
async def test_a_note_is_opened_in_the_editor(edited: list[tuple[Path, int]]) -> None:
    async with driving(scenarios.normal()) as donna:
        await opened(donna, "garden")
        await donna.press("alt+e")
        await donna.until(lambda: edited, "the editor is opened")
        assert edited[0][0].as_posix().endswith(GARDEN)


@pytest.mark.slow
def test_switcher_creates_a_note_in_a_terminal(tmp_path: Path) -> None:
    root, home = tmp_path / "vault", {"DONNA_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "EDITOR": "true"}
    shutil.copytree(resource("vault_templates", "demo"), root)
    with python_in_terminal("-m", "tests.cli.without_model", str(root), **home) as terminal:
        terminal.wait_for("all folders")
        terminal.press(b"qq", until="qq")
        terminal.rest(2)
        terminal.press(b"\x0b", until="Switch note")
        terminal.press(b"decisions", until="decisions.md")
        terminal.press(b"\r", until="Gateway")
        terminal.press(b"\x0b", until="Switch note")
        terminal.press(b"A new thought", until="Create note")
        terminal.press(b"\r", until="Create a repository")
        terminal.press(b"\r", until="Created · z undo")
        terminal.quit()
        assert (root / "A new thought.md").exists()
        assert "Traceback" not in plain(bytes(terminal.written))
