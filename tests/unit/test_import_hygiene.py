"""Slow or dangerous modules are imported only by the packages that need them."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "donna_tui"
MODULES = sorted(PACKAGE.rglob("*.py"))
TORCH = frozenset({"torch", "transformers", "sentence_transformers"})

RUNS_PROGRAMS = {
    "cli/draft.py": "the user's editor",
    "drafts/renderer.py": "a template, in a process of its own with limits",
    "calendar/ics.py": "what reads a calendar file, in a process of its own",
    "embedding/prepare.py": "the export of the model, in a process of its own",
    "vault/git/command.py": "git, with fixed arguments",
    "tui/lib/external.py": "the user's editor, Obsidian and the browser",
}
"""The only modules that start programs, and which."""

DOORS = {
    "safety/egress.py": "the one door for outbound bytes",
    "llm/": "language models, over a client from the door",
    "embedding/download.py": "the published weights of the model, over a client from the door",
    "embedding/openai_compatible.py": "an embedding server that the settings name, over a client from the door",
    "calendar/": "calendar servers, over a client from the door",
    "agents/http.py": "the server for agents, on this machine, behind its guard",
    "webdav/server.py": "the WebDAV server, where somebody starts it, behind its gate",
}
"""The only modules that use a network library, and why."""

NETWORK = (
    "httpx2", "httpx", "httpcore", "httpcore2", "h11", "socket", "ssl", "http", "urllib", "urllib3", "requests",
    "niquests", "aiohttp", "anyio", "websockets", "ftplib", "smtplib", "imaplib", "poplib", "telnetlib", "xmlrpc",
    "socketserver", "caldav", "uvicorn", "starlette",
)  # fmt: skip
NO_NETWORK = frozenset({"urllib.parse", "http.HTTPStatus"})


def name(module: Path) -> str:
    return module.relative_to(PACKAGE).as_posix()


@cache
def tree_of(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


@pytest.fixture(scope="module", autouse=True)
def forgotten() -> Iterator[None]:
    """Clear the cache of the modules' syntax trees, which are large."""
    yield
    tree_of.cache_clear()


@cache
def imports(module: Path) -> frozenset[str]:
    """Return the modules that a file imports anywhere, with their full names."""
    return frozenset(_imports(tree_of(module)))


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def importers(filter_store: str) -> set[str]:
    return {name(each) for each in MODULES if any(one.split(".")[0] == filter_store for one in imports(each))}


def loaded_after(program: str, home: Path, *args: str) -> set[str]:
    """Return the modules that a program has loaded in a fresh interpreter."""
    code = (
        f"import sys, json\ntry:\n    exec({program!r})\nfinally:\n    print('\\n' + json.dumps(sorted(sys.modules)))"
    )
    environ = {each: value for each, value in os.environ.items() if not each.startswith(("DONNA_", "COV_"))}
    ran = subprocess.run(
        [sys.executable, "-c", code, *args],
        cwd=ROOT,
        env={**environ, "DONNA_HOME": str(home), "TEXTUAL": "", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    last = ran.stdout.splitlines()[-1:]
    assert last, ran.stderr
    loaded: list[str] = json.loads(last[0])
    return set(loaded)


def verb(*words: str) -> str:
    return f"sys.argv[1:] = {list(words)!r}\nfrom donna_tui.__main__ import run\nrun()"


def test_the_screens_load_neither_database_nor_model_nor_watcher(tmp_path: Path) -> None:
    loaded = loaded_after("import donna_tui.tui.app", tmp_path)
    assert "textual" in loaded
    heavy = {"apsw", "numpy", "onnxruntime", "watchfiles", "pydantic", "sqlite_vec", "tokenizers", *TORCH}
    assert not loaded & heavy


@pytest.mark.parametrize("words", [("--version",), ("--help",), ("search", "--help"), ("keys",), ("keys", "--check")])
def test_simple_commands_import_no_heavy_modules(tmp_path: Path, words: tuple[str, ...]) -> None:
    loaded = loaded_after(verb(*words), tmp_path)
    assert "donna_tui" in loaded
    assert not loaded & {"apsw", "numpy", "onnxruntime", "textual", "watchfiles", "tokenizers", *TORCH}


def test_the_commands_never_load_the_screens(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    loaded = loaded_after(verb("status", "--space", str(tmp_path / "vault")), tmp_path / "home")
    assert "apsw" in loaded
    assert not loaded & {"textual", "onnxruntime", *TORCH}


def test_the_engine_is_imported_without_the_models_libraries(tmp_path: Path) -> None:
    loaded = loaded_after("import donna_tui.engine.engine", tmp_path)
    assert "apsw" in loaded
    assert not loaded & {"onnxruntime", "textual", "numpy", "sqlite3", *TORCH}
    assert not loaded & {"donna_tui.types.memory", "donna_tui.types.drafts", "donna_tui.types.draft_events"}


@pytest.mark.slow
def test_the_http_client_is_loaded_only_to_ask_a_model(tmp_path: Path) -> None:
    assert "httpx2" not in loaded_after("import donna_tui.engine.engine", tmp_path)
    assert "httpx2" in loaded_after("import donna_tui.llm.router", tmp_path)


@pytest.mark.slow
@pytest.mark.model
def test_a_search_with_a_prepared_model_never_loads_torch(tmp_path: Path, model_cache: Path) -> None:
    (tmp_path / "home" / "cache").mkdir(parents=True)
    (tmp_path / "home" / "cache" / "models").symlink_to(model_cache / "models")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.md").write_text("The boat leaves the harbour at dawn.")
    space = ("--space", str(tmp_path / "vault"))
    loaded = loaded_after(
        verb("search", "a ship sails in the morning", "--mode", "semantic", *space), tmp_path / "home"
    )
    assert {"onnxruntime", "structlog"} <= loaded
    assert not loaded & {"textual", "rich", "pygments", "attr", *TORCH}
    for words in (("index",), ("search", "ship", "--mode", "keyword")):
        loaded = loaded_after(verb(*words, *space), tmp_path / "home")
        assert "apsw" in loaded
        assert not loaded & {"numpy", "onnxruntime", "tokenizers"}, words


@pytest.mark.slow
def test_only_the_screens_know_textual() -> None:
    assert {each.split("/")[0] for each in importers("textual")} == {"tui"}
    assert {each.split("/")[0] for each in importers("rich")} <= {"tui"}


@pytest.mark.slow
def test_only_the_index_knows_sqlite() -> None:
    examined = {"ops/doctor.py"}  # reads SQLite's version in a function
    assert {each.split("/")[0] for each in importers("apsw") - examined} == {"index"}
    assert importers("sqlite_vec") == set()  # its library is loaded without its package
    assert importers("sqlite3") == set()


def test_only_embedding_knows_the_models_libraries() -> None:
    examined = {"ops/doctor.py"}  # reads ONNX Runtime's version in a function
    for filter_store in ("onnxruntime", "onnx", "tokenizers", *TORCH):
        assert {each.split("/")[0] for each in importers(filter_store) - examined} <= {"embedding"}, filter_store


def test_network_modules_are_imported_only_by_egress_modules() -> None:
    for filter_store in NETWORK:
        users = {each for each in importers(filter_store) if not uses(each, filter_store) <= NO_NETWORK}
        assert {each for each in users if not each.startswith(tuple(DOORS))} == set(), filter_store


OPENING = frozenset({"AsyncClient", "Client", "AsyncHTTPTransport", "HTTPTransport", "Proxy", "getaddrinfo"})
LISTENING = frozenset({"start_server", "create_server", "start_unix_server", "open_connection", "create_connection"})


LISTENERS = {
    "http/guard.py": "answers on this machine: metrics where they are switched on, the browser that a calendar waits for",
    "agents/http.py": "answers agents on this machine, where somebody starts it with --http",
}


def test_only_the_egress_module_opens_network_clients() -> None:
    for module in MODULES:
        called = {ast.unparse(call.func).split(".")[-1] for call in calls(module)}
        assert name(module) == "safety/egress.py" or not called & OPENING, name(module)
        assert name(module) in LISTENERS or not called & LISTENING, name(module)


def test_only_the_webdav_server_knows_its_libraries() -> None:
    for filter_store in ("wsgidav", "cheroot"):
        assert {each.split("/")[0] for each in importers(filter_store)} == {"webdav"}
    verb_of_it = {"cli/serve_webdav.py"}
    users = {name(each) for each in MODULES if any(one.startswith("donna_tui.webdav") for one in imports(each))}
    assert {each for each in users if not each.startswith("webdav/")} == verb_of_it


def uses(module: str, filter_store: str) -> set[str]:
    return {each for each in imports(PACKAGE / module) if each.split(".")[0] == filter_store}


def test_mcp_sdk_is_imported_only_by_the_agents_package() -> None:
    for filter_store in ("mcp", "mcp_types", "uvicorn", "starlette"):
        assert {each.split("/")[0] for each in importers(filter_store)} <= {"agents"}, filter_store


def test_the_command_for_agents_is_listed_without_its_sdk(tmp_path: Path) -> None:
    for words in (("mcp", "--help"), ("mcp", "--skill")):
        assert not loaded_after(verb(*words), tmp_path) & {"mcp", "mcp_types", "uvicorn", "starlette"}


def test_one_module_makes_text_fit_for_a_terminal() -> None:
    definitions = {
        name(module)
        for module in MODULES
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.FunctionDef) and node.name in ("clean", "clean_line", "sanitise", "sanitize")
    }
    assert definitions == {"safety/terminal.py"}


def _starters() -> Iterator[str]:
    for module in MODULES:
        if any(ast.unparse(call.func).endswith("create_subprocess_exec") for call in calls(module)):
            yield name(module)


def calls(module: Path) -> Iterator[ast.Call]:
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Call):
            yield node


@pytest.mark.slow
def test_programs_are_started_in_few_places_and_never_by_a_shell() -> None:
    assert importers("subprocess") | set(_starters()) == set(RUNS_PROGRAMS)
    for module in MODULES:
        for call in calls(module):
            assert "shell" not in {keyword.arg for keyword in call.keywords}, name(module)
            called = ast.unparse(call.func)
            assert not called.startswith(("os.system", "os.popen", "os.exec", "os.spawn", "pty.")), name(module)
            assert called not in {"eval", "exec", "compile", "__import__", "create_subprocess_shell"}, name(module)
            assert not called.endswith("create_subprocess_shell"), name(module)


def test_nothing_is_unpickled_or_loaded_as_unsafe_yaml() -> None:
    for filter_store in ("pickle", "marshal", "shelve", "dill"):
        assert importers(filter_store) == set()
    unsafe = {"yaml.load", "yaml.unsafe_load", "yaml.full_load", "yaml.load_all"}
    for module in MODULES:
        for call in calls(module):
            assert ast.unparse(call.func) not in unsafe or _safe_loader(call), name(module)


def _safe_loader(call: ast.Call) -> bool:
    given = [ast.unparse(each) for each in (*call.args[1:], *(keyword.value for keyword in call.keywords))]
    return bool(given) and not any("Unsafe" in each or "FullLoader" in each or each == "yaml.Loader" for each in given)


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        name(module)
        for module in MODULES
        if module.read_text(encoding="utf-8").strip() and not ast.get_docstring(tree_of(module))
    ]
    assert silent == []


SPECIALISED = {
    "EmbeddingConfig": "the settings of an agent add a first provider",
    "LinePrompt": "a prompt for any screen",
    "MemoryConfig": "the settings of an agent replace some blocks",
    "PassageView": "a view for any screen",
    "VecTable": "an engine of its own, which another one warms up",
}
"""Base classes with one subclass in another file that are useful without it, and why."""


def test_no_class_is_split_across_modules() -> None:
    where: dict[str, set[str]] = {}
    below: dict[str, list[str]] = {}
    for module in MODULES:
        for node in tree_of(module).body:
            if isinstance(node, ast.ClassDef):
                where.setdefault(node.name, set()).add(name(module))
                for base in node.bases:
                    below.setdefault(ast.unparse(base).split("[")[0].split(".")[-1], []).append(name(module))
    spread = {
        each for each, files in below.items() if each in where and len(files) == 1 and files[0] not in where[each]
    }
    assert spread == set(SPECIALISED)


def test_no_module_only_reexports_names() -> None:
    def forwards(module: Path) -> bool:
        body = tree_of(module).body
        rest = [each for each in body if not isinstance(each, ast.Import | ast.ImportFrom | ast.Expr)]
        return bool(body) and all(
            isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "__all__" for each in rest
        )

    assert [name(each) for each in MODULES if each.name != "__init__.py" and forwards(each)] == []


def test_no_module_is_too_long_to_read_in_one_go() -> None:
    assert {name(each): lines for each in MODULES if (lines := len(each.read_text("utf-8").splitlines())) > 800} == {}


def test_import_linter_contracts_pass() -> None:
    ran = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout


def test_handlers_are_named_after_their_messages() -> None:
    """Textual finds a handler by a name derived from the message's class: one with a wrong name is never called."""

    def handler_of(message: ast.Attribute) -> str:
        classes = (each for each in ast.unparse(message).split(".") if each[0].isupper())  # not the module
        return "on_" + "_".join(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", each).lower() for each in classes)

    for module in MODULES:
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("on_"):
                for given in node.args.args[1:2]:
                    if isinstance(given.annotation, ast.Attribute):
                        assert node.name == handler_of(given.annotation), name(module)
