"""The command line with one verb does what the whole one does."""

from __future__ import annotations

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from donna_tui.cli.lazy_verbs import reduced_to_verb
from donna_tui.cli.main import OPEN, app


def verbs_of(args: list[str]) -> dict[str, object]:
    group = get_command(reduced_to_verb(app, args, OPEN))
    assert isinstance(group, TyperGroup)
    return dict(group.commands)


ALL = verbs_of(["--help"])


def shape(verb: object) -> object:
    """What a verb takes, and what those below it take."""
    below = {name: shape(each) for name, each in verb.commands.items()} if isinstance(verb, TyperGroup) else {}
    return [(each.name, each.opts, each.required) for each in verb.params], below  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ALL)
def test_a_verb_alone_is_what_it_is_among_all(name: str) -> None:
    alone = verbs_of([name, "whatever"])
    assert list(alone) == [name]
    assert shape(alone[name]) == shape(ALL[name])


@pytest.mark.parametrize("args", [[], ["~/notes"], ["--space", "notes"], ["searhc", "x"]])
def test_without_a_verb_it_is_the_one_that_opens(args: list[str]) -> None:
    assert list(verbs_of(args)) == [OPEN]


def test_what_is_asked_of_all_gets_all() -> None:
    assert {"search", "index", "config", "draft"} < ALL.keys()
    assert verbs_of(["-h"]).keys() == ALL.keys()
