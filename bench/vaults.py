"""Write large vaults, the same for the same seed: `python -m bench.vaults DEST --notes 6000`.

Notes are composed from the headings and paragraphs of the evaluation vaults, or from made-up English without those. A
smaller vault is the beginning of a larger one.
"""

from __future__ import annotations

import itertools
import random
import re
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.report import EVAL
from donna_tui.text.markdown import split_sections
from donna_tui.vault.note.read import parse_frontmatter

SOURCES = ("vault_help", "vault_tasks", "meetings", "chats_mit", "qmsum")
"""The English sets of the evaluation data that consist of notes."""

MEDIAN_CHARS, SPREAD, LONGEST = 1_500, 1.1, 200_000
"""The log-normal size of a note, as in vault_help (median 1,340 bytes, standard deviation of the logarithm 1.07)."""

LONG_SHARE = 0.004
LONG_CHARS = (30_000, 150_000)
FRONTMATTER_SHARE, ALIAS_SHARE, LINK_SHARE = 0.4, 0.1, 0.15
AREAS = ("Projects", "Meetings", "People", "Daily", "Reading", "Recipes", "Travel", "Work", "Garden", "Archive")
TAGS = ("idea", "draft", "work", "home", "incident", "decision", "health", "book", "area/money", "area/house")
NOTES_A_FOLDER = 30


@dataclass(frozen=True, slots=True)
class Material:
    """The headings and paragraphs that notes are composed of."""

    headings: tuple[str, ...]
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MadeNote:
    """A generated note: its path in the vault, and its text."""

    path: str
    text: str


def material(folder: Path = EVAL) -> Material:
    """Return the headings and paragraphs of the evaluation vaults below `folder`; made-up ones if there are none."""
    texts = [note.read_text(encoding="utf-8") for name in SOURCES for note in sorted((folder / name).rglob("*.md"))]
    headings: dict[str, None] = {}
    paragraphs: dict[str, None] = {}
    for text in texts:
        for section in split_sections(text, parse_frontmatter(text).body_start):
            headings.update(dict.fromkeys(filter(None, [_heading(section.heading_path[-1:])])))
            body = text[section.body_start : section.end]
            paragraphs.update(dict.fromkeys(filter(None, (text.strip() for text in re.split(r"\n\s*\n", body)))))
    return Material(tuple(headings), tuple(paragraphs)) if paragraphs else made_up()


def _heading(path: Sequence[str]) -> str:
    """Return a heading that is also valid in a file name."""
    words = re.sub(r"[^\w ,'-]+|_+", " ", "".join(path)).split()
    return " ".join(words)[:60].strip()


def made_up(words: int = 4_000, paragraphs: int = 5_000) -> Material:
    """Return sentences of made-up words, with frequencies as in natural language (Zipf's law)."""
    chance = random.Random("material")
    syllables = [first + second for first in "bdfgklmnprstvz" for second in ("a", "e", "i", "o", "u", "an", "er", "is")]
    lexicon = sorted({"".join(chance.choices(syllables, k=chance.randint(1, 4))) for _ in range(words)}, key=_frequency)
    weights = list(itertools.accumulate(1 / rank for rank in range(1, len(lexicon) + 1)))

    def sentence() -> str:
        return " ".join(chance.choices(lexicon, cum_weights=weights, k=chance.randint(6, 20))).capitalize() + "."

    headings = tuple(sentence().rstrip(".")[:40].strip() for _ in range(words // 4))
    return Material(
        headings, tuple(" ".join(sentence() for _ in range(chance.randint(1, 6))) for _ in range(paragraphs))
    )


def _frequency(word: str) -> tuple[int, str]:
    """Sort short words first, since the most frequent words of a language are short."""
    return len(word), word


def notes(number: int, stuff: Material, seed: int = 1) -> Iterator[MadeNote]:
    """Yield the notes of a vault of `number` notes, in a fixed order."""
    paths: list[str] = []
    for index in range(number):
        chance = random.Random(f"{seed}:{index}")
        path = _path(index, stuff, chance)
        yield MadeNote(path, _text(path, paths, stuff, chance))
        paths.append(path)


def write_vault(folder: Path, number: int, seed: int = 1) -> Path:
    """Write a vault into `folder` and return it."""
    for note in notes(number, material(), seed):
        file = folder / note.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(note.text, encoding="utf-8")
    return folder


def _path(index: int, stuff: Material, chance: random.Random) -> str:
    """Return a unique title in an area and up to three folders."""
    group = index // NOTES_A_FOLDER
    folders = [AREAS[group % len(AREAS)], f"Part {group // 30}", f"Theme {group // 10}", f"Topic {group}"]
    depth = min(len(folders), chance.choice((1, 2, 3, 4)) if group % 3 else 2)
    return "/".join([*folders[:depth], f"{chance.choice(stuff.headings)} {index}.md"])


def _text(path: str, earlier: Sequence[str], stuff: Material, chance: random.Random) -> str:
    long = chance.random() < LONG_SHARE
    size = chance.uniform(*LONG_CHARS) if long else chance.lognormvariate(0, SPREAD) * MEDIAN_CHARS
    title = _title(path)
    parts = [f"# {title}"] if chance.random() < 0.5 else []
    parts += _sections(min(size, LONGEST), earlier, stuff, chance)
    return _frontmatter(title, stuff, chance) + "\n\n".join(parts) + "\n"


def _sections(size: float, earlier: Sequence[str], stuff: Material, chance: random.Random) -> Iterator[str]:
    """Yield paragraphs of about `size` characters in all, with a new heading every few of them."""
    remaining, level = size, 2
    while remaining > 0:
        paragraph = chance.choice(stuff.paragraphs)
        if len(paragraph) > max(remaining * 2, 400):
            paragraph = paragraph[: int(max(remaining, 200))].rpartition(" ")[0] or paragraph[:200]
        if earlier and chance.random() < LINK_SHARE:
            paragraph += f" See [[{_title(chance.choice(earlier))}]]."
        yield paragraph
        remaining -= len(paragraph)
        if remaining > 0 and chance.random() < 0.4:
            level = max(2, min(5, level + chance.choice((-1, 0, 0, 1))))
            yield f"{'#' * level} {chance.choice(stuff.headings)}"


def _frontmatter(title: str, stuff: Material, chance: random.Random) -> str:
    if chance.random() >= FRONTMATTER_SHARE:
        return ""
    lines = [f"tags: [{', '.join(chance.sample(TAGS, chance.randint(1, 3)))}]"]
    if chance.random() < ALIAS_SHARE / FRONTMATTER_SHARE:
        lines.append(f'aliases: ["{chance.choice(stuff.headings)}", "{title[:20].strip()}"]')
    return "\n".join(["---", *lines, "---", ""])


def _title(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def main() -> None:
    parser = ArgumentParser(description="Write a large vault for benchmarks.")
    parser.add_argument("destination", type=Path, help="a new or empty folder")
    parser.add_argument("--notes", type=int, default=6_000, help="number of notes")
    parser.add_argument("--seed", type=int, default=1, help="each number gives a different vault")
    options = parser.parse_args()
    if options.destination.is_dir() and any(options.destination.iterdir()):
        parser.error(f"{options.destination} is not empty")
    write_vault(options.destination, options.notes, options.seed)
    print(f"{options.notes} notes in {options.destination}")


if __name__ == "__main__":
    main()
