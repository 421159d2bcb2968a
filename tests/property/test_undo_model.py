"""Donna and a proficient user of git alternate in one vault: files and undo stack always agree with the model."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.git.operations import parse_message
from donna_tui.vault.write.changes import Change, OperationKind, Plan, any_version
from donna_tui.vault.write.writer import VaultWriter
from tests.git_vaults import User, fill, memory_folder, new_writer

PATHS = ("Inbox/a.md", "Inbox/b [1].md", "Projects/deep/über.md")
TEXTS = (
    "",
    "same\n",
    "one\ntwo\n",
    "crlf\r\nlines\r\n",
    "no end",
    "\ufeffmark\n",
    "---\ntitle: x\n---\nbody\n",
    "see [[a]]\n",
)
STEPS = st.integers(1, 4)
path_of, text_of = st.sampled_from(PATHS), st.sampled_from(TEXTS)

Files = dict[str, bytes]


@dataclass(frozen=True)
class Done:
    """An operation in the model: its id, and what it did."""

    id: str
    changes: tuple[Change, ...]


def without(files: Files, operations: Iterable[Done]) -> Files | None:
    """Return the files without some operations, the first one undone first; None if a file has changed since."""
    files = dict(files)
    for operation in operations:
        for change in reversed(operation.changes):
            if files.pop(change.path, None) != change.after:
                return None
            if change.before is not None:
                files[change.path] = change.before
    return files


def turned(operation: Done) -> Done:
    """Return the operation with its changes reversed, so that undoing it is a redo."""
    return Done(operation.id, tuple(change.reversed for change in reversed(operation.changes)))


class Vault(RuleBasedStateMachine):
    """The model: the files, and the undo and redo stacks, the next operation last."""

    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.held = ExitStack()
        base = self.held.enter_context(memory_folder())
        environment = self.held.enter_context(pytest.MonkeyPatch.context())
        environment.setenv("HOME", str(base / "home"))
        environment.setenv("XDG_CONFIG_HOME", str(base / "home/xdg"))
        self.user = User(base / "home")
        self.user.environment |= {"GIT_EDITOR": "true", "GIT_SEQUENCE_EDITOR": "true"}
        self.root, self.state = base / "v", base / "state"
        self.files: Files = {}
        self.done: list[Done] = []
        self.undone: list[Done] = []
        self.count = 0

    def teardown(self) -> None:
        try:
            if (self.root / ".git").exists():
                self.check_stacks()
                assert not self.git("fsck", "--full", "--strict", "--no-dangling").strip()
                assert not list((self.root / ".git").rglob("*.lock"))
        finally:
            self.held.close()

    @initialize(born=st.booleans(), attributes=st.sampled_from(["", "* text=auto\n"]))
    def begin(self, born: bool, attributes: str) -> None:
        self.root.mkdir()
        self.git("init", "--quiet")
        fill(self.root, {"Inbox/a.md": "from before\n", ".gitattributes": attributes})
        if born:
            self.user.commit_all(self.root, "base")
        self.follow_the_user()
        self.writer: VaultWriter = new_writer(self.root, self.state)

    def git(self, *arguments: str, may_fail: bool = False) -> str:
        return self.user.git(self.root, *arguments, may_fail=may_fail)

    def on_disk(self) -> Files:
        found = (path for path in self.root.rglob("*") if path.is_file())
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in found
            if path.relative_to(self.root).parts[0] != ".git"
        }

    @invariant()
    def the_files_are_those_of_the_model(self) -> None:
        type(self).steps += 1
        assert not self.root.exists() or self.on_disk() == self.files

    def check_stacks(self) -> None:
        assert [each.id for each in self.writer.undoable()] == [each.id for each in reversed(self.done)]
        assert [each.id for each in self.writer.redoable()] == [each.id for each in reversed(self.undone)]

    def follow_the_user(self) -> None:
        """Adopt what the user's own git did to the files."""
        self.files = self.on_disk()

    def apply(self, plan: Plan) -> str:
        """Apply a plan. Return the operation's id, or nothing if other text of a note is staged.

        Check that only the branch and the index entries of the notes change.
        """
        before = self.theirs()
        staged = self.staged(before)
        if any(
            change.path in staged and self.is_staged_otherwise(change, staged[change.path]) for change in plan.changes
        ):
            with pytest.raises(VaultWriteError) as refused:
                self.writer.apply(plan)
            assert refused.value.reason is Reason.GIT_BUSY
            assert (self.theirs(), self.on_disk()) == (before, self.files)
            return ""
        outcome = self.writer.apply(plan)
        before["staged"] = {path: blob for path, blob in staged.items() if path not in plan.paths}
        assert self.theirs() == before
        for change in plan.changes:
            assert self.files.pop(change.path, None) == change.before
            if change.after is not None:
                self.files[change.path] = change.after
        assert self.on_disk() == self.files
        return outcome.operation

    def is_staged_otherwise(self, change: Change, blob: str | None) -> bool:
        """Return whether the staged text is neither in the branch nor on disk, nor replaced by Donna's last commit."""
        path, sides = change.path, (change.before, change.after)
        if blob in [None if side is None else self.blob(side, path) for side in sides]:
            return False
        if blob == self.blob(b"", path) and not self.git("ls-tree", "HEAD", path, may_fail=True):
            return False
        last = self.git("log", "-1", "--format=%H%x00%B", "HEAD", "--", path, may_fail=True)
        commit, _, message = last.partition("\0")
        if parse_message(message, commit=commit, at=0.0) is None:
            return True
        return self.entries("ls-tree", "-z", f"{commit}^", "--", path, field=2).get(path) != blob

    def blob(self, data: bytes, path: str) -> str:
        """Return the blob that `git add` makes of a note with these bytes."""
        return self.user.git(self.root, "hash-object", "--stdin", "--path", path, given=data.decode()).strip()

    def staged(self, theirs: dict[str, object]) -> dict[str, str | None]:
        found = theirs["staged"]
        assert isinstance(found, dict)
        return found

    def theirs(self) -> dict[str, object]:
        head = self.git("symbolic-ref", "--quiet", "HEAD", may_fail=True).strip()
        refs = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        index = self.entries("ls-files", "--stage", "-z", field=1)
        tip = self.entries("ls-tree", "-r", "-z", "HEAD", field=2)
        return {
            "head": head,
            "refs": [line for line in refs if not line.startswith((f"{head} ", "refs/donna/"))],
            "staged": {path: index.get(path) for path in index | tip if index.get(path) != tip.get(path)},
        }

    def entries(self, *command: str, field: int) -> dict[str, str]:
        """Return the blob of each path in the output of a command."""
        rows = (each.partition("\t") for each in self.git(*command, may_fail=True).split("\0") if each)
        return {path: words.split(" ")[field] for words, _, path in rows}

    def do(self, plan: Plan) -> None:
        operation = self.apply(plan)
        if operation:
            self.done.append(Done(operation, plan.changes))
            self.undone.clear()

    @rule(path=path_of, text=text_of, replace=st.booleans())
    def donna_writes(self, path: str, text: str, replace: bool) -> None:
        self.do(self.writer.planner.write(path, text, expected=any_version, replace=replace))

    @precondition(lambda self: set(PATHS) & set(self.files))
    @rule(data=st.data())
    def donna_deletes(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(sorted(set(PATHS) & set(self.files))))
        self.do(self.writer.planner.delete(path, expected=any_version))

    @precondition(lambda self: set(PATHS) & set(self.files) and set(PATHS) - set(self.files))
    @rule(data=st.data(), links=st.booleans())
    def donna_moves(self, data: st.DataObject, links: bool) -> None:
        src = data.draw(st.sampled_from(sorted(set(PATHS) & set(self.files))))
        dst = data.draw(st.sampled_from(sorted(set(PATHS) - set(self.files))))
        count = len(self.done)
        self.do(self.writer.planner.move(src, dst, expected=any_version, links=links))
        assert (dst in self.files, src in self.files) == ((True, False) if len(self.done) > count else (False, True))

    @rule(n=STEPS)
    def donna_undoes(self, n: int) -> None:
        self.restore(OperationKind.UNDO, n)

    @rule(n=STEPS)
    def donna_redoes(self, n: int) -> None:
        self.restore(OperationKind.REDO, n)

    def restore(self, kind: OperationKind, n: int) -> bool:
        """Undo or redo. Return whether the model allows it."""
        undo = kind is OperationKind.UNDO
        source, target = (self.done, self.undone) if undo else (self.undone, self.done)
        plan = self.writer.undo_planner.undo if undo else self.writer.undo_planner.redo
        chosen = source[: -n - 1 : -1]
        wanted = without(self.files, chosen if undo else map(turned, chosen))
        if len(chosen) < n or wanted is None:
            with pytest.raises(VaultWriteError) as refused:
                plan(n)
            nothing = Reason.NOTHING_TO_UNDO if undo else Reason.NOTHING_TO_REDO
            assert refused.value.reason is (nothing if len(chosen) < n else Reason.UNDO_CONFLICT)
            assert self.on_disk() == self.files
            return False
        if not self.apply(plan(n)):
            return False
        assert self.files == wanted
        del source[-n:]
        target += chosen
        return True

    @rule(n=STEPS)
    def donna_goes_there_and_back(self, n: int) -> None:
        before, steps = dict(self.files), 0
        while steps < n and self.restore(OperationKind.UNDO, 1):
            steps += 1
        for _ in range(steps):
            assert self.restore(OperationKind.REDO, 1)
        assert self.files == before
        self.check_stacks()

    @rule()
    def donna_starts_again(self) -> None:
        self.writer = new_writer(self.root, self.state)
        assert self.writer.recover() is None
        self.check_stacks()

    @rule(path=path_of, text=text_of, own=st.booleans())
    def the_user_edits(self, path: str, text: str, own: bool) -> None:
        """Save a note, with words that are nowhere else or with words that may be in git already."""
        self.count += 1
        text = f"{text}edit {self.count}" if own else text
        fill(self.root, {path: text})
        self.files[path] = text.encode()

    @precondition(lambda self: set(PATHS) & set(self.files))
    @rule(data=st.data())
    def the_user_deletes(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(sorted(set(PATHS) & set(self.files))))
        (self.root / path).unlink()
        del self.files[path]

    @rule()
    def the_user_commits(self) -> None:
        self.user.commit_all(self.root, "by the user")
        assert not self.git("status", "--porcelain")

    @precondition(lambda self: set(PATHS) & set(self.files))
    @rule(data=st.data())
    def the_user_stages(self, data: st.DataObject) -> None:
        self.git("add", "--", data.draw(st.sampled_from(sorted(set(PATHS) & set(self.files)))))

    @rule()
    def the_user_collects_garbage(self) -> None:
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "--quiet", "--prune=now")

    @precondition(lambda self: self.commits())
    @rule(how=st.sampled_from(["unstage", "stash", "amend", "amend with all", "detach"]))
    def the_user_does_small_things(self, how: str) -> None:
        if how == "stash":
            self.stash_and_take_out_again()
        elif how == "unstage":
            self.git("reset", "--quiet")
        elif how == "detach":
            self.git("checkout", "--quiet", "--detach")
        else:
            if how == "amend with all":
                self.git("add", "--all")
            self.git("commit", "--quiet", "--amend", "--no-edit", "--allow-empty")

    @rule(how=st.sampled_from(["squash", "fixup", "onto", "branch", "branch from before", "back"]))
    def the_user_rewrites_history(self, how: str) -> None:
        self.user.commit_all(self.root, f"before: {how}")
        self.count += 1
        if how in ("squash", "fixup"):
            self.rebase(f"sed -i '2s/^pick/{how}/'", "HEAD~2")
        elif how == "onto":
            self.rebase("true", "--onto", self.commit_elsewhere(), "HEAD~2")
        elif how == "back":
            self.git("checkout", "--quiet", "-", may_fail=True)
        else:
            back = min(how.endswith("before") * 2, self.commits() - 1)
            self.git("checkout", "--quiet", "-b", f"branch-{self.count}", f"HEAD~{back}")
        self.follow_the_user()

    def stash_and_take_out_again(self) -> None:
        if self.git("status", "--porcelain"):
            self.git("stash", "push", "--quiet", "--include-untracked", may_fail=True)
            self.git("stash", "pop", "--quiet", "--index", may_fail=True)
            self.git("stash", "clear")
            if self.git("ls-files", "--unmerged"):
                self.git("reset", "--quiet")
        self.follow_the_user()

    def rebase(self, editor: str, *arguments: str) -> None:
        """Rebase the last two commits; abort, as a person would, if nothing is left of them."""
        if self.commits() > 2:
            self.user.environment["GIT_SEQUENCE_EDITOR"] = editor
            self.git("rebase", "--quiet", "--interactive", "--keep-empty", *arguments, may_fail=True)
            self.git("rebase", "--abort", may_fail=True)

    def commit_elsewhere(self) -> str:
        if self.commits() < 3:
            return "HEAD"
        message = f"elsewhere {self.count}"
        return self.git("commit-tree", "-p", "HEAD~2", "-m", message, "HEAD~2^{tree}").strip()

    def commits(self) -> int:
        return int(self.git("rev-list", "--count", "HEAD", may_fail=True) or 0)


def run(examples: int, steps: int) -> None:
    limits = settings(
        max_examples=examples,
        stateful_step_count=steps,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    run_state_machine_as_test(Vault, settings=limits)


@pytest.mark.slow
@pytest.mark.parametrize("histories", [5, pytest.param(20, marks=pytest.mark.stress)])
def test_undo_matches_the_model_after_twenty_five_random_steps(histories: int) -> None:
    run(histories, 25)


@pytest.mark.stress
def test_undo_matches_the_model_in_long_random_histories() -> None:
    """Hypothesis ends some histories early, so the steps are counted."""
    Vault.steps = 0
    while Vault.steps < 20 * 1_000:
        run(20, 1_000)
