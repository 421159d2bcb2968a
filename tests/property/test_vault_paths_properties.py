"""For any path, a read returns the file of exactly that path below the root, or a reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from donna_tui.types.errors import VaultReadError
from donna_tui.vault.client import VaultClient
from donna_tui.vault.paths import VaultRoot
from tests.examples import examples

PARTS = st.sampled_from(
    ["", ".", "..", "~", "a", "b", "link", "up", "note.md", "link.md", "outside.md", "C:", "\\", "..\\secret.md", "\0"]
) | st.text(max_size=6)
NOTES = ("note.md", "a/note.md", "a/b/note.md", "b/a/note.md")
PATHS = st.sampled_from(NOTES) | st.lists(PARTS, max_size=6).map("/".join) | st.text(max_size=300)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a vault with links that lead everywhere; the text of each real note is its path."""
    home = tmp_path_factory.mktemp("home")
    (home / "outside").mkdir()
    for path in ("secret.md", "outside/note.md", "note.md"):
        (home / path).write_text("outside")
    vault = home / "vault"
    for path in NOTES:
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(path)
    for link, target in {"link": "../outside", "up": "..", "a/up": "..", "link.md": "note.md", "b/link": "a"}.items():
        (vault / link).symlink_to(target)
    return vault


@pytest.mark.slow
@examples(1000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=PATHS)
def test_a_path_opens_its_own_file_or_nothing(root: Path, path: str) -> None:
    try:
        with VaultRoot(root).open(path) as descriptor:
            assert os.read(descriptor, 100).decode() == path
    except VaultReadError:
        assert path not in NOTES


@pytest.mark.slow
@examples(500)
@given(path=PATHS)
def test_listing_a_folder_stays_below_it(root: Path, path: str) -> None:
    client = VaultClient(root)
    try:
        listed = client.list(path)
    except VaultReadError:
        return
    notes = client.list()
    prefix = path.strip("/")
    assert all(note in notes and (not prefix or note == prefix or note.startswith(f"{prefix}/")) for note in listed)


@examples(500)
@given(path=PATHS)
def test_every_readable_path_counts_as_a_note(root: Path, path: str) -> None:
    client = VaultClient(root)
    try:
        client.read(path)
    except VaultReadError:
        return
    assert client.is_note(path)
    assert path in client.list()
