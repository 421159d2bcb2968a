"""The keys of the Search screen."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from textual.events import Key, Paste

from donna_tui.tui.search import pane, preview
from donna_tui.tui.search.dialogs import ScopePicker
from donna_tui.tui.search.wording import PAGE, Question, nothing_found
from donna_tui.types.errors import DatabaseError, Reason
from donna_tui.types.events import ModelStateChanged, NoteIndexed, ReconcileDone, StageTimes
from donna_tui.types.search import FilterProblem, SearchOutcome, SearchRequest
from donna_tui.types.status import Coverage, ModelPhase
from tests.tui import scenarios
from tests.tui.driving import driving, hit, marked_rows, notices, outcome
from tests.tui.fake_backend import FakeBackend


def backend_with(*names: str, **fields: object) -> FakeBackend:
    """Return a backend that answers everything with these hits."""
    return FakeBackend(scenarios.AT_REST, answers=lambda request: outcome(request, *names, **fields))


def indexed(path: str = "Notes/other.md") -> NoteIndexed:
    return NoteIndexed(path=path, why="changed", chunks=1, embedded=0, stages=StageTimes())


@pytest.mark.slow
async def test_results_appear_while_typing_and_the_preview_follows() -> None:
    async with driving(scenarios.normal()) as donna:
        await donna.search_for("redis failover")
        assert donna.paths[0] == "Projects/gateway/decisions.md"
        await donna.until(lambda: marked_rows(donna.search.preview.view), "the passage is marked")
        assert "We moved off Redis" in "\n".join(marked_rows(donna.search.preview.view))
        assert donna.search.bar.input.has_focus


async def test_an_answer_to_an_older_question_is_not_drawn_over_a_newer_one() -> None:
    backend = FakeBackend(scenarios.AT_REST, answers=lambda request: outcome(request, f"for-{request.text}"))
    backend.gates.hold("search", "a")
    async with driving(backend) as donna:
        await donna.type("a")
        await donna.until(lambda: backend.called("search"), "the first search waits")
        await donna.type("b")
        await donna.until(lambda: donna.paths == ["Notes/for-ab.md"], "the newer question is answered")
        backend.gates.release("search", "a")
        await donna.rest()
        assert donna.paths == ["Notes/for-ab.md"]


@pytest.mark.slow
async def test_a_word_is_half_typed_until_a_space_follows() -> None:
    backend = FakeBackend(scenarios.AT_REST, answers=lambda request: outcome(request, f"{request.typing}"))
    async with driving(backend) as donna:
        await donna.type("decis")
        await donna.until(lambda: donna.paths == ["Notes/True.md"], "it may become another word")
        await donna.type(" ")
        await donna.until(lambda: donna.paths == ["Notes/False.md"], "it is finished")


async def test_an_answer_to_an_older_question_is_not_drawn_while_the_newer_one_waits() -> None:
    backend = FakeBackend(scenarios.AT_REST, answers=lambda request: outcome(request, f"for-{request.text}"))
    backend.gates.hold("search", "a")
    backend.gates.hold("search", "ab")
    async with driving(backend) as donna:
        await donna.type("a")
        await donna.until(lambda: backend.called("search"), "the first search waits")
        await donna.type("b")
        await donna.until(lambda: len(backend.called("search")) == 2, "the second search waits")
        backend.gates.release("search", "a")
        await donna.rest()
        assert donna.paths == []
        backend.gates.release("search", "ab")
        await donna.until(lambda: donna.paths == ["Notes/for-ab.md"], "the newer question is answered")


async def test_a_key_right_after_typing_is_for_the_answer_to_what_was_typed(edited: list[tuple[Path, int]]) -> None:
    backend = FakeBackend(scenarios.AT_REST, answers=lambda request: outcome(request, f"for-{request.text}"))
    async with driving(backend) as donna:
        await donna.search_for("a")
        backend.gates.hold("search", "ab")
        await donna.type("b")
        asyncio.get_running_loop().call_later(0.2, backend.gates.release, "search", "ab")
        await donna.press("enter")
        await donna.until(lambda: edited, "a note is opened")
        assert [path.name for path, _ in edited] == ["for-ab.md"]


@pytest.mark.parametrize("keys", [("down", "down"), ("escape", "down", "down")])
async def test_moving_right_after_typing_is_in_the_answer_to_what_was_typed(keys: tuple[str, ...]) -> None:
    names = {"a": ("old", "older", "oldest"), "ab": ("new", "newer", "newest", "old")}
    backend = FakeBackend(scenarios.AT_REST, answers=lambda request: outcome(request, *names[request.text]))
    async with driving(backend) as donna:
        await donna.search_for("a")
        backend.gates.hold("search", "ab")
        await donna.type("b")
        asyncio.get_running_loop().call_later(0.2, backend.gates.release, "search", "ab")
        await donna.press(*keys)
        assert donna.search.selected == hit("newest")


async def test_keys_move_the_list_while_the_input_keeps_the_focus() -> None:
    async with driving(backend_with("one", "two", "three")) as donna:
        await donna.search_for("x")
        await donna.press("down", "down", "down", "up")
        assert donna.search.selected == hit("two")
        assert donna.search.bar.input.has_focus
        assert donna.search.bar.input.value == "x"


@pytest.mark.slow
async def test_escape_goes_to_the_list_where_letters_are_keys() -> None:
    async with driving(backend_with("one", "two", "three")) as donna:
        await donna.search_for("x")
        await donna.press("escape", "j")
        assert donna.search.selected == hit("two")
        await donna.press("G")
        assert donna.search.selected == hit("three")
        await donna.press("g")
        assert donna.search.selected == hit("one")
        await donna.press("slash")
        assert donna.search.bar.input.has_focus
        await donna.type("new")
        assert donna.search.bar.input.value == "new"


@pytest.mark.slow
async def test_a_refresh_that_would_move_the_selected_row_waits_until_it_is_asked_for() -> None:
    order = ["one", "two", "three"]
    backend = FakeBackend(scenarios.AT_REST, answers=lambda request: outcome(request, *order))
    async with driving(backend) as donna:
        await donna.search_for("x")
        await donna.press("escape", "j")
        order[:] = ["zero", "one", "two", "three"]
        backend.post(indexed())
        await donna.until(lambda: "r shows them" in donna.screen_text(), "the newer order is announced")
        assert donna.paths == ["Notes/one.md", "Notes/two.md", "Notes/three.md"]
        assert donna.search.selected == hit("two")
        await donna.press("r")
        assert donna.paths[0] == "Notes/zero.md"
        assert donna.search.selected == hit("two")


@pytest.mark.slow
async def test_a_refresh_that_leaves_the_selected_row_in_place_is_drawn() -> None:
    order = ["one", "two"]
    backend = FakeBackend(scenarios.AT_REST, answers=lambda request: outcome(request, *order))
    async with driving(backend) as donna:
        await donna.search_for("x")
        await donna.press("down")
        order[:] = ["new", "two", "three"]
        backend.post(ModelStateChanged(phase=ModelPhase.READY))
        await donna.until(lambda: len(donna.paths) == 3, "the new answer is drawn")
        assert donna.search.selected == hit("two")
        assert donna.search.bar.input.has_focus


@pytest.mark.slow
async def test_semantic_results_are_drawn_when_they_arrive_unless_a_result_was_selected() -> None:
    order = ["one", "two"]
    backend = FakeBackend(scenarios.AT_REST, answers=lambda request: outcome(request, *order))
    async with driving(backend) as donna:
        await donna.search_for("x")
        order[:] = ["two", "one", "three"]
        backend.post(ModelStateChanged(phase=ModelPhase.READY))
        await donna.until(lambda: donna.paths[0] == "Notes/two.md", "the semantic answer is drawn")
        await donna.press("escape")
        order[:] = ["three", "two", "one"]
        backend.post(ModelStateChanged(phase=ModelPhase.READY))
        await donna.until(lambda: "r shows them" in donna.screen_text(), "it waits until it is asked for")


@pytest.mark.slow
async def test_a_failing_refresh_leaves_the_answer_alone() -> None:
    backend = backend_with("one")
    async with driving(backend) as donna:
        await donna.search_for("x")
        backend.fail("search", DatabaseError(Reason.DATABASE_LOCKED, "in use"))
        backend.post(indexed())
        await donna.until(lambda: len(backend.called("search")) == 2, "it looked again")
        await donna.pilot.pause()
        assert donna.paths == ["Notes/one.md"]


async def test_a_search_in_an_empty_vault_says_that_it_is_empty() -> None:
    async with driving(scenarios.empty()) as donna:
        await donna.search_for("zebra")
        assert "There are no notes here yet." in donna.screen_text()
        assert "ctrl+k   create a note" in donna.screen_text()
        assert "Searched 0 notes" not in donna.screen_text()


async def test_a_search_that_began_before_an_empty_folder_was_read_says_in_the_end_that_it_is_empty() -> None:
    backend = scenarios.empty()
    read, backend.current = backend.current, replace(backend.current, last_reconcile=None)
    async with driving(backend) as donna:
        await donna.search_for("zebra")
        assert "The notes are being read." in donna.screen_text()
        backend.current = read
        backend.post(ReconcileDone(why="start", seen=0, new=0, changed=0, deleted=0, skipped=0, latency_ms=1.0))
        await donna.until(lambda: "There are no notes here yet." in donna.screen_text(), "it is empty")


def test_a_search_while_the_folder_is_read_does_not_say_that_nothing_is_relevant() -> None:
    status = replace(scenarios.AT_REST, coverage=Coverage(), last_reconcile=None)
    answer = replace(outcome(SearchRequest(text="zebra")), searched_notes=0)
    words = nothing_found(Question(text="zebra"), answer, status)
    assert words.title == "The notes are being read."


def test_the_reason_of_a_limited_search_is_a_sentence_and_a_filter_is_shown_as_typed() -> None:
    answer = outcome(SearchRequest(text="zebra"))
    limited = replace(answer, note="keyword only: no embedding model is installed")
    text = nothing_found(Question(text="zebra"), limited, scenarios.AT_REST).text
    assert text.endswith(" folders. Keyword only: no embedding model is installed.")
    typed = replace(answer, filter_problems=(FilterProblem("tag:foo", "no note has this tag"),))
    assert " tag:foo: no note" in nothing_found(Question(text="zebra"), typed, scenarios.AT_REST).text


async def test_nothing_relevant_says_what_was_searched_and_offers_near_misses() -> None:
    def answer(request: SearchRequest) -> SearchOutcome:
        near = (hit("close"),) if request.near_misses else ()
        return outcome(request, near_misses=near)

    async with driving(FakeBackend(scenarios.AT_REST, answers=answer)) as donna:
        await donna.search_for("zebra")
        text = donna.screen_text()
        assert "Nothing relevant for “zebra”." in text
        assert "Searched 9 notes with hybrid search, all folders." in text
        assert "alt+n" in text
        donna.app.post_message(Key("alt+n", "n"))  # most terminals send the letter too
        await donna.until(lambda: donna.paths == ["Notes/close.md"], "the near miss is shown")
        assert donna.search.bar.input.value == "zebra"
        assert donna.search.results.rows[0].near
        await donna.press("escape")
        await donna.until(lambda: not donna.paths, "they are hidden again")


async def test_a_long_reason_why_nothing_was_found_hides_no_remedy_on_a_small_screen() -> None:
    problems = (
        FilterProblem("tag:foo", "no note has this tag"),
        FilterProblem("type:bar", "no note has this type " * 3),
    )

    async with driving(
        FakeBackend(scenarios.AT_REST, answers=lambda request: outcome(request, filter_problems=problems)),
        size=(80, 24),
    ) as donna:
        await donna.search_for("zebra")
        assert "why is a note not found?" in donna.screen_text()


async def test_the_title_counts_near_misses_below_the_results() -> None:
    def answer(request: SearchRequest) -> SearchOutcome:
        near = (hit("close"),) if request.near_misses else ()
        return outcome(request, "one", near_misses=near)

    async with driving(FakeBackend(scenarios.AT_REST, answers=answer)) as donna:
        await donna.search_for("zebra")
        await donna.press("alt+n")
        await donna.until(lambda: "1 passage in 1 note, 1 near miss ·" in donna.screen_text(), "the title counts it")


async def test_near_matches_are_shown_by_themselves_where_nothing_is_relevant() -> None:
    async with driving(
        FakeBackend(scenarios.AT_REST, answers=lambda request: outcome(request, near_misses=(hit("close"),)))
    ) as donna:
        await donna.search_for("zebra")
        assert donna.paths == ["Notes/close.md"]
        assert donna.search.results.rows[0].near
        assert "Nothing relevant; near misses" in donna.screen_text()
        await donna.press("alt+n")
        assert "Nothing is relevant, so near misses are shown already." in notices(donna.app)
        assert donna.paths == ["Notes/close.md"]


async def test_where_there_are_no_near_misses_it_says_so() -> None:
    async with driving(FakeBackend(scenarios.AT_REST, answers=outcome)) as donna:
        await donna.search_for("zebra")
        await donna.press("alt+n")
        await donna.until(lambda: "There are no near misses." in donna.screen_text(), "it says so")


@pytest.mark.slow
async def test_a_filter_that_nothing_matches_is_named_and_marked_in_the_box() -> None:
    problem = FilterProblem("path:plugns", "no path contains this", "path:Plugins")

    def answer(request: SearchRequest) -> SearchOutcome:
        return replace(outcome(request), filter_problems=(problem,))

    async with driving(FakeBackend(scenarios.AT_REST, answers=answer)) as donna:
        await donna.search_for("path:plugns backup")
        text = donna.screen_text()
        assert "path:Plugins?" in text
        drawn = donna.search.bar.input.render_line(0)
        assert "".join(part.text for part in drawn if part.style and part.style.underline) == "path:plugns"


@pytest.mark.slow
async def test_list_keys_work_without_results() -> None:
    backend = backend_with()
    async with driving(backend) as donna:
        await donna.search_for("zebra")
        await donna.press("escape", "s")
        await donna.until(lambda: backend.called("search")[-1][0].mode == "semantic", "the mode changed")
        assert donna.search.bar.input.value == "zebra"


async def test_an_error_is_reported_with_what_helps_and_trying_again_works() -> None:
    backend = backend_with("one")
    backend.fail("search", DatabaseError(Reason.DATABASE_LOCKED, "The index is in use.", hint="Wait a moment."))
    async with driving(backend) as donna:
        await donna.type("x")
        await donna.until(lambda: "The index is in use." in donna.screen_text(), "the error is shown")
        assert "Wait a moment." in donna.screen_text()
        backend.failures.clear()
        await donna.press("f5")
        await donna.until(lambda: donna.paths, "the second try is answered")


async def test_without_a_model_the_mode_key_is_offered() -> None:
    backend = backend_with()
    backend.fail("search", DatabaseError(Reason.MODEL_MISSING, "There is no model."))
    async with driving(backend) as donna:
        await donna.type("x")
        await donna.until(lambda: "use keyword search" in donna.screen_text(), "the way out is shown")


@pytest.mark.slow
async def test_the_notice_of_the_engine_is_below_the_results() -> None:
    async with driving(backend_with("one", note="keyword only: the model is loading")) as donna:
        await donna.search_for("x")
        assert "keyword only: the model is loading" in donna.screen_text()


async def test_query_typed_before_the_vault_opens_is_searched_before_the_start_page_is_read() -> None:
    backend = backend_with("one")
    backend.gates.hold("start")
    async with driving(backend, connected=False) as donna:
        await donna.type("early")
        assert "Opening the vault" in donna.screen_text()
        assert not backend.called("search")
        backend.gates.hold("search", "early")
        backend.gates.release("start")
        await donna.until(lambda: backend.called("search"), "it is asked")
        await donna.rest()
        assert not backend.called("recent_notes")
        backend.gates.release("search", "early")
        await donna.until(lambda: donna.paths == ["Notes/one.md"], "it is answered")
        await donna.complete()
        await donna.until(lambda: backend.called("recent_notes"), "the start page is read")


@pytest.mark.slow
async def test_more_like_this_shows_similar_notes_and_escape_returns() -> None:
    backend = backend_with("one", "two")
    async with driving(backend) as donna:
        await donna.search_for("x")
        await donna.press("escape", "m")
        await donna.until(lambda: donna.paths == ["Notes/two.md"], "others like it are shown")
        assert backend.called("more_like")[0][0] == hit("one")
        assert "like one" in donna.screen_text()
        await donna.press("escape")
        await donna.until(lambda: len(donna.paths) == 2, "the question is shown again")


async def test_a_text_typed_over_similar_notes_is_searched_for() -> None:
    async with driving(backend_with("one", "two")) as donna:
        await donna.search_for("x")
        await donna.press("escape", "m")
        await donna.until(lambda: donna.paths == ["Notes/two.md"], "others like it are shown")
        await donna.press("slash")
        await donna.type("y")
        await donna.until(lambda: donna.paths == ["Notes/one.md", "Notes/two.md"], "all notes are searched")


@pytest.mark.slow
async def test_filter_by_folder() -> None:
    backend = scenarios.normal()
    async with driving(backend) as donna:
        await donna.search_for("redis")
        await donna.press("ctrl+f")
        await donna.until(lambda: isinstance(donna.app.screen, ScopePicker), "the dialog opens")
        await donna.type("gateway")
        await donna.press("enter")
        await donna.until(lambda: "Projects/gateway" in donna.screen_text(), "the scope is shown")
        await donna.until(
            lambda: backend.called("search")[-1][0].filters.path_prefix == "Projects/gateway", "the scope is searched"
        )
        assert all(path.startswith("Projects/gateway/") for path in donna.paths)


async def test_a_filter_that_cannot_be_read_is_reported() -> None:
    backend = backend_with("one")
    backend.fail("folders", DatabaseError(Reason.DATABASE_LOCKED, "The index is in use."))
    async with driving(backend) as donna:
        await donna.search_for("x")
        await donna.press("ctrl+f")
        await donna.until(lambda: "The index is in use." in notices(donna.app), "the notice is shown")


@pytest.mark.slow
async def test_copy_link_and_text() -> None:
    async with driving(backend_with("one")) as donna:
        await donna.search_for("x")
        await donna.press("escape", "y")
        assert donna.app.clipboard == "[[Notes/one#one#Part]]"
        assert "Copied" in notices(donna.app)
        await donna.press("Y")
        assert donna.app.clipboard == "the text of one\n\nNotes/one.md › one › Part : 3–5\n"


@pytest.mark.slow
async def test_enter_opens_the_editor_at_the_line(edited: list[tuple[Path, int]]) -> None:
    async with driving(backend_with("one", "two")) as donna:
        await donna.search_for("x")
        await donna.press("down", "enter")
        assert edited == [(Path("/home/noor/notes/Notes/two.md"), 3)]
        await donna.press("escape", "e")
        assert len(edited) == 2


@pytest.mark.slow
async def test_a_click_selects_and_a_double_click_opens(edited: list[tuple[Path, int]]) -> None:
    async with driving(backend_with("one", "two", "three")) as donna:
        await donna.search_for("x")
        row = donna.search.results.row_height
        await donna.pilot.click("#results", offset=(10, row + 1))
        assert donna.search.selected == hit("two")
        assert not edited
        await donna.pilot.click("#results", offset=(10, 2 * row), times=2)
        await donna.until(lambda: edited == [(Path("/home/noor/notes/Notes/three.md"), 3)], "it is opened")


@pytest.mark.slow
async def test_zoom_maximises_the_preview_and_restores_it() -> None:
    async with driving(scenarios.normal(), size=(80, 24)) as donna:
        await donna.search_for("redis")
        await donna.press("escape", "plus")
        assert not donna.search.results.is_on_screen
        assert donna.search.preview.view.has_focus
        await donna.press("escape")
        assert donna.search.results.has_focus
        assert donna.search.results.is_on_screen
        assert donna.search.preview.display


async def test_two_hundred_results_draw_only_the_visible_rows() -> None:
    names = [f"note-{number}" for number in range(200)]
    async with driving(backend_with(*names)) as donna:
        await donna.search_for("x")
        await donna.press("escape", "G")
        assert donna.search.selected == hit("note-199")
        assert "note-199" in donna.screen_text()
        assert len(donna.search.results._strips) < 200


def passages(*notes: str, total: int = 0, at_least: bool = False) -> SearchOutcome:
    """Return an answer with a passage for each name of a note, best first."""
    hits = tuple(
        hit(f"{name}-{place}", path=f"Notes/{name}.md", rank_score=1 - place / 100, in_note=notes.count(name))
        for place, name in enumerate(notes)
    )
    request = SearchRequest(text="x", k=PAGE)
    return SearchOutcome(
        request=request,
        mode="hybrid",
        hits=hits,
        total=total or len(hits),
        total_notes=len(set(notes)),
        at_least=at_least,
    )


@pytest.mark.slow
async def test_passages_of_one_note_are_folded_behind_the_best_of_them() -> None:
    backend = FakeBackend(scenarios.AT_REST, answers=lambda _: passages("a", "b", "a", "a", "c"))
    async with driving(backend) as donna:
        await donna.search_for("x")
        ids = [row.hit.chunk_id for row in donna.search.results.rows]
        assert ids == ["a-0", "b-1", "c-4"]
        assert "5 passages in 3 notes" in donna.screen_text()
        assert "… 2 more in this note" in donna.screen_text()
        await donna.press("escape", "right")
        ids = [row.hit.chunk_id for row in donna.search.results.rows]
        assert ids == ["a-0", "a-2", "a-3", "b-1", "c-4"]
        assert "more in this note" not in donna.screen_text()
        await donna.press("j", "j", "left")
        assert donna.search.selected is not None
        assert donna.search.selected.chunk_id == "a-0"
        await donna.press("space")
        assert len(donna.search.results.rows) == 5
        await donna.press("space", "i", "/", "y")
        await donna.until(lambda: len(donna.search.results.rows) == 3, "another question folds all")


@pytest.mark.slow
async def test_the_end_of_the_list_loads_more_and_moves_nothing() -> None:
    """The longer answer would have ranked one of them first."""
    names = [f"n{number:03}" for number in range(2 * PAGE + 20)]

    def answer(request: SearchRequest) -> SearchOutcome:
        found = passages(*names[: request.k], total=2 * PAGE + 20)
        if request.k > PAGE:
            found = replace(
                found,
                hits=(
                    replace(found.hits[PAGE + 10], rank_score=1.0),
                    *found.hits[: PAGE + 10],
                    *found.hits[PAGE + 11 :],
                ),
            )
        return replace(found, request=request)

    backend = FakeBackend(scenarios.AT_REST, answers=answer)
    async with driving(backend) as donna:
        await donna.search_for("x")
        await donna.press("escape", "G")
        await donna.until(lambda: len(donna.search.results.rows) == 2 * PAGE, "the next page is loaded")
        results = donna.search.results
        assert results.selected_index == PAGE - 1
        assert [row.hit.chunk_id for row in results.rows[:PAGE]] == [
            f"{name}-{at}" for at, name in enumerate(names[:PAGE])
        ]
        ranks = [row.hit.rank_score for row in results.rows]
        assert ranks == sorted(ranks, reverse=True)
        await donna.press("G")
        await donna.until(lambda: len(donna.search.results.rows) == 2 * PAGE + 20, "and the last one")
        assert donna.search.results.selected_index == 2 * PAGE - 1
        await donna.press("G")
        await donna.search.wait_until_idle()
        assert len(backend.called("search")) == 3


async def test_an_uncounted_total_is_shown_as_a_minimum() -> None:
    backend = FakeBackend(scenarios.AT_REST, answers=lambda _: passages("a", "b", at_least=True))
    async with driving(backend) as donna:
        await donna.search_for("x")
        assert "2+ passages in 2+ notes" in donna.screen_text()


async def test_clearing_the_question_clears_the_results() -> None:
    backend = backend_with("one")
    async with driving(backend) as donna:
        await donna.search_for("x")
        await donna.press("backspace")
        assert donna.paths == []
        await donna.until(lambda: donna.search.start.display, "the start page is shown again")


async def test_a_changed_note_is_read_again_for_the_preview() -> None:
    backend = backend_with("one")
    async with driving(backend) as donna:
        await donna.search_for("x")
        await donna.until(lambda: backend.called("passage"), "the passage is read")
        before = len(backend.called("passage"))
        backend.post(indexed("Notes/one.md"))
        await donna.until(lambda: len(backend.called("passage")) > before, "it is reloaded")


async def test_a_note_that_is_gone_is_reported_in_the_preview() -> None:
    async with driving(backend_with("one")) as donna:
        await donna.search_for("x")
        await donna.until(lambda: "This note is no longer there." in donna.screen_text(), "the preview shows it")


async def test_pasted_lines_become_one_safe_question() -> None:
    async with driving(backend_with()) as donna:
        donna.app.post_message(Paste("red\x1b]52;c;eA==\x07is\nsecond line"))
        await donna.until(lambda: donna.search.bar.input.value, "something is pasted")
        value = donna.search.bar.input.value
        assert value.startswith("red")
        assert value.endswith("is second line")
        assert value.isprintable()


@pytest.mark.parametrize("fails", [False, True])
async def test_an_answer_to_an_older_text_is_not_shown_below_a_newer_one(
    fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = backend_with("one")
    if fails:
        backend.fail("search", DatabaseError(Reason.DATABASE_LOCKED, "The index is in use."))
    backend.gates.hold("search", "r")
    async with driving(backend) as donna:
        await donna.pilot.press("r")
        await donna.until(lambda: backend.called("search"), "the older text is searched for")
        monkeypatch.setattr(pane, "TYPING_GAP", 3600.0)  # the newer text is not asked while the older one is
        await donna.pilot.press("e")
        backend.gates.release("search", "r")
        await donna.search.wait_until_idle()
        await donna.rest()
        assert donna.search.results.rows == ()
        assert "The index is in use." not in donna.screen_text()


@pytest.mark.slow
async def test_nothing_is_laid_out_again_while_typing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "LOAD_DELAY", 3600.0)  # the section that is loaded then may have a longer heading
    found = {"a": "", "ab": "xyz", "abc": "x", "abcd": "", "abcde": "abcdefghijklmnopqrstuvwxyz"}
    backend = FakeBackend(scenarios.AT_REST)
    backend.answers = lambda request: outcome(request, *found[request.text])
    laid_out = list[object]()
    async with driving(backend) as donna:
        await donna.search_for("a")  # by then the other panes are mounted, and the start page is hidden
        await donna.rest()
        donna.app.screen.screen_layout_refresh_signal.subscribe(donna.app.screen, laid_out.append)
        for letter in "bcde":
            await donna.pilot.press(letter)
            await donna.search.wait_until_idle()
            await donna.pilot.pause()
        assert "26 passages" in donna.screen_text()
        assert laid_out == []
