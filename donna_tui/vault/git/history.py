"""Read the git history of a vault: revisions, the changes of one, edits made outside Donna, blame."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from donna_tui.text.merge import common_runs
from donna_tui.types.errors import DonnaError, Reason, VaultReadError, VaultWriteError
from donna_tui.types.notes import BlameLine
from donna_tui.vault.client import VaultClient, lines_of
from donna_tui.vault.git.attributes import possible_forms
from donna_tui.vault.git.objects import blob_id
from donna_tui.vault.git.operations import parse_message
from donna_tui.vault.git.repository import GitRepo, RepoLocation
from donna_tui.vault.write.changes import REGULAR_FILE, Change, OperationKind, Revision
from donna_tui.vault.write.files import VaultFiles

MAX_FILES = 500
"""Maximum number of files of one commit that are shown."""

_COMMIT = re.compile(r"[0-9a-f]{4,64}")
_PLAIN = ("--no-ext-diff", "--no-textconv")
_NOT_IN_GIT = BlameLine(line=0, commit="", at=0.0, author="", text="")


class History:
    """Read the history of a vault. Every method blocks and raises DonnaError; none runs a configured program."""

    def __init__(self, repo: GitRepo, client: VaultClient, files: VaultFiles) -> None:
        self._repo, self._client, self._files = repo, client, files

    def revisions(self, path: str = "", *, limit: int = 200) -> list[Revision]:
        """Return the commits that changed a note, or anything in the vault, newest first; none without a repository."""
        self._check(path)
        location = self._repo.find()
        if location is None:
            return []
        mark = secrets.token_hex(8)
        answer = self._repo.command.run(
            "log", "-z", f"--max-count={limit}", "--name-only", "--diff-merges=first-parent",
            "--no-show-signature", *_PLAIN, f"--format={mark}%H%x00%at%x00%an%x00%B%x00",
            *(("--follow", "--", path) if path else ("--", *self._client.include.places)),
            check=False,
        )  # fmt: skip
        output = answer.output.decode("utf-8", "replace") if answer.status == 0 else ""
        return [_revision(record, location) for record in output.split(mark)[1:]]

    def texts_at(self, paths: Sequence[str], at: float) -> dict[str, str] | None:
        """Return the notes at these paths as of the last commit before `at` (Unix time); None without such a commit."""
        location = self._repo.find()
        if location is None or self._repo.tip().commit is None:
            return None
        found = self._repo.command.run("rev-list", "--max-count=1", f"--before=@{int(at)}", "HEAD", check=False)
        if found.status or not found.line:
            return None
        known = self._repo.all_blob_ids(found.line, location)
        images = self._repo.images(known.get(path) for path in paths)
        there = ((path, images.get(known.get(path))) for path in paths)
        return {path: data.decode("utf-8", "replace") for path, data in there if data is not None}

    def changes(self, commit: str) -> list[Change]:
        """Return the changes of a commit in the vault, relative to its first parent."""
        if not _COMMIT.fullmatch(commit):
            raise VaultWriteError(Reason.USAGE, "this is not the name of a commit or an operation")
        location = self._repo.location()
        whole = self._repo.command.run("rev-parse", "--quiet", "--verify", f"{commit}^{{commit}}").line
        parent = self._repo.command.run("rev-parse", "--quiet", "--verify", f"{whole}^1", check=False)
        sides = (parent.line, whole) if parent.status == 0 else ("--root", whole)
        answer = self._repo.command.run(
            "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-commit-id", *_PLAIN, *sides
        )
        entries = [entry for entry in _raw_entries(answer.output) if self._holds(entry[0], location)][:MAX_FILES]
        images = self._repo.images(blob for _, old, new, _ in entries for blob in (old, new))
        return [
            Change(path=path.removeprefix(location.prefix), before=images.get(old), after=images.get(new), mode=mode)
            for path, old, new, mode in entries
        ]

    def outside_change(self, path: str) -> Change | None:
        """Return the difference between the committed and the on-disk version of a note, or None if they are equal."""
        return next(iter(self.outside_changes([path])), None)

    def outside_changes(self, paths: Sequence[str]) -> list[Change]:
        """Return the differences between the committed and the on-disk versions of those notes that have any."""
        for path in paths:
            self._check(path)
        location, tip = self._repo.location(), self._repo.tip()
        known = self._repo.stored(tip.commit, [location.full(path) for path in paths]) if tip.commit and paths else {}
        images = self._repo.images(blob for _, blob in known.values())
        found = []
        for path in paths:
            mode, blob = known.get(location.full(path), (REGULAR_FILE, None))
            before, after = images.get(blob), self._files.read(path)
            # git may normalise the line endings and the `$Id$` on disk
            is_same = before is after if before is None or after is None else before in possible_forms(after)
            if not is_same:
                found.append(Change(path=path, before=before, after=after, mode=mode))
        return found

    def outside(self) -> dict[str, bool]:
        """Return the notes that differ from the last commit or are missing, and whether it has them; none of nested
        repositories, none that git ignores, and no missing ones outside a sparse checkout.
        """
        entries = list(self._client.scan())
        location = self._repo.find()
        if location is None:
            return {}
        notes = {each.path: each.stat.mtime_ns if each.stat else 0 for each in entries if each.reason is None}
        left_out = {each.path for each in entries if each.reason is not None}
        tip = self._repo.tip()
        known = self._repo.all_blob_ids(tip.commit, location) if tip.commit else {}
        untracked = self._not_nested(notes.keys() - known.keys())
        untracked.difference_update(self._repo.ignored(sorted(untracked)) if untracked else ())
        if tip.commit is None:
            return dict.fromkeys(untracked, False)
        staged = self._names("diff-index", "--cached", tip.commit, "--")
        changed = ((self._touched(location, notes) | staged) & known.keys()) - left_out
        suspects = {*filter(self._client.is_note, changed), *untracked}
        return {path: path in known for path in suspects if self._differs(path, known, location)}

    def missing_with(self, texts: Collection[bytes]) -> set[str]:
        """Return the notes of the last commit with one of these texts that are missing on disk."""
        location, tip = self._repo.location(), self._repo.tip()
        ids = {blob_id(form, location.object_format) for data in texts for form in possible_forms(data)}
        known = self._repo.all_blob_ids(tip.commit, location) if ids and tip.commit else {}
        alike = (path for path, blob in known.items() if blob in ids and self._client.is_note(path))
        missing = [path for path in alike if self._is_missing(path)]
        return set(missing).difference(self._repo.left_out(location, missing))

    def _is_missing(self, path: str) -> bool:
        with suppress(DonnaError):
            return self._files.read(path) is None
        return False

    def _not_nested(self, paths: Set[str]) -> set[str]:
        by_folder = {path.rpartition("/")[0]: path for path in paths}
        nested = {folder for folder, path in by_folder.items() if self._files.nested_repository(path)}
        return {path for path in paths if path.rpartition("/")[0] not in nested}

    def whereabouts(self, path: str) -> str:
        """Return one sentence on the fate of a missing note, or an empty string if it is unknown."""
        name = path.rpartition("/")[2]
        newest = next(iter(self.revisions(path, limit=1)), None) if self._repo.find() else None
        operation = newest.operation if newest is not None else None
        if operation and any(change.path == path and change.after is None for change in operation.changes):
            made = [change.path for change in operation.changes if change.before is None]
            moved = operation.kind is OperationKind.MOVE and len(made) == 1
            return f"It was moved to {made[0]}." if moved else "It was deleted; undo can restore it."
        alike = [each for each in self._client.list() if each.rpartition("/")[2] == name]
        if alike:
            return f"A note with that name is at {alike[0]}."
        return "It was deleted; git has its last version." if newest is not None else ""

    def blame(self, path: str, first: int, last: int) -> list[BlameLine]:
        """Return the origins of lines (1-based, inclusive) of a note on disk. Lines not in git have no commit."""
        lines = lines_of(self._files.read(path) or b"")
        last = min(last, len(lines))
        change = self.outside_change(path)
        old = lines if change is None else lines_of(change.before or b"")
        equal = ((run.left + step, run.right + step) for run in common_runs(old, lines) for step in range(run.size))
        there = {right + 1: left + 1 for left, right in equal}
        wanted = [there[number] for number in range(first, last + 1) if number in there]
        origins: dict[int, BlameLine] = {}
        if wanted:
            plain = ("--line-porcelain", "--no-textconv", "--no-ignore-revs-file")
            rows = f"-L{min(wanted)},{max(wanted)}"
            answer = self._repo.command.run("blame", *plain, rows, "HEAD", "--", path)
            blamed = list(_blame_lines(answer.output.decode("utf-8", "replace")))
            actors = self._actors({line.commit for line in blamed})
            origins = {line.line: replace(line, author=actors.get(line.commit, line.author)) for line in blamed}
        return [
            replace(origins.get(there.get(number, 0), _NOT_IN_GIT), line=number, text=lines[number - 1])
            for number in range(first, last + 1)
        ]

    def _holds(self, path: str, location: RepoLocation) -> bool:
        """Return whether a path of the repository is in the vault and among its sources."""
        return path.startswith(location.prefix) and self._client.include.holds(path.removeprefix(location.prefix))

    def _check(self, path: str) -> None:
        """Raise VaultReadError for a path that is not a source, such as a workspace file outside its memory."""
        if path and not self._client.include.holds(path):
            raise VaultReadError(Reason.IGNORED, "it is not a source of this memory")

    def _actors(self, commits: Iterable[str]) -> dict[str, str]:
        """Return the actors of those of these commits that are operations of Donna, which is their author in git."""
        answer = self._repo.command.run("log", "-z", "--no-walk", "--no-show-signature", "--format=%H%x00%B", *commits)
        fields = answer.output.decode("utf-8", "replace").split("\0")
        messages = zip(fields[::2], fields[1::2], strict=False)
        found = (parse_message(text, commit=name, at=0.0) for name, text in messages)
        return {operation.commit: operation.actor for operation in found if operation}

    def _touched(self, location: RepoLocation, notes: Mapping[str, int]) -> set[str]:
        """Return the files that differ from the index by size and times. `notes` are modification times in nanoseconds.

        Git would re-read files that are not older than its index, through the filters that a vault configures. It is
        therefore given a copy of the index that is older than all files, and those files count as touched.
        """
        index = location.git_dir / "index"
        with tempfile.TemporaryDirectory() as folder:
            try:
                written, old = int(index.stat().st_mtime), shutil.copyfile(index, Path(folder) / "index")
            except FileNotFoundError:
                return set(notes)
            os.utime(old, (0, 0))
            touched = self._names("diff-files", "--ignore-submodules=all", index=old)
        return touched | {path for path, changed in notes.items() if changed // 1_000_000_000 >= written}

    def _names(self, verb: str, *arguments: str, index: Path | None = None) -> set[str]:
        options = ("-z", "--name-only", "--relative", "--no-ext-diff")
        answer = self._repo.command.run(verb, *options, *arguments, index=index, check=False)
        return {os.fsdecode(path) for path in answer.output.split(b"\0")}

    def _differs(self, path: str, known: dict[str, str], location: RepoLocation) -> bool:
        try:
            data = self._files.read(path)
        except DonnaError:
            return False
        if data is None:
            return path in known
        return known.get(path) not in {blob_id(form, location.object_format) for form in possible_forms(data)}


def _revision(record: str, location: RepoLocation) -> Revision:
    commit, at, author, message, names = record.split("\0", 4)
    paths = (name.strip("\n") for name in names.split("\0"))
    return Revision(
        commit=commit,
        at=float(at or 0),
        author=author,
        subject=message.split("\n", 1)[0],
        paths=tuple(path.removeprefix(location.prefix) for path in paths if path),
        operation=parse_message(message, commit=commit, at=float(at or 0)),
    )


def _raw_entries(output: bytes) -> Iterator[tuple[str, str | None, str | None, int]]:
    """Yield path, blob before, blob after and mode of each changed regular file in git's raw format."""
    fields = iter(output.split(b"\0"))
    for meta in fields:
        parts = meta.decode("ascii", "replace").lstrip(":").split(" ")
        path = next(fields, b"").decode("utf-8", "surrogateescape")
        if len(parts) == 5 and not {"120000", "160000"} & set(parts[:2]):
            old, new = (None if set(blob) == {"0"} else blob for blob in parts[2:4])
            yield path, old, new, int(parts[1] if new else parts[0], 8) or REGULAR_FILE


def _blame_lines(porcelain: str) -> Iterable[BlameLine]:
    commit, line, author, at = "", 0, "", 0.0
    for row in porcelain.split("\n"):
        if row.startswith("\t"):
            yield BlameLine(line=line, commit=commit, at=at, author=author, text=row[1:])
        elif row.startswith("author "):
            author = row.removeprefix("author ")
        elif row.startswith("author-time "):
            at = float(row.removeprefix("author-time "))
        elif re.match(r"[0-9a-f]{40,64} \d+ \d+", row):
            commit, _, line_text = row.split(" ")[:3]
            line = int(line_text)
