"""Choose where to search, explain why a note is found or not, and correct a passage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from textual.app import App

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.lib.dialogs import DetailScreen, Facts
from donna_tui.tui.lib.error_messages import error_text, sentence
from donna_tui.tui.lib.picker import Choice, Picker
from donna_tui.tui.search.wording import SearchScope
from donna_tui.types.errors import DonnaError
from donna_tui.types.search import MemorySource

if TYPE_CHECKING:
    from donna_tui.engine.memory_service import MemoryService
    from donna_tui.search.why_not import WhyNot


class ScopePicker(Picker[SearchScope]):
    """A picker of the scope: everywhere, all spaces, every folder, and the sources if there is more than one."""

    def __init__(self, folders: tuple[str, ...], sources: tuple[str, ...], chosen: SearchScope) -> None:
        choices = [
            Choice(value=scope, title=title, mark="✓" if scope == chosen else "", section=section)
            for scope, title, section in _scopes(folders, sources, chosen)
        ]
        super().__init__("Search in", choices, placeholder="folder or source", mark_width=2)


def _scopes(
    folders: tuple[str, ...], sources: tuple[str, ...], chosen: SearchScope
) -> Iterator[tuple[SearchScope, str, str]]:
    yield SearchScope(), "everything", "Everywhere"
    yield SearchScope(every_space=True), "everything in all spaces", "Everywhere"
    for folder in folders:
        yield SearchScope(folder, chosen.source), folder, "Folders"
    if len(sources) > 1:
        for source in sources:
            yield SearchScope(chosen.folder, source), source, "Sources"


_HELP = {
    "not_indexed": "Activity shows which notes are left out, and why.",
    "outside_filters": "Search everywhere, or remove the filter from the question.",
    "draft": "in:draft in the question finds drafts; approved in Review, it is a note.",
    "lacks_demanded_words": "Remove the quotation marks or the excluded word from the question.",
    "not_among_the_candidates": "Use words that this note has and others do not, or search in its folder.",
    "below_threshold": "Use a word from the note, or say more about its subject.",
    "nothing_relevant": "Show near misses, or add a word from the note.",
    "behind_others": "Say more about the subject of this note, or search in its folder.",
}


def explanation_screen(found: WhyNot, question: str) -> DetailScreen:
    is_found = found.cause == "it_is_a_hit"
    return DetailScreen("Why it is found" if is_found else "Why it is not found", facts_of(found, question))


def facts_of(found: WhyNot, question: str) -> Facts:
    """Describe the fate of a note in a search, with remedies."""
    return (
        ("", _reason(found)),
        ("What helps", _HELP.get(found.cause, "")),
        ("Keyword", _keyword(found)),
        ("Semantic", _semantic(found)),
        ("Note", clean_line(found.path)),
        ("Question", clean_line(question)),
    )


def _reason(found: WhyNot) -> str:
    not_similar = "It shares no word with the question, and the two are not similar enough."
    reasons = {
        "it_is_a_hit": f"It is number {found.rank} of the passages found.",
        "not_among_the_candidates": "Other notes rank higher, both in keyword and in semantic search.",
        "below_threshold": not_similar if found.cosine is not None else "",
        "nothing_relevant": f"No note is close enough to the question. This one is near miss {found.rank}.",
        "behind_others": f"It would be number {found.rank}; the list ends before that.",
    }
    return reasons.get(found.cause) or sentence(clean_line(found.detail))


def _keyword(found: WhyNot) -> str:
    if found.cause in ("not_indexed", "outside_filters"):
        return ""
    return f"place {found.keyword_rank}" if found.keyword_rank else "none of its passages matches"


def _semantic(found: WhyNot) -> str:
    if found.cosine is None:
        return ""
    place = f"place {found.vector_rank}, " if found.vector_rank else ""
    return f"{place}similarity {found.cosine:.2f} (1 is identical)"


def correction_effect(source: MemorySource) -> str:
    if source is MemorySource.MEMORY:
        return "Donna uses this text from now on; the old text is stored in the correction."
    if source in (MemorySource.VAULT, MemorySource.TASK):
        return "It is stored as a correction beside the note. The note itself is not changed."
    if source is MemorySource.CORRECTION:
        return "It replaces this correction."
    return "It is stored as a correction; the chat itself is not changed."


async def correct(
    app: App[Any],
    service: MemoryService,
    *,
    identity: str,
    text: str,
    citation: str,
    becomes: str,
    query: str = "",
) -> bool:
    """Prompt for a correction, and store it. Return whether it was stored. After an error, which is shown, the dialog
    has the typed text again.
    """
    from donna_tui.tui.lib.edit_dialog import CorrectScreen

    with suppress(DonnaError):
        text = await service.text_to_correct(identity, text)
    typed = ""
    while (right := await app.push_screen_wait(CorrectScreen(citation, text, becomes, typed))) is not None:
        try:
            await service.correct(identity, right, query=query, original=text)
        except DonnaError as error:
            app.notify(f"Not saved: {error_text(error)}", severity="error", timeout=8)
            typed = right
        else:
            app.notify("Correction saved.", timeout=3)
            return True
    return False
