"""The settings file of a vault, which may come from elsewhere, can restrict and tune, but never send, run or widen."""

from __future__ import annotations

from pathlib import Path

import pytest

from donna_tui.config.files import read_space_file
from donna_tui.config.load import LoadedConfig, load_config
from donna_tui.config.schema import SETTINGS
from donna_tui.types.errors import ConfigError

OPEN_TO_THE_SPACE = {
    "vault.ignore_globs",
    "safety.path_allowlist",
    "embedding.max_tokens",
    "embedding.chunk_overlap",
    "retrieval.default_k",
    "retrieval.min_score",
    "retrieval.max_k",
    "sources.vault.ignore_globs",
}


class Space:
    """A vault with settings, and a user without any."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "vault"
        self.file = self.root / ".donna" / "memory.yaml"
        self.file.parent.mkdir(parents=True)
        self.environ = {"DONNA_HOME": str(folder / "home")}

    def load(self, text: str | None = None, **variables: str) -> LoadedConfig:
        if text is not None:
            self.file.write_text(text)
        return load_config(environ=self.environ | variables, root=self.root)

    def refusal(self, text: str | None = None) -> str:
        with pytest.raises(ConfigError) as caught:
            self.load(text)
        return caught.value.message


@pytest.fixture
def space(tmp_path: Path) -> Space:
    return Space(tmp_path)


def test_a_space_without_a_file_or_a_root_changes_nothing(space: Space) -> None:
    assert "retrieval.max_k" not in space.load().origins
    space.file.parent.rmdir()
    assert "retrieval.max_k" not in space.load().origins
    space.root.rmdir()
    assert "retrieval.max_k" not in space.load().origins
    space.root.write_text("not a folder")
    assert "retrieval.max_k" not in space.load().origins


def test_a_root_that_cannot_be_read_is_left_to_whoever_opens_it(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("donna_tui.config.files.os.open", denied)
    with pytest.raises(ConfigError, match="Permission denied"):
        read_space_file(space.root)
    monkeypatch.setattr("donna_tui.config.files.os.access", lambda *_: False)
    assert read_space_file(space.root) is None


def test_a_root_that_no_file_system_can_hold_is_left_to_whoever_opens_it(space: Space) -> None:
    root = "/" + "x" * 5000
    assert str(load_config(environ=space.environ, root=Path(root)).config.vault.root) == root


def test_chunking_and_retrieval_may_be_tuned(space: Space) -> None:
    loaded = space.load("embedding: {chunk_tokens: 128, chunk_overlap: 16}\nretrieval: {top_k: 5}\n")
    assert loaded.config.embedding.max_tokens == 128
    assert loaded.config.retrieval.default_k == 5
    assert loaded.origins["retrieval.default_k"].layer == "space"


def test_globs_are_added_so_that_nothing_is_un_ignored(space: Space) -> None:
    loaded = space.load("vault:\n  ignore_globs: [Raw/**]\nsources:\n  vault:\n    ignore_globs: []\n")
    assert loaded.config.vault.ignore_globs == (".obsidian/**", ".trash/**", ".git/**", "node_modules/**", "Raw/**")
    assert "Templates/**" in loaded.config.sources.vault.ignore_globs


def test_a_bad_glob_is_found_at_its_own_line(space: Space) -> None:
    message = space.refusal("vault:\n  ignore_globs:\n    - Raw/**\n    - '!.git/**'\n")
    assert message.startswith(f"{space.file}, line 4: ")


def test_the_allowlist_may_be_shortened_but_not_widened(space: Space) -> None:
    assert space.load("safety:\n  path_allowlist: [Inbox]\n").config.safety.path_allowlist == ("Inbox",)
    message = space.refusal("safety:\n  path_allowlist:\n    - Inbox\n    - Private\n")
    assert message.startswith(f"{space.file}, line 4: ")
    assert "Private is not in it" in message


def test_lists_must_be_lists(space: Space) -> None:
    assert "must be a list" in space.refusal("safety:\n  path_allowlist: Inbox\n")
    assert "must be a list" in space.refusal("vault:\n  ignore_globs: {a: b}\n")


@pytest.mark.parametrize("identifier", sorted(set(SETTINGS) - OPEN_TO_THE_SPACE))
def test_vault_settings_file_rejects_other_settings(space: Space, identifier: str) -> None:
    *blocks, name = identifier.split(".")
    lines = [f"{'  ' * depth}{block}:" for depth, block in enumerate(blocks)]
    message = space.refusal("\n".join([*lines, f"{'  ' * len(blocks)}{name}: x", ""]))
    assert message == f"{space.file}, line {len(blocks) + 1}: a file in the vault may not set {identifier}"


def test_switching_a_source_is_closed_too(space: Space) -> None:
    assert "may not set sources.chat.enabled" in space.refusal("sources:\n  chat: true\n")


def test_user_settings_override_the_vault_settings(space: Space) -> None:
    loaded = space.load("vault:\n  ignore_globs: ['**']\n", DONNA_VAULT__IGNORE_GLOBS=".git/**")
    assert loaded.config.vault.ignore_globs == (".git/**",)


def test_symlinked_vault_settings_are_rejected(space: Space, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "memory.yaml").write_text("retrieval: {max_k: 9}\n")
    space.file.symlink_to(tmp_path / "elsewhere" / "memory.yaml")
    assert "links are not followed" in space.refusal()
    space.file.unlink()
    space.file.parent.rmdir()
    space.file.parent.symlink_to(tmp_path / "elsewhere")
    assert "links are not followed" in space.refusal()
