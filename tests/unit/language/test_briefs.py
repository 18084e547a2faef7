"""What a long message says in a line, in its own words."""

import pytest

from mcp_memory.language.briefs import brief
from mcp_memory.language.tokens import stems

FESTIVAL = (
    "I'm trying to plan the harbour festival on the north quay, and I want to make sure that nobody gets wet, "
    "I've booked 12 stalls and the brass band Nordlys for 3 June, so can you help me with a plan? "
    "Here's what I have so far:\n```python\nstalls = 99\n```\nThe tent costs €450, is that right?"
)


def test_a_short_message_is_its_own_brief_on_one_line():
    assert brief("Two words\n and more.", 60) == "Two words and more."


def test_a_brief_begins_with_the_matter_and_keeps_the_figures():
    said = brief(FESTIVAL, 150)
    assert said.startswith("plan the harbour festival on the north quay")
    assert "I've booked 12 stalls and the brass band Nordlys for 3 June" in said
    assert "The tent costs €450" in said
    assert len(said) <= 155


@pytest.mark.parametrize("chars", [60, 90, 120, 200])
def test_a_brief_is_no_longer_than_asked_and_has_no_code_and_only_words_of_the_message(chars: int):
    said = brief(FESTIVAL, chars)
    assert len(said) <= chars + 3
    assert "99" not in said
    assert all(word in FESTIVAL for word in said.replace("…", "").replace(",", "").split())


def test_clauses_of_the_topic_are_kept_before_others():
    long = "I moved the shed. The fence is painted in a dark green. The pond was dug out by my neighbour last week."
    assert "pond" in brief(long, 80, stems("the pond"))
    assert "fence" in brief(long, 80, stems("the fence"))


def test_what_is_left_out_is_marked():
    assert brief("The shed stands. " + "It rained for days and days. " * 9, 60).endswith("…")


def test_a_message_of_code_alone_begins_with_it():
    assert brief("```python\n" + "stalls = 99\n" * 20 + "```", 60).startswith("```python stalls = 99")


def test_a_list_stays_as_it_was_said():
    long = "I'm trying to prune the quince, the medlar, and the pear, and I've 3 ladders, so can you help me soon?"
    assert brief(long, 90) == "prune the quince, the medlar, and the pear, I've 3 ladders …"
