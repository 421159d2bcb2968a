"""Links, followed by key, click and label in the preview and the Vault; back and forward; backlinks; missing notes."""

from __future__ import annotations

import pytest

from donna_tui.tui.lib.dialogs import RefusalScreen
from donna_tui.tui.lib.jump import JumpOverlay
from donna_tui.tui.lib.links import link_targets
from donna_tui.tui.lib.markdown import markdown_blocks
from donna_tui.tui.lib.passage_view import wrapped
from donna_tui.tui.lib.places import Place, Places
from donna_tui.types.search import SearchOutcome, SearchRequest
from tests.tui import scenarios
from tests.tui.driving import Driver, driving, hit, marked_rows, notices
from tests.tui.fake_backend import FakeBackend, new_passage
from tests.tui.fake_vault import FakeVault
from tests.tui.sample_vault import NOW

NOTES = {
    "Home.md": "# Home\n\nStart at [[Plants]].\n",
    "Garden/Plants.md": "# Plants\n\nOne\n\n## Beans\n\nSow in [the list](List.md), then go [[Home|home]].\n",
    "Garden/List.md": "# List\n\n"
    + "Text.\n\n" * 60
    + "## Late\n\nThe end, see [[Plants#Beans]]. ^end\n\nAnd [[#^end]] or [[Gone]].\n",
    "Garden/Block.md": "[[List#^end]]\n",
}


def answer(request: SearchRequest) -> SearchOutcome:
    found = hit("Home", path="Home.md", start_line=3, end_line=3, content=request.text)
    return SearchOutcome(request=request, mode=request.mode, hits=(found,), searched_notes=4, latency_ms=1.0)


def backend() -> FakeBackend:
    passage = new_passage(
        path="Home.md",
        title="Home",
        heading_path=("Home",),
        text=NOTES["Home.md"],
        start_line=1,
        end_line=3,
        mark_start=3,
        mark_end=3,
        linked_from=("Garden/Plants.md",),
    )
    return FakeBackend(scenarios.AT_REST, answers=answer, passages=[passage], vault=FakeVault.of(NOTES, NOW))


@pytest.mark.parametrize("begin", ["", "> ", "> [!note] Title\n> ", "- "])
def test_a_link_that_continues_in_other_rows_is_one_target(begin: str) -> None:
    blocks = markdown_blocks(f"{begin}[[a|{'word ' * 12}end]]\n\n- [[a]]\n- [[a]] and [[a]]\n")
    rows = [row for block in blocks for row, _ in wrapped(block, 20)]
    targets = list(link_targets(enumerate(rows), 0, lambda ref: None))
    places = [(target.x, rows[target.y].plain[target.x :]) for target in targets]
    assert [place for place in places if "word" not in place[1]] == [(2, "a"), (2, "a and a"), (8, "a")]
    assert len(places) == 4


async def at(donna: Driver, path: str, line: int) -> None:
    await donna.until(
        lambda: donna.main.header.active == "vault" and donna.vault.place == (path, line), f"{path}:{line}"
    )
    await donna.rest()


async def previewed(donna: Driver, question: str = "start") -> None:
    await donna.search_for(question)
    await donna.until(lambda: donna.search.preview.view.jump_targets(), "the section is shown")
    await donna.rest()


@pytest.mark.slow
async def test_enter_follows_the_link_of_the_preview_and_the_keys_go_back_and_forward() -> None:
    async with driving(backend()) as donna:
        await previewed(donna)
        await donna.press("f3", "enter")
        await at(donna, "Garden/Plants.md", 1)
        await donna.press("ctrl+left")
        await donna.until(lambda: donna.main.header.active == "search", "the question is shown again")
        assert donna.search.bar.input.value == "start"
        await donna.press("ctrl+right")
        await at(donna, "Garden/Plants.md", 1)
        await donna.press("ctrl+right")
        assert "nothing to go forward to" in notices(donna.app)


@pytest.mark.slow
async def test_several_visible_links_are_labelled_and_lead_to_headings_blocks_and_notes() -> None:
    async with driving(backend(), note="Garden/Plants.md") as donna:
        await donna.window(JumpOverlay, "enter", "enter")
        await donna.press("a")
        await at(donna, "Garden/List.md", 1)
        await donna.window(JumpOverlay, "G", "enter")
        await donna.press("a")
        await at(donna, "Garden/Plants.md", 5)
        assert "## Beans" not in donna.screen_text()
        await donna.press("ctrl+left", "ctrl+left")
        await at(donna, "Garden/Plants.md", 1)


@pytest.mark.slow
async def test_a_single_visible_link_is_followed_at_once_and_a_block_is_scrolled_into_view() -> None:
    async with driving(backend(), note="Garden/Block.md") as donna:
        await donna.press("enter", "enter")
        await at(donna, "Garden/List.md", 125)
        assert marked_rows(donna.vault.detail.text) == ["The end, see Plants#Beans. "]
        assert "The end, see" in donna.screen_text()


@pytest.mark.slow
async def test_a_click_follows_a_link() -> None:
    async with driving(backend()) as donna:
        await previewed(donna)
        link, *_, backlink = donna.search.preview.jump_targets()
        for spot in (link, backlink):
            await donna.pilot.click(offset=(spot.x + 1, spot.y))
            await at(donna, "Garden/Plants.md", 1)
            await donna.press("ctrl+left")
            await donna.until(lambda: donna.main.header.active == "search", "the question is shown again")
            await donna.rest()
        await donna.open_note("Home.md")
        await donna.rest()
        spot = next(iter(donna.vault.detail.text.jump_targets()))
        await donna.pilot.click(offset=(spot.x + 1, spot.y))
        await at(donna, "Garden/Plants.md", 1)


@pytest.mark.slow
async def test_jump_labels_follow_links() -> None:
    async with driving(backend()) as donna:
        await previewed(donna)
        overlay = await donna.window(JumpOverlay, "ctrl+g")
        spot = donna.search.preview.view.jump_targets()[0]
        label = next(name for name, each in overlay._targets.items() if (each.x, each.y) == (spot.x, spot.y))
        await donna.press(*label)
        await at(donna, "Garden/Plants.md", 1)


@pytest.mark.slow
async def test_the_keys_move_by_words_in_a_text_box_and_go_back_from_its_beginning() -> None:
    async with driving(backend()) as donna:
        await previewed(donna, "two words")
        await donna.press("f7")
        await at(donna, "Home.md", 3)
        await donna.press("1", "end", "ctrl+left")
        assert donna.search.bar.input.cursor_position == len("two ")
        await donna.press("ctrl+left", "ctrl+left")
        await at(donna, "Home.md", 3)


@pytest.mark.slow
async def test_backlinks_are_listed_with_the_line_around_each_and_followed() -> None:
    async with driving(backend(), note="Garden/List.md") as donna:
        await donna.press("enter", "L")
        await donna.until(lambda: donna.vault.detail.links.items, "the links are read")
        await donna.rest()
        text = donna.screen_text()
        assert "← Plants  Garden" in text
        assert "Sow in the list, then go home." in text
        assert "→ Gone  Garden" not in text
        assert "does not exist" in text
        rows = [row.link.path for row in donna.vault.detail.links.items if row.is_back]
        await donna.press(*"j" * rows.index("Garden/Plants.md"), "enter")
        await at(donna, "Garden/Plants.md", 7)


@pytest.mark.slow
async def test_a_link_to_a_missing_note_offers_to_create_it() -> None:
    fake = backend()
    fake.vault.files["Home.md"] = b"[[Seeds]]\n"
    async with driving(fake, note="Home.md") as donna:
        await donna.window(RefusalScreen, "enter", "enter")
        assert "Seeds.md" in donna.screen_text()
        await donna.press("escape")
        assert "Seeds.md" not in fake.vault.files
        await donna.window(RefusalScreen, "enter")
        await donna.press("enter")
        await donna.until(lambda: "Seeds.md" in fake.vault.files, "it is created")


@pytest.mark.slow
async def test_following_a_broken_link_shows_the_reason() -> None:
    fake = backend()
    fake.vault.files["Home.md"] = b"[[Plants#Nettles]]\n"
    async with driving(fake, note="Home.md") as donna:
        await donna.press("enter", "enter")
        await at(donna, "Garden/Plants.md", 1)
        assert "There is no heading “Nettles” in this note." in notices(donna.app)


@pytest.mark.slow
async def test_escape_from_more_like_this_returns_to_its_row() -> None:
    def answers(request: SearchRequest) -> SearchOutcome:
        hits = tuple(hit(name) for name in ("one", "two", "three"))
        return SearchOutcome(request=request, mode=request.mode, hits=hits, searched_notes=9, latency_ms=1.0)

    async with driving(FakeBackend(scenarios.AT_REST, answers=answers)) as donna:
        await donna.search_for("words")
        await donna.press("escape", "j", "m")
        await donna.until(lambda: donna.search.question.like is not None and len(donna.paths) == 2, "others are shown")
        await donna.press("escape")
        await donna.until(lambda: len(donna.paths) == 3, "the answer is shown again")
        assert donna.search.selected.title == "two"


@pytest.mark.slow
async def test_repeated_back_actions_are_handled_in_sequence() -> None:
    async with driving(backend(), note="Home.md") as donna:
        for path in ("Garden/Plants.md", "Garden/Block.md"):
            await donna.main._show_note(path, 1)
            await at(donna, path, 1)
        donna.main.action_view_backward()
        donna.main.action_view_backward()
        await at(donna, "Home.md", 1)
        donna.main.action_view_forward()
        await at(donna, "Garden/Plants.md", 1)


def test_places_keep_a_back_and_a_forward_stack() -> None:
    places, one, two = Places(), Place("vault", ("one.md", 1)), Place("vault", ("two.md", 3))
    asked = Place("search", "q", lambda: "a")
    assert places.back(one) is None
    places.push_back(one)
    places.push_back(asked)
    assert places.back(two) == asked
    asked_later = Place("search", "q", lambda: "b")
    assert places.back(asked_later) == one
    assert places.forward(one) is asked_later
    places.push_back(asked)
    assert places.forward(one) is None
