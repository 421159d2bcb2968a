"""The targets of links, and backlinks, in files on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from donna_tui.types.notes import Destination
from donna_tui.vault.client import VaultClient
from donna_tui.vault.links.graph import LinkGraph, line_of_fragment
from donna_tui.vault.paths import VaultRoot
from donna_tui.vault.write.files import VaultFiles

NOTES = {
    "Home.md": "# Home\n\nSee [[Garden]] and [[Gone|the old one]].\n\n![[plan.png]]\n",
    "Ideas/Garden.md": "---\ntags: [x]\n---\n# Garden\n\n## What to *plant*\n\nBeans. ^beans\n\n## Water\n\n### Summer\n",
    "Ideas/List.md": "A [bed](Garden.md#what-to-plant) and [home](../Home.md), [web](https://example.org/a).\n",
    "Else/Garden.md": "# Another garden\n",
    "Log.md": "`[[Garden]]` is code.\n\nNo link to the Garden.\n",
}


@pytest.fixture
def graph(tmp_path: Path) -> LinkGraph:
    for path, text in NOTES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return LinkGraph(VaultClient(tmp_path), VaultFiles(VaultRoot(tmp_path)))


@pytest.mark.parametrize(
    ("note", "written", "is_wiki", "expected"),
    [
        ("Home.md", "Ideas/Garden", True, Destination(path="Ideas/Garden.md")),
        ("Ideas/List.md", "garden|beds", True, Destination(path="Ideas/Garden.md")),
        ("Home.md", "Ideas/Garden#Water#Summer", True, Destination(path="Ideas/Garden.md", line=12)),
        ("Home.md", "Ideas/Garden#^beans", True, Destination(path="Ideas/Garden.md", line=8)),
        ("Ideas/Garden.md", "#water", True, Destination(path="Ideas/Garden.md", line=10)),
        ("Ideas/List.md", "Garden.md#what-to-plant", False, Destination(path="Ideas/Garden.md", line=6)),
        ("Ideas/List.md", "Garden.md#What%20to%20plant", False, Destination(path="Ideas/Garden.md", line=6)),
        ("Ideas/List.md", "<../Home.md>", False, Destination(path="Home.md")),
        ("Home.md", "Gone", True, Destination(path="Gone.md", exists=False)),
        ("Ideas/List.md", "new%20one.md", False, Destination(path="Ideas/new one.md", exists=False)),
        ("Home.md", "https://example.org/a?b=1", False, Destination(url="https://example.org/a?b=1")),
    ],
)
def test_follow_resolves_links(graph: LinkGraph, note: str, written: str, is_wiki: bool, expected: Destination) -> None:
    assert graph.follow(note, written, is_wiki=is_wiki) == expected


@pytest.mark.parametrize(
    ("written", "is_wiki", "problem", "path"),
    [
        ("Ideas/Garden#Fire", True, "There is no heading “Fire” in this note.", "Ideas/Garden.md"),
        ("Ideas/Garden#^peas", True, "There is no block “peas” in this note.", "Ideas/Garden.md"),
        ("plan.png", True, "This link is to an attachment, which Donna does not show.", ""),
        ("../../etc/passwd", False, "This link is to a file outside the vault.", ""),
        ("javascript:alert(1)", False, "This link is neither to a note nor to a web page.", ""),
        ("file:///etc/passwd", False, "This link is neither to a note nor to a web page.", ""),
        ("Folder/", True, "This link does not name a note.", ""),
        ("|only an alias", True, "This link does not name a note.", ""),
    ],
)
def test_follow_returns_the_problem_of_a_broken_link(
    graph: LinkGraph, written: str, is_wiki: bool, problem: str, path: str
) -> None:
    found = graph.follow("Home.md", written, is_wiki=is_wiki)
    assert (found.problem, found.path, found.url) == (problem, path, "")


def test_backlinks_have_the_line_around_each_and_follow_the_same_rule_as_links(graph: LinkGraph) -> None:
    links = graph.links("Ideas/Garden.md")
    assert [(each.path, each.line, each.text) for each in links.incoming] == [
        ("Ideas/List.md", 1, NOTES["Ideas/List.md"].strip())
    ]
    assert [(each.path, each.line) for each in graph.links("Else/Garden.md").incoming] == [("Home.md", 3)]
    own = graph.links("Home.md").outgoing
    assert [(each.target, each.exists, each.text) for each in own] == [
        ("Else/Garden.md", True, "See [[Garden]] and [[Gone|the old one]]."),
        ("Gone.md", False, "See [[Garden]] and [[Gone|the old one]]."),
    ]


def test_a_link_to_a_heading_of_its_own_note_is_no_link_to_a_note(graph: LinkGraph, tmp_path: Path) -> None:
    (tmp_path / "Own.md").write_text("# Own\n\n[[#Own]], [[Own#Own]], [top](#own) and [[Home]]\n")
    links = graph.links("Own.md")
    assert [each.target for each in links.outgoing] == ["Home.md"]
    assert links.incoming == ()


def test_a_long_line_is_shown_around_its_link(graph: LinkGraph, tmp_path: Path) -> None:
    (tmp_path / "Long.md").write_text(f"{'a ' * 5_000}[[Ideas/Garden]]{' b' * 5_000}\n")
    shown = next(each for each in graph.links("Ideas/Garden.md").incoming if each.path == "Long.md").text
    assert len(shown) <= 400
    assert "[[Ideas/Garden]]" in shown


def test_headings_are_found_by_what_their_spellings_share() -> None:
    text = "# A\n\n## Same\n\n# B\n\n## Same\n\n## **Bold** & `code`: 1.2\n"
    assert line_of_fragment(text, "Same") == 3
    assert line_of_fragment(text, "B#Same") == 7
    assert line_of_fragment(text, "bold-code-12") is None
    assert line_of_fragment(text, "Bold & code 1.2") == 9
