"""The invocation log: a row for each text, with hashes instead of text, keyed if the text is sensitive, and bounded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from donna_tui.index import invocations as invocations_module
from donna_tui.index.database import Database, open_database
from donna_tui.index.invocations import InputHash, Invocation, load_key, record
from donna_tui.index.migrations import migrate


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path / "index.db")
    migrate(opened)
    yield opened
    opened.close()


def row(number: int) -> Invocation:
    return Invocation("embed_vault_chunk", "model@1", float(number), f"hash{number}")


def test_recorded_invocations_are_stored(database: Database) -> None:
    record(database, [row(1), Invocation("embed_memory_query", "model@1", 2.5, "h")])
    sql = "SELECT task_type, model_alias, latency_ms, input_hash, tokens_in, cost_usd FROM invocation_log ORDER BY id"
    assert database.rows(sql) == [
        ("embed_vault_chunk", "model", 1.0, "hash1", 0, 0.0),
        ("embed_memory_query", "model", 2.5, "h", 0, 0.0),
    ]


def test_recording_no_invocations_is_allowed(database: Database) -> None:
    record(database, [])
    assert database.value("SELECT count(*) FROM invocation_log") == 0


def test_only_the_latest_rows_are_kept(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invocations_module, "KEPT_ROWS", 5)
    for start in range(0, 20, 4):
        record(database, [row(number) for number in range(start, start + 4)])
    kept = database.rows("SELECT latency_ms FROM invocation_log ORDER BY id")
    assert kept == [(15.0,), (16.0,), (17.0,), (18.0,), (19.0,)]


def test_public_text_has_a_plain_hash_and_sensitive_text_a_keyed_one() -> None:
    one, other = InputHash(b"a" * 32), InputHash(b"b" * 32)
    plain = hashlib.sha256(b"a PIN 1234").hexdigest()
    assert one("a PIN 1234", sensitive=False) == other("a PIN 1234", sensitive=False) == plain
    keyed = one("a PIN 1234", sensitive=True)
    assert keyed == one("a PIN 1234", sensitive=True)
    assert len({keyed, plain, other("a PIN 1234", sensitive=True)}) == 3


@pytest.mark.parametrize("stored", [None, b"short"])
def test_a_space_keeps_its_key_and_replaces_a_damaged_one(tmp_path: Path, stored: bytes | None) -> None:
    if stored is not None:
        (tmp_path / "log.key").write_bytes(stored)
    key = load_key(tmp_path)
    assert len(key) == 32
    assert load_key(tmp_path) == key
    assert (tmp_path / "log.key").stat().st_mode & 0o777 == 0o600


def test_two_spaces_have_two_keys(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    assert load_key(tmp_path / "one") != load_key(tmp_path / "two")
