"""Whether two words are forms of one."""

import pytest

from mcp_memory.language.forms import bases


@pytest.mark.parametrize(
    "pair",
    [
        "quizzes quiz", "knives knife", "loaves loaf", "buses bus", "teeth tooth", "analyses analysis",
        "decision decided", "application applied", "refusal refused", "payment paid", "allergy allergic",
        "marriage married", "flight fly", "biggest big", "happiness happy", "weekly week",
        "favourite favorite", "organisation organized",
    ],
)  # fmt: skip
def test_forms_of_one_word_have_a_base_in_common(pair: str):
    one, other = pair.split()
    assert bases(one) & bases(other)


@pytest.mark.parametrize(
    "pair",
    ["party part", "letter let", "county count", "flower flow", "porter port", "care car", "organ organise",
     "plane plan", "metal met", "passage pass", "number numb", "business bus", "forest for"],
)  # fmt: skip
def test_words_that_only_look_alike_have_none(pair: str):
    one, other = pair.split()
    assert not bases(one) & bases(other)
