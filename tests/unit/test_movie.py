"""The animated picture of the README shows each row for exactly as long as it was on the screen."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "screenshots"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def movie(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delitem(sys.modules, "movie", raising=False)
    return importlib.import_module("movie")


def row(text: str) -> tuple[tuple[str, str, str, bool, bool], ...]:
    return ((text, "#ffffff", "#131519", False, False),)


def test_movie_draws_unchanged_rows_once(movie: ModuleType) -> None:
    frames = [([row("head"), row("one")], 1.0), ([row("head"), row("two & <3")], 2.0), ([row("head"), row("one")], 1.0)]
    shown = [(line, piece[0][0], begin, end) for line, piece, begin, end in movie.intervals(frames)]
    assert shown == [
        (0, "head", 0.0, 4.0),
        (1, "one", 0.0, 1.0),
        (1, "two & <3", 1.0, 3.0),
        (1, "one", 3.0, 4.0),
    ]
    svg = ElementTree.fromstring(movie.svg_of(frames, (20, 2), "a & b"))
    texts = [each.text for each in svg.iter(f"{SVG}text")]
    assert texts == ["head", "one", "two & <3", "one"]
    styles = svg.findtext(f"{SVG}style") or ""
    assert "25.000%{visibility:visible}75.000%{visibility:hidden}" in styles
