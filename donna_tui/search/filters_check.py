"""Report filters of a question that are invalid, and filters and phrases that match nothing, with the nearest value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from donna_tui.index.database import Database
from donna_tui.index.filters import ALL_CHUNKS, Scope, conditions, document_conditions, fts_table_of
from donna_tui.index.keyword import holds_word, one_edit_away
from donna_tui.search.query import Query, without_joined
from donna_tui.search.ranking import asking_words
from donna_tui.text.fuzzy import folded, nearest
from donna_tui.text.words import PUNCTUATION
from donna_tui.types.search import DRAFTS, FilterProblem, Filters
from donna_tui.vault.note.read import iso_date

MAX_VALUES = 20_000
"""Values of a kind that are compared with the typed one."""


def searched_notes(database: Database, filters: Filters) -> int:
    """Count the documents of sources with files that the filters admit."""
    where, parameters = document_conditions(filters)
    found: int = database.value(f"SELECT count(*) FROM memory_documents d WHERE {where}", parameters)  # noqa: S608
    return found


def filter_problems(database: Database, query: Query, given: Filters) -> tuple[FilterProblem, ...]:
    """Report errors in the filters of a question, required phrases that occur nowhere, and sources and folders of the
    request itself, `given`, that match nothing.
    """
    return (*query.problems, *_absent(database, query), *_unmatched(database, query.filters, given))


SHORTEST_MISSPELT, LONGEST_MISSPELT, MAX_WORDS = 5, 30, 10
"""Letters of a word that is compared with those of notes, and the most words of a question that are: each takes 15 ms
if no note has it, once per revision of the index.
"""


def misspelt_words(database: Database, query: Query) -> Iterator[FilterProblem]:
    """Return each word that no note has, but one that differs by a typing error; not those that ask for a section, such
    as “tasks”, which need not be in a note.
    """
    table, asking = fts_table_of(query.filters), asking_words(query)

    def nearest_in(connection: Database, words: Sequence[str]) -> dict[str, str]:
        return {word: one_edit_away(connection, word, table) for word in words}

    for term in [term for term in dict.fromkeys(query.terms) if term not in asking][:MAX_WORDS]:
        word = folded(without_joined(term.strip(f"{PUNCTUATION}()")))
        is_word = word.isascii() and word.isalpha() and SHORTEST_MISSPELT <= len(word) <= LONGEST_MISSPELT
        is_unknown = is_word and term not in query.phrases and not holds_word(database, word, table)
        if is_unknown and (near := database.cached_by_id(f"near {table}", [word], nearest_in)[word]):
            yield FilterProblem(term, "no note has this word", near)


def _absent(database: Database, query: Query) -> Iterator[FilterProblem]:
    """Return each required phrase that no passage contains, among the documents that may be shown at all."""
    kept = query.filters
    seen = Filters(user_id=kept.user_id, sensitive=kept.sensitive, sources=kept.sources)
    for phrase in query.required_phrases:
        where, parameters = conditions(Scope(seen, (phrase,)))
        if not database.rows(f"SELECT 1 FROM {ALL_CHUNKS} WHERE {where} LIMIT 1", parameters):  # noqa: S608
            yield FilterProblem(f'"{phrase}"', "no passage has these words side by side")


def _unmatched(database: Database, filters: Filters, given: Filters) -> Iterator[FilterProblem]:
    """Return each filter that matches nothing by itself, among the documents that may be shown at all."""
    seen = Filters(user_id=filters.user_id, sensitive=filters.sensitive)
    for part in filters.path_parts[len(given.path_parts) :]:
        if not searched_notes(database, replace(seen, path_parts=(part,))):
            yield _problem("path", part, "no path contains this", nearest(part.strip("/"), _path_parts(database, seen)))
    for tag in filters.tags[len(given.tags) :]:
        if not searched_notes(database, replace(seen, tags=(tag,))):
            yield _problem("tag", tag, "no note has this tag", nearest(tag.lstrip("#"), _tags(database, seen)))
    kind = filters.note_type
    if kind != given.note_type and not searched_notes(database, replace(seen, note_type=kind)):
        values = _values(database, "d.note_type", seen)
        yield _problem("type", kind, "no note has this type", nearest(kind, values), values)
    if filters.path_prefix and not searched_notes(database, replace(seen, path_prefix=filters.path_prefix)):
        near = nearest(filters.path_prefix.strip("/"), _path_parts(database, seen))
        yield _problem("path", filters.path_prefix, "no note is in this folder", near)
    if filters.after is not None and filters.before is not None and filters.before <= filters.after:
        message = f"this is not later than after:{iso_date(filters.after)}"
        yield FilterProblem(f"before:{iso_date(filters.before)}", message)
    for source in filters.sources:
        if not searched_notes(database, replace(seen, sources=(source,))):
            values = [*_values(database, "d.source_type", seen), DRAFTS]
            near = nearest(source, values)
            folder = "" if near else nearest(source, _path_parts(database, seen))
            meant = "path" if folder else "in"
            yield _problem("in", source, "there is nothing of this kind", near or folder, values, meant)


MAX_NAMED = 8
"""Most values that are listed if none is near."""


def _problem(
    key: str, value: str, message: str, near: str, values: Sequence[str] = (), meant: str = ""
) -> FilterProblem:
    if not near and values:
        message += f" (known: {', '.join(values[:MAX_NAMED])}{' …' if len(values) > MAX_NAMED else ''})"
    quoted = f'"{near}"' if " " in near else near
    text, suggested = f"{key}:{value}", f"{meant or key}:{quoted}"
    return FilterProblem(text, message, suggested if near and suggested != text else "")


def _path_parts(database: Database, seen: Filters) -> Iterable[str]:
    paths = _values(database, "d.source_id", replace(seen, sources=("vault",)))
    return dict.fromkeys(part for path in paths for part in PurePosixPath(path.removesuffix(".md")).parts)


def _tags(database: Database, seen: Filters) -> list[str]:
    return _values(database, "tag.value", seen, ", json_each(d.metadata_json, '$.tags') tag")


def _values(database: Database, column: str, seen: Filters, joined: str = "") -> list[str]:
    where, parameters = document_conditions(seen)
    values = database.column(
        f"SELECT DISTINCT {column} FROM memory_documents d{joined} WHERE {where} ORDER BY 1 LIMIT ?",  # noqa: S608
        [*parameters, MAX_VALUES],
    )
    return [str(value) for value in values if value]
