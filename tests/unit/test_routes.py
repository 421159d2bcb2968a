"""Language models are read from the user's own file alone, and every mistake is reported with file, line and setting."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from donna_tui.config.routes import Route, Routes, load_routes, models_file
from donna_tui.ops.doctor import examine_models
from donna_tui.platform.paths import resource
from donna_tui.types.errors import ConfigError, Reason

REMOTE = "{dialect: anthropic, model: m, api_key_env: SOME_KEY, price_in: 3, price_out: 15}"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "config").mkdir()
    return tmp_path


def load(home: Path, text: str | None = None) -> Routes:
    environ = {"DONNA_HOME": str(home)}
    if text is not None:
        models_file(environ).write_text(text)
    return load_routes(environ)


def refusal(home: Path, text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(home, text)
    assert caught.value.reason is Reason.CONFIG_INVALID
    assert str(home / "config" / "models.yaml") in caught.value.message
    return caught.value


def test_no_model_is_used_unless_configured(home: Path) -> None:
    assert load(home) == Routes()
    assert load(home).route("reasoner") is None


def test_the_packaged_file_states_the_defaults_and_its_examples_are_valid(home: Path) -> None:
    text = resource("config", "models.yaml").read_text(encoding="utf-8")
    examples = re.findall(r"^#   reasoner:\n(?:#     .*\n)+", text, re.M)
    assert len(examples) == 3
    for example in examples:
        loaded = load(home, "".join(line.removeprefix("#   ") for line in example.splitlines(keepends=True)))
        assert loaded.reasoner is not None
    assert all(name in text for name in Routes.model_fields)


def test_what_the_user_sets_takes_the_place_of_the_default(home: Path) -> None:
    loaded = load(home, f"day_limit_usd: 0.25\nsummarizer: {REMOTE}\n")
    assert (loaded.day_limit_usd, loaded.reasoner) == (0.25, None)
    assert loaded.summarizer is not None
    assert (loaded.summarizer.server, loaded.summarizer.is_local) == ("https://api.anthropic.com", False)
    assert loaded.summarizer.cost(1_000_000, 100_000) == pytest.approx(4.5)


def test_models_file_in_the_vault_is_ignored(home: Path) -> None:
    (home / ".donna").mkdir()
    (home / ".donna" / "models.yaml").write_text(f"reasoner: {REMOTE}\n")
    assert load(home) == Routes()


@pytest.mark.parametrize(
    ("dialect", "url", "local"),
    [
        ("ollama", None, True),
        ("ollama", "http://127.0.0.1:11434/", True),
        ("openai", "http://[::1]:8080/v1", True),
        ("openai", "https://localhost/v1", True),
        ("openai", "https://models.example/v1", False),
        ("openai", None, False),
        ("ollama", "https://192.168.1.2", False),
    ],
)
def test_which_models_are_on_this_machine(dialect: str, url: str | None, local: bool) -> None:
    route = Route(dialect=dialect, model="m", base_url=url, price_in=0, price_out=0)  # type: ignore[arg-type]
    assert route.is_local is local
    assert not route.server.endswith("/")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("reasonr: null", 1, "reasonr is not a setting; did you mean reasoner?"),
        ("reasoner:\n  dialct: ollama\n  model: m", 2, "reasoner.dialct is not a setting; did you mean dialect?"),
        ("reasoner:\n  dialect: ollma\n  model: m", 2, "reasoner.dialect must be openai, anthropic or ollama, not ollma"),
        ("reasoner:\n  model: m", 1, "reasoner.dialect is missing"),
        ("\nreasoner: 5", 2, "reasoner must be a block of settings, not 5"),
        ("day_limit_usd: free", 1, "day_limit_usd must be a valid number, not free"),
        ("day_limit_usd: .inf", 1, "day_limit_usd must be a finite number, not inf"),
        ("day_limit_usd: -1", 1, "day_limit_usd must be greater than or equal to 0, not -1"),
        ("reasoner:\n  dialect: ollama\n  model: m\n  max_output_tokens: 1.5", 4, "max_output_tokens must be a valid integer"),
        ("reasoner:\n  dialect: openai\n  model: m", 1, "reasoner needs price_in and price_out"),
        ("reasoner:\n  dialect: openai\n  model: m\n  price_in: 1", 1, "reasoner needs price_in and price_out"),
        ("reasoner:\n  dialect: openai\n  model: m\n  price_out: 1", 1, "reasoner needs price_in and price_out"),
        ("reasoner:\n  dialect: ollama\n  model: m\n  base_url: http://models.example", 4, "must begin with https://"),
        ("reasoner:\n  dialect: ollama\n  model: m\n  base_url: localhost:11434", 4, "must be the address of a server"),
        ("reasoner:\n  dialect: ollama\n  model: m\n  base_url: 'http://localhost:99999'", 4, "the address of a server"),
        ("reasoner: &a [*a]", 1, "aliases (*name) are not supported"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_place(home: Path, text: str, line: int, words: str) -> None:
    error = refusal(home, text)
    assert f"models.yaml, line {line}: " in error.message
    assert words in error.message


@pytest.mark.parametrize(
    "setting",
    [
        "api_key_env: sk-SECRET-0123",
        "api_key: SECRET",
        "base_url: 'https://user:SECRET@models.example'",
        "base_url: 'https://models.example/?key=SECRET'",
        "base_url: 'SECRET'",
    ],
)
def test_a_key_that_was_pasted_is_never_shown(home: Path, setting: str) -> None:
    error = refusal(home, f"reasoner:\n  dialect: openai\n  model: m\n  price_in: 1\n  price_out: 1\n  {setting}\n")
    assert "SECRET" not in f"{error.message} {error.hint}"
    assert error.__cause__ is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [("language models", "ok", "none is configured: drafts are made from your notes alone")]),
        (
            'reasoner: {dialect: ollama, model: m, base_url: "http://localhost:9"}',
            [("reasoner", "warn", "drafts: no model server answers at localhost:9")],
        ),
        (
            f"summarizer: {REMOTE}",
            [
                ("summarizer", "warn", "summaries: the environment variable SOME_KEY, which holds the key, is not set"),
            ],
        ),
        (
            'reasoner: {dialect: ollama, model: m, base_url: "http://localhost:9", api_key_env: BAD_KEY}',
            [("reasoner", "warn", "drafts: the environment variable BAD_KEY does not hold a valid key")],
        ),
    ],
)
def test_the_doctor_says_what_is_configured(home: Path, text: str, found: list[tuple[str, str, str]]) -> None:
    load(home, text)
    examined = examine_models({"DONNA_HOME": str(home), "BAD_KEY": "käy"})
    assert [(each.id, each.state, each.message) for each in examined] == found


def test_the_doctor_says_where_text_goes(home: Path) -> None:
    load(home, f"reasoner: {REMOTE}")
    [finding] = examine_models({"DONNA_HOME": str(home), "SOME_KEY": "SECRET"})
    assert (finding.state, finding.message) == (
        "ok", "drafts are made by m at api.anthropic.com; private notes are not sent to it"
    )  # fmt: skip
    models_file({"DONNA_HOME": str(home)}).write_text("reasoner: 5")
    [finding] = examine_models({"DONNA_HOME": str(home)})
    assert (finding.state, finding.reason) == ("fail", Reason.CONFIG_INVALID)


def test_the_page_on_models_names_every_setting() -> None:
    page = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    for name, field in {**Routes.model_fields, **Route.model_fields}.items():
        assert f"| `{name}` |" in page
        assert field.description
        assert field.description in page
