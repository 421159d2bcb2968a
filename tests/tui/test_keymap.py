"""Keymaps: consistent presets, and every fault found and named before the app starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from donna_tui.tui.lib.actions import ACTIONS
from donna_tui.tui.lib.keymap import DEFAULT_KEYS, PRESETS, canonical, check_keys, load_keymap
from donna_tui.types.errors import ConfigError, Reason
from tests.tui import scenarios
from tests.tui.driving import driving


def faults(own: dict[str, list[str]], preset: str = "default") -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_keymap(preset, own)
    assert caught.value.reason is Reason.KEYMAP_INVALID
    return caught.value.message.splitlines()


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_valid_and_no_action_hangs_on_a_key_that_others_keep(preset: str) -> None:
    keymap = load_keymap(preset)
    assert set(keymap.keys) == set(ACTIONS)
    assert keymap.warnings == ()


@pytest.mark.parametrize("preset", [name for name in PRESETS if name != "default"])
def test_every_non_default_preset_differs_from_the_default(preset: str) -> None:
    assert load_keymap(preset).keys != DEFAULT_KEYS


def test_default_keys_have_no_conflicts() -> None:
    assert list(check_keys(DEFAULT_KEYS, changed=frozenset(DEFAULT_KEYS))) == []


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({"search.opn": ["x"]}, "unknown_action: search.opn is not an action. Did you mean search.open?"),
        ({"search.more": []}, "no_key: search.more has no key; leave the line out to keep its default."),
        ({"search.more": ["banana"]}, "unknown_key: banana for search.more is not a key."),
        (
            {"search.more": ["n"]},
            "stolen_key: n for search.more is already used by search.near, which works there too.",
        ),
        ({"view.jump": ["j"]}, "stolen_key: j for view.jump is already used by list.down, which works there too."),
        ({"search.next": ["x"]}, "key_while_typing: x for search.next: in the search box this types the character."),
        (
            {"search.more": ["ctrl+i"]},
            "unsendable_key: ctrl+i for search.more: terminals send the same bytes as for tab.",
        ),
        (
            {"search.more": ["ctrl+m"]},
            "unsendable_key: ctrl+m for search.more: terminals send the same bytes as for enter.",
        ),
        (
            {"search.more": ["shift+enter"]},
            "unsendable_key: shift+enter for search.more: most terminals cannot send this.",
        ),
        ({"search.more": ["ctrl+1"]}, "unsendable_key: ctrl+1 for search.more: most terminals cannot send this."),
        (
            {"search.more": ["shift+m"]},
            "unsendable_key: shift+m for search.more: most terminals cannot send this. Write M instead.",
        ),
    ],
)
def test_each_fault_has_a_name_and_says_what_to_do(own: dict[str, list[str]], expected: str) -> None:
    assert faults(own) == [expected]


def test_all_faults_are_listed_at_once() -> None:
    assert len(faults({"search.opn": ["x"], "search.more": ["ctrl+i"], "search.next": ["a"]})) == 3


def test_a_key_may_move_from_one_action_to_another_when_both_are_changed() -> None:
    keymap = load_keymap("default", {"search.more": ["n"], "search.near": ["m"]})
    assert keymap.keys["search.more"] == ("n",)


def test_the_same_key_may_do_different_things_on_different_screens() -> None:
    assert load_keymap("default", {"activity.retry": ["m"]}).keys["activity.retry"] == ("m",)


@pytest.mark.parametrize("key", ["f2", "alt+x", "ctrl+up", "ctrl+x", "M", "comma", ",", "semicolon", "Ctrl+R"])
def test_keys_that_terminals_send_are_accepted(key: str) -> None:
    assert load_keymap("default", {"search.copy-text": [key]}).keys["search.copy-text"] == (canonical(key),)


def test_alternative_key_spellings_are_treated_as_one_key() -> None:
    assert faults({"search.more": ["slash"]}) == [
        "stolen_key: / for search.more is already used by search.focus, which works there too."
    ]


def test_a_key_that_a_multiplexer_keeps_is_a_warning_when_it_is_the_only_one() -> None:
    (warning,) = load_keymap("default", {"search.more": ["ctrl+b"]}).warnings
    assert "tmux" in warning
    assert load_keymap("default", {"search.more": ["ctrl+b", "m"]}).warnings == ()


def test_a_file_can_be_a_preset(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text('search.more: ["M", f2]\nsearch.near: b\n', encoding="utf-8")
    keymap = load_keymap(str(file))
    assert keymap.keys["search.more"] == ("M", "f2")
    assert keymap.keys["search.near"] == ("b",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1, 2]", "must map actions to lists of keys"),
        ("search.more: [1]", "put keys in quotation marks"),
        ("search.more: {a: b", "not valid YAML"),
    ],
)
def test_a_file_in_another_form_is_an_error(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=expected):
        load_keymap(str(file))


def test_a_preset_that_does_not_exist_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="Did you mean emacs"):
        load_keymap("emcas")


@pytest.mark.slow
async def test_a_remapped_key_works_and_the_old_one_does_not() -> None:
    keymap = load_keymap("default", {"view.activity": ["f2"], "app.keys": ["U"]})
    async with driving(scenarios.normal(), keymap=keymap) as donna:
        await donna.press("escape", "6")
        assert donna.main.header.active == "search"
        assert "U keys" in donna.screen_text()
        await donna.press("f2")
        assert donna.main.header.active == "activity"


@pytest.mark.slow
async def test_the_emacs_preset_moves_the_list_while_typing() -> None:
    async with driving(scenarios.normal(), keymap=load_keymap("emacs")) as donna:
        await donna.search_for("redis")
        await donna.press("ctrl+n", "ctrl+n", "ctrl+p")
        assert donna.search.results.index == 1
        await donna.press("alt+x")
        await donna.until(lambda: donna.app.screen is not donna.main, "the palette opens")


@pytest.mark.slow
async def test_the_vim_preset_moves_by_pages_in_the_list() -> None:
    async with driving(scenarios.normal(), keymap=load_keymap("vim"), size=(80, 24)) as donna:
        await donna.search_for("redis failover")
        await donna.press("escape", "ctrl+d")
        assert donna.search.results.index > 1
        await donna.press("ctrl+u", "i")
        assert donna.search.results.index == 0
        assert donna.search.bar.input.has_focus
