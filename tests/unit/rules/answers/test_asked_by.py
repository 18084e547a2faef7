"""The words that ask for a relation: birth and death by place, date and cause, kin by kinship words."""

from __future__ import annotations

import pytest
from known_facts import ask

from mcp_memory.domain.relations import relations
from mcp_memory.rules.answers.asked import find_mention, query_tokens

LIFE = (
    "Ann born_in Oslo ever -",
    "Ann born_on 4_May_1950 ever -",
    "Ann died_in Rome ever -",
    "Ann died_on 3_June_2001 ever -",
    "Ann died_of pneumonia ever -",
)
KIN = (
    "Ann niece_or_nephew_of Berthe - -",
    "Ann aunt_or_uncle_of Tom - -",
    "Ann grandchild_of Elvira - -",
    "Ann cousin_of Kai - -",
    "Ann lives_with Mia - -",
    "Ann has_boss Lena - -",
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is Ann's place of birth?", "Oslo"),
        ("What is Ann's birthplace?", "Oslo"),
        ("What is the birthplace of Ann?", "Oslo"),
        ("What is Ann's date of birth?", "4 May 1950"),
        ("What is the birthday of Ann?", "4 May 1950"),
        ("When is Ann's birthday?", "4 May 1950"),
        ("Where was Ann born?", "Oslo"),
        ("When was Ann born?", "4 May 1950"),
        ("What was Ann's place of death?", "Rome"),
        ("What was Ann's cause of death?", "pneumonia"),
        ("What did Ann die of?", "pneumonia"),
        ("When did Ann die?", "3 June 2001"),
        ("Where did Ann die?", "Rome"),
    ],
)
def test_birth_and_death_are_asked_for_by_place_date_and_cause(question: str, expected: str) -> None:
    found = ask(LIFE, question)
    assert found is not None
    assert found.text == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is Ann's cousin?", "Kai"),
        ("Who is Kai's cousin?", "Ann"),
        ("Who does Ann live with?", "Mia"),
        ("Who is Ann's boss?", "Lena"),
    ],
)
def test_people_are_asked_for_by_their_kinship(question: str, expected: str) -> None:
    found = ask(KIN, question)
    assert found is not None
    assert found.text == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is Ann's aunt?", "Berthe"),
        ("Who is Ann's nephew?", "Tom"),
        ("Who is Berthe's niece?", "Ann"),
        ("Who is Elvira's grandchild?", "Ann"),
        ("Who is Ann's grandmother?", "Elvira"),
    ],
)
def test_the_only_relative_is_not_taken_for_one_of_a_kind_that_no_fact_names(question: str, expected: str) -> None:
    found = ask(KIN, question)
    assert found is None or found.text == expected


def test_the_did_of_a_question_asks_for_no_event_without_a_relation() -> None:
    for question in ("What did Ann buy?", "Where did Ann go last week?", "Did Ann take a course?"):
        assert find_mention(query_tokens(question), relations().get("did")) is None


@pytest.mark.parametrize("question", ["What is Brindle written in?", "What does Brindle use?"])
def test_what_something_is_written_in_is_what_it_uses(question: str) -> None:
    relation = relations().name("written_in")
    found = ask((f"Brindle {relation} Go 2019 2023", f"Brindle {relation} Zig 2023 -"), question)
    assert found is not None
    assert found.text == "Zig"
