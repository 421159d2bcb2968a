"""Repositories that would make git run programs, each of which leaves a canary."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.git_vaults import NOTES, User, fill

HOOKS = """
    applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit
    pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update
    reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman
    post-index-change p4-changelist p4-pre-submit
""".split()

PROGRAMS = """
    alias.add alias.commit alias.log alias.poison browser.x.cmd core.alternateRefsCommand core.askPass core.editor
    core.fsmonitor core.gitProxy core.pager core.sshCommand credential.helper credential.https://example.org.helper
    diff.external diff.x.command diff.x.textconv difftool.x.cmd filter.x.clean filter.x.smudge filter.y.process
    gpg.program gpg.openpgp.program gpg.ssh.program gpg.ssh.defaultKeyCommand gpg.x509.program gui.editor guitool.x.cmd
    instaweb.httpd interactive.diffFilter man.x.cmd merge.x.driver mergetool.x.cmd pager.blame pager.diff pager.log
    pager.show remote.x.receivepack remote.x.uploadpack sendemail.smtpServer sendemail.toCmd sequence.editor
    submodule.notes.update trailer.x.cmd trailer.y.command uploadpack.packObjectsHook web.browser
""".split()
"""Settings whose value is a program."""

SWITCHES = {
    "commit.gpgSign": "true",
    "commit.verbose": "true",
    "diff.noprefix": "true",
    "diff.relative": "true",
    "diff.tool": "x",
    "gc.auto": "1",
    "gc.autoDetach": "false",
    "gpg.format": "openpgp",
    "grep.patternType": "fixed",
    "i18n.logOutputEncoding": "utf-16",
    "interactive.singleKey": "true",
    "log.follow": "true",
    "log.showRoot": "false",
    "log.showSignature": "true",
    "mailmap.blob": "HEAD:.mailmap",
    "merge.tool": "x",
    "remote.x.proxy": "http://127.0.0.1:1",
    "remote.x.url": "ssh://example.org/x",
    "tag.gpgSign": "true",
    "trailer.x.key": "Donna-Op",
    "trailer.x.ifmissing": "add",
    "trailer.y.key": "Reviewed-by",
    "user.signingKey": "key",
}
"""Settings that make git use such programs, or change its output."""

OBSTACLES = {
    "blame.ignoreRevsFile": "no-such-file",
    "commit.template": "no-such-file",
    "diff.orderFile": "no-such-file",
    "filter.x.required": "true",
    "filter.y.required": "true",
    "mailmap.file": "no-such-file",
}
"""Settings that make git fail, so that plain git would stop before running anything."""

HARMLESS = "*.md diff=x merge=x text ident working-tree-encoding=UTF-8\n"
ATTRIBUTES = f"{HARMLESS}*.md filter=x\nInbox/*.md filter=y\n"


@dataclass(frozen=True)
class Bait:
    """Programs that each leave a canary with their name when they are run."""

    programs: Path
    canaries: Path

    def program(self, name: str) -> str:
        """Return the path of a program that leaves the canary `name`, whatever its arguments."""
        path = self.programs / name.replace("/", "_").replace(" ", "_")
        script = f"#!/bin/sh\n: > '{self.canaries / name.replace('/', '_')}'\n"
        path.write_text(script + ("exec cat\n" if name.startswith("filter.x.") else ""))
        path.chmod(0o755)
        return str(path)

    def fired(self) -> set[str]:
        """Return the names of the canaries."""
        return {path.name for path in self.canaries.iterdir()}

    def forget(self) -> None:
        """Remove the canaries."""
        shutil.rmtree(self.canaries)
        self.canaries.mkdir()


def new_bait(base: Path) -> Bait:
    bait = Bait(base / "programs", base / "canaries")
    bait.programs.mkdir()
    bait.canaries.mkdir()
    return bait


def settings(bait: Bait) -> dict[str, str]:
    """Return all poisoned settings. Aliases and a submodule's update take a shell command after an exclamation mark."""
    shell = ("alias.", "submodule.", "credential.")
    return SWITCHES | {key: ("!" if key.startswith(shell) else "") + bait.program(key) for key in PROGRAMS}


def in_a_file(user: User, file: Path, values: dict[str, str]) -> None:
    for key, value in values.items():
        user.git(file.parent, "config", "--file", str(file), key, value)


def in_the_repository(user: User, vault: Path, values: dict[str, str]) -> None:
    in_a_file(user, vault / ".git/config", values)


def in_an_included_file(user: User, vault: Path, values: dict[str, str]) -> None:
    in_a_file(user, vault / "more.config", values)
    in_a_file(user, vault / ".git/config", {"include.path": "../more.config"})


def in_a_file_included_for_this_folder(user: User, vault: Path, values: dict[str, str]) -> None:
    in_a_file(user, vault / ".git/more", values)
    in_a_file(user, vault / ".git/config", {f"includeIf.gitdir:{vault}/.path": "more"})


def in_the_work_tree(user: User, vault: Path, values: dict[str, str]) -> None:
    in_a_file(user, vault / ".git/config", {"core.repositoryFormatVersion": "1", "extensions.worktreeConfig": "true"})
    in_a_file(user, vault / ".git/config.worktree", values)


def in_the_users_own(user: User, vault: Path, values: dict[str, str]) -> None:
    in_a_file(user, Path(user.environment["HOME"]) / ".gitconfig", values)


Place = Callable[[User, Path, dict[str, str]], None]
PLACES = (
    in_the_repository, in_an_included_file, in_a_file_included_for_this_folder, in_the_work_tree, in_the_users_own,
)  # fmt: skip


def with_nested(user: User, vault: Path) -> Path:
    """Create a repository inside the vault, registered as a submodule of the vault's own."""
    nested = user.repository(vault / "Projects/lib")
    make_young(nested)
    user.commit_all(nested, "young")
    (nested / ".git/info/attributes").write_text(ATTRIBUTES)
    user.git(vault, "add", "Projects/lib")
    user.git(vault, "commit", "--quiet", "--message", "a repository in the vault")
    return nested


def add_hooks(folder: Path, bait: Bait) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in HOOKS:
        (folder / name).write_text(f"#!/bin/sh\nexec {bait.program(f'hook {name}')}\n")
        (folder / name).chmod(0o755)


def poisoned(user: User, base: Path, bait: Bait, place: Place = in_the_repository) -> Path:
    vault = user.repository(base / "v")
    nested = with_nested(user, vault)
    fill(vault, {".gitattributes": ATTRIBUTES, ".mailmap": "Mallory <m@example.org> <donna@localhost>\n"})
    make_young(vault)
    user.commit_all(vault, "attributes")
    (vault / ".git/info/attributes").write_text(ATTRIBUTES)
    place(user, vault, settings(bait))
    inner = {"core.fsmonitor": "core.fsmonitor of the nested one", "filter.x.clean": "filter.x.clean of the nested one"}
    in_a_file(user, nested / ".git/config", {key: bait.program(name) for key, name in inner.items()})
    add_hooks(vault / ".git/hooks", bait)
    return vault


def without_filters(vault: Path) -> None:
    """Remove the filters, through which Donna writes nothing; the other attributes stay."""
    (vault / ".gitattributes").write_text(HARMLESS)
    (vault / ".git/info/attributes").write_text(HARMLESS)


def make_young(vault: Path) -> None:
    """Make all notes newer than any index: git then reads them, through the filters, to see whether they changed."""
    for path in NOTES:
        os.utime(vault / path, (2_000_000_000, 2_000_000_000))
