"""Whole bullets and sentences of a note are quoted with their own lines, later statements before earlier ones."""

from __future__ import annotations

import datetime
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.drafts.blocks import Block, Role, bare, blocks_of
from donna_tui.drafts.passages import IndexedNote
from donna_tui.drafts.quotable import is_quotable
from donna_tui.drafts.quotes import Points, Read, open_boxes, outcomes_of, points_of, was_cancelled
from donna_tui.text.sentences import sentence_spans

WEEKLY = """# Weekly

## Notes
- The cut-over is planned for 2 December
- Cleo measured the queue on one node
  and Ben L. saw the same in Lisbon
- Costs were not discussed today

## Decisions
- The cut-over moves to 4 December
- We keep one queue per region

## Action items
- [ ] Write the runbook ⏫ 📅 2026-01-27 ^runbook
- [x] Announce the end of the importer

## Open questions
- Who pays for the second region?
"""


def quoted(text: str, *agenda: str) -> Points:
    return points_of(blocks_of(text), agenda)


def texts(blocks: tuple[Block, ...] | list[Block]) -> list[str]:
    return [block.text for block in blocks]


def read(path: str, text: str) -> Read:
    return Read(note=IndexedNote(path, path, 0.0, {}, False), text=text, blocks=tuple(blocks_of(text)))


def test_decisions_come_first_and_what_they_replace_is_not_quoted() -> None:
    points = quoted(WEEKLY)
    assert texts(points.decisions) == ["The cut-over moves to 4 December", "We keep one queue per region"]
    assert not any("2 December" in each for each in texts(points.notes))


def test_a_bullet_is_quoted_whole_with_its_own_lines() -> None:
    (bullet,) = [each for each in quoted(WEEKLY).notes if "Cleo" in each.text]
    assert bullet.text == "Cleo measured the queue on one node and Ben L. saw the same in Lisbon"
    assert (bullet.start_line, bullet.end_line) == (5, 6)
    assert [(each.start_line, each.end_line) for each in quoted(WEEKLY).decisions] == [(10, 10), (11, 11)]


def test_check_boxes_are_no_quotes_and_open_questions_are() -> None:
    points = quoted(WEEKLY)
    said = [*texts(points.decisions), *texts(points.notes), *texts(points.actions), *texts(points.questions)]
    assert not any("runbook" in each or "Announce" in each for each in said)
    assert texts(points.questions) == ["Who pays for the second region?"]


def test_open_boxes_are_carried_over_once_without_marks_of_plugins() -> None:
    text = f"{WEEKLY}\n- [ ] Send the table 🔁 every month 📅 2026-02-01\n  to Ana 🎉\n"
    boxes = open_boxes([read("b.md", text), read("a.md", WEEKLY)], 10)
    assert [(note.note.path, block.text, block.due) for note, block in boxes] == [
        ("b.md", "Write the runbook", "2026-01-27"),
        ("b.md", "Send the table to Ana 🎉", "2026-02-01"),
    ]


def test_what_a_later_note_closed_is_not_carried_over() -> None:
    later = WEEKLY.replace("- [ ] Write", "- [x] Write")
    assert open_boxes([read("b.md", later), read("a.md", WEEKLY)], 10) == []
    assert len(open_boxes([read("b.md", WEEKLY), read("a.md", later)], 10)) == 1


@pytest.mark.parametrize(
    ("earlier", "later", "is_replaced"),
    [
        ("The launch is on 3 May", "The launch is moved to 10 May", True),
        ("The launch is on 3 May", "The launch is on 10 May", True),
        ("We use Redis for the sessions", "We use SQLite instead of Redis for the sessions", True),
        ("The old importer stays until March", "The old importer is no longer needed", True),
        ("Release 20.11 is on 9 January", "Release 21.6 is on 15 January", False),
        ("The office opens on 3 May", "The launch is on 10 May", False),
        ("Ana writes the report by Friday", "Ben writes the guide by Monday", False),
        ("We keep one queue per region", "We keep one rota per team", False),
    ],
)
def test_a_later_decision_about_the_same_replaces_an_earlier_one(earlier: str, later: str, is_replaced: bool) -> None:
    said = texts(quoted(f"## Decisions\n- {earlier}\n- {later}\n").decisions)
    assert said == ([later] if is_replaced else [earlier, later])


def test_what_was_struck_out_and_comments_and_footnotes_are_not_quoted() -> None:
    text = (
        "## Decisions\n- ~~Three hires~~\n  - Ana pays them\n    - from May\n- [ ] ~~Call Bo~~\n  - about pay\n"
        "- One ~~or two~~ hire for support[^1]: Ben %%or not%%\n\n[^1]: A note. In May.\n"
    )
    assert texts(quoted(text).decisions) == ["One hire for support: Ben"]
    assert not any(block.is_open_box for block in blocks_of(text))


def test_the_name_of_an_embedded_image_is_not_quoted() -> None:
    text = "- The roof is dry ![[roof.JPG|300]]\n- ![[plan.png]]\n- As in ![[Plan]]\n\nAll of it holds ![[a.webp]] since May.\n"
    assert [block.text for block in blocks_of(text)] == ["The roof is dry", "As in Plan", "All of it holds since May."]


def test_a_remark_on_struck_out_text_is_not_quoted() -> None:
    text = "- ~~Book a band~~ Done by Bo ^band\n- [ ] ~~Call Bo~~ (erledigt von Ana)\n- ~~3 May~~ 10 May: launch\n- [ ] ~~Tea~~ Buy milk\n"
    text += "- [ ] ~~Order a cake~~ cancelled, order fruit instead\n- ~~Dienstag~~ fertig bis Freitag mit dem Bericht\n"
    assert texts(blocks_of(text)) == [
        "10 May: launch",
        "Buy milk",
        "cancelled, order fruit instead",
        "fertig bis Freitag mit dem Bericht",
    ]


def test_an_answer_is_quoted_below_the_question_before_it() -> None:
    text = "- Do we ship the importer?\n- Yes, on Friday\n- Is it free?\n- No, not yet\n- Who tests it?\n  - Priya\n- Thanks to Ana\n"
    notes = quoted(text).notes
    assert [(block.depth, block.text) for block in notes] == [
        (0, "Do we ship the importer?"),
        (1, "Yes, on Friday"),
        (0, "Is it free?"),
        (1, "No, not yet"),
        (0, "Who tests it?"),
        (1, "Priya"),
    ]


def test_a_sentence_that_answers_a_question_is_quoted_with_it() -> None:
    text = "Ana showed the weekly digest. Is it a condition in study 2? No, too late; mention it. Who pays? Nobody knows yet.\n"
    assert texts(quoted(text).notes) == [
        "Ana showed the weekly digest.",
        "Is it a condition in study 2? No, too late; mention it.",
        "Who pays? Nobody knows yet.",
    ]


def test_a_sentence_that_begins_with_a_pronoun_is_quoted_with_the_one_before() -> None:
    text = "Ingrid joins the new team. She starts in May. Her son stays in Oslo. The budget for new chairs is nearly spent.\n\n"
    text += "He would rather stay at home.\n\nFrau Pauli prüft die Zulage. Sie meldet sich bis Freitag.\n\n"
    text += f"Ben wrote {'very ' * 90}much. They read all of it.\n"
    assert texts(quoted(text).notes) == [
        "Ingrid joins the new team. She starts in May. Her son stays in Oslo.",
        "The budget for new chairs is nearly spent.",
        "Frau Pauli prüft die Zulage. Sie meldet sich bis Freitag.",
        f"Ben wrote {'very ' * 90}much.",
    ]
    turns = "Ben 10:01\nShe pays the rent.\n\nAna 10:02\nI sold the car.\n\nBen 10:03\nNobody objected.\n"
    assert "Ben 10:01" not in " ".join(texts(blocks_of(turns)))


def test_a_bullet_of_links_is_no_point_unless_it_answers_a_question() -> None:
    text = (
        "- [[Plans of the old wing]]\n- See [[Plans of the old wing]] for the stairs\n- Which plan?\n  - [[Plan B]]\n"
    )
    assert texts(quoted(text).notes) == ["See Plans of the old wing for the stairs", "Which plan?", "Plan B"]


def test_minutes_in_german_are_read_as_those_in_english() -> None:
    text = (
        "## Tagesordnung\n- Preise\n\n## Notizen\nAnwesend: Ana, Ben\n\nDer Kunde zahlt den neuen Preis ab Juni.\n\n"
        "Offene Frage: Wer zahlt die Lizenz?\n"
    )
    points = quoted(text)
    assert texts(points.notes) == ["Der Kunde zahlt den neuen Preis ab Juni."]
    assert texts(points.questions) == ["Offene Frage: Wer zahlt die Lizenz?"]


def test_minutes_in_french_and_spanish_are_read_as_those_in_english() -> None:
    text = (
        "## Présents\n\nAna, Ben\n\n## Décisions\n- Le camion part à 6 h\n\n## À faire\n- [ ] Ana : peindre la toile\n"
        "- Ben : louer le camion\n\n## Divers\n- Décision : la salle reste fermée\n"
    )
    points = quoted(text)
    assert texts(points.decisions) == ["Le camion part à 6 h", "Décision : la salle reste fermée"]
    assert texts(points.actions) == ["Ben : louer le camion"]
    assert points.notes == points.topics == ()
    text = (
        "## Orden del día\n- Precios\n\n## Asistentes\nAna, Ben\n\n## Acuerdos\n- La obra dura dos horas\n\n## Tareas\n"
        "- Ana enviará el plano\n\n## Notas\n- Hemos decidido cerrar el lunes\n- No hemos decidido el precio\n"
    )
    points = quoted(text)
    assert texts(points.decisions) == ["La obra dura dos horas", "Hemos decidido cerrar el lunes"]
    assert texts(points.actions) == ["Ana enviará el plano"]
    assert texts(points.notes) == ["No hemos decidido el precio"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "We moved the launch. %%Ben is fired. Do not tell Ana.%% The budget stays.",
            ["We moved the launch.", "The budget stays."],
        ),
        ("%%Ben is fired.%% The budget stays.", ["The budget stays."]),
        ("<!-- Ben is fired. Do not tell Ana. --> The budget stays.", ["The budget stays."]),
        ("- Launch %%\n- Ben is fired\n%%\n- %%Ana%% Budget", ["Launch", "Budget"]),
        ("~~Ben is fired. Do not tell Ana.~~ The budget stays.", ["The budget stays."]),
        (f"- {'Long. ' * 90}%%Ben is fired. Do not tell Ana.%% The end.", [*["Long."] * 90, "The end."]),
        ("```mermaid\n%% a chart\n```\nWe ship. %%Ben is fired. Do not tell.%%", ["We ship."]),
        ("We ship. <!-- Ben\n\n- is fired -->\n- `%%` stays `%%`", ["We ship.", "%% stays %%"]),
        ("- Costs %%\n## Ben is fired\n- Why\n%% and\n- Plans", ["Costs and", "Plans"]),
    ],
)
def test_comments_and_struck_out_text_of_several_sentences_are_in_no_block(text: str, said: list[str]) -> None:
    blocks = blocks_of(text)
    assert texts(blocks) == said
    assert not any("fired" in block.raw for block in blocks if "~~" not in text)


def test_a_comment_is_hidden_that_ends_after_what_is_read_of_a_long_note() -> None:
    assert texts(blocks_of(f"Costs <!-- Ana is ill. Ben is fired. {'Words ' * 200_000}-->\n")) == ["Costs"]


def test_lines_below_a_label_are_joined_to_sentences() -> None:
    text = "Decision:\nWe will move the launch to\nMay because the vendor is late. %%No.%%\n\nAgreed:\nBen pays\nAna signs\nand sends it\n"
    assert texts(blocks_of(text)) == [
        "We will move the launch to May because the vendor is late.",
        "Ben pays",
        "Ana signs and sends it",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "Present: the prototype goes to the board in June",
        "Participants: 40 signed up, a larger room is needed",
        "Next meeting: Ben shows the budget",
    ],
)
@pytest.mark.parametrize("heading", ["Decisions", "Notes"])
def test_a_statement_that_begins_as_a_list_of_people_is_quoted(heading: str, line: str) -> None:
    skipped = "- Present: Ana Lima (phone), Ben and Cleo\n- Next meeting: 3 May\n- Nächster Termin: Juni 5\n- Teilnehmende: Ana, ich.\n"
    skipped += "- Teilnehmende: sieben Eltern, 6 Lehrkräfte, Ana\n- Protokoll: Frau Dorn\n"
    points = quoted(f"## {heading}\n- {line}\n{skipped}")
    assert line in texts(points.decisions or points.notes)
    assert points.decisions or len(points.notes) == 1


@pytest.mark.parametrize(
    "transcript",
    [
        "Kim: The logo is nearly ready. I'll send it by Friday.\nSam: Great.\n",
        "**Kim:** The logo is nearly ready. I'll send it by Friday.\n\n**Sam:** Great.\n",
        "[00:00:03] Kim: The logo is nearly ready. I'll send it by Friday.\n",
        "Kim (0:03): The logo is nearly ready. I'll send it by Friday.\n",
        "Sam 0:01\nHello.\n\nKim 0:03\nThe logo is nearly ready. I'll send it by Friday.\n\nSam 0:09\nGreat.\n",
        "1\n00:00:03,000 --> 00:00:09,500\nKim: The logo is nearly ready. I'll send it by Friday.\n",
        "00:03.000 --> 00:09.500\n<v Kim>The logo is nearly ready. I'll send it by Friday.</v>\n",
    ],
)
def test_a_promise_in_a_transcript_has_the_name_of_its_speaker(transcript: str) -> None:
    said = texts([block for block in blocks_of(transcript) if is_quotable(block)])
    assert "Kim: I'll send it by Friday." in said
    assert not any("-->" in line or "0:0" in line for line in said)


def test_what_is_no_speaker_is_not_put_before_a_sentence() -> None:
    text = (
        "Decision: the logo is blue. I'll tell Kim.\n\n10:00 Standup: we met. We left.\n\nNotes 10:00\nWe met again.\n"
    )
    assert texts(blocks_of(text)) == [
        "Decision: the logo is blue.",
        "I'll tell Kim.",
        "10:00 Standup: we met.",
        "We left.",
        "Notes 10:00",
        "We met again.",
    ]


def test_a_sentence_does_not_end_in_a_short_quotation() -> None:
    text = (
        'She said: "Step five I support. Six is politics." Ben nodded. A 24" screen. It broke. Ben: "No. Never.\n'
        "We left „heute. Nicht morgen“, ohne Kim. Mamie dit « oui. Mais non ! » et part. It is “late”. We go.\n"
    )
    assert texts(blocks_of(text)) == [
        'She said: "Step five I support. Six is politics."',
        "Ben nodded.",
        'A 24" screen.',
        "It broke.",
        'Ben: "No.',
        "Never.",
        "We left „heute. Nicht morgen“, ohne Kim.",
        "Mamie dit « oui. Mais non ! » et part.",
        "It is “late”.",
        "We go.",
    ]


def test_what_the_writer_of_a_note_says_after_the_name_of_somebody_is_not_said_by_that_person() -> None:
    text = "Kim: no printed logo. It is late. On the train home I read the plan.\n\nI slept.\n\nKim: yes. We agreed.\n"
    assert texts(blocks_of(text)) == [
        "Kim: no printed logo. It is late. On the train home I read the plan.",
        "I slept.",
        "Kim: yes.",
        "We agreed.",
    ]
    turns = f"{text}\nSam: Great.\n"
    assert "Kim: On the train home I read the plan." in texts(blocks_of(turns))
    assert texts(blocks_of(f"Kim: {'It is late. ' * 50}I slept. It rained.\n"))[-1] == "It rained."


def test_a_short_line_is_a_statement_of_its_own_and_a_wrapped_one_is_not() -> None:
    text = (
        "**14:00 Call Kim**\nTalked about the price\nWe agreed on\nEuro and cents,\nNot on dollars\n\n"
        "The board of the company met on Monday in the old building of\nBerlin and approved the plan.\n\n"
        "We decided the following\nLand the patch first.\nThen the script\n"
    )
    assert texts(blocks_of(text)) == [
        "14:00 Call Kim",
        "Talked about the price",
        "We agreed on Euro and cents, Not on dollars",
        "The board of the company met on Monday in the old building of Berlin and approved the plan.",
        "Land the patch first.",
        "Then the script",
    ]


LONG_LINE = "The board of the company met on Monday in the old building by the river, where it rained"


@pytest.mark.parametrize(
    ("item", "found"),
    [
        ("- Boiler: one part came\none is still missing", ["Boiler: one part came", "one is still missing"]),
        ("- Boiler off\nmen come Thurs\nring Bo", ["Boiler off", "men come Thurs", "ring Bo"]),
        ("- [ ] Order paint\nhall needs two tins", ["Order paint", "hall needs two tins"]),
        ("- The boiler is off\nand the men come", ["The boiler is off and the men come"]),
        ("- The boiler, which is off,\nis old", ["The boiler, which is off, is old"]),
        ("- We ring the\nboiler men", ["We ring the boiler men"]),
        ("- Boiler\nhttps://example.org/boiler", ["Boiler example.org/boiler"]),
        ("- Boiler off\n  since Monday", ["Boiler off since Monday"]),
        ("- Boiler off\nStaff\nshort on Monday", ["Boiler off", "Staff", "short on Monday"]),
        ("we meet on Monday\nzoe books the room\nand the bus", ["we meet on Monday", "zoe books the room and the bus"]),
        ("We meet on Monday\nin the room", ["We meet on Monday in the room"]),
        ("- Boiler\nKim: it was one of the first\nto break", ["Boiler", "Kim: it was one of the first to break"]),
        (f"- {LONG_LINE}\nall day", [f"{LONG_LINE} all day"]),
    ],
)
def test_a_line_in_lower_case_below_a_bullet_continues_it_only_if_the_bullet_was_wrapped(
    item: str, found: list[str]
) -> None:
    assert texts(blocks_of(f"{item}\n\n- {LONG_LINE}\n"))[:-1] == found
    wrapped = texts(blocks_of("- The men said the boiler is off\nuntil they have the part\n"))
    assert wrapped == ["The men said the boiler is off until they have the part"]


def test_the_longest_of_lines_that_were_typed_is_not_wrapped() -> None:
    longest = "Dev asks the assistant about four more hours, must be before payroll"
    typed = f"{longest}\nInsurance is paid\nHall is booked\nRota is done\n"
    assert texts(blocks_of(typed)) == [longest, "Insurance is paid", "Hall is booked", "Rota is done"]
    prose = f"Die Sitzung war kurz\n{longest}\nAssistent und Anna fragen im neuen Haus auf der anderen Seite vom\nFluss"
    assert (
        texts(blocks_of(prose))[1]
        == f"{longest} Assistent und Anna fragen im neuen Haus auf der anderen Seite vom Fluss"
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Book bands\n- Kim did it\nParents evening\n- ten minutes", {"Book bands": 1, "Parents evening": 1}),
        ("- Hall is booked\nStalls:\n- Cakes and tea", {"": 1, "Stalls": 1}),
        ("- Driver\nMark\n- Cook\nSue", {"": 4}),
        ("We bought paint. It is red\n- two tins", {"": 3}),
        ("Book bands\n\n- Kim did it", {"": 2}),
        ("JP to ring Bo\n- about the tent", {"": 2}),
        ("CN DP RE\n- Hall is booked", {"": 2}),
        (
            "1 Welcome\n2 Hall\nBo has the key\nIt is warm\n3 Tea and cake\nAna pays",
            {"": 1, "Hall": 2, "Tea and cake": 1},
        ),
        ("1 Buy paint\n2 Call Bo\n3 Rest", {"": 3}),
        ("3 Bewerbungen offen\nAna liest sie", {"": 2}),
    ],
)
def test_a_few_words_above_lines_are_their_label(text: str, found: dict[str, int]) -> None:
    topics = [block.topic for block in blocks_of(f"{text}\n")]
    assert {topic: topics.count(topic) for topic in topics} == found


def test_the_name_of_a_section_directly_below_a_list_is_that_of_the_next_items() -> None:
    points = quoted("- Hall is cold\nActions\n- Bo rings the men\n- Ana orders tea\n")
    assert texts(points.actions) == ["Bo rings the men", "Ana orders tea"]
    assert texts(points.notes) == ["Hall is cold"]


def test_a_label_is_no_speaker_of_later_lines() -> None:
    text = (
        "Present: Ana, Bo\n\nResolved: the licence is paid for a second year\nSchool day, do we have to end at four?\n"
    )
    assert texts(quoted(text).decisions) == ["Resolved: the licence is paid for a second year"]


@pytest.mark.parametrize(
    ("line", "is_decision"),
    [
        ("Mia declined. Decision: reopen the role in January.", True),
        ("We agreed: cutover starts at 23:00.", True),
        ("We agreed with Kim on 18k.", True),
        ("It was agreed that Kim pays.", True),
        ("DECISION - hire two testers", True),
        ("Decision (Kim): the budget is 40k.", True),
        ("01:10 Decision: the old queue stays for a week", True),
        ("Einigung: Lieferung im Mai", True),
        ("Es wurde beschlossen, den Maler zu wechseln.", True),
        ("Did we agree? We agreed on Friday?", False),
        ("Kim agreed to host the dinner.", False),
        ("Wir haben das noch nicht beschlossen.", False),
        ("The decision: a short history", False),
    ],
)
def test_a_statement_of_a_decision_is_one_wherever_it_is_written(line: str, is_decision: bool) -> None:
    points = quoted(f"## Notes\n- The queue was slow again\n- {line}\n")
    assert (line in texts(points.decisions)) is is_decision


def test_the_day_of_the_next_meeting_is_no_open_question() -> None:
    text = "## Open questions\n- Who pays?\n- Keine\n\nNext meeting: 10 November\n\nNext meeting: Monday or Friday?\n"
    assert texts(quoted(text).questions) == ["Who pays?", "Next meeting: Monday or Friday?"]
    assert texts(quoted("## Actions\n- Next meeting: 3 May\n").actions) == ["Next meeting: 3 May"]


def test_only_the_names_below_attendees_are_skipped() -> None:
    text = "Attendees:\nBen, Ana\nCleo Park\nWe agreed to move the launch to May.\n\n- Costs went up\n"
    said = blocks_of(text)
    assert texts(said) == ["We agreed to move the launch to May.", "Costs went up"]
    assert (said[0].start_line, said[0].role) == (4, Role.DECISIONS)


@pytest.mark.parametrize(
    ("line", "cancelled"),
    [
        ("Cancelled", True),
        ("The meeting was cancelled this week.", True),
        ("Cancelled, half of us are ill.", True),
        ("Abgesagt wegen Krankheit", True),
        ("Der Termin fiel aus, Sabine war krank.", True),
        ("Fällt heute aus.", True),
        ("Termin verschoben auf nächste Woche.", True),
        ("No meeting today.", True),
        ("Postponed to next week.", True),
        ("The meeting did not take place.", True),
        ("Cancelled at short notice.", True),
        ("Skipped, half term.", True),
        ("Skipped this week", True),
        ("Skipped for the holidays", True),
        ("Annulée, tout le monde est malade.", True),
        ("Réunion reportée au 3 décembre", True),
        ("Skipped the vote on the budget", False),
        ("Skipped lunch, the board was late", False),
        ("Postponed the launch to May after the review of the two risks by the board", False),
        ("No meeting is longer than an hour from now on", False),
        ("Cancelled the contract with Acme, Ben tells legal", False),
        ("Cancelled orders are refunded within 14 days", False),
    ],
)
def test_only_a_note_about_the_meeting_itself_says_that_it_was_cancelled(line: str, cancelled: bool) -> None:
    assert was_cancelled(read("Meetings/2024-01-15 Weekly.md", f"- {line}\n")) is cancelled


@pytest.mark.parametrize(
    ("name", "status", "cancelled"),
    [
        ("Retro (cancelled)", "", True),
        ("2024-01-15 Cancelled - Retro", "", True),
        ("Retro", "cancelled", True),
        ("Retro", "done", False),
        ("Cancelled orders", "", False),
    ],
)
def test_the_name_or_the_status_of_a_note_says_that_its_meeting_was_cancelled(
    name: str, status: str, cancelled: bool
) -> None:
    found = read(f"Meetings/{name}.md", "- Agenda: budget\n- The sheets are green\n")
    assert was_cancelled(replace(found, note=replace(found.note, front={"status": status}))) is cancelled


def test_hostile_brackets_and_spaces_take_linear_time() -> None:
    start = time.process_time()
    assert len(list(sentence_spans("( " + "Aa. " * 50_000))) == 1
    assert len(blocks_of(f"- a{' ' * 50_000}b")) == 1
    assert len(list(sentence_spans("1 " * 100_000 + "Aa" + "? a " * 50_000))) == 1
    assert len(blocks_of("> [!info] b\n" + ">\n" * 20_000)) == 1
    assert time.process_time() - start < 5


def test_the_agenda_orders_what_is_quoted() -> None:
    text = "## Notes\n- Costs went up by a tenth\n- The hut is booked for May\n- Redis is gone since Monday\n"
    assert texts(quoted(text, "Redis", "The hut").notes) == [
        "Redis is gone since Monday",
        "The hut is booked for May",
        "Costs went up by a tenth",
    ]


def test_a_nested_bullet_is_quoted_below_its_own() -> None:
    text = "## Notes\n- Website redesign\n  - Geoffrey agreed to a new text\n- Something else happened there\n"
    assert [(each.depth, each.text) for each in quoted(text).notes] == [
        (0, "Website redesign"),
        (1, "Geoffrey agreed to a new text"),
        (0, "Something else happened there"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "select split_part(name, '-', 2) from invoices",
        "`kubectl rollout undo deploy/worker`",
        "2026-01-12 07:14:03 ERROR worker stopped unexpectedly",
        "07:14:03 worker stopped unexpectedly",
        "The call of T::m() is slow",
        "Join: https://meet.example/abc",
        "Join Zoom Meeting",
        "Dial by your location",
        "Click `+GoogleCalendar` at the bottom right to add to your own Google calendar.",
        "Meeting ID: 123 456 789",
        "No announcements this week",
        "https://github.com/openjs-foundation/cross-project-council/labels/waiting-on-board",
        "skipped, not enough time this week",
        "skipped not enough time this week",
        "Skipped so we could focus on the parser",
        "Ran out of time, will cover it next week",
        "no discussion; ran out of time",
        "Keine Neuigkeiten vom Vorstand",
        "(a, b) => a + b",
        "see discussion above",
        "No staff updates",
        "Decision: none",
        "Skipped for this week",
        "No updates from the board",
        "None",
        "N/A",
        "Nobody promised anything else.",
        "There were no other decisions.",
        "No further decisions were made at this meeting",
        "Sonst wurde nichts beschlossen.",
        "Keine weiteren Beschlüsse",
        "Es wurde nichts weiter entschieden",
        "I decided nothing",
        "Tom: –",
    ],
)
def test_decision_lines_without_content_are_not_quoted(line: str) -> None:
    assert texts(quoted(f"## Decisions\n- {line}\n- We keep one queue\n").decisions) == ["We keep one queue"]


@pytest.mark.parametrize(
    "line",
    [
        "No deploys on Fridays",
        "Yes to the second data centre",
        "Same venue as last year",
        "Done means merged and deployed",
        "Nothing is deleted before the audit",
        "Skip the retro in December",
        "Notes go to the wiki from now on",
        "No objections from the 8 members",
        "No changes before the audit, please",
        "Docker images move to another registry",
        "npm does not have a policy for long-term support",
        "Public beta: 3 May",
        "Return policy: 30 days",
        "Select a vendor from the shortlist by Friday",
        "Queue moves from region A -> region B",
        "Recording of customer calls needs consent",
        "Location: Lisbon",
        "Budget 2026: 120,000.00",
        "Redis: no",
        "Entscheidung: kein neues Auto",
        "We will not support Python 3.9 any more",
        "Nobody gets a discount",
        "Keine Rabatte für Neukunden",
        "No decision on the budget before May",
        "No action",
        "No meeting this week",
        "We agreed to have no meeting this week",
        "Decided not to do it",
        "Agreed not to take on any more commitments",
        "Offer to the second candidate => Ben calls her",
    ],
)
def test_a_decision_in_ordinary_words_is_quoted(line: str) -> None:
    assert texts(quoted(f"## Decisions\n- {line}\n").decisions) == [line]


@pytest.mark.parametrize(
    "line",
    [
        "Decision pending: vendor for the load tests",
        "Logging: decision postponed to next week",
        "We agreed to nothing on the budget",
        "No decision on on-call pay yet",
        "Preis: noch nicht entschieden",
        "Postponed.",
        "We could not agree on a date",
    ],
)
def test_a_decision_that_is_still_to_be_made_is_an_open_question(line: str) -> None:
    points = quoted(f"## Decisions\n- {line}\n- Postponed the launch to 3 March\n")
    assert (texts(points.decisions), texts(points.questions)) == (["Postponed the launch to 3 March"], [line])


def test_a_label_or_verb_at_its_beginning_makes_a_line_a_decision_or_a_list_of_people() -> None:
    text = (
        "# Jour fixe\n\n**Teilnehmer:** Uwe Krüger, Sabine Groß\n\nPresent: Ana Lima\n\n- Vereinbart: Lieferung im Mai\n"
        "- Decided to skip the conference\n- Decided by lot\n- Nächster Termin: Montag im Büro\n"
    )
    points = quoted(text)
    assert texts(points.decisions) == ["Vereinbart: Lieferung im Mai", "Decided to skip the conference"]
    assert texts(points.notes) == ["Decided by lot"]
    assert not any(is_quotable(block) for block in blocks_of(text) if block.role is Role.SKIPPED)


def test_a_sentence_that_reports_a_decision_with_it_is_quoted() -> None:
    text = "# Review\n\nIt was long and loud for everybody there. It was decided that dark mode is out of scope.\n"
    assert texts(quoted(text).decisions) == ["It was decided that dark mode is out of scope."]


def test_what_was_rejected_is_quoted_beside_what_was_approved() -> None:
    text = "1. Budget\n   - Approved: 40k for tools\n   - Rejected: a second designer\n   - Long talk about lunch\n"
    assert texts(quoted(text).notes) == ["Budget", "Approved: 40k for tools", "Rejected: a second designer"]


@pytest.mark.parametrize(
    ("line", "is_action"),
    [
        ("AI: Kim – sign the order by Friday", True),
        ("AI: Kim Berg to sign the order", True),
        ("AP Kim: sign the order", True),
        ("ACTION – Kim – sign the order", True),
        ("TODO(Kim): sign the order", True),
        ("[TODO] Kim signs the order", True),
        ("AI: the models cost more this year", False),
        ("AI Act: applies from August on", False),
        ("AI: Copilot to be bought in May", False),
        ("AP 3: the integration is late", False),
        ("Action – the fight is too long", False),
        ("TODO lists are too long", False),
        ("ToDo-Liste wird zu lang", False),
        ("AI: This will change everything", False),
    ],
)
def test_a_label_and_whose_task_it_is_mark_an_action_item(line: str, is_action: bool) -> None:
    points = quoted(f"## Notes\n- Tank\n  - Agreed to order the tank\n  - {line}\n- Costs went up by a tenth\n")
    assert (line in [block.raw for block in points.actions]) is is_action


@pytest.mark.parametrize(
    ("line", "is_open"),
    [
        ("Kim to order two disks – done", False),
        ("Kim -> order two disks - DONE", False),
        ("Kim: order two disks ✅", False),
        ("Kim: order two disks [done 20/11]", False),
        ("Kim: zwei Platten bestellen (erledigt am 3.11.)", False),
        ("Done: Kim orders two disks", False),
        ("Kim to say when it is done", True),
        ("Kim to order two disks – not done", True),
        ("Kim to order two disks - done by Friday", True),
        ("Kim to find out what is finished", True),
    ],
)
def test_an_action_item_with_a_remark_that_it_is_done_is_not_quoted(line: str, is_open: bool) -> None:
    assert texts(quoted(f"## Actions\n- {line}\n").actions) == [line] * is_open
    assert texts(quoted(f"## Decisions\n- {line}\n").decisions) == [line]


def test_name_followed_by_to_marks_an_action_item() -> None:
    remarks = "".join(f"- remark {word} made to us about costs\n" for word in "abcdefghijkl")
    text = f"## Notes\n{remarks}- Ruben to write the runbook\n"
    assert "Ruben to write the runbook" in texts(quoted(text).notes)


def test_sentences_of_a_dictated_note_are_quoted_though_they_begin_in_lower_case() -> None:
    dictated = "called kim he brings the tank on monday between eight and ten\n\nokay so the wigs are late and kim calls the maker\n"
    assert texts(quoted(dictated).notes) == dictated.strip().split("\n\n")
    leaning = f"{dictated}\nit was far too loud for the old people in the hall\n"
    assert texts(quoted(leaning).notes) == dictated.strip().split("\n\n")
    written = "Kim brings the tank on Monday between eight and ten.\n\nand the rest of the old tanks in the hall\n"
    assert texts(quoted(written).notes) == ["Kim brings the tank on Monday between eight and ten."]
    remarks = "\n\n".join(
        f"josh thinks that the plan of team {word} is far too long for may" for word in "abcdefghi" * 4
    )
    assert texts(quoted(f"{remarks}\n\n- Kim makes the schedule of the team\n").notes) == [
        "Kim makes the schedule of the team"
    ]


def test_a_paragraph_that_reports_a_decision_is_quoted_beside_bullets() -> None:
    text = (
        "## Notes\n- The queue was slow again\n- Costs went up by a tenth\n\nWe agreed to buy two more disks for the queue."
        "\n\nAction: Cleo orders two disks for the queue\n"
    )
    points = quoted(text)
    assert texts(points.decisions) == ["We agreed to buy two more disks for the queue."]
    assert texts(points.actions) == ["Action: Cleo orders two disks for the queue"]


@pytest.mark.parametrize(
    ("line", "is_decision"),
    [
        ("Wir haben gestern beschlossen, den Preis im Mai zu erhöhen.", True),
        ("Ana und Ben haben sich auf den zweiten Anbieter geeinigt.", True),
        ("Der Preis wird nächste Woche im Vorstand entschieden.", False),
        ("Ein Termin mit dem Kunden wurde noch nie vereinbart.", False),
        ("Es wurde kein Termin mit dem Kunden vereinbart.", False),
        ("Zum zweiten Anbieter ist noch nichts entschieden.", False),
        ("Die Lizenz des Anbieters ist entschieden zu teuer.", False),
        ("Wir haben noch nichts beschlossen.", False),
    ],
)
def test_only_a_german_verb_in_the_past_reports_a_decision(line: str, is_decision: bool) -> None:
    others = ["Das Backup läuft jeden Morgen um 6 Uhr", "Frau Morgen übernimmt die Queue"]
    text = f"## Notizen\n- {others[0]}\n- {others[1]}\n\n{line}\n"
    points = quoted(text)
    assert sorted(texts((*points.decisions, *points.notes))) == sorted([*others, *[line] * is_decision])


@pytest.mark.parametrize(
    ("left_out", "plan"),
    [
        ("We ate cake. ", "Ana will ask the bank for an offer. If it is too low, Bo pays."),
        ("", "Kim liked the blue logo. Bo will phone her and ask for the files."),
        ("Der Raum ist zu klein. ", "Frau Dorn klärt bis 4.12., ob die Halle frei ist."),
        ("", "The summer party is on 18 June."),
        ("", "Nobody has opened the kit. From now on the early shift checks it."),
        ("It is the new lifetime. Bo will roll it back by Friday.", ""),
        ("Bo will phone her and ask for the files.", ""),
        ("Most of the hour went into the logo and the colours.", ""),
        ("24 November, in the small room with Ana and Bo.", ""),
        ("Next board: 17 December at the house of Ana.", ""),
        ("Will Kim send the plan by Friday?", ""),
        ("Bo will not be in the office.", ""),
        ("We have 11 days left until February.", ""),
    ],
)
def test_of_prose_beside_bullets_a_plan_is_quoted_with_its_context(left_out: str, plan: str) -> None:
    points = quoted(f"## Notes\n- The queue was slow again\n- Costs went up\n\n{left_out}{plan}\n")
    assert texts(points.notes) == ["The queue was slow again", "Costs went up", *[plan] * bool(plan)]


@pytest.mark.parametrize(
    ("bullet", "text"),
    [
        ("Reading list\nAna cuts it to ten texts.", "Reading list: Ana cuts it to ten texts."),
        ("Talk with\n  Ana about the hall.", "Talk with Ana about the hall."),
        ("Tape and bandages\n  from Selin.", "Tape and bandages from Selin."),
    ],
)
def test_a_title_above_the_text_of_a_bullet_ends_with_a_colon(bullet: str, text: str) -> None:
    assert texts(blocks_of(f"## Notes\n- {bullet}\n")) == [text]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("Compost\nJan phones the farm\nBo pays", [(-1, "Compost"), (0, "Jan phones the farm"), (0, "Bo pays")]),
        ("Compost\n  Jan phones\n  Bo pays", [(-1, "Compost Jan phones Bo pays")]),
        ("Compost from\nJan\nand Bo\n(the good one)", [(-1, "Compost from Jan and Bo (the good one)")]),
        (
            f"The {'long ' * 12}talk\nBo pays for the hall and for the chairs and for the tables in the hall and the bar",
            [
                (-1, f"The {'long ' * 12}talk"),
                (0, "Bo pays for the hall and for the chairs and for the tables in the hall and the bar"),
            ],
        ),
        (
            f"The {'long ' * 12}talk with Mr\nBo about the hall",
            [(-1, f"The {'long ' * 12}talk with Mr Bo about the hall")],
        ),
    ],
)
def test_a_line_that_was_typed_below_a_bullet_is_a_statement_below_it(
    item: str, expected: list[tuple[int, str]]
) -> None:
    blocks = blocks_of(f"## Notes\n- {item}\n")
    assert [(block.parent, block.text) for block in blocks] == expected


def test_what_was_typed_below_an_item_has_its_own_role() -> None:
    points = quoted("5. Any other business\nACTION: Kim to write to the board\nDate of next meeting: 4 May\nBo left\n")
    assert texts(points.actions) == ["Any other business", "ACTION: Kim to write to the board"]
    assert texts(points.notes) == ["Any other business", "Bo left"]


@pytest.mark.parametrize(
    ("part", "is_quoted"),
    [
        ("Joan chose the blue costume because the red one smells.", True),
        ("Card reader from the school office or from Sue? Kim decides.", True),
        ("Are there any topics for the next working session?", False),
        ("The parser reads tables of any width. " * 9, False),
    ],
)
def test_of_a_section_without_bullets_its_few_statements_are_quoted(part: str, is_quoted: bool) -> None:
    points = quoted(f"## Stalls\n- The queue was slow again\n- Costs went up\n\n## Santa\n{part}\n")
    assert (part in texts(points.notes)) is is_quoted
    assert len(points.notes) == 2 + is_quoted


@pytest.mark.parametrize(
    ("choice", "is_outcome"),
    [
        ("Orbital it is, because it's short", True),
        ("Booking: we go with Calendesk", True),
        ("Wir nehmen Variante B, weil A teuer ist", True),
        ("Wir nehmen an, dass es teuer ist", False),
        ("Wir nehmen am Lauf teil", False),
        ("Cold as it is, the hall is full", False),
        ("The bank writes to us by 3 May", True),
        ("Yesterday: rang the bank about 3 May", False),
        ("What a day it is", False),
        ("Have we agreed on the hall? Nobody knows", False),
    ],
)
def test_a_choice_is_an_outcome(choice: str, is_outcome: bool) -> None:
    assert bool(outcomes_of(blocks_of(f"- {choice}\n- The talk was long\n"))) is is_outcome


@pytest.mark.parametrize(
    ("line", "is_it"),
    [
        ("Urlaub 21.12.–6.1. ok", True),
        ("Meeting date: 2021-02-03", False),
        ("Jan 07700 900123", False),
        ("Minutes of the last meeting agreed", False),
        ("Minutes approved the wrong way round", True),
        ("Pres: Alan Frost (chair), Nisha Rao, CN, JP", False),
        ("Apols: Rev Coles", False),
        ("Pres: the slides are too long", True),
        ("Date next: 3 Dec 4.30", False),
        ("Next mtg: Thurs", False),
        ("Next review is two weeks from now", False),
        ("Next review is on two weeks of data", True),
        ("Not this Thurs, the hall is shut", False),
        ("Not this Saturn rocket again", True),
    ],
)
def test_a_line_with_days_and_names_is_quoted_if_it_says_something_else(line: str, is_it: bool) -> None:
    assert (line in texts(quoted(f"- {line}\n- The queue was slow again\n").notes)) is is_it


def test_lines_that_are_typed_in_place_of_bullets_are_quoted_as_these_are() -> None:
    lines = [
        f"{name} has {name.lower()} tins of paint"
        for name in ("Ana", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal", "Ida", "Jo")
    ]
    assert texts(quoted("\n".join([*lines, "Kim Lee", "Ana & Bo, Cy", ""])).notes) == lines
    prose = "".join(f"{line} in the old hall.\n\n" for line in lines)
    assert len(quoted(prose).notes) == 8


def test_a_bullet_above_the_day_of_the_next_meeting_is_quoted() -> None:
    assert texts(quoted("- The owner pays the men\nNext meeting: 5.12.\n").notes) == ["The owner pays the men"]


@pytest.mark.parametrize(("number", "found"), [(16, 16), (17, 12)])
def test_a_note_that_is_hardly_too_long_is_quoted_as_a_whole(number: int, found: int) -> None:
    assert len(quoted("".join(f"- The room {each} is cold\n" for each in range(number))).notes) == found


def test_a_day_that_means_another_one_at_the_next_meeting_is_not_quoted() -> None:
    text = "## Notes\n- The vote on the logo ends this Friday\n- Out since yesterday\n- The queue was slow again\n- Costs went up by a tenth\n"
    assert texts(quoted(text).notes) == ["The queue was slow again", "Costs went up by a tenth"]


@pytest.mark.parametrize(
    "line",
    [
        "Hire Bo\n  - Not agreed",
        "Do we ship?\n  - Yes, on Friday",
        "Nope, rejected",
        "Good morning swim",
        "Closed the meeting room booking account",
        "The meeting opened with news that Ana resigns in May",
        "Next meeting on Monday: bring the signed contract",
        "Next meeting on Monday or Friday?",
    ],
)
def test_a_line_with_content_is_quoted_whatever_it_begins_with(line: str) -> None:
    said = [block.text for block in blocks_of(f"## Notes\n- {line}\n") if is_quotable(block)]
    assert said == line.split("\n  - ")


def test_remarks_without_content_are_not_quoted() -> None:
    text = (
        "**Attendees:** Ana, Ben\n**Apologies:** none\n\n## Notes\n- Rafael: nothing to discuss in the public meeting\n"
        "- Thanks all!\n- Good morning, Ana\n- Antoine: parser, nothing new\n- Karl opened the meeting at 10:05\n- Next meeting on Monday\n"
        "- Slides (see agenda)\n- Slides are due on 3 May\n- Costs went up by a tenth\n"
    )
    assert texts(quoted(text).notes) == ["Slides are due on 3 May", "Costs went up by a tenth"]


def test_a_line_with_a_reference_is_quoted_if_it_says_enough() -> None:
    text = "## Notes\n- Tobie to open an issue on the broader inclusion conversation: #1197\n- Plan to release #12\n"
    text += "- Check and update the example links of the charter template #1069\n"
    assert texts(quoted(text).notes) == ["Tobie to open an issue on the broader inclusion conversation: #1197"]


def test_code_tables_quotations_and_lists_of_people_are_not_quoted() -> None:
    text = (
        "## Attendees\n- Ana Lima\n\n## Notes\n```sql\nselect 1;\n```\n> Somebody else said so\n\n| a | b |\n|---|---|\n"
        "| 1 | 2 |\n\n%%\n- hidden\n%%\n\n- The queue is fast now\n"
    )
    points = quoted(text)
    assert texts(points.notes) == ["The queue is fast now"]
    assert points.decisions == points.actions == points.questions == ()


CALLOUTS = """# Weekly
## Attendees
- Ana Lima

> [!success]- Decisions
> - One queue per region
>
> ```
> - Decision: sample output of a tool
> ```
> > [!todo]
> > - [ ] Kim: order the cards
> > - Ben to test them
>
> - The launch moves to May

> [!quote] Ana
> - Decision: I would never go

> We decided that in another mail
> [!todo] Not a title

> [!question] Who pays for the second region?

## Notes
- Costs went up by a tenth
  > [!info] Pilot
  > status:: open
  > Two nodes have run without a fault
  > since Monday.
  - Rent most of all

> [!danger] The certificate of the portal expires in March

> [!todo] Tasks
> - [ ]
"""


def test_the_text_of_a_callout_has_the_role_of_its_title_or_kind_and_ends_with_it() -> None:
    points = quoted(CALLOUTS)
    assert texts(points.decisions) == ["One queue per region", "The launch moves to May"]
    assert texts(points.actions) == ["Ben to test them"]
    assert texts(points.questions) == ["Who pays for the second region?"]
    pilot = "Two nodes have run without a fault since Monday."
    expires = "The certificate of the portal expires in March"
    assert texts(points.notes) == ["Costs went up by a tenth", pilot, "Rent most of all", expires]
    assert [(each.topic, each.start_line, each.end_line) for each in points.notes if each.text == pilot] == [
        ("Pilot", 29, 30)
    ]
    assert [block.text for _, block in open_boxes([read("a.md", CALLOUTS)], 9)] == ["Kim: order the cards"]


def test_the_rows_of_a_table_of_decisions_or_action_items_are_quoted() -> None:
    text = (
        "## Minutes\n\n| Topic | Decision |\n|---|---|\n| Shifts | Two crews, see [[Plan\\|the plan]] |\n| Costs | |\n\n| Set | Status |\n|---|---|\n"
        "| Lake | amber |\n\n## Action items\n\n| # | What | Status | Owner |\n|--:|---|---|---|\n| 1 | Order gloves | | Ed |\n"
        "| 2 | Fix the winch | done | Bo |\n| 3 | ~~Paint the treads~~ | | Ed |\n| 4 | | | |\n\n## Attendees\n\n"
        "| Name | Decisions |\n|---|---|\n| Ed | yes |\n"
    )
    points = quoted(text)
    assert [(block.text, block.start_line) for block in points.decisions] == [("Shifts – Two crews, see the plan", 5)]
    assert texts(points.actions) == ["Order gloves – Ed"]
    assert points.notes == points.questions == ()


@pytest.mark.parametrize(
    ("rows", "quotes"),
    [
        (("Date | Decision", "1 May | Buy a van", " | Sell the boat"), ["1 May – Buy a van", "Sell the boat"]),
        (("No | Decision", "D1 | Buy a van", "2) | Sell the boat"), ["Buy a van", "Sell the boat"]),
        (("Action | Owner | Status", "Buy tea | Kim | Complete", "Sell it | Bo | open"), ["Sell it – Bo"]),
        (("Decision | Status", "Buy a van | open"), ["Buy a van – open"]),
        (("Done | Action | Owner", "[x] | Buy tea | Kim", "[ ] | Sell it | Bo"), ["Sell it – Bo"]),
        (("Question | Answer", "Is it approved? | Yes", "Who pays? | "), ["Who pays?"]),
        (("Shortcut | Action", "Ctrl+S | Save the file"), []),
    ],
)
def test_no_row_of_a_table_is_quoted_that_is_closed_or_of_something_else(
    rows: tuple[str, ...], quotes: list[str]
) -> None:
    head, *others = (f"| {row} |" for row in rows)
    points = quoted("\n".join(("# Meeting", "", head, f"|{'---|' * (head.count('|') - 1)}", *others, "")))
    assert texts((*points.decisions, *points.actions, *points.questions)) == quotes


@pytest.mark.parametrize(
    ("line", "is_open"),
    [
        ("Kim: add the states open, doing, done", True),
        ("Done: when all tests pass", True),
        ("[ ] Ship it ✅", True),
        ("Kim: order it (done 3 May)", False),
        ("Kim: order it – done on 3 May", False),
    ],
)
def test_only_a_remark_that_it_is_done_closes_an_action_item(line: str, is_open: bool) -> None:
    blocks = blocks_of(f"## Action items\n\n- {line}\n")
    assert any(map(is_quotable, blocks)) is is_open


def test_the_words_of_a_link_and_the_useful_part_of_an_address_stay() -> None:
    text = (
        "## Decisions\n- Close [#818](https://x.example/1) and https://github.com/nodejs/admin/issues/814?x=1 today\n"
    )
    assert texts(quoted(text).decisions) == ["Close #818 and github.com/nodejs/admin/issues/814 today"]


def test_a_field_of_dataview_in_a_line_is_quoted_without_its_marks() -> None:
    points = quoted(
        "owner:: Kim\n\n## Next steps\n- Ben to order the cards [due:: 2026-12-02] (owner:: [[Ben Lutz]])\n"
    )
    assert texts(points.actions) == ["Ben to order the cards (due 2026-12-02) (owner Ben Lutz)"]
    assert points.notes == ()
    assert bare("Use (std::string), [a::b] and (2001::1)") == "Use (std::string), [a::b] and (2001::1)"


def test_a_topic_that_is_quoted_whole_is_not_listed_as_well() -> None:
    assert quoted("# Workshop\n## Results\n- The queue stays\n- The cache has to go\n").topics == ()


def test_of_a_transcript_only_the_topics_are_listed() -> None:
    speech = "\n\n".join(f"ABC: We talked about the number {number} for a long time." for number in range(30))
    points = quoted(f"# Plenary\n\n## Queues\n\n{speech}\n\n## Costs\n\n{speech}\n")
    assert points.notes == ()
    assert points.topics == (("Plenary", "Queues"), ("Plenary", "Costs"))


def test_an_agenda_is_not_quoted_where_there_are_minutes_beside_it() -> None:
    points = quoted("## Agenda\n- Look at the costs of the hut\n\n## Meeting notes\n- The hut is booked for May\n")
    assert texts(points.notes) == ["The hut is booked for May"]
    points = quoted("## Agenda\n- The hut is booked for May\n")
    assert texts(points.notes) == ["The hut is booked for May"]


OWN = """# Weekly

Wednesday, 14 January 2026, 10:00–11:00 · Lisbon

## Attendees

- [[Ana Lima]]

## Agenda

- Redis
  - Ana asked who switches it off

## Last time

[[Meetings/a|a]], 7 January 2026

Decisions:

- We keep \\#redis

## Still open from last time

- Write the runbook ([[Meetings/a|a]])

## Notes

- Redis costs more than the rest \\#costs

## Decisions

- Redis goes in March

## Action items

- [ ] Tell the team

## Related

- [[Projects/Redis|Redis]]
"""


def test_of_a_note_of_donnas_only_what_the_person_wrote_is_read() -> None:
    blocks = blocks_of(OWN, own=True)
    assert texts(blocks) == [
        "Ana asked who switches it off",
        "Redis costs more than the rest #costs",
        "Redis goes in March",
        "Tell the team",
    ]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It works (Ben L. said so). We ship.", ["It works (Ben L. said so).", "We ship."]),
        ("Ask Prof. Kern, e.g. Today. Or Dr. Ode.", ["Ask Prof. Kern, e.g. Today.", "Or Dr. Ode."]),
        ("B. Long agreed. So did A. Lima.", ["B. Long agreed.", "So did A. Lima."]),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Am 3. März ist z. B. Messe. Bis 12.12. Abgabe.", ["Am 3. März ist z. B. Messe.", "Bis 12.12. Abgabe."]),
        ("We need approx. five and max. ten people. Yes.", ["We need approx. five and max. ten people.", "Yes."]),
        ("We had sun. Ana said no. Ben sat. See No. 5.", ["We had sun.", "Ana said no.", "Ben sat.", "See No. 5."]),
        ("i moved to rome. i like it", ["i moved to rome.", "i like it"]),
        ("I prefer plan b. Let us go, d. h. Ana too.", ["I prefer plan b.", "Let us go, d. h. Ana too."]),
        ("Version 1.2 is out. 3 remain.", ["Version 1.2 is out.", "3 remain."]),
        ("会議は終わった。次は五月。", ["会議は終わった。", "次は五月。"]),
    ],
)
def test_sentence_spans_split_text_into_sentences(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


MARKS = st.text(alphabet="abA .\n-*[]()#<>%`!?|:/1~$\\\t>", max_size=300)


@given(MARKS)
def test_any_text_has_blocks_with_its_own_lines(text: str) -> None:
    blocks = blocks_of(text)
    points_of(blocks, ["a b"])
    for block in blocks:
        is_quotable(block)
        assert 1 <= block.start_line <= block.end_line <= text.count("\n") + 1
        assert block.parent < len(blocks)
        assert block.role in Role


RETRO = """# Retro

## Stop
- Daily stand-ups

## Went well
- Releases
  - No rollback

**Ideas**
- Pairing on Tuesdays

We looked at three more.
Rejected:
1. A rewrite in Rust

It took a quarter of an hour longer than last time.

## Hiring
### Discussion
- Two people from the team in Porto
### Decisions
- Two seniors
"""


def test_a_line_has_the_headings_and_the_label_above_it_as_its_topic() -> None:
    assert [(each.topic, each.text) for each in blocks_of(RETRO)] == [
        ("Stop", "Daily stand-ups"),
        ("Went well", "Releases"),
        ("Went well", "No rollback"),
        ("Went well: Ideas", "Pairing on Tuesdays"),
        ("Went well", "We looked at three more."),
        ("Went well: Rejected", "A rewrite in Rust"),
        ("Went well", "It took a quarter of an hour longer than last time."),
        ("Hiring", "Two people from the team in Porto"),
        ("Hiring", "Two seniors"),
    ]
    assert [each.topic for each in blocks_of("# Stop\n- Calls\n# Start\n- Mails\n")] == ["Stop", "Start"]
    assert [each.topic for each in blocks_of("## Stop\n- Calls\n")] == ["Stop"]
    assert [each.topic for each in blocks_of("## ~~Fire Bob~~ Team [^1]\n- Calls\n")] == ["Team"]
    assert [each.topic for each in blocks_of("# Weekly\n- Calls\n## Meeting notes\n- Mails\n")] == ["", ""]


def test_a_deadline_is_quoted_before_other_things_to_do() -> None:
    others = "".join(f"- Need to cover part {number} of the program\n" for number in range(20))
    notes = texts(list(quoted(f"# Call\n\n## Funding\n{others}- Deadline is next Friday\n").notes))
    assert "Deadline is next Friday" in notes


BACKPORT = """## Agenda
- Backport of the parser
  - Ruth explained what the parser does
  - Ben asked who uses it
  - {outcome}
"""


@pytest.mark.parametrize(
    "outcome",
    [
        "No concerns/objections from the 11 members in the meeting",
        "Ana is going to talk to the release team",
        "General agreement that it goes into version 22",
        "Agreed to leave it as it is until the next release",
        "Discussed again, no comments from the members present",
    ],
)
def test_the_outcome_of_a_topic_is_quoted_before_its_other_remarks(outcome: str) -> None:
    others = "".join(f"- Topic of number {each}\n  - Cleo showed the topic of number {each}\n" for each in range(20))
    notes = texts(quoted(BACKPORT.format(outcome=outcome) + others).notes)
    assert outcome in notes
    assert "Ruth explained what the parser does" not in notes


def test_what_is_only_assumed_is_no_decision() -> None:
    others = "".join(f"- Topic of number {each}\n  - closed, so assumed resolved\n" for each in range(20))
    notes = texts(quoted(f"## Agenda\n{others}- The hut\n  - Agreed to book the hut\n").notes)
    assert "Agreed to book the hut" in notes
    assert (
        outcomes_of(blocks_of(f"## Agenda\n- The hut\n  - Agreed to book it\n{others}"))[0][-1].text
        == "Agreed to book it"
    )


@pytest.mark.parametrize(
    "remark",
    [
        "Claudio Wanted to give a quick overview",
        "Congrats to the elected members",
        "Nothing to discuss until Ruben is back",
        "Richard to clarify it is about the flag",
        "If all were being shipped, Mael would agree",
        "PR merged",
    ],
)
def test_a_remark_that_asks_for_nothing_does_not_displace_the_next_steps(remark: str) -> None:
    others = "".join(f"- Topic of number {each}\n  - {remark}\n" for each in range(20))
    assert "Next steps are to draft the form" in texts(
        quoted(f"## Agenda\n{others}- The hut\n  - Next steps are to draft the form\n").notes
    )


def test_a_long_discussion_leaves_room_for_the_outcomes_of_later_topics() -> None:
    remarks = "".join(f"  - Ana will measure the queue of part {each}\n" for each in range(20))
    notes = texts(quoted(f"## Agenda\n- The queue\n{remarks}- The hut\n  - Ben will book the hut\n").notes)
    assert "Ana will measure the queue of part 19" in notes
    assert "Ben will book the hut" in notes


def test_vote_question_is_not_quoted_without_its_result() -> None:
    text = (
        "## Agenda\n- npm\n  - We agreed to vote: remove npm? Yes/No\n  - We agree our goal is to remove npm:  Yes/No\n"
    )
    assert quoted(text).notes == ()
    assert texts(quoted(f"{text}    - 8 are against it, 3 are for it\n").notes) == [
        "npm",
        "We agree our goal is to remove npm: Yes/No",
        "8 are against it, 3 are for it",
    ]


def test_a_label_gives_its_role_to_the_items_below_it() -> None:
    text = """# Sync

**Attendees:**
- Ana Lima
- Ben Long

**Decisions**
- We ship on Monday

The rest was talk about costs.
- Costs are too high

## The office
- Agreed:
  - Stay in Berlin
- Action items
  - Ben writes to the landlord
- Links:
  - [ ] Send the lease to Ana

Action items
Zoe - recruit five users
Tim - copy for the page

Present
Ana - by telephone
"""
    points = quoted(text)
    assert texts(points.decisions) == ["We ship on Monday", "Stay in Berlin"]
    assert texts(points.actions) == [
        "Ben writes to the landlord",
        "Zoe - recruit five users",
        "Tim - copy for the page",
    ]
    assert texts(points.notes) == ["Costs are too high"]
    assert [block.text for _, block in open_boxes([read("a.md", text)], 10)] == ["Send the lease to Ana"]


def test_a_bullet_that_only_introduces_others_is_quoted_with_them() -> None:
    text = "## Notes\n- Options:\n  - Lisbon\n  - Berlin\n- The office\n  - Ana likes Lisbon\n  - Consensus is\n"
    assert texts(quoted(f"{text}    - the lease runs on\n").notes) == [
        "Options:",
        "Lisbon",
        "Berlin",
        "The office",
        "Consensus is",
        "the lease runs on",
    ]
    assert quoted("## Notes\n- The office\n  - We agreed on the following:\n").notes == ()


def test_sentences_of_a_daily_note_are_quoted_beside_bullets_however_many_they_are() -> None:
    text = "".join(f"Started report {number} about the harbour.\n\n" for number in range(30)) + "- Coffee with Mia\n"
    said = texts(points_of(blocks_of(text), is_daily=True).notes)
    assert said[:2] == ["Started report 0 about the harbour.", "Started report 1 about the harbour."]
    assert quoted(text).notes == ()


def test_only_a_daily_note_is_quoted_with_today_and_tomorrow() -> None:
    text = "## Notes\n- Costs were low today\n- The pump runs until tomorrow\n"
    assert texts(points_of(blocks_of(text), is_daily=True).notes) == [
        "Costs were low today",
        "The pump runs until tomorrow",
    ]
    assert quoted(text).notes == ()


def test_of_many_topics_those_that_were_talked_about_most_are_listed() -> None:
    speech = "\n\n".join(f"ABC: We talked about the number {number} for a long time." for number in range(15))
    reports = "".join(f"## Report {number}\n\nABC: Nothing new.\n\nABC: Thanks.\n\n" for number in range(12))
    topics = quoted(f"# Plenary\n\n{reports}## Queues\n\n{speech}\n\n## Costs\n\n{speech}\n").topics
    assert len(topics) == 12
    assert [path[-1] for path in topics[-3:]] == ["Report 9", "Queues", "Costs"]


@pytest.mark.parametrize(
    "box",
    [
        "April 21: the parser",
        "21 April: the parser",
        "2021-04-21 the parser",
        "Sept. 3 is late",
    ],
)
def test_a_box_whose_day_is_long_past_is_carried_over_only_from_the_last_note(box: str) -> None:
    planned = read("2021-04-14 plan.md", f"- [ ] {box}\n- [ ] Write the runbook\n- [ ] May is for the hut\n")
    later = read("2021-06-02 plan.md", "Nothing was said about it.\n")

    def carried(year: int, *reads: Read) -> int:
        return len(open_boxes(reads, 10, datetime.date(year, 11, 30)))

    assert carried(2021, later, planned) == 2
    assert carried(2021, planned) == 3
    assert carried(2020, later, planned) == 3
    assert len(open_boxes([later, planned], 10)) == 3


def test_a_task_is_carried_over_however_long_it_has_been_due() -> None:
    planned = read("2021-04-14 plan.md", "- [ ] Ask Ben 📅 2021-04-21\n")
    assert len(open_boxes([read("2021-11-24 plan.md", "# Plan\n"), planned], 10, datetime.date(2021, 12, 1))) == 1


def test_a_day_that_is_still_to_come_is_carried_over_from_an_old_note() -> None:
    planned = read("2020-11-14 plan.md", "- [ ] January 20: renew the domain\n")
    assert len(open_boxes([read("2021-01-02 plan.md", "# Plan\n"), planned], 10, datetime.date(2021, 2, 1))) == 1
