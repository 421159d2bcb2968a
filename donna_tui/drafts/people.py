"""Link to people by their names, and create the pages that an approval adds for those without one."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Collection, Iterable

from donna_tui.drafts.queue import ID_KEY
from donna_tui.drafts.text import can_be_linked, inline, whole_note, words_only
from donna_tui.text.dates import MONTHS
from donna_tui.text.words import STOP_WORDS
from donna_tui.types.errors import DonnaError
from donna_tui.vault.client import VaultClient
from donna_tui.vault.note.read import parse_frontmatter
from donna_tui.vault.write.changes import Change, has_etag
from donna_tui.vault.write.file_names import EVERYWHERE
from donna_tui.vault.write.planner import Planner

FOLDER = "People"
LONGEST_NAME = 80
MAX_STUBS = 50
FEW_STUBS = 10
"""Number of people without a page up to which each gets one. In a larger meeting most only listen, and would leave
empty pages behind: only those get one whom the note names outside the list of attendees.
"""

_ONLY_LINK = re.compile(r"^[ \t]*[-*+][ \t]+\[\[[^\[\]\n]*\]\][ \t]*$", re.MULTILINE)
_WORD = re.compile(r"\w+")
_ADDRESS = re.compile(r"\S+@\S+")
_ACADEMIC = re.compile(r"^(?:(?:prof(?:essor)?|dr)\b\.?\s*)+(?=\S+\s+\S)", re.IGNORECASE)
_BARE_LINK = re.compile(r"(?<!!)\[\[([^\[\]|#^/\\\n]{1,80})\]\]")


def resolve_person_link(name: str, vault_client: VaultClient) -> str:
    """Return `[[Name]]`, `[[People/Name]]` if another note has the same name, or plain words if it cannot be linked."""
    return next(iter(person_links([name], vault_client)), "")


def untitled(name: str) -> str:
    """Remove academic titles from a full name: “Prof. Dr. Ida Holm”, but not “Dr. Holm”."""
    return _ACADEMIC.sub("", name)


def person_links(names: Iterable[str], vault_client: VaultClient) -> list[str]:
    """Return the links to people, without duplicates; to the page of the same name with a title, or with the name as an
    alias, if it is the only one.

    A mail address is text: nobody's page is named after it.
    """
    count = Counter(path.rpartition("/")[2].removesuffix(".md").casefold() for path in vault_client.list())
    known = set(vault_client.list(FOLDER))
    pages = pages_by_name(vault_client)
    links = []
    for name in names:
        plain = words_only(name, LONGEST_NAME)
        if not can_be_linked(plain) or _ADDRESS.fullmatch(plain):
            links.append(inline(name, LONGEST_NAME))
        elif count[plain.casefold()] > 1 and page_of(plain) in known:
            links.append(f"[[{FOLDER}/{plain}]]")
        else:
            page = "" if count[plain.casefold()] else pages.get(untitled(plain).casefold(), "")
            links.append(f"[[{page if can_be_linked(page) else plain}]]")
    return list(dict.fromkeys(filter(None, links)))


def page_of(name: str) -> str:
    """Return the path of the page of a person."""
    return f"{FOLDER}/{name}.md"


def page_names(client: VaultClient) -> list[str]:
    """Return the names of the people who have a page."""
    return [path.removeprefix(f"{FOLDER}/").removesuffix(".md") for path in client.list(FOLDER)]


def pages_by_name(client: VaultClient) -> dict[str, str]:
    """Return the names of the pages of people by their names and aliases, in lower case and without titles; those of
    several pages are left out.
    """
    found: dict[str, set[str]] = {}
    for page in page_names(client):
        note = client.try_read(page_of(page))
        for name in (page, *(note.aliases if note else ())):
            found.setdefault(untitled(name).casefold(), set()).add(page)
    return {name: pages.pop() for name, pages in found.items() if len(pages) == 1}


def ensure_person_stubs(
    text: str, client: VaultClient, planner: Planner, allowlist: Collection[str], me: Collection[str] = ()
) -> list[Change]:
    """Plan a page for each bare `[[Name]]` of a note that resolves to nothing, to be applied with the note.

    Of more than `FEW_STUBS` it plans those of people who are named outside the list of attendees. Plans none if
    `People` is not writable by Donna or is ignored by git, and none for the user (`me`) and for a name that cannot be a
    file name.
    """
    if not {FOLDER, EVERYWHERE} & set(allowlist):
        return []
    known = {path.rsplit("/", 1)[-1].removesuffix(".md").casefold() for path in client.list()}
    known |= {*pages_by_name(client), *(name.casefold() for name in me)}
    people = list(_names(text))
    wanted = {name.casefold(): name for name in reversed(people)}
    names = [name for folded, name in reversed(wanted.items()) if folded not in known]
    if len(names) > FEW_STUBS:
        said = _spaced(_ONLY_LINK.sub("", text))
        names = [name for name in names if _is_named(name, said, people)][:MAX_STUBS]
    found: list[Change] = []
    for name in names:
        with contextlib.suppress(DonnaError):
            stub = whole_note({"type": "person", "name": name, "stub": True, ID_KEY: name}, f"# {inline(name)}\n")
            found += planner.write(page_of(name), stub, expected=has_etag(None)).changes
    with contextlib.suppress(DonnaError):
        return planner.possible(found)
    return []


def _is_named(name: str, text: str, people: Collection[str]) -> bool:
    """Check whether a text names a person in full, or by a first name that none of the other people has.

    “Will” and “May” alone are words.
    """
    first = name.split()[0]
    is_word = first.casefold() in STOP_WORDS or first in MONTHS
    is_unique = sum(each.split()[0] == first for each in people) == 1
    return any(_spaced(each) in text for each in (name, *([first] if is_unique and not is_word else ())))


def _spaced(text: str) -> str:
    return f" {' '.join(_WORD.findall(text))} "


def is_stub(content: bytes | None) -> bool:
    front = parse_frontmatter((content or b"").decode("utf-8", "replace")).data
    return bool(front.get("stub")) and front.get("type") == "person"


def text_of_page(body: str) -> str:
    """Return what the page of a person says below its title."""
    title, _, rest = body.strip().partition("\n")
    return rest.strip() if title.startswith("# ") else body.strip()


def _names(body: str) -> Iterable[str]:
    return dict.fromkeys(name.strip() for name in _BARE_LINK.findall(body) if can_be_linked(name.strip()))
