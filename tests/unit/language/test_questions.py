"""What the words of a question say: its time, its kind, about whom it is, and how much it wants.

``questions.jsonl`` has a question in each line and what is read in it, by the names of `READINGS`. ``now`` says that it
is asked at `NOW`, else at no known time; ``among`` who speaks.
"""

import pytest
from beside import table_beside
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.domain.query import Constraint
from mcp_memory.domain.times import FOREVER
from mcp_memory.domain.turns import Speakers, Turn
from mcp_memory.language.iso import DAY, midnight, years
from mcp_memory.language.questions import asks_for_several, constraint, looks_back, understand
from mcp_memory.language.shapes import areas_asked, breadth_of, topic_of
from mcp_memory.language.stated import in_words

NOW = midnight(2024, 5, 15) + DAY // 2  # a Wednesday
LINES = table_beside(__file__, "questions.jsonl")


def roles():
    found = Speakers()
    for name, role in (("Kestrel", "assistant"), ("user", "user")):
        found.add(Turn(f"t_{name}", "x", "s", name, "message", "Hi.", name, role, None, 0, 0, 0, 0))
    return found


def time(question, line):
    """Return the order, and the interval in words."""
    found = constraint(question, NOW if line.get("now") else None)
    if found is None:
        return None
    return [found.order, in_words(found.since, found.until, found.grain) if found.grain else None]


READINGS = {
    "time": time,
    "kind": lambda question, _: understand(question, ()).answer_type,
    "speakers": lambda question, line: list(
        understand(question, roles() if line["among"] == "roles" else ["Ann", "Bob Ross", "Zoë"]).speakers
    ),
    "breadth": lambda question, _: breadth_of(question),
    "topic": lambda question, _: topic_of(question),
    "asks_for_several": lambda question, _: asks_for_several(question),
    "looks_back": lambda question, _: looks_back(question),
}


@pytest.mark.parametrize("line", LINES, ids=[f"{line['question']} {[*line][1]}" for line in LINES])
def test_this_is_read_in_a_question(line):
    said = {name: line[name] for name in line if name in READINGS}
    assert {name: READINGS[name](line["question"], line) for name in said} == said


@pytest.mark.parametrize("asked", ["Did Ann meet Bob?", "Who was there?", "Annex prices", ""])
def test_a_question_that_names_none_or_several_is_about_no_one_speaker(asked):
    assert len(understand(asked, ["Ann", "Bob Ross", "Zoë"]).speakers) != 1


def test_i_is_the_user_and_you_the_assistant_if_there_are_such_speakers():
    mine, yours = "What is my sister's name?", "Which book did you recommend for your course?"
    assert understand(mine, ["user", "assistant"]).speakers == ("user",)
    assert understand(yours, ["user", "Assistant"]).speakers == ("Assistant",)
    assert understand(mine, ["Ann"]).speakers == understand(yours, ["Ann"]).speakers == ()
    assert understand("Where did Ann take my dog?", ["user", "Ann"]).speakers == ("Ann",)


def test_content_words_are_kept_as_written_with_their_stems():
    understood = understand("Why were Ann's paintings sold?", ())
    assert understood.content_words == (("Ann's", ("ann",)), ("paintings", ("paint",)), ("sold", ("sold",)))
    assert understood.stems == ("ann", "paint", "sold")


def test_a_question_states_its_time_and_relative_times_need_the_date_of_the_call():
    assert understand("Who ran it last year?", ()).time is None
    assert understand("Who ran it last year?", (), years(1991).since).time == Constraint("within", *years(1990), "year")


def test_a_topic_asks_for_an_area_if_it_is_not_of_many_other_things():
    assert [area.name for area in areas_asked("the health of my mother since May")] == ["health"]
    assert areas_asked("the features, tests, timeline and security of my budget tracker app") == []


@given(st.text(max_size=300), st.none() | st.integers(-(2**62), 2**62), st.lists(st.text(max_size=12), max_size=4))
def test_any_text_at_any_time_is_understood(question, now, speakers):
    found = constraint(question, now)
    assert found is None or found.since < found.until
    understood = understand(question, speakers)
    assert understood.text == question
    assert set(understood.speakers) <= set(speakers)


@given(
    st.text(st.sampled_from("ae zé\u0301\u0338\u200b\u0130ﬁ①Ⓐ'’-_ग़ि東ア한\u0e33\U0001f469"), max_size=20)
    | st.text(max_size=20)
)
def test_every_stem_of_a_content_word_is_a_stem_of_the_question(question):
    """Combining marks, and signs that comparison removes, are the cases in which the two could differ."""
    understood = understand(question, [])
    assert all(parts and set(parts) <= set(understood.stems) for _, parts in understood.content_words)


@pytest.mark.parametrize(
    "question",
    ["before " * 20_000, "(" * 100_000, "a" * 100_000, "when a" * 20_000, "in 1990 and " * 9_000, "'" * 9_000],
)
def test_only_the_beginning_of_a_long_text_is_read(question):
    found = constraint(question, NOW)
    assert found is None or found.until <= FOREVER
