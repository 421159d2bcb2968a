"""Why a note is found by a question, or is not: what the engine knows, in the words of a person who searches."""

from __future__ import annotations

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.backend import Explanation
from donna_tui.tui.refusals import sentence
from donna_tui.tui.screens.detail import DetailScreen, Facts

_HELP = {
    "not_indexed": "Activity shows which notes are left out, and why.",
    "outside_filters": "Search everywhere, or take the filter out of the question.",
    "draft": "in:draft in the question finds drafts; approved in Review, it is a note.",
    "lacks_demanded_words": "Take the quotation marks or the excluded word out of the question.",
    "not_among_the_candidates": "Use words that this note has and others do not, or search in its folder.",
    "below_threshold": "Use a word of the note, or say more of what it is about.",
    "nothing_relevant": "Near misses show what came close; a word of the note helps most.",
    "behind_others": "Say more of what this note is about, or search in its folder.",
}


def explanation_screen(found: Explanation, question: str) -> DetailScreen:
    """A window that says why."""
    is_found = found.cause == "it_is_a_hit"
    return DetailScreen("Why it is found" if is_found else "Why it is not found", facts_of(found, question))


def facts_of(found: Explanation, question: str) -> Facts:
    """What became of a note in a search, with what helps."""
    return (
        ("", _reason(found)),
        ("What helps", _HELP.get(found.cause, "")),
        ("By words", _words(found)),
        ("By meaning", _meaning(found)),
        ("Note", clean_line(found.path)),
        ("Question", clean_line(question)),
    )


def _reason(found: Explanation) -> str:
    reasons = {
        "it_is_a_hit": f"It is number {found.rank} among the passages of this search.",
        "not_among_the_candidates": "Other notes are closer to the question, by words and by meaning.",
        "below_threshold": "It shares no word with the question, and its meaning is too far from it.",
        "nothing_relevant": f"No note is close enough to the question. This one is near miss {found.rank}.",
        "behind_others": f"It would be number {found.rank}; the list ends before that.",
    }
    return reasons.get(found.cause) or sentence(clean_line(found.detail))


def _words(found: Explanation) -> str:
    if found.cause in ("not_indexed", "outside_filters"):
        return ""
    return f"place {found.keyword_rank}" if found.keyword_rank else "none of its passages matches"


def _meaning(found: Explanation) -> str:
    if found.cosine is None:
        return ""
    place = f"place {found.vector_rank}, " if found.vector_rank else ""
    return f"{place}similarity {found.cosine:.2f} (1 is the same)"
