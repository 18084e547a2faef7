"""Sentences support an answer by their words or by lying on its path."""

import pytest

from mcp_memory.domain.evidence import Source
from mcp_memory.domain.turns import Turn
from mcp_memory.language.questions import understand
from mcp_memory.services.learn.lessons import supporting_sentences


def witness(name, text, speaker):
    turn = Turn("t_" + name, "x", "s", name, "message", text, speaker, None, None, 0, 0, 0, 0)
    return name, Source(turn, 0, len(text))


MOVED = witness("s_moved", "I moved to Lisbon last Friday.", "Bob")
WEATHER = witness("s_weather", "The weather in Lisbon is mild.", "Eve")
DOG = witness("s_dog", "Bob adopted a dog.", "Ann")


def supporting(question, answer, *witnesses, names=(), on_path=()):
    asked = understand(question, ["Ann", "Bob", "Eve"])
    return supporting_sentences(asked, answer, names, dict(witnesses), on_path)


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("Where did Bob move to?", "Lisbon", ["s_moved"]),
        ("Where did Bob move to?", "Lisbon last Friday", ["s_moved"]),
        ("Where did Bob move to?", "to the north of Lisbon", []),
        ("What did Bob adopt?", "a dog", ["s_dog"]),
        ("What is mild?", "Lisbon", ["s_moved", "s_weather"]),  # it names nobody, so every sentence may be meant
        ("Did Bob adopt a dog?", "Yes", []),
        ("How many dogs has Bob?", "1", []),
    ],
)
def test_a_sentence_about_the_question_supports_the_answer_it_holds(question, answer, expected):
    assert supporting(question, answer, MOVED, WEATHER, DOG) == expected


def test_a_name_on_the_path_counts_as_one_of_the_question():
    assert supporting("Where did Bob move to?", "mild", WEATHER, names=["Lisbon"]) == ["s_weather"]


def test_a_sentence_on_the_path_supports_whatever_its_words():
    bridge = witness("s_bridge", "He went there.", None)
    assert supporting("Did Bob move?", "Yes, on 9 June 2023", bridge, DOG, on_path={"s_bridge"}) == ["s_bridge"]
