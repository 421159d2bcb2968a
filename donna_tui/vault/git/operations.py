"""Operations in the git history: format and parse commit messages, and compute the undo and redo stacks."""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from donna_tui.safety.terminal import clean_line
from donna_tui.types.errors import DonnaError
from donna_tui.vault.git.repository import GitRepo
from donna_tui.vault.write.changes import BlobChange, Operation, OperationKind

MAX_SUBJECT = 100
"""Maximum number of characters of a note's name in the first line of a commit message."""

MAX_OPERATIONS = 1_000
"""Maximum number of operations that can be undone."""

_FORMAT = "%H%x00%at%x00%B%x00"
_ID = re.compile(r"[0-9a-f]{20}")
_SESSION = re.compile(r"[0-9a-f]{12}")
_LAST_MOMENT = 16**14 - 1
_TRAILER = re.compile(r"(Donna-[A-Z][a-z]+): (.*)")
_OWNER = re.compile(r'(\d{1,10}:\d{1,10}) (".*")', re.ASCII)
_CHANGE = re.compile(r'(none|[0-9a-f]{40}|[0-9a-f]{64}) (100644|100755) (".*")')
_AS_IN_LOG = ("log", "-z", "--first-parent", f"--format={_FORMAT}", "--no-show-signature", "--grep=^Donna-Op: ")


def new_operation_id(after: str = "") -> str:
    """Return an id that sorts after all earlier ones, including `after`, for any clock: time and random digits."""
    now = max(time.time_ns() // 1_000, 0)
    if _ID.fullmatch(after):
        now = max(now, int(after[:14], 16) + 1)
    return f"{min(now, _LAST_MOMENT):014x}{secrets.token_hex(3)}"


def new_session_id() -> str:
    """Return an id for a client session, by which all its operations can be undone."""
    return secrets.token_hex(6)


def message_of(operation: Operation) -> str:
    """Format the commit message of an operation. User text in it cannot be mistaken for a trailer."""
    trailers = [
        f"Donna-Op: {operation.id}",
        f"Donna-Kind: {operation.kind}",
        f"Donna-Actor: {clean_line(operation.actor)[:MAX_SUBJECT]}",
    ]
    if operation.session:
        trailers.append(f"Donna-Session: {operation.session}")
    for change in operation.changes:
        path = json.dumps(change.path)
        trailers.append(f"Donna-Pre: {change.before or 'none'} {change.mode:o} {path}")
        trailers.append(f"Donna-Post: {change.after or 'none'} {change.mode:o} {path}")
        if change.owner:
            trailers.append(f"Donna-Owner: {change.owner} {path}")
    made = (folder for folder in operation.made if any(path.startswith(f"{folder}/") for path in operation.paths))
    trailers += [f"Donna-Made: {json.dumps(folder)}" for folder in made]
    trailers += [f"Donna-Undoes: {undone}" for undone in operation.undoes]
    trailers += [f"Donna-Redoes: {redone}" for redone in operation.redoes]
    return f"{clean_line(operation.subject)[: MAX_SUBJECT * 2]}\n\n" + "\n".join(trailers) + "\n"


def parse_message(message: str, *, commit: str, at: float) -> Operation | None:
    """Parse an operation from the last paragraph of a commit message; None if there is none, or it is incomplete."""
    head, _, last = message.strip().rpartition("\n\n")
    found: dict[str, list[str]] = {}
    for line in last.split("\n"):
        trailer = _TRAILER.fullmatch(line)
        if trailer is None:
            return None
        found.setdefault(trailer[1], []).append(trailer[2])
    try:
        return _operation(found, subject=head.split("\n", 1)[0], commit=commit, at=at)
    except (KeyError, ValueError, TypeError):
        return None


def _operation(found: dict[str, list[str]], *, subject: str, commit: str, at: float) -> Operation | None:
    (identity,), (kind,), (actor,) = found["Donna-Op"], found["Donna-Kind"], found["Donna-Actor"]
    before, after = (list(map(_side, found.get(name, []))) for name in ("Donna-Pre", "Donna-Post"))
    if not _ID.fullmatch(identity) or [path for _, _, path in before] != [path for _, _, path in after]:
        return None
    owners = {json.loads(match[2]): match[1] for match in map(_OWNER.fullmatch, found.get("Donna-Owner", [])) if match}
    return Operation(
        id=identity,
        kind=OperationKind(kind),
        actor=actor,
        subject=subject,
        at=at,
        commit=commit,
        changes=tuple(
            BlobChange(path=path, before=old, after=new, mode=mode, owner=owners.get(path, ""))
            for (old, _, _), (new, mode, path) in zip(before, after, strict=True)
        ),
        undoes=tuple(found.get("Donna-Undoes", [])),
        redoes=tuple(found.get("Donna-Redoes", [])),
        session=next(filter(_SESSION.fullmatch, found.get("Donna-Session", [])), ""),
        made=tuple(str(json.loads(folder)) for folder in found.get("Donna-Made", [])),
    )


def _side(value: str) -> tuple[str | None, int, str]:
    match = _CHANGE.fullmatch(value)
    if match is None:
        raise ValueError(value)
    return None if match[1] == "none" else match[1], int(match[2], 8), str(json.loads(match[3]))


def each_operation(repo: GitRepo, record: str | None, limit: int = MAX_OPERATIONS) -> Iterator[Operation]:
    """Yield the newest operations, newest first: of the chain that ends in `record`, or else of the branch."""
    answer = repo.command.run(
        *_AS_IN_LOG, f"--max-count={limit}", *([record, "--"] if record else ["HEAD", "--", "."]), check=False
    )
    fields = answer.output.decode("utf-8", "replace").split("\0") if answer.status == 0 else []
    seen: set[str] = set()
    for commit, at, message in zip(fields[0::4], fields[1::4], fields[2::4], strict=False):
        operation = parse_message(message, commit=commit.strip(), at=float(at or 0))
        if operation is not None and operation.id not in seen:
            if record and not seen:
                repo.newest = record, operation.id
            seen.add(operation.id)
            yield operation


def deleted_by_operations(vault: Path, paths: Collection[str]) -> set[str]:
    """Return those of these paths that the last operation on each deleted; none if the history cannot be read."""
    waiting, deleted = set(paths), set[str]()
    repo = GitRepo(vault)
    try:
        operations = each_operation(repo, repo.record()) if repo.find() is not None else iter(())
        changes = (change for each in operations if each.kind is not OperationKind.KEPT for change in each.changes)
        while waiting and (change := next(changes, None)):
            if change.path in waiting:
                waiting.remove(change.path)
                deleted.update([change.path] if change.after is None else [])
    except DonnaError:
        return set()
    return deleted


def last_operation(repo: GitRepo, commit: str, path: str) -> Operation | None:
    """Return the operation that changed a vault path last, as of a commit; None if that was not Donna."""
    answer = repo.command.run("log", "-1", "--format=%H%x00%B", "--no-show-signature", commit, "--", path, check=False)
    changed, _, message = answer.output.decode("utf-8", "replace").partition("\0")
    return parse_message(message, commit=changed, at=0.0)


def newest_id(repo: GitRepo, record: str | None) -> str:
    """Return the id of the newest operation of the chain that ends in `record`; empty if there is none."""
    if repo.newest[0] == record:
        return repo.newest[1]
    newest = next(each_operation(repo, record, limit=1), None)
    return newest.id if newest else ""


@dataclass(frozen=True, slots=True)
class Stacks:
    """The operations that can be undone and redone, the next one first."""

    undoable: tuple[Operation, ...]
    redoable: tuple[Operation, ...]


def stacks(newest_first: Iterable[Operation]) -> Stacks:
    """Compute the undo and redo stacks of a history. Any other operation, unless Donna's own, clears the redo stack."""
    done: list[Operation] = []
    undone: list[Operation] = []
    for operation in reversed(list(newest_first)):
        if operation.kind is OperationKind.KEPT:
            continue
        if operation.kind is OperationKind.UNDO:
            _pass_on(done, undone, operation.undoes)
        elif operation.kind is OperationKind.REDO:
            _pass_on(undone, done, operation.redoes)
        else:
            done.append(operation)
            if not operation.is_own:
                undone.clear()
    return Stacks(tuple(reversed(done)), tuple(reversed(undone)))


def _pass_on(source: list[Operation], target: list[Operation], ids: Sequence[str]) -> None:
    for identity in ids:
        at = next((place for place in range(len(source) - 1, -1, -1) if source[place].id == identity), None)
        if at is not None:  # the last operation, or one of a session that ran concurrently with others
            target.append(source.pop(at))
        else:  # older than the known history, so it precedes everything in the target
            target.clear()
