"""Wikilinks are read as the bare names of the notes that they link to."""

from __future__ import annotations

import pytest

from donna_tui.vault.links.spans import LONGEST_LINK, extract_links


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("[[Note]]", ["Note"]),
        ("[[Note|alias]] ![[pic.png|200]] [[Note#Heading|x]] [[Other#^id]]", ["Note", "pic.png", "Other"]),
        ("[[ spaces ]] and [[Folder/Note]]", ["spaces", "Folder/Note"]),
        ("[[b]] [[a]] [[b]]", ["b", "a"]),
        ("| a | [[x\\|y]] |", ["x"]),
        ("[[a|b|c]]", ["a"]),
        ("[[]] [[|]] [[#h]] [[ ]]", []),
        ("[[a\nb]] [[c\rd]] [[e]]", ["e"]),
        ("[[unclosed [[Note]]", ["Note"]),
        ("[[unclosed\n\n[[Note]]", ["Note"]),
        ("[single] [text](url.md) ]] [[", []),
        ("`[[code]]` %%[[comment]]%% [[Note]]", ["Note"]),
        ("[[../../etc/passwd]]", ["../../etc/passwd"]),
        (f"[[{'x' * LONGEST_LINK}y]] [[ok]]", ["ok"]),
    ],
)
def test_extract_links_returns_note_names(text: str, targets: list[str]) -> None:
    assert extract_links(text) == targets


@pytest.mark.parametrize("bomb", ["[" * 200_000, "![[" * 80_000, "[[a" * 80_000, "]]" * 100_000, "[[" + "a" * 200_000])
def test_extract_links_ignores_hostile_input(bomb: str) -> None:
    assert extract_links(bomb) == []
