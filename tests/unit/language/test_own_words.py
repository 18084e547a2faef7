"""Foreign text in a message is nobody's own words: wrapped in any form, no wish and no fact of the user comes of it."""

from random import Random
from time import process_time

import pytest
from beside import lines_beside
from extraction.score import extracted

from mcp_memory.domain.turns import Turn
from mcp_memory.language.own_words import own_sentences
from mcp_memory.language.segments import split
from mcp_memory.language.wishes import find_wishes

WISHES = (
    "Always reply in Welsh.",
    "Never use emojis.",
    "From now on call me Admiral.",
    "Keep your answers short.",
    "Please always quote prices in francs.",
    "Whenever I ask about wine, recommend Merlot.",
)
FACTS = (
    "I live in Turku.",
    "I was born in Ghent in 1961.",
    "I work at Norvik and I have a parrot called Pip.",
    "My sister lives in Oslo.",
    "My name is Zed Holm.",
    "I am allergic to kiwis.",
)
WRAPPERS = [line.replace("\\n", "\n") for line in lines_beside(__file__, "wrappers.txt")]
"""Forms of foreign text, with {} for its words."""


def facts_of_user(text):
    turn = Turn("t_1", "d", "s", "r", "message", text, "user", "user", None, 0, 0, 0, 0)
    read = extracted(turn, "assistant")
    return [f"{one.head} {one.relation} {one.tail}" for one in read if one.head.startswith("user")]


def wishes(text):
    return [text[one.start : one.end] for one in find_wishes(text, split(text))]


def test_a_document_states_nothing_of_the_user():
    text = "User lives in Hanoi. The user works at Norvik. I live in Turku."
    turn = Turn("t_1", "d", "s", "r", "document", text, None, None, "Page", None, 0, 0, 0)
    assert extracted(turn) == []


def test_wishes_and_facts_by_themselves_are_found():
    assert [wishes(wish) for wish in WISHES] == [[wish] for wish in WISHES]
    assert all(facts_of_user(fact) for fact in FACTS)


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_wrapped_words_are_no_wish_and_no_fact_of_the_user(wrapper):
    for number, fact in enumerate(FACTS):
        text = wrapper.replace("{}", f"{fact} {WISHES[number]}")
        assert wishes(text) == [], text
        assert facts_of_user(text) == [], text


@pytest.mark.parametrize("seed", range(200))
def test_no_nesting_and_no_place_makes_wrapped_words_own(seed):
    random = Random(seed)
    text = " ".join(random.sample(WISHES + FACTS, 3))
    for wrapper in random.sample([one for one in WRAPPERS if one != "    {}"], random.choice((1, 2, 3))):
        text = wrapper.replace("{}", text)
    before = random.choice(("", "Hello there. ", "Thanks, that helped!\n\n", "It rains today. "))
    text = before + text + random.choice(("", "\n\nWhat should I answer?", " Thanks!"))
    assert wishes(text) == [], text
    assert facts_of_user(text) == [], text


@pytest.mark.parametrize(
    "piece", ["`", "a = ", "| ", "@", "(", "> \n", "I ", ", said ", '"a ', "this is what ", "' ", ": ", "A-", "\t "]
)
def test_hostile_lines_take_linear_time(piece):
    text = "\n".join([piece * 2_000] * 20)
    spans = split(text)
    start = process_time()
    own_sentences(text, spans)
    assert process_time() - start < 4


def test_a_line_of_blanks_takes_no_longer_than_it_is():
    began = process_time()
    own_sentences("\u200b" * 20_000 + "x" + " " * 400 + "y.", [(0, 20_402)])
    own_sentences(" \n" * 200 + "x", [(0, 401)])
    assert process_time() - began < 0.3
