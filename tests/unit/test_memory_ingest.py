"""The steps of remembering, one by one, with figures that can be computed by hand."""

from __future__ import annotations

import pytest

from donna_tui.memory.facts import clean_text, route
from donna_tui.memory.preferences import preference_key
from donna_tui.memory.scores import names_something, rarity, salience
from donna_tui.text.chunker import chunk_semantic
from donna_tui.text.tokens import EstimatedTokens
from donna_tui.types.memory import Importance, MemoryType, Signal

COUNTER = EstimatedTokens()


class WordTokens:
    """Counts words as tokens, so that lengths can be seen."""

    name = "words"

    def spans(self, text: str) -> list[tuple[int, int]]:
        found, start = [], 0
        for word in text.split():
            low = text.index(word, start)
            start = low + len(word)
            found.append((low, start))
        return found


# Cleaning


def test_cleaning_is_nfc_without_outer_space_and_with_one_blank_line_at_most() -> None:
    assert clean_text("  Cafe\u0301\r\n\r\n \n\nnext\rline \n") == "Café\n\nnext\nline"


def test_cleaning_keeps_formatting_and_code() -> None:
    text = "**bold** and\n\n```python\nif x:\n    y = 1\n```"
    assert clean_text(text) == text


def test_clean_text_replaces_characters_that_cannot_be_stored() -> None:
    assert clean_text("a\ud800b\0c") == "a?b�c"


# Chunking


def pieces(text: str, least: int = 50, most: int = 300) -> list[str]:
    return [text[low:high] for low, high in chunk_semantic(text, WordTokens(), least=least, most=most)]


def sentence(words: int, first: str = "Word") -> str:
    return " ".join([first, *["word"] * (words - 1)]) + "."


@pytest.mark.parametrize(
    ("separator", "sentences", "lengths"),
    [
        pytest.param("\n\n", [60, 70], [60, 70], id="paragraphs of fitting length are pieces"),
        pytest.param(" ", [110] * 4, [110] * 4, id="a paragraph that is too long is cut at sentences"),
        pytest.param("\n\n", [20] * 6, [60, 60], id="short neighbours are merged until they are long enough"),
        pytest.param("\n\n", [60, 20], [80], id="a short last paragraph is merged with the previous piece"),
        pytest.param("\n\n", [290, 20, 290], [290, 20, 290], id="a short piece between two full ones stays"),
    ],
)
def test_paragraphs_become_pieces_of_fitting_length(separator: str, sentences: list[int], lengths: list[int]) -> None:
    text = separator.join(map(sentence, sentences))
    assert [len(piece.split()) for piece in pieces(text)] == lengths


def test_a_sentence_ends_only_before_a_capital() -> None:
    text = " ".join(["Version 1.2 is out e.g. here", sentence(100, "and"), sentence(100), sentence(120)])
    assert [piece.split()[0] for piece in pieces(text, least=1)] == ["Version", "Word", "Word"]


def test_a_sentence_that_is_too_long_is_cut_between_words() -> None:
    lengths = [len(piece.split()) for piece in pieces(sentence(700))]
    assert sum(lengths) == 700
    assert max(lengths) <= 300


def test_the_encoders_window_bounds_a_piece_whatever_it_holds() -> None:
    for text in ("x" * 5_000, "你好。" * 2_000, "a b " * 4_000, "\n\n\n" * 50):
        for low, high in chunk_semantic(text, COUNTER, most=100):
            assert 0 < len(COUNTER.spans(text[low:high])) <= 100


def test_pieces_hold_every_word_once_and_in_order() -> None:
    text = "\n\n".join(" ".join(f"S{p}x{s} is here." for s in range(40)) for p in range(5))
    assert " ".join(pieces(text)).split() == text.split()


# Salience


@pytest.mark.parametrize(
    ("text", "value", "signals"),
    [
        ("ok then", 0.0, ()),
        ("I went to Boston", 0.3, (Signal.ENTITY,)),
        ("it was 40 degrees", 0.2, (Signal.NUMBER,)),
        ("see you on tuesday", 0.2, (Signal.NUMBER,)),
        ("I prefer tea", 0.4, (Signal.PREFERENCE,)),
        ("my favorite is blue", 0.4, (Signal.PREFERENCE,)),
        ("I always call Anna at 9", 0.9, (Signal.ENTITY, Signal.NUMBER, Signal.PREFERENCE)),
        ("kubernetes reconciliation", 0.1, (Signal.RARE,)),
        (
            "I hate the serialisation at Globex since 2021",
            1.0,
            (Signal.ENTITY, Signal.NUMBER, Signal.PREFERENCE, Signal.RARE),
        ),
    ],
)
def test_salience_is_the_sum_of_its_signals(text: str, value: float, signals: tuple[Signal, ...]) -> None:
    found = salience(text, COUNTER)
    assert (found.salience, found.signals) == (pytest.approx(value), signals)


@pytest.mark.parametrize(
    "text", ["Everything is fine. It works", "I am here", "The end", "On Monday in May", "the Dr. is in", ""]
)
def test_names_something_ignores_other_capitalised_words(text: str) -> None:
    assert not names_something(text)


@pytest.mark.parametrize("text", ["we use GitHub", "by Dr. No", "ask Caroline", "Jane Smith left", "an AWS bill"])
def test_names_something_detects_names(text: str) -> None:
    assert names_something(text)


def test_rarity_is_the_share_of_words_in_three_pieces_or_more() -> None:
    assert rarity("cat dog house interoperability", COUNTER) == 0.25
    assert rarity("of the and", COUNTER) == 0.0


def test_importance_is_three_fifths_novelty_and_two_fifths_salience() -> None:
    assert Importance(0.5, (), 0.25).value == pytest.approx(0.6 * 0.25 + 0.4 * 0.5)
    assert Importance(0.5).value is None


# Routing


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I prefer short answers", MemoryType.PROCEDURAL),
        ("The owner prefers answers in British English.", MemoryType.PROCEDURAL),
        ("User really dislikes long answers", MemoryType.PROCEDURAL),
        ("The user's favourite editor is Helix", MemoryType.PROCEDURAL),
        ("Anna Keller prefers meetings before noon", MemoryType.SEMANTIC),
        ("The owner of the flat prefers cash", MemoryType.SEMANTIC),
        ("The product owner prefers small stories", MemoryType.SEMANTIC),
        ("In the study each user prefers big buttons", MemoryType.SEMANTIC),
        ("The settings page says what the user prefers.", MemoryType.SEMANTIC),
        ("The user always gets an error when saving", MemoryType.SEMANTIC),
        ("Please keep answers short and skip the pleasantries.", MemoryType.PROCEDURAL),
        ("Always answer in German", MemoryType.PROCEDURAL),
        ("Don’t use emojis", MemoryType.PROCEDURAL),
        ("Bitte antworte auf Deutsch", MemoryType.PROCEDURAL),
        ("Antworte bitte immer auf Deutsch", MemoryType.PROCEDURAL),
        ("N'utilise pas d’emojis", MemoryType.PROCEDURAL),
        ("Réponds en français, s'il te plaît", MemoryType.PROCEDURAL),
        ("Ich trinke lieber Tee als Kaffee", MemoryType.PROCEDURAL),
        ("Je préfère le train", MemoryType.PROCEDURAL),
        ("Please use the metric system", MemoryType.PROCEDURAL),
        ("Use British spelling", MemoryType.PROCEDURAL),
        ("Keep it short", MemoryType.PROCEDURAL),
        ("Use case 3 was dropped in May", MemoryType.SEMANTIC),
        ("Keep the receipt", MemoryType.SEMANTIC),
        ("Ne fais pas ça", MemoryType.SEMANTIC),
        ("Please check whether the link works", MemoryType.SEMANTIC),
        ("Bitte fasse den Text oben zusammen", MemoryType.SEMANTIC),
        ("Do I prefer tea or coffee?", MemoryType.EPISODIC),
        ('Lena wrote: "I prefer to travel by train."', MemoryType.SEMANTIC),
        ("If I lived in Spain, I'd prefer a flat by the sea", MemoryType.SEMANTIC),
        ("I always thought that Canberra was bigger", MemoryType.SEMANTIC),
        ("Bitte merke dir, dass Milo allergisch ist", MemoryType.SEMANTIC),
        ("N'oublie pas que Milo est allergique", MemoryType.SEMANTIC),
        ("Die Bitte von Anna wurde abgelehnt", MemoryType.SEMANTIC),
        ("Anna mag lieber Tee", MemoryType.SEMANTIC),
        ("Please note that the gateway moved", MemoryType.SEMANTIC),
        ("Please don't forget that Milo is allergic", MemoryType.SEMANTIC),
        ("Never been to Japan", MemoryType.SEMANTIC),
        ("I am currently debugging the gateway", MemoryType.WORKING),
        ("The gateway runs on port 8080", MemoryType.SEMANTIC),
        ("My sister lives in Oslo", MemoryType.SEMANTIC),
        ("Our wifi password hint is on the fridge", MemoryType.SEMANTIC),
        ("The dentist is Dr. Berg.", MemoryType.SEMANTIC),
        ("Bins go out on Tuesdays", MemoryType.SEMANTIC),
        ("We need two keys for the cellar", MemoryType.SEMANTIC),
        ("Wifi: Kestrel-5G", MemoryType.SEMANTIC),
        ("Ted lives in Berlin", MemoryType.SEMANTIC),
        ("Speed limit is 50", MemoryType.SEMANTIC),
        ("Moved the server to Oslo", MemoryType.EPISODIC),
        ("Ana moved to Rome. she works at ACME", MemoryType.EPISODIC),
        ("We met the architect on 3 May", MemoryType.EPISODIC),
        ("Ben lost his first tooth today", MemoryType.EPISODIC),
        ("Is the gateway up?", MemoryType.EPISODIC),
        ("We talked for an hour. Then we left.", MemoryType.EPISODIC),
    ],
)
def test_a_text_is_routed_by_the_first_rule_that_holds(text: str, kind: MemoryType) -> None:
    assert route(text) is kind
    assert route(text, MemoryType.WORKING) is MemoryType.WORKING


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("My favorite colour is blue", "favourite colour"),
        ("my favourite colour is green", "favourite colour"),
        ("The owner's favourite colour is red", "favourite colour"),
        ("Communication style: direct, technical", "communication style"),
        ("I always deploy on Fridays", "always deploy fridays"),
        ("Reminder: I always lock the door", "reminder: always lock door"),
        ("Reminder: I never eat pork", "reminder: never eat pork"),
        ("Diet: I prefer vegan food", "diet"),
        ("I prefer tea over coffee", "coffee tea"),
        ("The owner prefers coffee now instead of tea.", "coffee tea"),
        ("I prefer trains to planes for short trips", "planes trains for short trips"),
        ("I prefer planes to trains for long trips", "planes trains for long trips"),
        ("I prefer tea in the evening", "prefer tea evening"),
        ("Please use emojis", "emojis"),
        ("Don’t use emojis", "emojis"),
        ("Stop using emojis", "emojis"),
        ("No emojis, please", "emojis"),
        ("Please answer in German", "answer"),
        ("Please always answer in English.", "answer"),
        ("Please answer in short sentences", "answer short sentences"),
        ("Bitte antworte auf Englisch", "answer"),
        ("Antworte immer auf Deutsch", "answer"),
        ("Réponds en anglais, s'il te plaît", "answer"),
        ("Please write code comments in English", "write code comments"),
        ("Don't answer in German", "answer german"),
        ("Nenn mich bitte Basti", "call me"),
        ("Please call me back", "call back"),
        ("Tom: I don't eat meat", "tom: don t eat meat"),
        ("Never work in Excel", "work excel"),
    ],
)
def test_a_preference_is_kept_under_its_name(text: str, key: str) -> None:
    assert preference_key(text) == key
