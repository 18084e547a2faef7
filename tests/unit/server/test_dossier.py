"""The text of a recall: facts with their words, then records by conversation in the order of time."""

from dataclasses import replace

from mcp_memory.domain.evidence import Evidence, Source
from mcp_memory.domain.times import FOREVER
from mcp_memory.domain.turns import Turn
from mcp_memory.language.iso import parse
from mcp_memory.language.stated import with_dates
from mcp_memory.server.tools.dossier import CODE_WHOLE, HEADER, dossier_lines

FIRST, LATER = parse("2025-03-14T10:00")[0], parse("2025-04-02T18:30")[0]


def turn(text, speaker="Ann", session="s1", said_at=FIRST, place=0, **other):
    fields = {"kind": "message", "title": None} | other
    return Turn(
        f"t_{place}", "default", session, f"r{place}", fields["kind"], text, speaker, None, fields["title"], said_at,
        FIRST, 0, place,
    )  # fmt: skip


def item(text, number=0, **origin):
    return Evidence(f"s_{number}", "sentence", text, 1.0, ("words",), (Source(turn(text, **origin), 0, len(text)),))


def fact(text, said, until=FOREVER):
    source = Source(turn(said), 0, len(said))
    return Evidence("f_1", "fact", text, 1.0, ("facts",), (source,), valid_from=FIRST, valid_to=until, confidence=0.95)


def test_records_stand_by_session_in_the_order_of_time_under_one_date_and_numbers_are_ranks():
    lines = dossier_lines(
        (
            item("I took the job.", place=3, session="b", said_at=LATER),
            item("They want me to start in May.", place=2),
            item("A letter from the harbour office!", place=1),
            item("See you there.", place=4, session="b", said_at=LATER, speaker="Bob"),
        )
    )
    assert lines == [
        HEADER,
        "Session s1, Fri 14 Mar 2025:",
        "3. Ann: A letter from the harbour office!",
        "2. Ann: They want me to start in May [= May 2025].",
        "Session b, Wed 2 Apr 2025:",
        "1. Ann: I took the job.",
        "4. Bob: See you there.",
    ]


def test_a_fact_is_shown_with_the_words_that_state_it_and_what_holds_now_comes_first():
    over = fact("Ann works at Orvella", "I worked at Orvella back then.", until=LATER)
    now = fact("Ann works at Tindermoor", "I'm at Tindermoor now, because of the ferry.")
    lines = dossier_lines((over, now))
    assert lines[1:] == [
        "Facts:",
        "2. Ann works at Tindermoor (since 2025-03-14T10:00:00Z)",
        "   [Fri 14 Mar 2025, Ann, session s1]: “I'm at Tindermoor now, because of the ferry.”",
        "1. Ann works at Orvella (from 2025-03-14T10:00:00Z to 2025-04-02T18:30:00Z)",
        "   [Fri 14 Mar 2025, Ann, session s1]: “I worked at Orvella back then.”",
    ]


def test_facts_that_a_caller_stated_stand_apart_from_the_talk_of_their_session():
    lines = dossier_lines([item("I live in Oslo now."), item("Ann lives in Oslo.", 1, speaker=None, kind="statement")])
    assert [line for line in lines if line.endswith(":")][1:] == [
        "Session s1, Fri 14 Mar 2025:",
        "Stated as facts in session s1, Fri 14 Mar 2025:",
    ]


def test_a_reply_shows_what_it_replies_to():
    question = turn("Where did you buy it?", speaker="Bob", place=1)
    reply = replace(item("In Paris, a year ago.", place=2), before=Source(question, 0, len(question.text)))
    assert dossier_lines((reply,))[2] == ("1. Ann (after Bob: “Where did you buy it?”): In Paris, a year ago [= 2024].")


def test_equal_words_of_one_speaker_are_shown_once_with_their_number():
    lines = dossier_lines((item("No milk!", 0), item("No  milk!", 1, session="s2", said_at=LATER), item("Yes", 2)))
    assert [line for line in lines if "milk" in line] == ["1. Ann: No milk! (2 times in the records)"]
    assert not any("s2" in line for line in lines)


def test_relative_times_are_followed_by_what_they_mean():
    assert with_dates("We met last Friday and in May 2021.", turn("").said_at) == (
        "We met last Friday [= Fri 7 Mar 2025] and in May 2021."
    )
    assert with_dates("We met yesterday.", None) == "We met yesterday."


def test_passages_of_a_document_stand_in_order_under_its_title():
    whole = turn("First part. Second part.", kind="document", title="Atlas", speaker=None, said_at=None)
    parts = [Evidence(f"g_{n}", "segment", whole.text[a:z], 1.0, (), (Source(whole, a, z),)) for n, (a, z) in enumerate(
        ((12, 24), (0, 11)))]  # fmt: skip
    assert dossier_lines(parts)[1:] == ["Document Atlas:", "2. First part.", "1. Second part."]


def test_what_tells_of_the_time_asked_for_says_so():
    since, until = parse("2023-08-27")
    told = replace(item("I flew home."), valid_from=since, valid_to=until, told_then=True)
    assert "1. Ann: I flew home. (tells of Sun 27 Aug 2023)" in dossier_lines([told])


def test_of_code_one_line_is_shown_unless_all_of_it_is_wanted():
    steps = "".join(f"step({number})\n" for number in range(9))
    text = f"My script fails:\n```python\n# a dance\nimport steps\n{steps}```\nCan you mend it?"
    short = dossier_lines((item(text),), code=False)[2]
    assert "My script fails:\n   `step(0)` … (11 lines of code, whole with detail full)\n   Can you mend it?" in short
    assert "step(1)" not in short
    assert "step(8)" in dossier_lines((item(text),))[2]
    many = dossier_lines([item(f"{number} {text}", number, place=number) for number in range(CODE_WHOLE + 1)])
    assert "\n".join(many).count("step(8)") == CODE_WHOLE  # of the best records alone


def test_short_code_is_shown_whole():
    text = "Run it:\n```\nmake dance\n```\nDoes it stop?"
    assert "make dance" in dossier_lines((item(text),), code=False)[2]


def test_of_a_piece_of_a_long_message_it_is_said_how_to_get_the_others():
    text = "Begin with the roots. " * 40
    piece = replace(item("Begin with the roots."), kind="segment", sources=(Source(turn(text), 0, 21),))
    whole = replace(item("Begin with the roots.", place=2, speaker="Bob"), kind="segment")
    lines = dossier_lines((piece, whole))
    assert lines[2].endswith("(a part of this message; memory_explore event_context shows the others)")
    assert lines[3] == "2. Bob: Begin with the roots."
