"""A malicious template is refused with a reason, within limits, and touches nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from donna_tui.drafts import sandbox
from donna_tui.drafts.renderer import LARGEST_TEMPLATE, VaultTemplateRenderer
from donna_tui.drafts.sandbox import LONGEST_TEXT
from donna_tui.types.errors import DonnaError, Reason

CONTEXT: dict[str, Any] = {
    "frontmatter": {"type": "meeting"}, "title": "Team", "items": ["one", "two"], "event": {"title": "Team"},
}  # fmt: skip

ESCAPES = {
    "class": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "class_item": "{{ ''['__class__']['__mro__'] }}",
    "class_attr": "{{ ''|attr('__class__')|attr('__mro__') }}",
    "class_attr_joined": "{{ ''|attr(['__cla','ss__']|join)|attr('__mro__') }}",
    "class_hex": "{{ ''|attr('\\x5f\\x5fclass\\x5f\\x5f')|attr('mro') }}",
    "class_map": "{{ ['']|map(attribute='__class__')|map(attribute='__mro__')|list|first|first }}",
    "class_sum": "{{ [{'x': ''.__class__.__mro__}]|sum(attribute='x', start=[]) }}",
    "globals_cycler": "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "globals_joiner": "{{ joiner.__init__.__globals__['os'] }}",
    "globals_namespace": "{{ namespace.__init__.__globals__ }}",
    "globals_lipsum": "{{ lipsum.__globals__['os'].popen('id').read() }}",
    "globals_range": "{{ range.__self__.__import__('os') }}",
    "globals_dict": "{{ dict.__base__.__subclasses__() }}",
    "self": "{{ self._TemplateReference__context.environment.globals }}",
    "self_init": "{{ self.__init__.__globals__.__builtins__ }}",
    "undefined": "{{ nothing.__class__.__init__.__globals__ }}",
    "format": "{{ '{0.__class__.__mro__}'.format('') }}",
    "format_item": "{{ '{0[__class__]}'.format(title) }}",
    "format_map": "{{ '{x.__class__.__mro__}'.format_map({'x': ''}) }}",
    "format_alias": "{% set f = '{0.__class__}'.format %}{{ f('') }}{{ f.__self__ }}",
    "format_filter": "{{ '{0.__class__}'|attr('format')('') }}{{ ''.format.__func__ }}",
    "format_by_map": "{{ ['{0.__class__.__init__.__globals__}']|map('attr', 'format')|first }}{{ ''.__init__ }}",
    "macro": "{% macro m() %}{% endmacro %}{{ m.__init__.__globals__ }}",
    "macro_func": "{% macro m() %}{% endmacro %}{{ m._func.__code__ }}",
    "macro_caller": "{% macro m() %}{{ caller.__globals__ }}{% endmacro %}{% call m() %}{% endcall %}",
    "generator": "{{ (items|map('upper')).gi_frame.f_globals }}",
    "generator_code": "{{ (items|select).gi_code }}",
    "function_code": "{{ lipsum.func_globals }}{{ lipsum.__code__.co_consts }}",
    "context_ref": "{{ self._TemplateReference__context.eval_ctx }}",
    "import_os": "{% import 'os' as os %}{{ os }}",
    "include": "{% include '/etc/passwd' %}",
    "include_up": "{% include '../../../../etc/passwd' %}",
    "include_list": "{% include ['/etc/passwd', '../x'] %}",
    "extends": "{% extends '/etc/passwd' %}",
    "from_import": "{% from '/etc/passwd' import x %}",
    "config": "{{ config.items() }}",
    "request": "{{ request.application.__globals__ }}",
    "url_for": "{{ url_for.__globals__ }}",
    "get_flashed": "{{ get_flashed_messages.__globals__ }}",
    "change_list": "{{ items.append('three') }}",
    "change_dict": "{{ event.update({'title': 'x'}) }}",
    "change_pop": "{{ items.pop() }}",
    "change_clear": "{% set _ = event.clear() %}",
    "do": "{% do items.append(1) %}",
    "groupby": "{{ items|groupby('__class__.__mro__') }}{{ ''.__doc__ }}",
    "open": "{{ open('/etc/passwd').read() }}",
    "eval": "{{ eval('1') }}",
    "builtins": "{{ __builtins__ }}",
    "import_call": "{{ __import__('os').system('id') }}",
}
"""Published escapes from templates of Jinja, Flask and their sandboxes to Python, and some that only look like one."""

BOMBS = {
    "range": "{% for i in range(10**9) %}x{% endfor %}",
    "nested": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "deep_nested": "{% for a in range(9999) %}" * 5 + "x" + "{% endfor %}" * 5,
    "many_loops": "{% for a in items %}" * 30 + "x" + "{% endfor %}" * 30,
    "ljust": "{{ 'x'.ljust(10**9)|length }}",
    "center": "{{ 'x'.center(10**10) }}",
    "zfill": "{{ 'x'.zfill(10**9)|length }}",
    "repeat": "{{ ('x' * 10**9)|length }}",
    "repeat_list": "{{ ([1] * 10**9)|length }}",
    "doubling": "{% set ns = namespace(s='x') %}{% for i in range(40) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
    "power": "{{ 9 ** (9 ** 9) }}",
    "power_chain": "{{ (10**5000000)|string|length }}",
    "format_width": "{{ '%1000000000d' % 1 }}",
    "format_method": "{{ '{:>1000000000}'.format('x')|length }}",
    "lipsum": "{{ lipsum(n=10**7) }}",
    "indent": "{{ ('x\\n' * 99999)|indent(10**6)|length }}",
    "batch": "{{ items|batch(10**9, 'x')|list|length }}",
    "slice": "{{ items|slice(10**9)|list|length }}",
    "wordwrap": "{{ ('x ' * 10**8)|wordwrap(1)|length }}",
    "recursion": "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
    "recursion_output": "{% macro m(n) %}x{{ m(n + 1) }}x{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
    "two_macros": "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}",
    "tree": "{% macro m(n) %}{% if n %}{{ m(n-1) }}{{ m(n-1) }}{% endif %}{% endmacro %}{{ m(60) }}",
    "own_include": "{% include 'bomb' %}",
    "own_extends": "{% extends 'bomb' %}",
    "own_import": "{% import 'bomb' as b %}",
    "recursive_loop": "{% for x in [[1]] recursive %}{{ loop([[1]]) }}{% endfor %}",
    "parentheses": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "brackets": "{{ " + "[" * 3000 + "]" * 3000 + " }}",
    "not_not": "{{ " + "not " * 20000 + "1 }}",
    "striptags": "{% for i in range(99999) %}{{ ('<' * 10**6 ~ i)|striptags|length }}{% endfor %}",
    "output": "{% for i in range(99999) %}{{ 'x' * 1000 }}{% endfor %}",
    "output_once": f"{{{{ 'x' * {LONGEST_TEXT + 1} }}}}",
}

LIKE_OTHERS = ("power_chain", "lipsum", "indent", "slice", "wordwrap", "striptags")
"""Bombs that use up the same second of processor time as `nested`, `power` and `tree`."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    templates = tmp_path / "templates"
    templates.mkdir()
    return templates


def refused(folder: Path, source: str | None, name: str = "bomb", **context: Any) -> DonnaError:
    """Render a template that must be refused. Return the refusal, and check that the folder is unchanged."""
    if source is not None:
        (folder / f"{name}.md.j2").write_text(source)
    before = sorted(folder.parent.rglob("*"))
    with pytest.raises(DonnaError) as caught:
        VaultTemplateRenderer(folder).render(name, {**CONTEXT, **context})
    assert caught.value.reason is Reason.TEMPLATE_ERROR
    assert sorted(folder.parent.rglob("*")) == before
    assert len(caught.value.message) < 500
    return caught.value


@pytest.mark.cases(21)
@pytest.mark.parametrize("name", ESCAPES)
def test_template_cannot_escape_the_sandbox(folder: Path, name: str) -> None:
    error = refused(folder, ESCAPES[name])
    assert "root:" not in error.message
    assert "uid=" not in error.message


@pytest.mark.cases(9)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.stress if name in LIKE_OTHERS else ()) for name in BOMBS]
)
def test_template_that_exceeds_its_limits_is_stopped(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "CPU_SECONDS", 1)
    refused(folder, BOMBS[name])


def test_a_template_gets_its_data_and_no_other(folder: Path) -> None:
    (folder / "note.md.j2").write_text("# {{ title }}\n{% for each in items %}\n- {{ each }}\n{% endfor %}\n")
    body, front = VaultTemplateRenderer(folder).render("note", CONTEXT)
    assert body == "# Team\n- one\n- two\n"
    assert front == {"type": "meeting"}


def test_what_a_template_says_of_the_frontmatter_changes_nothing(folder: Path) -> None:
    (folder / "note.md.j2").write_text("---\ntype: evil\n---\n{% set frontmatter = {'type': 'evil'} %}{{ title }}\n")
    _, front = VaultTemplateRenderer(folder).render("note", CONTEXT)
    assert front == {"type": "meeting"}


def test_a_template_adds_keys_and_its_thematic_breaks_stay_text(folder: Path) -> None:
    (folder / "note.md.j2").write_text("---\nstatus: open\n---\n# {{ title }}\n\n---\n\nmiddle\n\n---\n\nend\n")
    body, front = VaultTemplateRenderer(folder).render("note", CONTEXT)
    assert front == {"status": "open", "type": "meeting"}
    assert body == "# Team\n\n---\n\nmiddle\n\n---\n\nend\n"
    (folder / "note.md.j2").write_text("# {{ title }}\n\n---\n\nmiddle\n\n---\n\nend\n")
    assert VaultTemplateRenderer(folder).render("note", CONTEXT)[0] == body
    assert "is not valid YAML" in refused(folder, "---\nstatus: [open\n---\ntext\n").message


@pytest.mark.parametrize("text", ["{{ 7 * 7 }}", "{% raw %}", "{# x #}", "{{ title }}", "\ud83d"])
def test_template_syntax_in_data_is_not_evaluated(folder: Path, text: str) -> None:
    (folder / "note.md.j2").write_text("{{ said }}\n")
    assert VaultTemplateRenderer(folder).render("note", {"said": text})[0] == f"{text}\n"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("one\n\n{{ missing }}\n", 3),
        ("one\n{{ event.missing }}\n", 2),
        ("{% macro m() %}\n\n{{ missing }}\n{% endmacro %}\n{{ m() }}\n", 3),
        ("one\ntwo\n{{ 1 / 0 }}\n", 3),
        ("one\n{% for x in 5 %}{% endfor %}\n", 2),
    ],
)
def test_an_error_names_its_line(folder: Path, source: str, line: int) -> None:
    assert f", line {line} " in refused(folder, source).message


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("one\n{% if %}\n", 2),
        ("one\n\n{{ title\n", 3),
        ("{% for x in items %}\n", 1),
        ("\n\n{% nonsense %}\n", 3),
        ("a\n{{ title|nofilter }}\n", 2),
    ],
)
def test_a_slip_in_the_template_names_its_line(folder: Path, source: str, line: int) -> None:
    assert f", line {line} " in refused(folder, source).message


@pytest.mark.parametrize(
    "name",
    ["../x", "..", ".", "", "a/b", "/etc/passwd", "a\\b", "a.b", "a b", "___", "x\n", "x\0", "note.md.j2", "x" * 300],
)
def test_template_outside_its_folder_is_rejected(folder: Path, name: str) -> None:
    (folder.parent / "x.md.j2").write_text("outside")
    refused(folder, None, name)


def test_missing_template_is_reported(folder: Path) -> None:
    assert "there is no template" in refused(folder, None, "absent").message


def test_a_link_is_no_template(folder: Path) -> None:
    secret = folder.parent / "secret.txt"
    secret.write_text("secret")
    (folder / "bomb.md.j2").symlink_to(secret)
    assert "secret" not in refused(folder, None).message


def test_a_pipe_is_no_template(folder: Path) -> None:
    os.mkfifo(folder / "bomb.md.j2")
    refused(folder, None)


def test_a_folder_is_no_template(folder: Path) -> None:
    (folder / "bomb.md.j2").mkdir()
    refused(folder, None)


def test_oversized_template_is_rejected(folder: Path) -> None:
    refused(folder, "x" * (LARGEST_TEMPLATE + 1))


def test_non_utf8_template_is_rejected(folder: Path) -> None:
    (folder / "bomb.md.j2").write_bytes(b"\xff\xfe\x00")
    refused(folder, None)


def test_the_folder_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        VaultTemplateRenderer(tmp_path / "absent")


def test_an_error_tells_nothing_of_the_data(folder: Path) -> None:
    error = refused(folder, "{{ title.canary_missing }}{{ 1 + title }}", title="CANARY of a private note")
    assert "CANARY" not in error.message
