"""One matcher decides what is ignored, at any depth and in bounded time."""

from __future__ import annotations

import pytest

from donna_tui.vault.include import GlobSet


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (".obsidian/**", ".obsidian"),
        (".obsidian/**", ".obsidian/plugins/x/README.md"),
        (".obsidian/**", "Work/.obsidian/app.json"),
        ("Templates/**", "a/b/Templates/c/d.md"),
        ("Templates", "Templates/x.md"),
        ("Templates/", "Templates/x.md"),
        ("**/Templates/**", "Templates/x.md"),
        ("*.excalidraw.md", "a/drawing.excalidraw.md"),
        ("Daily/20??-*.md", "Daily/2024-01-01.md"),
        ("a/**/z.md", "a/z.md"),
        ("a/**/z.md", "a/b/c/z.md"),
        ("a/*/c", "x/a/b/c/d.md"),
        ("C# [draft].md", "C# [draft].md"),
        ("a+(b).md", "a+(b).md"),
        ("*", "two\nlines.md"),
    ],
)
def test_glob_set_matches_ignored_paths(pattern: str, path: str) -> None:
    assert GlobSet([pattern]).matches(path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("Templates/**", "Templates.md"),
        ("Templates/**", "My Templates/x.md"),
        ("Templates/**", "templates/x.md"),
        ("*.md", "a.md.txt"),
        ("a/*.md", "a/b/c.txt"),
        ("a/**/z.md", "a/bz.md"),
        ("[a].md", "a.md"),
        ("a.b", "aXb"),
    ],
)
def test_glob_set_does_not_match_other_paths(pattern: str, path: str) -> None:
    assert not GlobSet([pattern]).matches(path)


def test_any_pattern_suffices_and_none_ignores_nothing() -> None:
    assert GlobSet(["a/**", "b/**"]).matches("b/x.md")
    assert not GlobSet([]).matches("b/x.md")
    assert not GlobSet(["", "/"]).matches("b/x.md")


@pytest.mark.parametrize("pattern", ["*a" * 60 + "b", "**/a/" * 60 + "b", "?*" * 60 + "b"])
def test_glob_matching_of_hostile_patterns_is_fast(pattern: str) -> None:
    assert not GlobSet([pattern]).matches("a/" * 200 + "a" * 250)
