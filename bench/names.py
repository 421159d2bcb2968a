"""Measure whether a question that is a file name, title, alias or tag finds its note, in several vaults."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bench.program import Home, new_home
from bench.report import Report, arguments, eval_folder, finish, share
from donna_tui.cli.demo_vault import make_demo
from donna_tui.config.load import load_config
from donna_tui.index.names import name_key
from donna_tui.types.errors import VaultReadError
from donna_tui.vault.client import VaultClient, VaultNote
from donna_tui.vault.open import indexed_client

SETS = ("vault_help", "vault_tasks", "meetings", "vault_i18n")
MIN_FOUND, MAX_REFUSED = 0.99, 0.0
LOOKED_AT, HITS = 3, 20
"""The distinct notes that count, and the hits among which they are looked for."""


@dataclass(frozen=True, slots=True)
class NameQuestion:
    """A name, its kind, and the paths of the notes that have it."""

    name: str
    kind: str
    notes: frozenset[str]


def measure(*, small: bool = False) -> Report:
    """Run the benchmark. Raises UnavailableError without the evaluation data."""
    with new_home() as home:
        vaults = {"demo": make_demo(home.folder / "demo")}
        if not small:
            vaults |= {name: eval_folder(name) / "vault" for name in SETS}
        return measure_in(home, vaults)


def measure_in(home: Home, vaults: dict[str, Path]) -> Report:
    """Measure some vaults, by label."""
    report = Report("Names")
    hits: list[bool] = []
    refused: list[bool] = []
    for name, vault in vaults.items():
        by_kind = _by_kind(home, vault)
        for kind, answers in by_kind.items():
            found = share([outcome for outcome, _ in answers])
            report.add(f"{name}: {kind} ({len(answers)}), note among the first three", found, "")
        hits += [outcome for answers in by_kind.values() for outcome, _ in answers]
        refused += [outcome for answers in by_kind.values() for _, outcome in answers]
    report.add(f"all {len(hits):,} names, note among the first three", share(hits), "", MIN_FOUND, at_least=True)
    report.add(f"all {len(refused):,} names, refused", share(refused), "", MAX_REFUSED)
    report.remarks.append("If several notes share a name or a tag, any of them counts.")
    return report


def _by_kind(home: Home, vault: Path) -> dict[str, list[tuple[bool, bool]]]:
    """Return for each kind whether each name was found among the first notes, and whether it was refused."""
    questions = names_of(vault)
    answers = home.search_batch(vault, [{"query": question.name} for question in questions], HITS)
    by_kind: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for question, hits in zip(questions, answers, strict=True):
        paths = list(dict.fromkeys(hit["source_path"] for hit in hits))[:LOOKED_AT]
        by_kind[question.kind].append((not question.notes.isdisjoint(paths), not paths))
    return dict(by_kind)


def names_of(vault: Path) -> list[NameQuestion]:
    """Return every name of a vault once for each kind, with all notes that have it under any kind."""
    config = load_config(root=vault).config
    notes = list(_notes(indexed_client(config, vault)))  # without templates
    names: dict[str, set[str]] = defaultdict(set)
    tags: dict[str, set[str]] = defaultdict(set)
    for note in notes:
        for name in (_stem(note), note.title, *note.aliases):
            names[name_key(name)].add(note.path)
        for tag in note.tags:
            tags[name_key(tag)].add(note.path)
    questions = [
        NameQuestion(name, kind, frozenset(names[name_key(name)]))
        for kind in ("file name", "title", "alias")
        for name in sorted({each for note in notes for each in _of_kind(note, kind)})
    ]
    carried = sorted({tag for note in notes for tag in note.tags})
    return questions + [
        NameQuestion(tag, "tag", frozenset(tags[name_key(tag)] | names[name_key(tag)])) for tag in carried
    ]


def _of_kind(note: VaultNote, kind: str) -> Sequence[str]:
    return note.aliases if kind == "alias" else (_stem(note) if kind == "file name" else note.title,)


def _stem(note: VaultNote) -> str:
    return PurePosixPath(note.path).stem


def _notes(client: VaultClient) -> Iterator[VaultNote]:
    for path in client.list():
        try:
            note = client.read(path)
        except VaultReadError:
            continue
        if not note.frontmatter.data.get("donna_draft"):  # drafts are only found if asked for
            yield note


if __name__ == "__main__":
    finish(measure, arguments(__doc__))
