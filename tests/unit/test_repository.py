"""`GitRepo` alone: where a repository is, its git commands, and moving the branch by compare-and-swap."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.git.command import GitCommand
from donna_tui.vault.git.objects import Author, blob_id, quoted
from donna_tui.vault.git.repository import GitRepo, RefState, RepoLocation
from tests.git_vaults import NOTES, User, fill, new_writer

FORMATS = ("sha1", "sha256")


@pytest.fixture
def user(base: Path) -> User:
    return User(base / "home")


def refusal_of(repo: GitRepo) -> VaultWriteError:
    with pytest.raises(VaultWriteError) as refused:
        repo.location()
    return refused.value


def test_no_repository_is_not_an_error_until_one_is_needed(base: Path) -> None:
    repo = GitRepo(base)
    assert repo.find() is None
    error = refusal_of(repo)
    assert error.reason is Reason.NO_REPOSITORY
    assert error.hint


def test_a_place_tells_folders_prefix_and_format(base: Path, user: User) -> None:
    vault = user.repository(base / "repo", "--object-format=sha256", vault="a/b")
    location = GitRepo(vault).location()
    assert location == RepoLocation(base / "repo/.git", base / "repo/.git", "a/b/", "sha256")
    assert location.full("Inbox/x.md") == "a/b/Inbox/x.md"


def test_a_vault_reached_by_a_link_is_in_the_same_place(base: Path, user: User) -> None:
    vault = user.repository(base / "repo")
    (base / "link").symlink_to(vault)
    assert GitRepo(base / "link").location() == GitRepo(vault).location()


def test_missing_vault_does_not_use_the_repository_of_the_current_folder(
    base: Path, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git must not run in the folder in which Donna was started, and find another repository there."""
    monkeypatch.chdir(user.repository(base / "other"))
    repo = GitRepo(base / "unplugged")
    for ask in (repo.find, repo.location, lambda: repo.init_if_missing()):
        with pytest.raises(VaultWriteError) as refused:
            ask()
        assert refused.value.reason is Reason.ROOT_MISSING


def test_relative_vault_path_is_resolved_at_construction(
    base: Path, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    user.repository(base / "repo/vault")
    monkeypatch.chdir(base)
    repo = GitRepo(Path("repo/vault"))
    monkeypatch.chdir(base / "repo")
    assert repo.location().git_dir == base / "repo/vault/.git"


@pytest.mark.parametrize("inside", [".git", ".git/objects", "bare.git"])
def test_a_git_folder_is_not_a_vault(base: Path, user: User, inside: str) -> None:
    user.repository(base)
    user.git(base, "init", "--quiet", "--bare", "bare.git")
    error = refusal_of(GitRepo(base / inside))
    assert error.reason is Reason.GIT_FAILED
    assert "bare repository" in error.message


def test_a_repository_that_moved_away_is_not_replaced_by_a_new_one(base: Path, user: User) -> None:
    """A work tree or submodule without its repository is an error; one may be created only if there is none at all."""
    fill(base / "v")
    (base / "v/.git").write_text("gitdir: ../gone.git\n")
    error = refusal_of(GitRepo(base / "v"))
    assert error.reason is Reason.GIT_FAILED
    with pytest.raises(VaultWriteError):
        GitRepo(base / "v").init_if_missing()
    assert (base / "v/.git").read_text() == "gitdir: ../gone.git\n"


def test_a_folder_with_a_line_break_is_refused_and_not_mistaken(base: Path, user: User) -> None:
    vault = user.repository(base / "repo", vault="a\nb")
    assert "line break" in refusal_of(GitRepo(vault)).message


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
def test_the_repository_of_another_user_is_not_trusted(base: Path, user: User) -> None:
    vault = user.repository(base / "repo")
    for path in (vault, vault / ".git"):
        os.chown(path, 12345, 12345)
    error = refusal_of(GitRepo(vault))
    assert error.reason is Reason.NOT_TRUSTED
    assert "safe.directory" in (error.hint or "")


def test_without_git_a_vault_can_be_read_but_not_written(base: Path) -> None:
    """GitPython looks for git when it is imported, so the second attempt fails too."""
    code = f"""
import sys
from pathlib import Path
from donna_tui.types.errors import VaultWriteError
from donna_tui.vault.git.repository import GitRepo
for _ in range(2):
    try:
        GitRepo(Path({str(base)!r})).find()
    except VaultWriteError as error:
        print(error.reason, error.message)
"""
    python = shutil.which("python", path=str(Path(os.sys.executable).parent))
    assert python
    environment = {**os.environ, "PATH": str(base)}
    done = subprocess.run([python, "-c", code], env=environment, capture_output=True, text=True, cwd=Path.cwd())
    assert done.stdout.splitlines() == ["git_failed git is not installed"] * 2, done.stderr


def test_a_person_commits_under_their_own_name_in_a_new_repository(base: Path, user: User) -> None:
    fill(base / "v")
    settings = (base / "home/.gitconfig").read_bytes()
    repo = GitRepo(base / "v")
    assert repo.init_if_missing()
    assert not repo.init_if_missing()
    assert "user." not in user.git(base / "v", "config", "--local", "--list")
    assert (base / "home/.gitconfig").read_bytes() == settings
    assert repo.tip() == RefState("refs/heads/main", None, None)


def test_each_vault_and_work_tree_has_its_own_refs() -> None:
    git = Path("/r/.git")
    places = [
        RepoLocation(git, git, "", "sha1"),
        RepoLocation(git, git, "a/", "sha1"),
        RepoLocation(git, git, "b/", "sha1"),
        RepoLocation(git / "worktrees/a", git, "", "sha1"),
        RepoLocation(git / "worktrees/a", git, "a/", "sha1"),
        RepoLocation(git / "worktrees/b", git, "", "sha1"),
    ]
    assert places[0].records == "refs/donna/operations"
    refs = {
        ref
        for location in places
        for ref in (location.records, location.pending("h", "commit"), location.pending("h", "record"))
    }
    assert len(refs) == 3 * len(places)
    assert not [one for one in refs for other in refs if other.startswith(f"{one}/")]


def test_git_environment_variables_do_not_change_the_index(
    base: Path, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = user.repository(base / "repo")
    monkeypatch.setenv("GIT_INDEX_FILE", str(base / "decoy"))
    monkeypatch.setenv("GIT_DIR", str(base / "decoy"))
    command = GitCommand(vault)
    assert command.run("rev-parse", "--git-path", "index", index=base / "ours").line == str(base / "ours")
    assert command.run("rev-parse", "--absolute-git-dir").line == str(vault / ".git")


def test_git_paths_are_literal(base: Path, user: User) -> None:
    vault = user.repository(base / "repo")
    command = GitCommand(vault)
    for path in ("Projects/*.md", ":(top)Projects", ":/", "Projects/[o]ne.md", "Projects/?ne.md"):
        assert command.run("ls-files", "--", path).output == b""
    assert command.run("ls-files", "--", "Projects/one.md").line == "Projects/one.md"


@pytest.mark.parametrize("object_format", FORMATS)
def test_blobs_come_back_byte_for_byte(base: Path, user: User, object_format: str) -> None:
    vault = user.repository(base / "repo", f"--object-format={object_format}")
    fill(vault, {".gitattributes": "* text eol=crlf ident\n"})
    contents = [b"", b"\n", b"a\r\nb", b"x missing\n", b"$Id$", bytes(range(256)) * 40, b"\0" * 70_000, b"blob 3\nabc"]
    stream = b"".join(b"blob\ndata %d\n" % len(data) + data + b"\n" for data in contents)
    repo = GitRepo(vault)
    repo.fast_import(stream + b"done\n")
    ids = [blob_id(data, object_format) for data in contents]
    gone, tree = "ab" * (len(ids[0]) // 2), user.git(vault, "rev-parse", "HEAD^{tree}").strip()
    assert repo.blobs([*ids, gone, tree, ids[0]]) == [*contents, None, None, b""]
    assert repo.blobs([]) == []
    assert repo.existing([*ids, gone]) == set(ids)


def test_the_blobs_of_a_commit_are_those_below_the_vault(base: Path, user: User) -> None:
    vault = user.repository(base / "repo", vault="deep/er")
    fill(base / "repo", {"outside.md": "x"})
    fill(vault, {"Inbox/new\nline ü.md": "x"})
    (vault / "link.md").symlink_to("Inbox/old.md")
    commit = user.commit_all(base / "repo", "more")
    repo = GitRepo(vault)
    found = repo.all_blob_ids(commit, repo.location())
    assert set(found) == {*NOTES, "Inbox/new\nline ü.md", "link.md"}
    assert found["Inbox/old.md"] == blob_id(b"old\n", "sha1")
    assert repo.blob_id(commit, "deep/er/Inbox/old.md") == found["Inbox/old.md"]
    assert repo.blob_id(commit, "Inbox/old.md") is None


def test_what_git_ignores_is_determined_by_the_path_alone(base: Path, user: User) -> None:
    vault = user.repository(base / "repo", vault="v")
    fill(base / "repo", {".gitignore": "*.secret.md\n/v/Private/\n", "v/.gitignore": "!shown.secret.md\n"})
    fill(vault, {"Inbox/known.secret.md": "committed before it was ignored\n"})
    user.git(vault, "add", "--force", "--all")
    repo = GitRepo(vault)
    names = [
        "Inbox/a.md",
        "a.secret.md",
        "Private/x.md",
        ":(top)x.md",
        "-x.secret.md",
        "shown.secret.md",
        "é\n.secret.md",
    ]
    assert repo.ignored([*names, "Inbox/known.secret.md"]) == [
        "a.secret.md",
        "Private/x.md",
        "-x.secret.md",
        "é\n.secret.md",
    ]
    assert repo.ignored([]) == []


def test_tip_follows_symbolic_refs_and_detached_heads(base: Path, user: User) -> None:
    vault = user.repository(base / "repo")
    head = user.git(vault, "rev-parse", "HEAD").strip()
    repo = GitRepo(vault)
    assert repo.tip() == RefState("refs/heads/main", head, None)
    user.git(vault, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    user.git(vault, "symbolic-ref", "HEAD", "refs/heads/alias")
    assert repo.tip().ref == "refs/heads/main"
    user.git(vault, "checkout", "--quiet", "--detach")
    assert repo.tip() == RefState("HEAD", head, None)
    user.git(vault, "symbolic-ref", "HEAD", "refs/heads/unborn")
    assert repo.tip() == RefState("refs/heads/unborn", None, None)


@pytest.mark.slow
def test_a_damaged_head_is_a_refusal(base: Path, user: User) -> None:
    vault = user.repository(base / "repo")
    (vault / ".git/refs/heads/main").write_text("f" * 40 + "\n")
    before = (vault / "Projects/one.md").read_bytes()
    with pytest.raises(VaultWriteError) as refused:
        new_writer(vault, base / "state").write("Projects/one.md", "x\n")
    assert refused.value.reason in (Reason.GIT_FAILED, Reason.GIT_LOCKED)
    assert (vault / "Projects/one.md").read_bytes() == before


@pytest.mark.parametrize(
    "path", ["a b.md", 'q"uote.md', "back\\slash.md", "ü.md", "\x01.md", "#.md", " lead.md", "n\nl.md"]
)
def test_a_quoted_path_is_read_as_it_was(base: Path, user: User, path: str) -> None:
    vault = user.repository(base / "repo")
    stream = f"blob\nmark :1\ndata 1\nx\ncommit refs/heads/q\ncommitter x <x> 1 +0000\ndata 0\nM 644 :1 {quoted(path)}\n\ndone\n"
    GitRepo(vault).fast_import(stream.encode())
    assert user.git(vault, "ls-tree", "-r", "-z", "--name-only", "q") == f"{path}\0"


@pytest.mark.parametrize("name", ["Donna", "", "<>", "A\nB", " spaced ", "ü\u202e", "x\0y", "\udc80"])
@pytest.mark.parametrize("email", ["d@x", "", "<a@b>", "a\nauthor Mallory <m@x> 1 +0000"])
def test_any_author_name_produces_a_valid_commit(base: Path, user: User, name: str, email: str) -> None:
    vault = user.repository(base / "repo")
    line = Author(name, email).line(1_700_000_000.9)
    stream = f"commit refs/heads/q\nauthor {line}\ncommitter {line}\ndata 0\n\ndone\n"
    GitRepo(vault).fast_import(stream.encode())
    assert user.git(vault, "log", "-1", "--format=%at %ct", "q") == "1700000000 1700000000\n"
    assert not user.git(vault, "fsck", "--strict", "--no-dangling")
