"""Dates in questions, and the phrases with which notes mention them."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.search.query import date_pattern, date_phrases, relative_dates, without_dates

FRIDAY = date(2026, 11, 27)


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("what was my mood on May 2nd?", ("05 02", "may 2", "may 2nd", "2nd may", "2 may", "2 mai")),
        (
            "the 3rd of July",
            ("07 03", "july 3", "july 3rd", "jul 3", "jul 3rd", "3rd july", "3rd jul", "3 july", "3 jul", "3 juli"),
        ),
        ("in Sept. 2024", ("2024 09", "september 2024", "sep 2024", "sept 2024")),
        ("in March 2024", ("2024 03", "march 2024", "mar 2024", "märz 2024", "mär 2024")),
        ("back in 2026-12", ("2026 12", "december 2026", "dec 2026", "dezember 2026", "dez 2026")),
        (
            "jour fixe 13.10.",
            (
                "10 13",
                "october 13",
                "october 13th",
                "oct 13",
                "oct 13th",
                "13th october",
                "13th oct",
                "13 october",
                "13 oct",
                "13 oktober",
                "13 okt",
            ),
        ),
        ("12. Maı", ("05 12", "may 12", "may 12th", "12th may", "12 may", "12 mai")),
        (
            "am 2026-05-21",
            ("2026 05 21", "may 21", "may 21st", "21st may", "21 may", "21 mai", "21 05 2026", "21 5 2026"),
        ),
    ],
)
def test_a_date_has_the_names_that_notes_give_it(text: str, phrases: tuple[str, ...]) -> None:
    assert date_phrases(text) == phrases


@pytest.mark.parametrize(
    "text",
    [
        "",
        "may I ask 5 things",
        "march on",
        "version 3.12",
        "3.12.1",
        "1.3.12.",
        "13.10.x",
        "May 45",
        "2026-19-40",
        "1 Maybe",
    ],
)
def test_what_is_no_date_has_no_names(text: str) -> None:
    assert date_phrases(text) == ()


@pytest.mark.parametrize(
    ("question", "text", "holds"),
    [
        ("on 13 October 2023", "we met on 13 october", True),
        ("on 13 October 2023", "we met on october 13 2023", True),
        ("on 13 October 2023", "2023 10 13 standup", True),
        ("on 13 October 2023", "we met on 13 october 2021", False),
        ("on 13 October 2023", "2021y11m02d we met on 13 october", False),
        ("on 13 October 2023", "2021y11m02d we meet on 13 october 2023", True),
        ("on 13 October 2023", "2023y11m02d we met on 13 october", True),
        ("on 13 October 2023", "the train leaves at 10 13", False),
        ("on 2021-10-13", "version 0 10 13", False),
        ("on 3 May", "3 may 2023 we met", True),
        ("on 3 May", "2023 05 03 standup", True),
        ("on 3 May", "at 05 03 the train leaves", False),
        ("in October 2023", "in october 2022", False),
        ("on 13 October 2023", "2023 10 14 standup", False),
        ("on 13 October 2023", "am 13 oktober 2023", True),
        ("on 13 October 2023", "seen on the 13th of oct 2023", True),
        ("on 13 October 2023", "13 octopuses", False),
        ("on 3 May 2023", "paid on 3 5 2023", True),
        ("on 2023-05-03", "fällig am 03 05 2023", True),
        ("on 3 May 2023", "paid on 5 3 2023", False),
        ("on 3 May 2023", "from 2022 03 05 2023 01 01", False),
    ],
)
def test_a_time_or_the_day_of_another_year_is_not_the_date(question: str, text: str, holds: bool) -> None:
    pattern = date_pattern(question)
    assert pattern is not None
    assert bool(pattern.search(text)) is holds


def test_the_rest_of_a_question_is_without_its_dates() -> None:
    assert without_dates("on April 27th, which movies").split() == ["on", ",", "which", "movies"]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("what did I decide yesterday?", "2026-11-26"),
        ("today's notes", "2026-11-27"),
        ("Tomorrow", "2026-11-28"),
        ("was habe ich gestern notiert", "2026-11-26"),
        ("this week", "2026-11-23 2026-11-24 2026-11-25 2026-11-26 2026-11-27 2026-11-28 2026-11-29"),
        ("last week's", "2026-11-16 2026-11-17 2026-11-18 2026-11-19 2026-11-20 2026-11-21 2026-11-22"),
        ("letzte Woche", "2026-11-16 2026-11-17 2026-11-18 2026-11-19 2026-11-20 2026-11-21 2026-11-22"),
        ("this month or last month", "2026-11 2026-10"),
        ("on Monday", "2026-11-23 2026-11-30"),
        ("on Friday", "2026-11-20 2026-11-27 2026-12-04"),
        ("last Friday", "2026-11-20"),
        ("next friday", "2026-12-04"),
        ("what happened in March", "2026-03"),
        ("in December, at home", "2025-12"),
        ("in November", "2026-11"),
        ("last November", "2025-11"),
        ("last october", "2026-10"),
        ("this friday", "2026-11-27"),
        ("was war letzten Montag", "2026-11-23"),
        ("am Dienstag", "2026-11-24 2026-12-01"),
        ("diesen Freitag, nächsten Freitag", "2026-11-27 2026-12-04"),
        ("vorgestern", "2026-11-25"),
        ("was haben wir gestern im Meeting beschlossen", "2026-11-26"),
        ("was war letzten Montag im Büro", "2026-11-23"),
        ("am Dienstag vor der Sitzung", "2026-11-24 2026-12-01"),
        ("this Monday", "2026-11-23 2026-11-30"),
        ("in diesem Monat, in letztem Monat", "2026-11 2026-10"),
        ("How can we meet next month", "2026-12"),
        ("what did we decide last year?", " ".join(f"2025-{month:02}" for month in range(1, 13))),
        ("Treffen im Oktober", "2026-10"),
        ("im MÄRZ", "2026-03"),
        ("September?", "2026-09"),
        ("oktober", "2026-10"),
        ("im Auguſt", "2026-08"),
        ("im nächsten Jahr", " ".join(f"2027-{month:02}" for month in range(1, 13))),
    ],
)
def test_relative_dates_are_those_of_today(text: str, days: str) -> None:
    assert relative_dates(text, FRIDAY)[1] == days
    assert date_pattern(days) is not None


def test_months_before_and_after_this_one_may_be_of_another_year() -> None:
    assert relative_dates("last month", date(2026, 1, 31)) == (("last month",), "2025-12")
    assert relative_dates("next month", date(2026, 12, 31)) == (("next month",), "2027-01")


@pytest.mark.parametrize(
    "text",
    [
        "who wrote Yesterday", "how do I insert today's date", "the last Wednesday of the month", "this may be wrong",
        "jeden letzten Freitag im Monat", "der letzte Freitag des Quartals", "9 am Monday",
        "what did she finish last Friday on 23 January, 2022", "this weekend", "on Mondays", "in Jan's office",
        "on ſunday", "on frıday", "yeſterday", "geſtern", "sept", "May Wong", "the March", "Märchen",
    ],
)  # fmt: skip
def test_words_that_name_no_day_relative_to_today(text: str) -> None:
    assert relative_dates(text, FRIDAY) == ((), "")


@given(st.text())
def test_any_text_may_be_asked(text: str) -> None:
    assert all(phrase.replace(" ", "").isalnum() for phrase in date_phrases(text))
    assert (date_pattern(text) is None) == (date_phrases(text) == ())
