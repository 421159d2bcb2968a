"""A repository or environment that would make git run programs: Donna runs none of them, and is the author."""

from __future__ import annotations

from pathlib import Path

import pytest

from donna_tui.types.errors import DonnaError, Reason
from donna_tui.vault.write.writer import VaultWriter
from tests.git_poison import (
    OBSTACLES,
    PLACES,
    Bait,
    Place,
    add_hooks,
    in_a_file,
    in_the_repository,
    new_bait,
    poisoned,
    settings,
    without_filters,
)
from tests.git_vaults import NOTES, User, fill, new_writer, tree_of


def use_git_plainly(user: User, vault: Path) -> None:
    """Run the git commands that a program without precautions would."""
    quiet = ("-c", "filter.y.process=", "-c", "core.fsmonitor=false")  # otherwise git would stop here
    (vault / "Projects/one.md").write_text("changed\n")
    for line in ("status", "add --all", "poison", "diff-files", "fetch x", "update-ref refs/heads/x HEAD"):
        user.git(vault, *line.split(), may_fail=True)
    for line in (
        "diff HEAD~1", "checkout HEAD~1 -- Projects", "checkout HEAD -- Projects", "log --patch", "blame Projects/one.md",
        "commit --allow-empty", "commit --allow-empty --message=x", "interpret-trailers --trailer Reviewed-by=x",
    ):  # fmt: skip
        user.git(vault, *quiet, *line.split(), given="subject\n", may_fail=True)
    user.git(vault, "credential", "fill", given="protocol=https\nhost=example.org\n\n", may_fail=True)


def test_plain_git_runs_the_planted_programs(base: Path) -> None:
    bait = new_bait(base)
    user = User(base / "home")
    vault = poisoned(user, base, bait)
    use_git_plainly(user, vault)
    expected = {
        "alias.poison", "core.editor", "core.fsmonitor", "core.fsmonitor of the nested one", "core.sshCommand",
        "credential.helper", "diff.external", "diff.x.command", "diff.x.textconv", "filter.x.clean", "filter.x.smudge",
        "filter.y.process",
        "gpg.openpgp.program", "hook post-index-change", "hook pre-commit", "hook reference-transaction", "trailer.y.command",
    }  # fmt: skip
    assert expected - bait.fired() == set()


def everything(user: User, vault: Path, writer: VaultWriter) -> None:
    """Run every operation and every query of the history, with files that git has to examine."""
    at_first = tree_of(vault)
    history = writer.history
    writer.recover()
    assert not set(history.outside()) & set(NOTES)
    writer.write("Inbox/new.md", "new\r\nlines $Id$\n")
    writer.write("Projects/one.md", "# One\n\nrewritten\n")
    writer.move("Projects/one.md", "Projects/uno.md")
    writer.delete("Inbox/old.md")
    at_last = tree_of(vault)
    touched = {"Inbox/new.md", "Projects/uno.md", "Projects/two.md"}
    assert {path for path in at_last if at_last[path] != at_first.get(path)} == touched
    for count in (1, 2, 4):
        writer.undo_last(count)
        writer.redo(count)
    assert tree_of(vault) == at_last
    writer.undo_last(4)
    assert tree_of(vault) == at_first
    writer.redo(4)
    (vault / "Projects/part.md").write_text("edited outside\n")
    assert set(history.outside()) & {"Projects/part.md", "Projects/two.md"} == {"Projects/part.md"}
    assert history.outside_change("Projects/part.md") is not None
    revisions = history.revisions()
    assert [each.subject for each in revisions[:2]] == ["Redo 4 operations", "Undo 4 operations"]
    assert revisions[-1].subject == "base"
    assert set(revisions[-1].paths) == set(NOTES)
    assert [
        each.after
        for each in history.changes(history.revisions("Inbox/new.md")[0].commit)
        if each.path == "Inbox/new.md"
    ]
    assert [line.commit for line in history.blame("Projects/uno.md", 1, 3)]
    assert [line.commit for line in history.blame("Projects/part.md", 1, 1)] == [""]
    writer.recover()


def assert_by_donna(user: User, vault: Path, start: str) -> None:
    plain = ("-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "-c", "i18n.logOutputEncoding=utf-8")
    authors = user.git(vault, *plain, "log", "--no-mailmap", "--format=%an <%ae> %cn <%ce>%G?", f"{start}..HEAD")
    assert set(authors.splitlines()) == {"Donna <donna@localhost> Donna <donna@localhost>N"}


def head_of(user: User, vault: Path) -> str:
    return user.git(vault, "-c", "core.fsmonitor=false", "rev-parse", "HEAD").strip()


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_operations_run_no_planted_program(base: Path, place: Place) -> None:
    bait = new_bait(base)
    user = User(base / "home")
    vault = poisoned(user, base, bait, place)
    place(user, vault, OBSTACLES)
    bait.forget()
    writer = new_writer(vault, base / "state")
    for path in ("Projects/one.md", "Inbox/new.md"):
        with pytest.raises(DonnaError) as refused:
            writer.write(path, "through a filter\n")
        assert refused.value.reason is Reason.IGNORED_BY_GIT
        assert "filter" in refused.value.message
    assert writer.history.revisions()
    assert bait.fired() == set()
    without_filters(vault)
    start = head_of(user, vault)
    bait.forget()
    everything(user, vault, writer)
    assert bait.fired() == set()
    assert_by_donna(user, vault, start)


@pytest.mark.slow
def test_a_folder_of_hooks_named_by_the_configuration_is_not_used(base: Path) -> None:
    bait = new_bait(base)
    user = User(base / "home")
    vault = user.repository(base / "v")
    add_hooks(base / "hooks", bait)
    in_the_repository(user, vault, {"core.hooksPath": str(base / "hooks")})
    user.git(vault, "commit", "--quiet", "--allow-empty", "--message", "this runs them")
    assert {"hook pre-commit", "hook reference-transaction"} <= bait.fired()
    bait.forget()
    everything(user, vault, new_writer(vault, base / "state"))
    assert bait.fired() == set()


REMOTES = {
    "ext": {"url": "ext::{bait}"},
    "ssh": {"url": "ssh://example.org/x"},
    "git": {"url": "git://example.org/x"},
    "local": {"url": "{vault}", "uploadpack": "{bait}"},
    "http": {"url": "https://example.org/x", "proxy": "http://127.0.0.1:1"},
    "helper": {"url": "x", "vcs": "poison"},
}


@pytest.mark.slow
@pytest.mark.parametrize("remote", REMOTES)
def test_missing_objects_of_a_partial_clone_are_not_fetched(
    base: Path, remote: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bait = new_bait(base)
    user = User(base / "home")
    vault = user.repository(base / "v")
    helpers = base / "helpers"
    helpers.mkdir()
    (helpers / "git-remote-poison").symlink_to(bait.program("helper"))
    user.environment["PATH"] = f"{helpers}:{user.environment['PATH']}"
    monkeypatch.setenv("PATH", user.environment["PATH"])
    words = {"bait": bait.program(remote), "vault": str(vault)}
    values = {f"remote.{remote}.{key}": value.format(**words) for key, value in REMOTES[remote].items()}
    poison = {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": remote,
        f"remote.{remote}.promisor": "true",
        "core.sshCommand": bait.program("ssh"),
        "core.gitProxy": bait.program("git"),
        "core.askPass": bait.program("http"),
        "credential.helper": "!" + bait.program("http"),
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
    }
    in_the_repository(user, vault, values | poison)
    gone = "1234567890" * 4
    user.git(vault, "cat-file", "blob", gone, may_fail=True)
    if remote != "http":
        assert bait.fired(), "plain git fetches nothing"
    bait.forget()
    writer = new_writer(vault, base / "state")
    assert writer.repo.blobs([gone]) == [None]
    everything(user, vault, writer)
    assert bait.fired() == set()


def environment_poison(base: Path, bait: Bait, decoy: Path) -> dict[str, str]:
    trace = str(bait.canaries / "trace")
    programs = """
        GIT_ASKPASS GIT_EDITOR GIT_EXTERNAL_DIFF GIT_PAGER GIT_PROXY_COMMAND GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND
        EDITOR VISUAL PAGER SSH_ASKPASS
    """.split()
    traces = """
        GIT_TRACE GIT_TRACE2 GIT_TRACE2_EVENT GIT_TRACE2_PERF GIT_TRACE_CURL GIT_TRACE_PACKET GIT_TRACE_PACK_ACCESS
        GIT_TRACE_PERFORMANCE GIT_TRACE_REFS GIT_TRACE_SETUP GIT_TRACE_SHALLOW
    """.split()
    names = ("AUTHOR", "COMMITTER")
    in_a_file(User(base / "home"), base / "poison.config", settings(bait))
    return {
        **{name: bait.program(name) for name in programs},
        **dict.fromkeys(traces, trace),
        **{f"GIT_{who}_NAME": "Mallory" for who in names},
        **{f"GIT_{who}_EMAIL": "mallory@example.org" for who in names},
        **{f"GIT_{who}_DATE": "2001-01-01T00:00:00" for who in names},
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(decoy / ".git/objects"),
        "GIT_ATTR_SOURCE": "HEAD",
        "GIT_CEILING_DIRECTORIES": str(base),
        "GIT_COMMON_DIR": str(decoy / ".git"),
        "GIT_CONFIG": str(base / "poison.config"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_GLOBAL": str(base / "poison.config"),
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor'='{bait.program('parameters')}'",
        "GIT_CONFIG_SYSTEM": str(base / "poison.config"),
        "GIT_CONFIG_VALUE_0": bait.program("value"),
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_DIR": str(decoy / ".git"),
        "GIT_EXEC_PATH": str(base / "no such folder"),
        "GIT_GLOB_PATHSPECS": "1",
        "GIT_GRAFT_FILE": str(base / "poison.config"),
        "GIT_ICASE_PATHSPECS": "1",
        "GIT_INDEX_FILE": str(decoy / ".git/index"),
        "GIT_INDEX_VERSION": "4",
        "GIT_NAMESPACE": "elsewhere",
        "GIT_OBJECT_DIRECTORY": str(decoy / ".git/objects"),
        "GIT_PREFIX": "Projects/",
        "GIT_QUARANTINE_PATH": str(base),
        "GIT_REDIRECT_STDOUT": trace,
        "GIT_REFLOG_ACTION": "nonsense",
        "GIT_REPLACE_REF_BASE": "refs/heads/",
        "GIT_SHALLOW_FILE": str(base / "poison.config"),
        "GIT_TEMPLATE_DIR": str(base),
        "GIT_WORK_TREE": str(decoy),
        "LANG": "de_DE.UTF-8",
        "LANGUAGE": "de",
        "LC_ALL": "de_DE.UTF-8",
    }


@pytest.mark.slow
def test_hostile_git_environment_variables_are_ignored(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bait = new_bait(base)
    user = User(base / "home")
    vault, decoy = user.repository(base / "v"), user.repository(base / "decoy")
    start = head_of(user, vault)
    before = {path: path.read_bytes() for path in (decoy / ".git").rglob("*") if path.is_file()}
    for name, value in environment_poison(base, bait, decoy).items():
        monkeypatch.setenv(name, value)
    bait.forget()
    everything(user, vault, new_writer(vault, base / "state"))
    assert bait.fired() == set()
    assert {path: path.read_bytes() for path in (decoy / ".git").rglob("*") if path.is_file()} == before
    assert_by_donna(user, vault, start)
    assert "2001" not in user.git(vault, "log", "--format=%ad %cd", f"{start}..HEAD")
    (vault / "Projects/part.md").write_text(NOTES["Projects/part.md"])
    assert not user.git(vault, "status", "--porcelain")


def test_a_repository_made_in_a_poisoned_shell_is_clean(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bait = new_bait(base)
    user = User(base / "home")
    vault, decoy = base / "v", user.repository(base / "decoy")
    fill(vault)
    template = base / "template/hooks"
    add_hooks(template, bait)
    for name, value in environment_poison(base, bait, decoy).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(template.parent))
    in_a_file(user, base / "home/.gitconfig", {"init.templateDir": str(template.parent)})
    writer = new_writer(vault, base / "state")
    assert writer.init_if_missing()
    assert not writer.init_if_missing()
    writer.write("Inbox/a.md", "a\n")
    assert not (vault / ".git/hooks").exists()
    assert bait.fired() == set()
    assert not user.git(vault, "status", "--porcelain")


def test_replaced_and_grafted_objects_do_not_change_what_is_undone(base: Path) -> None:
    user = User(base / "home")
    vault = user.repository(base / "v")
    writer = new_writer(vault, base / "state")
    writer.write("Projects/one.md", "changed by Donna\n", replace=True)
    old = user.git(vault, "rev-parse", "HEAD~1:Projects/one.md").strip()
    forged = user.git(vault, "hash-object", "-w", "--stdin", given="forged\n").strip()
    user.git(vault, "replace", old, forged)
    writer.undo_last()
    assert (vault / "Projects/one.md").read_text() == NOTES["Projects/one.md"]


def test_refusals_hold_no_control_bytes(base: Path) -> None:
    """Git's error messages may quote the repository."""
    user = User(base / "home")
    vault = user.repository(base / "v")
    (vault / ".git/HEAD").write_bytes(b"ref: refs/heads/\x1b]0;owned\x07\n")
    with pytest.raises(DonnaError) as refused:
        new_writer(vault, base / "state").write("Inbox/a.md", "a\n")
    assert refused.value.message.isprintable()
