"""The matcher ignores exactly what the patterns say, in whatever order it is asked."""

from __future__ import annotations

from fnmatch import fnmatchcase

from hypothesis import example, given
from hypothesis import strategies as st

from donna_tui.vault.include import GlobSet

PART = st.text("ab.", min_size=1, max_size=3)
PATHS = st.lists(PART, min_size=1, max_size=4).map("/".join)
PATTERN_PART = st.one_of(st.just("**"), st.text("ab.*?", min_size=1, max_size=3))
PATTERNS = st.lists(PATTERN_PART, min_size=1, max_size=3).map("/".join)


def ignored(pattern: str, path: str) -> bool:
    """Try every folder above the path, and every place where the pattern may begin."""
    core = pattern.removeprefix("**/").removesuffix("/**").split("/")
    parts = path.split("/")
    tails = (parts[start:end] for end in range(1, len(parts) + 1) for start in range(end))
    return any(same(core, tail) for tail in tails)


def same(pattern: list[str], parts: list[str]) -> bool:
    if not pattern:
        return not parts
    if set(pattern) == {"**"}:  # at the end: what is below a folder, not the folder
        return bool(parts)
    if pattern[0] == "**":
        return any(same(pattern[1:], parts[skipped:]) for skipped in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and same(pattern[1:], parts[1:])


@given(st.lists(PATTERNS, max_size=4), st.lists(PATHS, min_size=1, max_size=5))
@example(["a/**/**"], ["a/b.md", "b/a"])
@example(["a/**/b", "b"], ["a/b", "a/a/b/a", "ab"])
def test_glob_set_matches_if_any_pattern_matches(patterns: list[str], paths: list[str]) -> None:
    globs = GlobSet(patterns)
    for path in paths:
        assert globs.matches(path) == any(ignored(pattern, path) for pattern in patterns)
