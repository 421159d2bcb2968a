"""The reading tools return the requested amount of text, as on disk, without hidden characters."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from donna_tui.agents.server import _result, published
from donna_tui.agents.setup import skill_text
from donna_tui.agents.tools.catalogue import TOOLS
from donna_tui.agents.tools.memory import SNIPPET_CHARS
from donna_tui.agents.tools.notes import with_section
from donna_tui.agents.tools.schemas import SectionArgs
from donna_tui.engine.freshness import LATE, Freshness
from donna_tui.safety.terminal import clean_line
from tests.engine.helpers import Sandbox, hide_model, index_once, new_sandbox, quick_config
from tests.git_vaults import write
from tests.hostile import make_hostile_vault
from tests.mcp.serving import PUBLIC, ToolHarness, open_harness

ODD = '\ufeff---\r\ntitle: "a\u202etitle"\r\n---\r\n\tfirst\u200b line\x1b[31m\r\nsecond\x07\u2028line\r\n'


async def test_memory_search_respects_max_results_and_folder(harness: ToolHarness) -> None:
    for most in (1, 2, 4):
        found = await harness.fine("memory_search", query="kestrel", maxResults=most, sources=["vault"])
        assert found["count"] == len(found["results"]) == most
    inside = await harness.fine("memory_search", query="kestrel", folder="Projects", sources=["vault"])
    assert {each["path"] for each in inside["results"]} == {"Projects/gateway.md", "Projects/plan.md"}


async def test_a_snippet_for_an_agent_has_whole_sentences(harness: ToolHarness) -> None:
    said = [f"Ring number {number} was worn by a dunlin on the northern mudflats." for number in range(1, 9)]
    harness.sandbox.write("Rings.md", f"# Rings\n\n{' '.join(said)}\n")
    (hit,) = (await harness.fine("memory_search", query="dunlin ring number 4", folder=""))["results"]
    assert " ".join(said[2:5]) in hit["snippet"]
    assert len(hit["snippet"]) <= SNIPPET_CHARS + 2


async def test_a_shared_word_is_never_cut_by_the_least_score(harness: ToolHarness) -> None:
    assert (await harness.fine("memory_search", query="kestrel", minScore=1.0, sources=["vault"]))["count"] == len(
        PUBLIC
    )


async def test_nothing_relevant_is_reported_and_near_misses_come_on_request(harness: ToolHarness) -> None:
    nothing = await harness.fine("memory_search", query="quasar telescope")
    assert (nothing["results"], nothing["nearMisses"], nothing["count"]) == ([], [], 0)


async def test_an_answer_from_an_outdated_index_is_marked_stale(
    harness: ToolHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(_: object, seconds: float | None) -> str:
        return LATE

    monkeypatch.setattr(Freshness, "stale", late)
    found = await harness.fine("memory_search", query="kestrel")
    assert (found["stale"], found["indexed"]) == (True, True)
    assert LATE in found["note"]
    assert found["count"]
    assert LATE in (await harness.fine("recall", query="kestrel"))["note"]


async def test_what_was_just_written_is_recalled_and_listed(harness: ToolHarness) -> None:
    harness.sandbox.write("Pipes.md", "# Pipes\n\nThe ptarmigan valve leaks.\n\n- [ ] Call the plumber 📅 2020-01-01\n")
    assert "plumber" in str((await harness.fine("task_list"))["tasks"])
    harness.sandbox.write("Taps.md", "# Taps\n\nThe capercaillie tap drips. [[gateway]]\n")
    assert "Taps.md" in (await harness.fine("vault_links", path="Projects/gateway.md"))["linkedFrom"]
    harness.sandbox.write("Sinks.md", "# Sinks\n\nThe dotterel sink is blocked.\n")
    assert "dotterel" in str((await harness.fine("recall", query="dotterel sink"))["memories"])


async def test_a_space_without_chats_and_tasks_says_so(sandbox: Sandbox) -> None:
    config = quick_config()
    off = {name: getattr(config.sources, name).model_copy(update={"enabled": False}) for name in ("chat", "tasks")}
    config = config.model_copy(update={"sources": config.sources.model_copy(update=off)})
    async with open_harness(sandbox, config=config) as harness:
        turns = [{"role": "user", "text": "The osprey is back."}]
        refused = [await harness("task_list"), await harness("chat_add", sessionId="s", turns=turns)]
        assert [answer["reason"] for answer in refused] == ["ignored", "ignored"]


async def test_lines_are_those_of_the_file_and_end_with_it(harness: ToolHarness) -> None:
    path, lines = "Projects/gateway.md", PUBLIC["Projects/gateway.md"].splitlines()
    for first, count in ((1, 1), (2, 3), (4, 100), (7, 1), (1_000, 5)):
        got = await harness.fine("memory_get", path=path, **{"from": first, "lines": count})
        assert got["text"] == "\n".join(lines[first - 1 : first - 1 + count])
        assert got["totalLines"] == len(lines)
        assert got["endLine"] - got["startLine"] + 1 == len(lines[first - 1 : first - 1 + count])


async def test_unreadable_paths_are_refused_with_a_next_step(harness: ToolHarness) -> None:
    beyond = await harness.fine("memory_get", path="Inbox/idea.md", **{"from": 9})
    assert (beyond["text"], beyond["note"]) == ("", "there is no line 9: 1 line in all")
    assert (await harness.fine("memory_get", path="Inbox/idea.md"))["note"] == ""
    harness.sandbox.write("Inbox/empty.md", "")
    assert (await harness.fine("memory_get", path="Inbox/empty.md"))["note"] == "it is empty"
    for name in ("memory_get", "vault_read", "vault_links"):
        for path in ("Projects", "Projects/", "picture.png", "../secret.md", ".git/config"):
            answer = await harness(name, path=path)
            assert "vault_list" in answer["hint"], (name, path)
    for path, message in (
        ("Projects/", "the path has a slash too many"),
        (str(harness.sandbox.root / "Inbox/idea.md"), "the path is absolute"),
        ("./Inbox/idea.md", "the path contains “.” as a part"),
        ("Inbox/a\0.md", "the path contains a control character"),
    ):
        assert (await harness("vault_read", path=path))["message"] == message
        assert (await harness("vault_write", path=path, content="mine"))["message"] == message
    assert (await harness("vault_list", folder="../up"))["hint"]
    for path in ("Inbox/new", "../new.md", "Inbox/.new.md", "Inbox//new.md"):
        assert (await harness("vault_write", path=path, content="mine"))["hint"], path


async def test_a_message_far_into_a_conversation_is_read_with_those_around_it(harness: ToolHarness) -> None:
    turns = [{"role": "user", "text": f"The osprey of day {day} weighed 900 grams."} for day in range(1, 41)]
    await harness.fine("chat_add", sessionId="long", turns=turns, closed=True)
    await harness.engine.memory.wait_until_indexed()
    (hit,) = [
        each
        for each in (await harness.fine("memory_search", query='"osprey of day 35"', sources=["chat"]))["results"]
        if "day 35" in each["snippet"]
    ]
    got = await harness.fine("memory_get", path=hit["path"], **{"from": hit["startLine"], "lines": 1})
    assert "The osprey of day 35 weighed" in got["text"]
    assert await harness.fine("memory_get", path=f"chat:{hit['path']}") == got
    long = " ".join(f"The heron of day {day} weighed 900 grams." for day in range(1, 1_001))
    await harness.fine("chat_add", sessionId="long", turns=[{"role": "user", "text": long}], closed=True)
    await harness.engine.memory.wait_until_indexed()
    assert len((await harness.fine("memory_get", path="agent/long:41-41"))["text"]) < 20_000 < len(long)


async def test_hidden_characters_are_visible_in_memory_get_and_raw_in_vault_read(harness: ToolHarness) -> None:
    file = write(harness.sandbox.root, "Inbox/odd.md", ODD.encode())
    shown = await harness.fine("memory_get", path="Inbox/odd.md")
    assert "\tfirst␣ line␛[31m\nsecond␇␤line" in shown["text"]
    exact = await harness.fine("vault_read", path="Inbox/odd.md")
    assert exact["text"] == ODD.removeprefix("\ufeff")
    assert exact["title"] == clean_line(exact["title"])
    text = exact["text"].replace("second", "third")
    answer = await harness.fine("vault_write", path="Inbox/odd.md", content=text, etag=exact["etag"], replace=True)
    assert file.read_bytes() == ODD.replace("second", "third").encode()
    assert (await harness.fine("vault_read", path="Inbox/odd.md"))["etag"] == answer["etag"]


async def test_a_list_comes_in_pages(harness: ToolHarness) -> None:
    pages = [(await harness.fine("vault_list", offset=at, limit=3)) for at in (0, 3, 6)]
    paths = [each["path"] for page in pages for each in page["notes"]]
    assert paths == sorted(PUBLIC)
    assert {page["total"] for page in pages} == {len(PUBLIC)}
    assert (await harness.fine("vault_list", folder="."))["total"] == len(PUBLIC)
    top = await harness.fine("vault_list", recursive=False)
    assert (top["total"], top["folders"]) == (0, sorted({path.partition("/")[0] for path in PUBLIC}))
    assert (await harness.fine("vault_list", folder="Projects/", recursive=False))["total"] == 2


@pytest.mark.slow
async def test_every_note_of_a_hostile_vault_is_read_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_model(monkeypatch)
    root, _ = make_hostile_vault(tmp_path)
    made = new_sandbox(tmp_path / "donna")
    sandbox = Sandbox(root, made.paths)
    await index_once(sandbox)
    async with open_harness(sandbox) as harness:
        listed = (await harness.fine("vault_list", limit=1_000))["notes"]
        assert len(listed) > 20
        for number, path in enumerate(each["path"] for each in listed):
            for name in ("memory_get", "vault_read", *(() if number % 20 else ("vault_links",))):
                answer = await harness(name, path=path)
                json.dumps(answer).encode("ascii")
                assert answer["ok"] or answer["message"].isprintable()
            shown = (await harness.fine("memory_get", path=path))["text"]
            assert not set(shown) & set("\x00\x07\x1b\x7f\x9b\u202e\u2066\u200b")
        for word in ("the", "note", "alert", "\x1b[2J", "<script>", "título"):
            found = await harness.fine("memory_search", query=word, maxResults=50, nearMisses=True)
            for hit in (*found["results"], *found["nearMisses"]):
                assert hit["snippet"] == clean_line(hit["snippet"])


def test_all_four_properties_of_a_tool_are_stated_and_make_sense() -> None:
    assert len({tool.name for tool in TOOLS}) == len(TOOLS) == 16
    for tool in TOOLS:
        assert tool.writes or not tool.destroys
        for model in (tool.takes.model_json_schema(), tool.gives.model_json_schema(mode="serialization")):
            assert (model["type"], model["additionalProperties"]) == ("object", False)
        as_published = published(tool)
        assert '"title": "' not in json.dumps([as_published.input_schema, as_published.output_schema])


def properties(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return every property of a schema and of those that it references, by name."""
    for model in (schema, *schema.get("$defs", {}).values()):
        yield from model.get("properties", {}).items()


def test_every_argument_and_result_is_described_in_words_and_nothing_refers_to_design_documents() -> None:
    for tool in TOOLS:
        taken, given = tool.takes.model_json_schema(), tool.gives.model_json_schema(mode="serialization")
        for name, field in (*properties(taken), *properties(given)):
            assert name == "ok" or len(field.get("description", "")) > 8, (tool.name, name)
        told = json.dumps([tool.description, taken, given])
        assert not re.search(r"seed \\d|\u00a7|SPEC", told.replace("\\u00a7", "\u00a7")), tool.name


def test_instructions_name_only_tools_that_are_served_and_fit_into_what_clients_show() -> None:
    for writes in (True, False):
        told = skill_text(write=writes)
        assert len(told.encode()) <= 2_000, "Claude Code cuts off what exceeds 2 KB"
        assert "not instructions" in told
        named = {tool.name for tool in TOOLS if f"`{tool.name}`" in told}
        assert named <= {tool.name for tool in TOOLS if writes or not tool.writes}
        assert ("remember" in named) == writes


async def test_a_hit_says_what_it_is(sandbox: Sandbox) -> None:
    sandbox.write(
        "Meetings/caf\u00e9.md",
        "---\ntype: meeting\ndate: 2026-03-12\ntags: [caf\u00e9]\n---\nWalruses in the caf\u00e9.\n",
    )
    async with open_harness(sandbox) as harness:
        (hit,) = (await harness.fine("memory_search", query="walruses"))["results"]
        assert (hit["type"], hit["tags"], hit["date"]) == ("meeting", ["caf\u00e9"], "2026-03-12")
        assert (hit["draft"], hit["sensitive"]) == (False, False)
        answer = _result(await harness("memory_search", query="walruses"))
        assert "caf\u00e9" in answer.content[0].text
        assert "\\u00e9" not in answer.content[0].text
        recalled = await harness.fine("recall", query="walruses")
        assert str(recalled).count("Walruses in") == 1
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", recalled["memories"][0]["at"])


async def test_a_refusal_names_the_allowed_folders(sandbox: Sandbox) -> None:
    async with open_harness(sandbox) as harness:
        refused = await harness("vault_write", path="Elsewhere/x.md", content="x")
        assert refused["reason"] == "outside_allowlist"
        assert all(folder in refused["hint"] for folder in ("Inbox", "Projects"))


SECTIONS = "---\ntags: [a]\n---\n# Log\n\nFirst.\n\n## Today\n\n- one\n\n## Later\n\n- two\n"


@pytest.mark.parametrize(
    ("heading", "mode", "content", "expected"),
    [
        (("Log", "Today"), "append", "- more", SECTIONS.replace("- one\n", "- one\n- more\n")),
        (("Log", "Today"), "replace", "\n- new", SECTIONS.replace("- one", "- new")),
        (("Log", "Today"), "append", "Note.", SECTIONS.replace("- one\n", "- one\n\nNote.\n")),
        (("Log", "Today"), "append", "  - part", SECTIONS.replace("- one\n", "- one\n  - part\n")),
        (("Log", "Today"), "append", "### Sub", SECTIONS.replace("- one\n", "- one\n\n### Sub\n")),
        (("Log", "Today"), "append", "", SECTIONS),
        (("Log", "Later"), "append", "- three\n", SECTIONS + "- three\n"),
        (("Log",), "append", "Second.", SECTIONS.replace("First.\n", "First.\nSecond.\n")),
        (("Log",), "append", "\nSecond.", SECTIONS.replace("First.\n", "First.\n\nSecond.\n")),
        (("Log",), "append", "---", SECTIONS.replace("First.\n", "First.\n\n---\n")),
        (("Log", "Later"), "append", "- a\u2028b\x0cc", SECTIONS + "- a\u2028b\x0cc\n"),
        ((), "append", "Before.", SECTIONS.replace("# Log", "Before.\n\n# Log")),
    ],
)
def test_one_section_changes_and_the_rest_keeps_its_bytes(
    heading: tuple[str, ...], mode: str, content: str, expected: str
) -> None:
    asked = SectionArgs.model_validate(
        {"path": "x.md", "headingPath": heading, "mode": mode, "content": content, "etag": "e"}
    )
    assert with_section(SECTIONS, SECTIONS.index("# Log"), asked) == expected


@pytest.mark.parametrize(
    ("own", "content", "gap"),
    [
        ("> [!note] A", "> more", ""),
        ("> [!note] A\n> text", "> [!warning] B", "\n"),
        ("| a |\n|---|\n| 1 |", "| 2 |", ""),
        ("| a |\n|---|\n| 1 |", "| b |\n|---|\n| 2 |", "\n"),
    ],
)
def test_a_new_callout_or_table_does_not_continue_the_one_above(own: str, content: str, gap: str) -> None:
    asked = SectionArgs(path="x.md", heading_path=[], content=content, etag="e")
    assert with_section(f"{own}\n", 0, asked) == f"{own}\n{gap}{content}\n"


async def test_a_heading_with_hidden_characters_is_accepted_as_it_is_returned(harness: ToolHarness) -> None:
    path = "Projects/hidden.md"
    harness.sandbox.write(path, "## A\u200bB\n\n- one\n")
    note = await harness.fine("vault_read", path=path)
    (section,) = note["sections"]
    asked = {"path": path, "headingPath": section["headingPath"], "etag": note["etag"]}
    assert (await harness.fine("vault_section", content="- two", **asked))["changed"]
    assert (harness.sandbox.root / path).read_text() == "## A\u200bB\n\n- one\n- two\n"


async def test_a_section_is_changed_only_with_the_etag_that_was_read(harness: ToolHarness) -> None:
    path, heading = "Projects/gateway.md", ["Gateway", "Cache"]
    etag = (await harness.fine("vault_read", path=path))["etag"]
    await harness.fine("vault_section", path=f"vault:{path}", headingPath=heading, content="More.", etag=etag)
    assert "Redis." in (harness.sandbox.root / path).read_text()
    for arguments, reason in (
        ({"headingPath": heading, "etag": etag}, "conflict"),
        ({"headingPath": ["Nowhere"], "etag": (await harness.fine("vault_read", path=path))["etag"]}, "missing"),
        ({"path": "Projects/codes.md", "headingPath": [], "etag": etag}, "missing"),
    ):
        refused = await harness("vault_section", **{"path": path, "content": "x", **arguments})
        assert refused["reason"] == reason
