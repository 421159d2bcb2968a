"""The layers of the configuration: precedence, the origin of each value, and error messages."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml

from donna_tui.config.document import Origin
from donna_tui.config.load import LoadedConfig, load_config, packaged_file
from donna_tui.config.models import MemoryConfig
from donna_tui.config.schema import SETTINGS
from donna_tui.types.errors import ConfigError, Reason

SEED_FILE = """
vault:
  root: /donna/vault
  git_author_name: Donna
  git_author_email: donna@homelab.local
  sync_method: webdav
  templates_dir: prompts/vault
  ignore_globs: [".obsidian/**", ".trash/**", ".git/**"]
safety:
  max_note_bytes: 200000
  path_allowlist: [Inbox, Meetings, People, Projects, Daily, Reviews]
  sensitive_frontmatter_key: donna_sensitive
embedding:
  model: minilm-l6-v2
  version_tag: minilm-l6-v2@2024-05
  dim: 384
  chunk_tokens: 200
  chunk_overlap: 32
retrieval:
  top_k: 9
  min_score: 0.25
  max_k: 32
sources:
  vault:
    enabled: true
    chunker: markdown_heading
    ignore_globs: ["Templates/**"]
  chat: false
  tasks: false
  corrections: false
skills:
  meeting_note:
    enabled: true
    poll_interval_seconds: 60
    lookback_minutes: 5
    autonomy_level: medium
    context_limits: {prior_meetings: 5, recent_chats: 5, open_tasks: 5}
"""


Names = Mapping[str, str]


class Home:
    """Temporary folders for settings."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "config" / "memory.yaml"
        self.environ = {"DONNA_HOME": str(folder)}

    def write(self, text: str) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(text)

    def load(self, variables: Names = MappingProxyType({}), root: Path | None = None) -> LoadedConfig:
        return load_config(environ=self.environ | dict(variables), root=root)

    def refusal(self, text: str = "", variables: Names = MappingProxyType({})) -> str:
        self.write(text)
        with pytest.raises(ConfigError) as caught:
            self.load(variables)
        assert caught.value.reason is Reason.CONFIG_INVALID
        return caught.value.message


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_without_any_file_the_defaults_hold(home: Home) -> None:
    loaded = home.load()
    assert loaded.config == MemoryConfig()
    assert loaded.config.vault.root is None
    assert loaded.origins == {}


def test_every_setting_of_a_file_has_an_origin_with_a_line_that_names_it(home: Home) -> None:
    home.write(packaged_file().read_text())
    lines = packaged_file().read_text().splitlines()
    loaded = home.load()
    assert list(loaded.origins) == list(SETTINGS)
    assert loaded.config == MemoryConfig()
    for identifier, origin in loaded.origins.items():
        assert origin.line is not None
        assert lines[origin.line - 1].lstrip().startswith(identifier.rpartition(".")[2] + ":")


def test_each_layer_wins_over_the_one_before(home: Home, tmp_path: Path) -> None:
    root = tmp_path / "vault"
    (root / ".donna").mkdir(parents=True)
    (root / ".donna" / "memory.yaml").write_text("retrieval:\n  min_score: 0.3\n  max_k: 20\n  default_k: 5\n")
    home.write("vault:\n  root: replaced\nretrieval:\n  min_score: 0.2\n  max_k: 19\n  default_k: 4\nui:\n  theme: x\n")
    loaded = home.load({"DONNA_RETRIEVAL__DEFAULT_K": "7", "DONNA_RETRIEVAL__MAX_K": "21"}, root)
    retrieval = loaded.config.retrieval
    assert (retrieval.min_score, retrieval.max_k, retrieval.default_k) == (0.3, 21, 7)
    assert "embedding.dim" not in loaded.origins
    assert loaded.origins["ui.theme"] == Origin("user", str(home.file), 8)
    assert loaded.origins["retrieval.min_score"] == Origin("space", str(root / ".donna" / "memory.yaml"), 2)
    assert loaded.origins["retrieval.max_k"] == Origin("environment", "DONNA_RETRIEVAL__MAX_K")
    assert loaded.config.vault.root == root
    assert loaded.origins["vault.root"] == Origin("command line", "the command line")


def test_the_seed_file_with_its_older_names_still_parses(home: Home) -> None:
    home.write(SEED_FILE)
    config = home.load().config
    assert config.retrieval.default_k == 9
    assert config.embedding.max_tokens == 200
    assert config.vault.root == Path("/donna/vault")
    assert not config.sources.chat.enabled
    assert config.sources.chat.min_chars == 20
    assert config == MemoryConfig.model_validate(yaml.safe_load(SEED_FILE))


def test_blocks_of_the_later_sources_and_skills_parse(home: Home) -> None:
    home.write(
        "sources:\n  task: {reindex_on_status: [done]}\n  correction: {enabled: false}\n  chat: {min_chars: 5}\n"
        "skills:\n  weekly_review: {hour_utc: 20, minute: 15, day_of_week: 4}\n  person_profile: false\n"
    )
    config = home.load().config
    assert config.sources.tasks.reindex_on_status == ("done",)
    assert not config.sources.corrections.enabled
    assert config.sources.chat.min_chars == 5
    review = config.skills.weekly_review
    assert (review.hour, review.minute, review.day_of_week) == (20, 15, 4)
    assert not config.skills.person_profile.enabled
    assert config.skills.person_profile.autonomy_level == "low"


def test_an_empty_block_sets_nothing(home: Home) -> None:
    home.write("retrieval:\n  # min_score: 0.3\nui:\n  theme: light\n")
    assert home.load().config.ui.theme == "light"


@pytest.mark.parametrize(
    ("variable", "text", "identifier", "value"),
    [
        ("DONNA_RETRIEVAL__DEFAULT_K", "12", "retrieval.default_k", 12),
        ("DONNA_RETRIEVAL__TOP_K", "12", "retrieval.default_k", 12),
        ("DONNA_RETRIEVAL__MIN_SCORE", "0.5", "retrieval.min_score", 0.5),
        ("DONNA_SOURCES__VAULT__RENAME_WINDOW_SECONDS", "3", "sources.vault.rename_window_seconds", 3.0),
        ("DONNA_SOURCES__CHAT", "no", "sources.chat.enabled", False),
        ("DONNA_VAULT__IGNORE_GLOBS", "Old/**, *.tmp", "vault.ignore_globs", ("Old/**", "*.tmp")),
        ("DONNA_VAULT__IGNORE_GLOBS", "['a,b']", "vault.ignore_globs", ("a,b",)),
        ("DONNA_VAULT__GIT_AUTHOR_NAME", "42", "vault.git_author_name", "42"),
        ("DONNA_UI__KEYS", "{search.focus: [slash]}", "ui.keys", {"search.focus": ("slash",)}),
        ("DONNA_SKILLS__MEETING_NOTE__AUTONOMY_LEVEL", "high", "skills.meeting_note.autonomy_level", "high"),
    ],
)
def test_variables_set_values_of_every_kind(home: Home, variable: str, text: str, identifier: str, value: Any) -> None:
    loaded = home.load({variable: text})
    found: Any = loaded.config
    for name in identifier.split("."):
        found = getattr(found, name)
    assert found == value
    assert loaded.origins[identifier] == Origin("environment", variable)


def test_variables_with_a_meaning_of_their_own_are_no_settings(home: Home) -> None:
    loaded = home.load({"DONNA_VAULT": "/somewhere", "DONNA_DEBUG": "1", "DONNATELLO__X": "1"})
    assert loaded.config == MemoryConfig()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("retrieval:\n  defalt_k: 3\n", 2, "retrieval.defalt_k is not a setting; did you mean retrieval.default_k?"),
        ("\nretreival:\n  default_k: 3\n", 2, "retreival is not a setting; did you mean retrieval?"),
        ("embedding:\n  top_k: 3\n", 2, "did you mean retrieval.default_k?"),
        ("retrieval:\n  default_k: many\n", 2, "retrieval.default_k must be a whole number, not many"),
        ("retrieval:\n  default_k: true\n", 2, "retrieval.default_k must be a whole number, not true"),
        ("retrieval:\n  default_k: 0\n", 2, "retrieval.default_k must be greater than or equal to 1, not 0"),
        ("retrieval:\n  min_score: .nan\n", 2, "retrieval.min_score must be a finite number, not nan"),
        ("retrieval:\n  min_score:\n", 2, "retrieval.min_score must be a number, not nothing"),
        ("retrieval: 3\n", 1, "retrieval is a block of settings, not 3"),
        ("retrieval:\n  - 3\n", 1, "retrieval is a block of settings"),
        ("vault: false\n", 1, "vault is a block of settings, not false"),
        (
            "skills:\n  meeting_note:\n    autonomy_level: mediun\n",
            3,
            "low or medium or high, not mediun; did you mean",
        ),
        ("skills:\n  weekly_review:\n    hour_utc: 24\n", 3, "skills.weekly_review.hour must be less than or equal"),
        ("vault:\n  sync_method: webdaw\n", 2, "did you mean webdav?"),
        ("vault:\n  root: notes\n", 2, "vault.root must be an absolute path, or begin with ~, not notes"),
        ('vault:\n  root: "/a\\0b"\n', 2, "vault.root must not contain a NUL character"),
        ("vault:\n  root: [a]\n", 2, "vault.root must be a path"),
        ("vault:\n  git_author_name: 7\n", 2, "vault.git_author_name must be text, not 7"),
        ('vault:\n  git_author_name: "A\\nB"\n', 2, "must be one line of visible text, not A�B"),
        ("vault:\n  ignore_globs: Old\n", 2, "vault.ignore_globs must be a list, not Old"),
        ("vault:\n  ignore_globs:\n    - a\n    - '!b'\n", 4, "a pattern only ever ignores, not !b"),
        ("vault:\n  ignore_globs: [/a]\n", 2, "must be relative to the vault"),
        ("safety:\n  path_allowlist:\n    - a/b\n", 3, "a folder at the top of the vault, not a/b"),
        ("ui:\n  keys:\n    a: [b]\n    search.focus: ctrl+f\n", 4, "ui.keys.search.focus must be a list, not ctrl+f"),
        ("retrieval:\n  top_k: 3\n  default_k: 3\n", 3, "retrieval.default_k is set twice"),
        ("retrieval:\n  default_k: 40\n", 2, "retrieval.default_k must not be above retrieval.max_k"),
        ("embedding:\n  max_tokens: 60\n", 2, "embedding.chunk_overlap must be at most half of embedding.max_tokens"),
        ("safety:\n  max_read_bytes: 1000\n", 2, "safety.max_note_bytes must not be above safety.max_read_bytes"),
    ],
)
def test_mistakes_in_a_file_name_file_line_and_key(home: Home, text: str, line: int, words: str) -> None:
    message = home.refusal(text)
    assert message.startswith(f"{home.file}, line {line}: ")
    assert words in message


@pytest.mark.parametrize(
    ("variable", "text", "words"),
    [
        ("DONNA_RETRIEVAL__DEFAULT", "3", "retrieval.default is not a setting; did you mean retrieval.default_k?"),
        ("DONNA_RETRIEVAL_DEFAULT_K", "3", "did you mean DONNA_RETRIEVAL__DEFAULT_K, with two underscores?"),
        ("DONNA_RETRIEVAL__DEFAULT_K", "", "must be a whole number"),
        ("DONNA_RETRIEVAL__DEFAULT_K__X", "1", "retrieval.default_k is a setting, there is nothing below it"),
        ("DONNA_SOURCES__VAULT", "maybe", "sources.vault.enabled must be true or false, not maybe"),
        ("DONNA_AGENTS__DEFAULTS", "3", "agents.defaults is a block of settings"),
        ("DONNA_WEATHER__TODAY", "1", "weather is not a setting"),
        ("DONNA_UI__KEYS", "{a: [", "not valid YAML"),
        ("DONNA_UI__KEYS", "{a: [\udcff]}", "the text is not Unicode"),
    ],
)
def test_mistakes_in_a_variable_name_the_variable(home: Home, variable: str, text: str, words: str) -> None:
    message = home.refusal(variables={variable: text})
    assert message.startswith(variable)
    assert words in message


def test_two_names_of_one_setting_in_the_environment_are_refused(home: Home) -> None:
    message = home.refusal(variables={"DONNA_RETRIEVAL__TOP_K": "3", "DONNA_RETRIEVAL__DEFAULT_K": "4"})
    assert "retrieval.default_k is set twice, here and in DONNA_RETRIEVAL__TOP_K" in message


def test_conflicting_settings_are_reported_for_the_higher_layer(home: Home) -> None:
    home.write("embedding:\n  max_tokens: 100\n")
    with pytest.raises(ConfigError, match=r"^DONNA_EMBEDDING__CHUNK_OVERLAP: "):
        home.load({"DONNA_EMBEDDING__CHUNK_OVERLAP": "51"})


def test_messages_hold_no_control_characters_and_no_long_values(home: Home) -> None:
    message = home.refusal(f'vault:\n  sync_method: "\\e[2J\\u202e{"x" * 5000}"\n')
    assert message.removeprefix(str(home.file)).isprintable()
    assert len(message) < len(str(home.file)) + 200


def test_a_tilde_means_the_home_folder(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/donna")
    home.write("vault:\n  root: ~/Notes\n")
    assert home.load().config.vault.root == Path("/home/donna/Notes")


def test_a_linked_user_file_is_fine(home: Home, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.yaml").write_text("ui:\n  theme: light\n")
    home.file.parent.mkdir(parents=True)
    home.file.symlink_to(tmp_path / "dotfiles.yaml")
    assert home.load().config.ui.theme == "light"


def test_a_user_file_that_is_no_readable_file_is_refused(home: Home) -> None:
    home.file.mkdir(parents=True)
    with pytest.raises(ConfigError, match="not a regular file"):
        home.load()
    home.file.rmdir()
    os.mkfifo(home.file)
    with pytest.raises(ConfigError, match="not a regular file"):
        home.load()


def test_a_user_file_that_is_too_large_or_no_text_is_refused(home: Home) -> None:
    assert "larger than" in home.refusal("# " + "x" * 70_000)
    home.file.write_bytes(b"ui:\n  theme: \xff\n")
    with pytest.raises(ConfigError, match="line 2: the file is not UTF-8"):
        home.load()


def test_a_byte_order_mark_does_not_hide_the_first_block(home: Home) -> None:
    home.write("\ufeffui:\n  theme: light\n")
    assert home.load().config.ui.theme == "light"


def test_loaded_config_is_immutable(home: Home) -> None:
    config = home.load().config
    with pytest.raises(ValueError, match="frozen"):
        config.retrieval.default_k = 3  # type: ignore[misc]  # that it is refused is what is tested


@pytest.mark.parametrize("model", ["/models/mine", "~/models/mine", "./mine"])
def test_embedding_provider_may_be_a_model_folder(home: Path, model: str) -> None:
    assert (
        load_config(environ={"DONNA_HOME": "/nowhere", "DONNA_EMBEDDING__PROVIDER": model}).config.embedding.provider
        == model
    )


def test_an_unknown_model_is_refused_with_the_nearest(home: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean minilm-l6-v2"):
        load_config(environ={"DONNA_HOME": "/nowhere", "DONNA_EMBEDDING__PROVIDER": "minilm-l6"})


def test_the_names_of_donnas_own_settings_are_aliases(home: Home) -> None:
    home.write(
        "skills:\n"
        "  weekly_review:\n    context_limits: {completed_tasks: 3, chat_highlights: 4}\n"
        "  person_profile:\n"
        "    context_limits: {vault_hits: 1, chat_hits: 2, task_hits: 3, correction_hits: 4}\n"
    )
    skills = home.load().config.skills
    weekly, person = skills.weekly_review.context_limits, skills.person_profile.context_limits
    assert (weekly.tasks, weekly.chats) == (3, 4)
    assert (person.vault, person.chat, person.task, person.corrections) == (1, 2, 3, 4)
