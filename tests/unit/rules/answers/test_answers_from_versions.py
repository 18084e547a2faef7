"""Answers from facts by their validity, with citations, and no answer where the facts are unclear."""

import random
from dataclasses import replace

import pytest
from known_facts import NOW, about, ask, guessed_path, instant, space_of

from mcp_memory.domain.evidence import Path, PathScores, Root, Step
from mcp_memory.rules.answers.judge import certain_answer

ANN = (
    "Ann lives_in Paris 2010 2015",
    "Ann lives_in London 2015 2019",
    "Ann lives_in Oslo 2019-03 -",
    "Ann works_at Acme 2012 2019",
    "Ann works_at Beta 2020 -",
    "Ann works_as nurse 2012 -",
    "Ann speaks French - -",
    "Ann speaks Norwegian - -",
    "Ann has_pet Rex 2016 -",
    "Ann has_pet Milo 2018 2021",
    "Ann has_pet Kim 2022 -",
    "Ann visited Rome 2014-05-03 -",
    "Ann visited Lima 2021-08 -",
    "Ann married_to Bob_Hill 2017-06-10 -",
    "Ann sibling_of Beth - -",
    "Beth lives_in Madrid 2018 -",
    "Ann favourite_colour green - -",
)


def test_a_hypothesis_is_no_answer():
    assert ask(["Ann likes chess - -"], "What does Ann play?", [guessed_path("plays")]) is None


@pytest.mark.parametrize("seed", range(20))
def test_the_value_at_any_time_has_the_latest_start(seed):
    draw = random.Random(seed)
    years = sorted(draw.sample(range(1980, 2020), 5))
    cities = draw.sample(["Oslo", "Rome", "Lima", "Cairo", "Perth", "Quito"], 5)
    lines = [f"Ann lives_in {city} {year} -" for city, year in zip(cities, years, strict=True)]
    draw.shuffle(lines)
    for asked in range(1978, 2024):
        found = ask(lines, f"Where did Ann live in {asked}?")
        values = [city for city, year in zip(cities, years, strict=True) if year <= asked]
        at_start = asked in years and asked != years[0]
        expected = None if not values else values[-1]
        if found is not None:
            assert found.text == expected or (at_start and found.text.endswith(str(expected)))


def test_now_is_the_moment_that_the_caller_sets():
    found = ask(ANN, "Where does Ann live?", now=instant("2016", NOW))
    assert found.text == "London"


@pytest.mark.parametrize(
    "hostile",
    [
        "",
        "?",
        "Ann?" * 500,
        "Ann lives in " + "x" * 100_000,
        "Where 𝔸nn \x00 live in 9999?",
        "when how long who is Ann?",
    ],
)
def test_hostile_questions_get_no_answer(hostile):
    assert ask(ANN, hostile) is None


def test_a_fact_without_its_text_is_not_cited_and_gives_no_answer():
    question, knowledge = about(space_of(ANN), "Where does Ann live?")
    assert certain_answer(question, replace(knowledge, turns={})) is None


def test_a_relative_is_reached_through_a_path_and_both_facts_are_cited():
    space = space_of(ANN)
    facts = space.facts
    (sibling,) = facts.versions("ann", "sibling_of")
    (home,) = facts.versions("beth", "lives_in")
    steps = (Step(sibling, forward=True), Step(home, forward=True))
    path = Path(Root("ann", "Ann", "FACT"), steps, "madrid", PathScores(1, 1, 1))
    found = ask(ANN, "Where does Ann's sibling live?", [path])
    assert found.text == "Madrid"
    assert {citation.source.quote for citation in found.citations} == {"Beth lives in Madrid", "Ann sibling of Beth"}
