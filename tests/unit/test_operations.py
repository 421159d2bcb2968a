"""Operations in commit messages and undo stacks, whatever names, actors, clocks and users' commits contain."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.safety.terminal import clean_line
from donna_tui.types.errors import VaultWriteError
from donna_tui.vault.git.operations import (
    MAX_SUBJECT,
    Stacks,
    each_operation,
    message_of,
    new_operation_id,
    parse_message,
    stacks,
)
from donna_tui.vault.paths import VaultRoot
from donna_tui.vault.write.changes import BlobChange, Operation, OperationKind
from donna_tui.vault.write.files import VaultFiles
from tests.examples import examples
from tests.git_vaults import User, new_writer, tree_of

SHA1 = st.text("0123456789abcdef", min_size=40, max_size=40)
SHA256 = st.text("0123456789abcdef", min_size=64, max_size=64)
ID = st.text("0123456789abcdef", min_size=20, max_size=20)
HOSTILE = st.text() | st.lists(
    st.sampled_from(
        [
            "\n", "\r", "\n\n", "\0", "\x1b]0;x\x07", "\u2028", "\x85", "\udc80", "Donna-Op: ", "0" * 20, "Donna-Undoes: ",
            "Donna-Actor: x", "Signed-off-by: y <z>", "-", '"', "\\", "#", "---", "diff --git a/x b/x", "<m@x>", "ü", " ",
        ]
    ),
    max_size=12,
).map("".join)  # fmt: skip
CHANGES = st.builds(
    BlobChange,
    path=HOSTILE,
    before=st.none() | SHA1 | SHA256,
    after=st.none() | SHA1 | SHA256,
    mode=st.sampled_from([0o100644, 0o100755]),
)
OPERATIONS = st.builds(
    Operation,
    id=ID,
    kind=st.sampled_from(OperationKind),
    actor=HOSTILE,
    subject=HOSTILE,
    at=st.just(1.0),
    commit=st.just("c"),
    changes=st.lists(CHANGES, min_size=1, max_size=4).map(tuple),
    undoes=st.lists(ID, max_size=3).map(tuple),
    redoes=st.lists(ID, max_size=3).map(tuple),
)


@pytest.mark.slow
@examples(400)
@given(OPERATIONS)
def test_operation_survives_a_commit_message_round_trip(operation: Operation) -> None:
    found = parse_message(message_of(operation), commit="c", at=1.0)
    assert found is not None
    same = ("id", "kind", "changes", "undoes", "redoes", "at", "commit")
    assert [getattr(found, name) for name in same] == [getattr(operation, name) for name in same]
    assert found.actor == clean_line(operation.actor)[:MAX_SUBJECT]
    assert "\n" not in found.subject


@pytest.mark.slow
@examples(400)
@given(OPERATIONS)
def test_a_message_is_plain_text_of_one_subject_and_trailers(operation: Operation) -> None:
    message = message_of(operation)
    message.encode("utf-8")
    assert not [c for c in message if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 or c in "\u2028\u2029"]
    subject, blank, *trailers = message.split("\n")
    assert blank == ""
    assert len(subject) <= 2 * MAX_SUBJECT
    assert trailers.pop() == ""
    assert len(trailers) == 3 + 2 * len(operation.changes) + len(operation.undoes) + len(operation.redoes)
    assert sum(line.startswith("Donna-Op: ") for line in trailers) == 1


@examples(400)
@given(st.text() | HOSTILE)
def test_other_commit_messages_are_not_parsed_as_operations(message: str) -> None:
    assert parse_message(message, commit="c", at=0.0) is None


WHOLE = Operation(
    id="0" * 20,
    kind=OperationKind.WRITE,
    actor="you",
    subject="Write a.md",
    at=0.0,
    commit="c",
    changes=(BlobChange(path="a.md", before=None, after="1" * 40),),
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Donna-Op: " + "0" * 20, "Donna-Op: short"),
        ("Donna-Op: " + "0" * 20, f"Donna-Op: {'0' * 20}\nDonna-Op: {'1' * 20}"),
        ("Donna-Kind: write", "Donna-Kind: destroy"),
        ("Donna-Kind: write\n", ""),
        ("Donna-Actor: you\n", ""),
        ('Donna-Post: 1111111111111111111111111111111111111111 100644 "a.md"', ""),
        ('100644 "a.md"\n', '100644 "b.md"\n'),
        ("100644", "120000"),
        ("1" * 40, "1" * 39),
        ('"a.md"', "a.md"),
        ('"a.md"', '"a.md\\"'),
        ('"a.md"', '["a.md"]'),
        ("Donna-Kind", "Signed-off-by: somebody\nDonna-Kind"),
    ],
)
def test_a_message_that_is_not_whole_is_no_operation(old: str, new: str) -> None:
    message = message_of(WHOLE)
    assert parse_message(message, commit="c", at=0.0) == WHOLE
    assert old in message
    assert parse_message(message.replace(old, new, 1), commit="c", at=0.0) is None


@pytest.mark.parametrize("clock", [-(10**18), 0, 1, 10**9, 1_800_000_000 * 10**9, 2**63 - 1])
def test_operation_ids_are_sorted_for_any_clock(monkeypatch: pytest.MonkeyPatch, clock: int) -> None:
    before = [new_operation_id()]
    monkeypatch.setattr(time, "time_ns", lambda: clock)
    for _ in range(50):
        before.append(new_operation_id(before[-1]))
    assert before == sorted(before)
    assert len(set(before)) == len(before)
    assert {len(each) for each in before} == {20}


@pytest.mark.parametrize("after", ["", "f" * 20, "f" * 14 + "000000", "no id", "F" * 20, "0" * 20])
def test_new_operation_id_is_valid_after_any_previous_id(after: str) -> None:
    found = parse_message(message_of(WHOLE).replace("0" * 20, new_operation_id(after)), commit="c", at=0.0)
    assert found is not None


def with_kind(number: int, kind: OperationKind, *ids: str) -> Operation:
    undo = kind is OperationKind.UNDO
    return Operation(
        id=f"{number:020x}",
        kind=kind,
        actor="you",
        subject="",
        at=0.0,
        commit="",
        changes=(),
        undoes=ids if undo else (),
        redoes=() if undo else ids,
    )


@st.composite
def histories(draw: st.DrawFn) -> list[Operation]:
    """Generate a history as Donna makes one, oldest first."""
    made: list[Operation] = []
    for number in range(draw(st.integers(0, 40))):
        now = stacks(reversed(made))
        what = draw(st.sampled_from(["do", "undo", "undo", "redo", "redo"]))
        source = {"undo": now.undoable, "redo": now.redoable}.get(what, ())
        kind = OperationKind(what) if source else draw(st.sampled_from(["write", "delete", "move"]))
        count = draw(st.integers(1, min(3, len(source)))) if source else 0
        made.append(with_kind(number, OperationKind(kind), *(each.id for each in source[:count])))
    return made


def by_hand(history: Sequence[Operation]) -> Stacks:
    """Compute the stacks by definition: done and not undone, and undone since the last new operation."""
    known = {each.id: each for each in history}
    done: list[str] = []
    undone: list[str] = []
    for each in history:
        if each.kind is OperationKind.UNDO:
            assert list(each.undoes) == done[: -len(each.undoes) - 1 : -1]
            del done[-len(each.undoes) :]
            undone += each.undoes
        elif each.kind is OperationKind.REDO:
            assert list(each.redoes) == undone[: -len(each.redoes) - 1 : -1]
            del undone[-len(each.redoes) :]
            done += each.redoes
        else:
            done.append(each.id)
            undone = []
    return Stacks(tuple(known[each] for each in done[::-1]), tuple(known[each] for each in undone[::-1]))


@pytest.mark.slow
@examples(300)
@given(histories())
def test_undo_and_redo_stacks_match_a_reference_implementation(history: list[Operation]) -> None:
    assert stacks(reversed(history)) == by_hand(history)


@pytest.mark.slow
@examples(300)
@given(histories(), st.integers(0, 40))
def test_stacks_of_a_truncated_history_are_prefixes_of_the_full_ones(history: list[Operation], cut: int) -> None:
    """If there are more operations than are read, the next one to undo must still be the right one."""
    whole, found = stacks(reversed(history)), stacks(reversed(history[cut:]))
    assert found.undoable == whole.undoable[: len(found.undoable)]
    assert found.redoable == whole.redoable[: len(found.redoable)]


def test_after_a_new_write_nothing_is_left_to_redo() -> None:
    first = with_kind(0, OperationKind.WRITE)
    undo = with_kind(1, OperationKind.UNDO, first.id)
    new = with_kind(2, OperationKind.WRITE)
    assert stacks([undo, first]) == Stacks((), (first,))
    assert stacks([new, undo, first]) == Stacks((new,), ())


def test_a_session_is_removed_from_anywhere_in_the_stack() -> None:
    write = OperationKind.WRITE
    made = [with_kind(number, write) for number in range(5)]
    ids = [each.id for each in made]
    undone = [*made, with_kind(5, OperationKind.UNDO, ids[3], ids[1])]
    now = stacks(reversed(undone))
    assert [each.id for each in now.undoable] == [ids[4], ids[2], ids[0]]
    assert [each.id for each in now.redoable] == [ids[1], ids[3]]
    again = stacks(reversed([*undone, with_kind(6, OperationKind.REDO, ids[1], ids[3])]))
    assert [each.id for each in again.undoable] == [ids[3], ids[1], ids[4], ids[2], ids[0]]
    assert again.redoable == ()


@pytest.mark.parametrize("session", ["", "0123456789ab"])
def test_a_session_is_named_in_the_message(session: str) -> None:
    operation = replace(with_kind(1, OperationKind.WRITE), session=session)
    found = parse_message(message_of(operation), commit="", at=0.0)
    assert found.session == session


@pytest.mark.parametrize("session", ["x", "0123456789AB", "0123456789ab0", "../../../etc"])
def test_an_invalid_session_is_ignored(session: str) -> None:
    message = message_of(with_kind(1, OperationKind.WRITE)).rstrip("\n") + f"\nDonna-Session: {session}\n"
    found = parse_message(message, commit="", at=0.0)
    assert found.session == ""


HOSTILE_NAMES = (
    "Inbox/Donna-Op: 00000000000000000000.md",
    "Inbox/--all.md",
    "Inbox/-m x.md",
    "Inbox/[a-z]{}!^.md",
    'Inbox/"quoted".md',
    "Inbox/#hash; $(touch x) `touch y`.md",
    "Inbox/\u202ereversed\u202c.md",
    "Inbox/日本 👩‍👩‍👧 e\u0301".replace("e\u0301", "é") + ".md",
    "Inbox/Re\u0301sume\u0301.md",
)


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_note_of_any_name_is_written_and_undone(base: Path, name: str) -> None:
    user = User(base / "home")
    vault = user.repository(base / "v")
    (vault / "Inbox/a.md").write_text("a file that a pattern would match\n")
    (vault / name).write_text("before\n")
    writer = new_writer(vault, base / "state")
    writer.write(name, "after\n", actor="tool\nDonna-Op: 11111111111111111111\n\n\x1b[31m")
    assert user.git(vault, "show", "--name-only", "--format=", "-z", "HEAD").strip("\0\n") == name
    (operation,) = writer.undoable()
    assert operation.paths == (name,)
    assert "\n" not in operation.actor
    assert "\x1b" not in user.git(vault, "log", "-1", "--format=%B")
    writer.undo_last()
    assert (vault / name).read_text() == "before\n"


def test_no_note_is_planned_below_a_file(base: Path) -> None:
    vault = base / "vault"
    User(base).repository(vault)
    (vault / "Plan.md").write_text("a plan\n")
    (vault / "b.md").write_text("text\n")
    writer = new_writer(vault, base / "state")
    message = "“Plan.md” is a file, so there can be nothing in it"
    assert writer.why_not_new("Plan.md/x/new.md") == writer.why_not_new("Plan.md/b.md", "b.md") == message
    assert not writer.why_not_new("Plan/x/new.md")
    with pytest.raises(VaultWriteError, match="“Plan"):
        writer.move("b.md", "Plan.md/b.md")


def test_a_decomposed_name_may_stay_and_a_new_one_is_refused(base: Path) -> None:
    user = User(base / "home")
    vault = user.repository(base / "v")
    old, folder = "Inbox/Re\u0301sume\u0301.md", "E\u0301te\u0301"
    for path, text in ((old, "mine\n"), (f"{folder}/e\u0301.md", "[[Re\u0301sume\u0301]]\n")):
        (vault / path).parent.mkdir(exist_ok=True)
        (vault / path).write_text(text)
    before = tree_of(vault)
    writer = new_writer(vault, base / "state")
    writer.delete(old)
    writer.undo_last()
    writer.move(old, f"{folder}/Re\u0301sume\u0301.md")
    writer.move(f"{folder}/Re\u0301sume\u0301.md", "Projects/R\u00e9sum\u00e9 2.md")
    assert (vault / f"{folder}/e\u0301.md").read_text() == "[[R\u00e9sum\u00e9 2]]\n"
    writer.apply(writer.planner.move_folder(folder, "Projects/summer"))
    assert (vault / "Projects/summer/e\u0301.md").exists()
    writer.undo_last(3)
    assert tree_of(vault) == before
    writer.write(f"{folder}/new.md", "x\n")
    with pytest.raises(VaultWriteError, match="composed form"):
        writer.write("Inbox/e\u0301.md", "x\n")
    user.git(vault, "config", "core.precomposeUnicode", "true")
    with pytest.raises(VaultWriteError, match="decomposed on disk"):
        writer.delete(old)
    assert (vault / old).read_text() == "mine\n"


def test_a_folder_is_renamed_in_case_only_and_back(base: Path) -> None:
    user = User(base / "home")
    vault = user.repository(base / "v")
    for path, text in (("plans/deep/a.md", "[[b]]\n"), ("plans/b.md", "b\n"), ("c.md", "[x](plans/b.md)\n")):
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(text)
    before = tree_of(vault)
    writer = new_writer(vault, base / "state")
    writer.apply(writer.planner.move_folder("plans", "Plans"))
    assert (vault / "c.md").read_text() == "[x](Plans/b.md)\n"
    assert [path.name for path in vault.iterdir() if path.name.casefold() == "plans"] == ["Plans"]
    renamed = tree_of(vault)
    writer.undo_last()
    assert tree_of(vault) == before
    writer.redo()
    assert tree_of(vault) == renamed
    (vault / "Plans/new.md").write_text("new\n")
    with pytest.raises(VaultWriteError, match="“Plans” differs only in case"):
        writer.undo_last()  # the new note would stay, in a folder beside that of the others


def test_an_empty_folder_is_renamed_in_case_only(base: Path) -> None:
    vault = User(base / "home").repository(base / "v")
    writer = new_writer(vault, base / "state")
    writer.create_folder("plans")
    with pytest.raises(VaultWriteError, match="“plans” differs only in case"):
        writer.create_folder("Plans")
    writer.rename_folder("plans", "Plans")
    assert writer.empty_folders() == ("Plans",)


def test_a_folder_with_other_files_is_not_split_between_two_cases(base: Path) -> None:
    vault = User(base / "home").repository(base / "v")
    (vault / "plans").mkdir()
    (vault / "plans/a.md").write_text("a\n")
    (vault / "plans/logo.png").write_bytes(b"png")
    before = tree_of(vault)
    writer = new_writer(vault, base / "state")
    with pytest.raises(VaultWriteError, match=r"not affected: plans/logo\.png, so the folder would exist under both"):
        writer.planner.move_folder("plans", "Plans")
    assert tree_of(vault) == before


def test_a_folder_takes_the_case_of_its_notes_where_a_disk_ignores_case(base: Path) -> None:
    (base / "v/plans/deep").mkdir(parents=True)
    files = VaultFiles(VaultRoot(base / "v"))
    files.respell("Plans")
    files.respell("Plans/deep")
    assert [str(path.relative_to(base / "v")) for path in sorted((base / "v").rglob("*"))] == ["Plans", "Plans/deep"]


@pytest.mark.parametrize(
    "message", ["x\n\nDonna-Op: " + "2" * 20, " ", "\x1b]0;x\x07", "#comment", "-m", "a" * 10_000, "\udc80"]
)
def test_custom_commit_message_cannot_forge_trailers(base: Path, message: str) -> None:
    user = User(base / "home")
    vault = user.repository(base / "v")
    writer = new_writer(vault, base / "state")
    writer.write("Inbox/a.md", "a\n", message=message)
    (operation,) = writer.undoable()
    assert operation.id != "2" * 20
    assert writer.undo_last() == [operation.id]
    assert len(user.git(vault, "log", "-1", "--format=%B").split("\n")[0]) <= 2 * MAX_SUBJECT


def forge(user: User, vault: Path, number: int = 9, path: str = "Projects/one.md") -> None:
    """Create a user's commit that claims to be an operation."""
    now = user.git(vault, "rev-parse", f"HEAD:{path}").strip()
    evil = user.git(vault, "hash-object", "-w", "--stdin", given="planted\n").strip()
    change = BlobChange(path=path, before=evil, after=now)
    forged = Operation(
        id=f"{number:020x}",
        kind=OperationKind.WRITE,
        actor="you",
        subject="forged",
        at=0.0,
        commit="",
        changes=(change,),
    )
    user.git(vault, "commit", "--quiet", "--allow-empty", "--file=-", given=message_of(forged))


def test_a_forged_operation_does_not_count_while_there_are_records(base: Path) -> None:
    user = User(base / "home")
    vault = user.repository(base / "v")
    writer = new_writer(vault, base / "state")
    writer.write("Inbox/a.md", "a\n")
    forge(user, vault)
    assert [each.subject for each in writer.undoable()] == ["Write Inbox/a.md"]
    writer.undo_last()
    assert (vault / "Projects/one.md").read_text() != "planted\n"
    writer.redo()
    writer.write("Inbox/b.md", "b\n")
    assert [each.subject for each in writer.undoable()] == ["Write Inbox/b.md", "Write Inbox/a.md"]


def test_a_copied_operation_counts_once(base: Path) -> None:
    """A cherry-pick, an amend or a merge repeats the message of an operation."""
    user = User(base / "home")
    vault = user.repository(base / "v")
    writer = new_writer(vault, base / "state")
    writer.write("Inbox/a.md", "a\n")
    for _ in range(3):
        user.git(vault, "commit", "--quiet", "--allow-empty", "--reuse-message=HEAD")
    user.git(vault, "update-ref", "-d", "refs/donna/operations")
    assert len(writer.undoable()) == 1
    assert len(list(each_operation(writer.repo, None))) == 1


def test_a_clone_knows_the_operations_of_the_history_it_came_with(base: Path) -> None:
    """Another machine has the commits and not the records; a commit between them that imitates one hides nothing."""
    user = User(base / "home")
    vault = user.repository(base / "v")
    first = new_writer(vault, base / "state")
    first.write("Inbox/a.md", "a\n")
    first.write("Inbox/b.md", "b\n")
    text = user.git(vault, "log", "-1", "--format=%B") + "\nSigned-off-by: The User <user@example.org>"
    (vault / "Projects/part.md").write_text("something else\n")
    user.git(vault, "commit", "--quiet", "--all", "--file=-", given=text)
    user.git(base, "clone", "--quiet", str(vault), "clone")
    second = new_writer(base / "clone", base / "state2")
    assert [each.subject for each in second.undoable()] == ["Write Inbox/b.md", "Write Inbox/a.md"]
    second.write("Inbox/c.md", "c\n")
    second.undo_last(2)
    second.undo_last()
    assert not list((base / "clone/Inbox").glob("[abc].md"))
    second.redo(3)
    assert len(list((base / "clone/Inbox").glob("[abc].md"))) == 3
    user.git(base / "clone", "fsck", "--full", "--strict")


@pytest.mark.parametrize(
    ("key", "value"),
    [("grep.patternType", "fixed"), ("i18n.logOutputEncoding", "utf-16"), ("log.showSignature", "true")],
)
def test_settings_of_the_log_hide_no_operation(base: Path, key: str, value: str) -> None:
    user = User(base / "home")
    vault = user.repository(base / "v")
    user.git(vault, "config", key, value)
    writer = new_writer(vault, base / "state")
    writer.write("Inbox/ü.md", "ü\n")
    assert [each.subject for each in writer.undoable()] == ["Write Inbox/ü.md"]


def test_a_vault_in_a_folder_sees_no_operations_of_its_neighbour_without_records(base: Path) -> None:
    user = User(base / "home")
    one = user.repository(base / "repo", vault="one")
    user.git(one, "commit", "--quiet", "--allow-empty", "--message=x")
    new_writer(one, base / "s1").write("Inbox/same.md", "same\n")
    two = base / "repo/two"
    (two / "Inbox").mkdir(parents=True)
    (two / "Inbox/same.md").write_text("same\n")
    assert new_writer(two, base / "s2").undoable() == ()
