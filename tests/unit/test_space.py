"""Which vault a command uses, and what is stored about it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from donna_tui.platform.paths import AppPaths, app_paths, private_folder
from donna_tui.platform.spaces import find_space, known_spaces, remember, space_at
from donna_tui.types.errors import DonnaError, Reason, SpaceError


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    return app_paths({"DONNA_HOME": str(tmp_path / "home")}).make()


def vault(tmp_path: Path, name: str) -> Path:
    folder = tmp_path / name
    folder.mkdir(parents=True)
    return folder


def test_a_vault_has_one_space_however_it_is_written(tmp_path: Path, paths: AppPaths) -> None:
    root = vault(tmp_path, "My Notes!")
    (tmp_path / "link").symlink_to(root)
    spaces = {space_at(each, paths) for each in (root, root / ".." / "My Notes!", tmp_path / "link")}
    (space,) = spaces
    assert (space.name, space.root) == ("My Notes!", root)
    assert space.state.parent == paths.state / "spaces"
    assert space.state.name.startswith("my-notes-")


def test_vaults_with_the_same_name_have_separate_state_folders(tmp_path: Path, paths: AppPaths) -> None:
    one, two = vault(tmp_path, "one/Notes"), vault(tmp_path, "two/Notes")
    assert space_at(one, paths).state != space_at(two, paths).state


@pytest.mark.parametrize("name", ["日本語", "...", "x" * 200, "-", "a\nb"])
def test_odd_names_make_plain_folders(tmp_path: Path, paths: AppPaths, name: str) -> None:
    state = space_at(vault(tmp_path, f"odd/{name}"), paths).state
    assert state.name.isascii()
    assert len(state.name) < 60
    assert state.parent == paths.state / "spaces"


def test_a_path_that_is_missing_or_not_a_folder_is_refused(tmp_path: Path, paths: AppPaths) -> None:
    (tmp_path / "file").write_text("x")
    for place, reason in (
        (tmp_path / "none", Reason.ROOT_MISSING),
        (tmp_path / "file", Reason.NO_VAULT),
        (tmp_path / "file" / "below", Reason.ROOT_MISSING),
        (Path("~nobodyhere/notes"), Reason.ROOT_MISSING),
        (tmp_path / ("x" * 5_000), Reason.ROOT_MISSING),
        (Path("a\x00b"), Reason.ROOT_MISSING),
    ):
        with pytest.raises(SpaceError) as caught:
            space_at(place, paths)
        assert caught.value.reason is reason, place


def test_the_latest_space_comes_first(tmp_path: Path, paths: AppPaths) -> None:
    one, two = (space_at(vault(tmp_path, name), paths) for name in ("one", "two"))
    for when, space in enumerate((one, two, one)):
        remember(space)
        os.utime(space.state / "space.json", (1_000 + when, 1_000 + when))
    assert known_spaces(paths) == [one, two]


def test_named_configured_and_remembered(tmp_path: Path, paths: AppPaths) -> None:
    one, two = (space_at(vault(tmp_path, name), paths) for name in ("one", "two"))
    assert find_space(None, None, paths) is None
    remember(one)
    assert find_space(None, None, paths) == one
    assert find_space(None, two.root, paths) == two
    assert find_space(str(two.root), one.root, paths) == two


def test_a_known_space_is_found_by_name_and_after_its_folder_is_gone(tmp_path: Path, paths: AppPaths) -> None:
    space = space_at(vault(tmp_path, "gone"), paths)
    remember(space)
    assert find_space("gone", None, paths) == space
    space.root.rmdir()
    for named in ("gone", str(space.root)):
        assert find_space(named, None, paths) == space
    with pytest.raises(SpaceError):
        find_space("unknown", None, paths)


def test_a_folder_takes_precedence_over_a_remembered_space(
    tmp_path: Path, paths: AppPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(space_at(vault(tmp_path, "far/Notes"), paths))
    near = vault(tmp_path, "near/Notes")
    monkeypatch.chdir(near.parent)
    found = find_space("Notes", None, paths)
    assert found is not None
    assert found.root == near


@pytest.mark.parametrize("record", ["", "[]", "{}", '{"root": 5}', "\x00"])
def test_a_broken_record_is_passed_over(paths: AppPaths, record: str) -> None:
    folder = paths.state / "spaces" / "broken"
    folder.mkdir(parents=True)
    (folder / "space.json").write_text(record)
    assert known_spaces(paths) == []


def test_donnas_folders_are_private(paths: AppPaths) -> None:
    for folder in (paths.config, paths.state, paths.cache, paths.log):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_was_open_becomes_private(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir(mode=0o755)
    private_folder(folder)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(DonnaError) as caught:
        private_folder(tmp_path / "file" / "below")
    assert caught.value.reason is Reason.IO_ERROR
    assert str(tmp_path) in caught.value.message


def test_without_donna_home_the_folders_are_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    found = app_paths({})
    assert all(folder.is_relative_to(tmp_path) for folder in (found.config, found.state, found.cache, found.log))
    assert len({found.config, found.state, found.cache, found.log}) == 4
