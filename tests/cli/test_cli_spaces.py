"""Which vault a command uses, what happens without a terminal, and how errors are reported, never with a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Donna
from tests.git_vaults import write
from tests.terminal import python_in_terminal

NOWHERE = "no vault is chosen"


@pytest.mark.parametrize("args", [(), ("demo",), ("open",), ("Notes",), ("open", "Notes"), ("--space", "Notes")])
def test_without_a_terminal_the_app_says_so(donna: Donna, vault: Path, args: tuple[str, ...]) -> None:
    ran = donna(*args)
    assert (ran.code, ran.out) == (2, "")
    assert "needs a terminal" in ran.err
    assert "donna search" in ran.err
    assert not donna.home.exists()


@pytest.mark.parametrize("args", [("links", "a.md"), ("links", "--json")])
def test_an_unknown_command_is_reported_as_one(donna: Donna, args: tuple[str, ...]) -> None:
    ran = donna(*args)
    assert (ran.code, "there is no command links" in ran.out + ran.err) == (2, True)


def test_an_unknown_option_is_reported_like_any_other_error(donna: Donna, vault: Path) -> None:
    expected = "donna: no such option: --frob\n       donna search --help describes it\n"
    assert donna("search", "--frob", "x", "--space", vault).err == expected


def test_help_and_version(donna: Donna) -> None:
    assert donna("--version").out.startswith("donna ")
    for args in (("--help",), ("-h",), ("search", "--help"), ("config", "--help")):
        ran = donna(*args)
        assert (ran.code, ran.err) == (0, "")
        assert "Usage: donna" in ran.out


@pytest.mark.parametrize("verb", ["index", "status", "get", "search"])
def test_without_any_vault_the_commands_say_how_to_name_one(donna: Donna, verb: str) -> None:
    args = {"get": ("a.md",), "search": ("x",)}.get(verb, ())
    ran = donna(verb, *args)
    assert (ran.code, ran.out) == (2, "")
    assert NOWHERE in ran.err
    assert "--space" in ran.err


@pytest.mark.parametrize(
    "space",
    ["nowhere", "/nowhere/at/all", "~nobodyhere/notes", "x" * 5_000, "\udcff"],
    ids=["relative", "absolute", "unknown user", "long", "not utf-8"],
)
def test_an_unknown_vault_is_refused(donna: Donna, space: str) -> None:
    ran = donna("search", "x", "--json", "--space", space)
    assert ran.code == 3
    assert ran.json["reason"] == "root_missing"
    assert donna("config", "show", "--json", "--space", space).code == 3


def test_a_file_is_rejected_as_a_vault(donna: Donna, vault: Path) -> None:
    ran = donna("index", "--json", "--space", vault / "private.md")
    assert (ran.code, ran.json["reason"]) == (2, "no_vault")


def test_the_last_vault_and_its_name_are_remembered(donna: Donna, vault: Path) -> None:
    donna("index", "--space", "Notes")
    assert donna("search", "osprey").code == 0
    elsewhere = Donna(donna.home, vault.parent / "home")
    assert elsewhere("search", "osprey", "--space", "Notes").code == 0
    assert elsewhere("search", "osprey", "--space", vault).code == 0
    settings = elsewhere("config", "show", "--space", "Notes", "--json").json["settings"]
    assert settings[0]["value"] == str(vault)
    assert str(vault / ".donna") in elsewhere("config", "path", "--space", "Notes").out


def test_an_empty_space_is_not_the_last_one(donna: Donna, vault: Path) -> None:
    donna("index", "--space", vault)
    ran = donna("write", "Inbox/a.md", "--yes", "--space", "", "--json", stdin="x")
    assert (ran.code, ran.json["message"]) == (2, "the name of the space is empty")
    assert donna("config", "show", "--space", "").code == 2
    assert not (vault / "Inbox").exists()
    with python_in_terminal("-m", "tests.cli.without_model", "", DONNA_HOME=str(donna.home)) as terminal:
        terminal.wait_for("the name of the space is empty")


def test_a_vault_that_is_gone_can_still_be_searched(donna: Donna, vault: Path) -> None:
    donna("index", "--space", vault)
    vault.rename(vault.with_name("elsewhere"))
    ran = donna("search", "osprey", "--json", "--space", vault)
    assert (ran.code, ran.json["count"]) == (0, 1)
    assert "searching the index as it is" in ran.err
    assert donna("status", "--space", vault).code == 4
    assert donna("index", "--space", vault).code == 3
    assert donna("search", "osprey").code == 0


def test_the_environment_names_a_vault(donna: Donna, vault: Path) -> None:
    assert donna("search", "osprey", DONNA_VAULT=str(vault)).code == 0
    other = vault.parent / "other"
    write(other, "a.md", "falcon")
    assert donna("search", "falcon", "--space", other, DONNA_VAULT=str(vault)).code == 0
    assert donna("search", "osprey", DONNA_VAULT=str(other)).code == 1


@pytest.mark.parametrize("name", ["search", "index", "demo", "config"])
def test_a_vault_may_be_named_like_a_command(donna: Donna, tmp_path: Path, name: str) -> None:
    write(tmp_path / name, "a.md", "falcon")
    ran = donna(f"./{name}")
    assert (ran.code, "needs a terminal" in ran.err) == (2, True)
    assert donna("search", "falcon", "--space", name).code == 0


def test_an_empty_vault_is_no_error(donna: Donna, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert donna("index", "--space", "empty").code == 4
    ran = donna("search", "x", "--space", "empty")
    assert (ran.code, ran.out) == (1, "There are no notes to search here, or the filters exclude all of them.\n")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("retrieval: [\n", "not valid YAML"),
        ("retrieval:\n  maxk: 9\n", "did you mean retrieval.max_k"),
        ("retrieval:\n  max_k: many\n", "retrieval.max_k"),
        ("just a line\n", "memory.yaml"),
        ("\x00", "memory.yaml"),
        ("a: &a [*a]\n", "memory.yaml"),
    ],
)
def test_broken_settings_are_named_by_file(donna: Donna, vault: Path, text: str, told: str) -> None:
    write(donna.home, "config/memory.yaml", text)
    for args in (("search", "x", "--space", vault), ("index",), ("status",), ("keys",), ("doctor",)):
        ran = donna(*args)
        assert (ran.code, ran.out) == (2, ""), args
        assert told in ran.err
    as_json = donna("search", "x", "--json", "--space", vault)
    assert (as_json.code, as_json.json["reason"]) == (2, "config_invalid")


def test_vault_settings_file_applies_to_its_vault(donna: Donna, vault: Path) -> None:
    write(vault, ".donna/memory.yaml", "retrieval:\n  default_k: 1\n")
    assert donna("search", "kestrel", "--json", "--space", vault).json["count"] == 1


def test_keys_are_listed_and_checked(donna: Donna) -> None:
    ran = donna("keys", "--json")
    assert ran.code == 0
    assert len(ran.json["keys"]) > 20
    assert donna("keys", "--check").code == 0
    write(donna.home, "config/memory.yaml", "ui:\n  keys:\n    no.such.action: x\n")
    broken = donna("keys", "--check")
    assert broken.code == 2
    assert "no.such.action" in broken.err


def test_donnas_own_folders_are_private(donna: Donna, vault: Path) -> None:
    donna("index", "--space", vault)
    (space,) = (donna.home / "state" / "spaces").iterdir()
    for folder in (donna.home / "state", donna.home / "config", space):
        assert folder.stat().st_mode & 0o077 == 0, folder


def test_a_home_that_cannot_be_made_is_an_error_in_words(donna: Donna, vault: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    ran = Donna(tmp_path / "file" / "home", tmp_path)("index", "--space", vault)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("donna: ")


def test_a_state_folder_that_cannot_be_made_is_an_error_in_words(donna: Donna, vault: Path) -> None:
    write(donna.home, "state", "a file")
    ran = donna("index", "--json", "--space", vault)
    assert (ran.code, ran.json["reason"]) == (5, "io_error")


def test_without_a_usable_model_folder_search_is_by_keyword(donna: Donna, vault: Path) -> None:
    write(donna.home, "cache/models", "a file")
    with_weights = Donna(donna.home, donna.cwd, module="tests.cli.with_weights")
    ran = with_weights("search", "osprey", "--json", "--space", vault)
    assert (ran.code, ran.json["mode"]) == (0, "keyword")


def test_donnas_own_folders_are_not_in_the_vault(vault: Path, tmp_path: Path) -> None:
    """They would be committed and synced with the notes."""
    inside = Donna(vault / ".donna-home", tmp_path)
    for arguments in (("index",), ("search", "kestrel"), ("write", "Inbox/a.md")):
        ran = inside(*arguments, "--space", vault, "--json", stdin="x")
        assert (ran.code, ran.json["reason"]) == (2, "config_invalid")
        assert "is inside the vault" in ran.json["message"]
    record = vault / ".donna-home/state/spaces/notes/space.json"  # created by a version that did not refuse it
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({"root": str(vault)}))
    assert inside("status", "--json").json["reason"] == "config_invalid"
    beside = Donna(tmp_path / "home", tmp_path)
    beside("index", "--space", vault)
    (state,) = (tmp_path / "home/state/spaces").iterdir()
    assert beside("index", "--space", state, "--json").json["reason"] == "config_invalid"
