"""A note is public only when that is certain."""

from __future__ import annotations

from typing import Any

import pytest

from donna_tui.safety.classify import HEAD_CHARS, Sensitivity, classify

PUBLIC, LOCAL_ONLY, DONNA_SENSITIVE = Sensitivity.PUBLIC, Sensitivity.LOCAL_ONLY, Sensitivity.DONNA_SENSITIVE


@pytest.mark.parametrize(
    "metadata",
    [
        {"donna": "local-only"},
        {"donna": "Local Only"},
        {"Donna": "LOCAL_ONLY"},
        {"donna": ["work", "local-only"]},
        {"donna": {"scope": "local-only"}},
        {"donna": "locl-only"},
        {"donna": None},
        {"donna": True},
    ],
)
def test_classify_detects_local_only(metadata: dict[str, Any]) -> None:
    assert classify(metadata, "") is LOCAL_ONLY


@pytest.mark.parametrize(
    "metadata",
    [
        {"donna_sensitive": True},
        {"donna_sensitive": "yes"},
        {"donna_sensitive": 1},
        {"donna_sensitive": "perhaps"},
        {"donna_sensitive": None},
        {"donna_sensitive": []},
        {"Donna-Sensitive": True},
        {"ｄonna_sensitive": True},
        {"donna\u200b_sensitive": True},
        {"donna_sensitive": True, "donna": "local-only"},
    ],
)
def test_classify_detects_the_sensitive_flag(metadata: dict[str, Any]) -> None:
    assert classify(metadata, "") is DONNA_SENSITIVE


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"title": "donna: local-only"},
        {"donna_sensitive": False},
        {"donna_sensitive": "false"},
        {"donna_sensitive": "No"},
        {"donna_sensitive": 0},
        {"donna": "off"},
        {"donnas": "local-only"},
        {"private": True},
    ],
)
def test_classify_detects_public_notes(metadata: dict[str, Any]) -> None:
    assert classify(metadata, "") is PUBLIC


def test_the_key_can_be_chosen() -> None:
    assert classify({"private": True}, "", key="private") is DONNA_SENSITIVE
    assert classify({"donna_sensitive": True}, "", key="private") is PUBLIC
    assert classify({"donna": "local-only"}, "", key="private") is LOCAL_ONLY


def test_broken_frontmatter_is_private_even_without_a_flag() -> None:
    assert classify({}, "---\ntitle: a: b\n---\n", broken=True) is LOCAL_ONLY
    assert classify({}, "---\ndonna_sensitive: [\n---\n", broken=True) is DONNA_SENSITIVE


@pytest.mark.parametrize(
    "head",
    [
        "---\ntitle: x\ndonna: local-only\n\n# No end\n",
        "\n---\ndonna: local-only\n---\n",
        "+++\ndonna = 'local-only'\n+++\n",
        '{\n  "title": "x",\n  "donna": "local-only"\n}\n',
        '{"donna": ["local-only"]}\n',
        ";;;\n{ donna: 'local_only' }\n;;;\n",
        "donna: local-only\ntitle: x\n\nwords\n",
        "donna:: Local-Only\n",
    ],
)
def test_a_flag_that_is_no_valid_frontmatter_counts(head: str) -> None:
    assert classify(None, head) is LOCAL_ONLY
    assert classify(None, head.replace("donna", "donna_sensitive")) is DONNA_SENSITIVE


@pytest.mark.parametrize(
    "head",
    [
        "",
        "# Manual\n\nWrite `donna: local-only` into the frontmatter.\n",
        "Set donna: local-only to keep a note at home.\n",
        "words\n\ndonna: local-only\n",
        "+++\ntitle = 'x'\n+++\n\ndonna: local-only\n",
        "---\ndonna_sensitive: false\n\nwords",
        "+++\nprimadonna = 'local-only'\n+++\n",
        "x" * HEAD_CHARS + "\ndonna: local-only",
    ],
)
def test_a_note_that_only_talks_about_the_flag_is_public(head: str) -> None:
    assert classify(None, head) is PUBLIC


def test_metadata_that_was_read_decides_over_the_text() -> None:
    assert classify({"title": "x"}, "---\ntitle: x\n---\ndonna: local-only\n") is PUBLIC


@pytest.mark.parametrize("head", ["---\n" + "donna" * 900, "{" * 5000, "---\ndonna" + ":" * 4000, "donna" + " " * 4090])
def test_classify_of_unusual_text_without_a_flag_is_public(head: str) -> None:
    assert classify(None, head) is PUBLIC
