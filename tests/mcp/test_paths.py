"""Every path that the vault refuses is refused by the tools too, which use the same resolver."""

from __future__ import annotations

import json
import random
from itertools import islice
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason
from tests.engine.helpers import Sandbox, quick_config
from tests.git_vaults import tree_of
from tests.mcp.serving import ToolHarness, open_harness
from tests.property.test_target_properties import paths as generated
from tests.unit.test_targets import ALLOWLIST, NO_NEW_NAMES, TABLE

OUTSIDE = "the text outside"
IGNORED_GLOBS = [".obsidian/**", "node_modules/**", "Templates/**", "*.private.md", "Inbox/raw/*.md"]
FOREIGN = (
    "", "/", "/etc/passwd", "//note.md", "..", "../secret.md", "Projects/../../secret.md", "Projects/../Inbox/idea.md",
    "./Inbox/idea.md", "Inbox//idea.md", "Inbox/", "~/note.md", "Inbox/idea.md\0", "a\0/../note.md", "link/secret.md",
    "link.md", "up/secret.md", "file:///etc/passwd", "vault:../secret.md", "vault:/etc/passwd", "..\\secret.md",
    "%2e%2e/secret.md", ".git/config", ".git/HEAD.md", ".obsidian/app.md", ".trash/old.md", "Inbox/.hidden.md",
    "bad\udcff.md", "x" * 256, "/".join(["x" * 200] * 21) + ".md", "\u202egit/x.md",
)  # fmt: skip


@pytest.fixture
def around(sandbox: Sandbox) -> Sandbox:
    """Create a file outside the vault, and links in the vault that lead to it."""
    (sandbox.root.parent / "secret.md").write_text(OUTSIDE)
    (sandbox.root / "link").symlink_to(sandbox.root.parent)
    (sandbox.root / "link.md").symlink_to(sandbox.root.parent / "secret.md")
    (sandbox.root / "up").symlink_to("..")
    for hidden in (".git/HEAD.md", ".obsidian/app.md", ".trash/old.md", "Inbox/.hidden.md"):
        (sandbox.root / hidden).parent.mkdir(exist_ok=True)
        (sandbox.root / hidden).write_text(OUTSIDE)
    return sandbox


def likely(count: int) -> list[str]:
    return list(islice(generated(random.Random(7).randint(0, 99), count), count))


@pytest.mark.slow
async def test_no_path_reads_what_is_outside(around: Sandbox, harness: ToolHarness) -> None:
    for path in (*FOREIGN, *TABLE, *NO_NEW_NAMES, *likely(300)):
        for name in ("memory_get", "vault_read", "vault_links"):
            answer = await harness(name, path=path)
            assert not answer["ok"], (name, path)
            assert OUTSIDE not in json.dumps(answer)
            assert set(answer) == {"ok", "reason", "message", "hint"}
            assert answer["message"].isprintable()


async def test_no_folder_lists_what_is_outside(around: Sandbox, harness: ToolHarness) -> None:
    for folder in (*FOREIGN, *TABLE, *likely(100)):
        answer = await harness("vault_list", folder=folder)
        listed = {each["path"] for each in answer.get("notes", ())}
        assert listed <= PUBLIC_PATHS, folder
        assert folder.strip("/") in ("", "Inbox") or not listed, folder


async def test_vault_write_rejects_paths_that_the_vault_rejects(around: Sandbox) -> None:
    before, outside = tree_of(around.root), sorted(around.root.parent.glob("*.md"))
    config = quick_config(safety={"path_allowlist": list(ALLOWLIST)}, vault={"ignore_globs": IGNORED_GLOBS})
    refused = {path: wrong for path, wrong in TABLE.items() if wrong}
    async with open_harness(around, config=config) as harness:
        for path in (*FOREIGN, *refused, *NO_NEW_NAMES):
            for etag in (None, "0" * 64):
                answer = await harness("vault_write", path=path, content="mine\n", etag=etag)
                assert not answer["ok"], path
                assert answer["message"].isprintable()
                assert answer["reason"] in (refused.get(path, answer["reason"]), "usage"), path
        assert harness.space.session.quota.left == harness.space.session.quota.most
    assert tree_of(around.root) == before
    assert sorted(around.root.parent.glob("*.md")) == outside


@pytest.mark.parametrize(
    "path", ["Inbox/a b.md", "Inbox/\u00fcber.md", "Inbox/deep/er/\u65e5\u672c\u8a9e.md", "Inbox/-rf.md"]
)
async def test_vault_write_writes_valid_paths_inside_the_vault(harness: ToolHarness, path: str) -> None:
    written = await harness.fine("vault_write", path=path, content="mine\n")
    file: Path = harness.sandbox.root / path
    assert file.read_text() == "mine\n"
    assert file.resolve().is_relative_to(harness.sandbox.root.resolve())
    read = await harness.fine("vault_read", path=path)
    assert (read["text"], read["etag"]) == ("mine\n", written["etag"])


async def test_the_reason_of_a_refused_path_is_that_of_the_vault(harness: ToolHarness) -> None:
    for path, expected in (
        ("../x.md", Reason.PATH_ESCAPE),
        ("Inbox/x.txt", Reason.NOT_MARKDOWN),
        ("Elsewhere/x.md", Reason.OUTSIDE_ALLOWLIST),
        ("Inbox/" + "x" * 300 + ".md", Reason.TOO_LONG),
        ("Inbox/x.sync-conflict-20240102-030405-ABCDEFG.md", Reason.IGNORED),
    ):
        assert (await harness("vault_write", path=path, content="mine\n"))["reason"] == expected, path


PUBLIC_PATHS = {"Projects/gateway.md", "Projects/plan.md", "Meetings/standup.md", "Inbox/idea.md"}
