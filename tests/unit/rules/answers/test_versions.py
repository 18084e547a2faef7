"""Answers from facts by their validity, with citations, and no answer where the facts are unclear."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from known_facts import NOW, about, ask, instant, space_of

from mcp_memory.domain.paths import Path, PathScores, Root, Step
from mcp_memory.rules.answers.certain import certain_answer

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


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where did Ann live in 2016?", "London"),
        ("Where did Ann live on 3 May 2016?", "London"),
        ("Where does Ann live?", "Oslo"),
        ("Where does Ann live now?", "Oslo"),
        ("Which city did Ann live in between 2016 and 2018?", "London"),
        ("What company does Ann work for?", "Beta"),
        ("What is Ann's job?", "nurse"),
        ("What is Ann's favorite color?", "green"),
        ("Who is Ann married to?", "Bob Hill"),
        ("Who works at Beta?", "Ann"),
        ("Who lived in London in 2016?", "Ann"),
        ("Where did Ann travel in 2021?", "Lima"),
        ("What languages does Ann speak?", "French and Norwegian"),
    ],
)
def test_a_value_is_selected_by_the_time_of_the_question(question: str, expected: str) -> None:
    found = ask(ANN, question)
    assert found is not None
    assert (found.text, found.hedged) == (expected, False)
    assert found.citations


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When did Ann move to London?", "2015"),
        ("When did Ann move to Oslo?", "March 2019"),
        ("When did Ann leave Acme?", "2019"),
        ("When did Ann start working at Beta?", "2020"),
        ("When did Ann live in London?", "2015 to 2019"),
        ("When did Ann get married?", "10 June 2017"),
        ("When did Ann visit Rome?", "3 May 2014"),
        ("Does Ann still work at Acme?", "No, until 2019"),
        ("Does Ann work at Beta?", "Yes"),
        ("Did Ann live in Paris in 2012?", "Yes"),
        ("Did Ann live in Paris in 2016?", "No, until 2015"),
        ("Has Ann been to Rome?", "Yes"),
        ("Has Ann lived in Paris?", "Yes"),
        ("Is Ann married?", "Yes"),
    ],
)
def test_times_and_yes_or_no_come_from_validity(question: str, expected: str) -> None:
    found = ask(ANN, question)
    assert found is not None
    assert (found.text, found.hedged) == (expected, False)


@pytest.mark.parametrize(
    "question",
    [
        "Where did Ann live in 2005?",  # nobody said
        "Where did Ann live when she was writing her novel?",  # no fact tells of the novel
        "Where does Ann's boss live?",  # not Ann
        "What country does Ann live in?",  # a city is no country
        "How many dogs does Ann have?",  # nobody said which of the pets are dogs
        "Does Ann speak German?",  # what nobody said may still be so
        "Would Ann live in Oslo?",
        "Did Ann live in Paris or London?",
        "Where did Ann buy the car?",
        "Why did Ann move to Oslo?",
        "What did Ann study?",
        "Where does Carl live?",
        "Where does Ann work out?",
        "What does Ann work on?",
        "How much does Ann work?",
        "How many times did Ann visit Rome?",
        "Where did Ann live?",  # in three towns
        "Where did Ann live first?",  # nobody knows whether it is the first
        "Where did Ann live before she moved to Oslo?",
        "Where did Ann previously work?",
        "How many pets does Ann have?",  # nothing is counted
        "How long did Ann work at Acme?",  # nor subtracted
        "Who is Ann's sister?",  # nobody said that Beth is one
        "Ann",
    ],
)
def test_unclear_facts_give_no_answer(question: str) -> None:
    assert ask(ANN, question) is None


@pytest.mark.parametrize(
    ("lines", "question"),
    [
        (["?Ann lives_in Rome 2020 -"], "Where does Ann live?"),
        (["?Ann lives_in Rome 2020 -"], "Where does Ann live, maybe?"),
        (["Ann lives_in Oslo 2019 -", "?Ann lives_in Rome 2020 -"], "Where does Ann live?"),
        (["Ann works_at Acme - -"], "When did Ann start to work at Acme?"),  # by the day of the telling at the latest
        (["Dan lives_in Rome 2001 -", "Dan lives_in Turin 2001 -"], "Where did Dan live in 2005?"),
        (["Ann made pots 2020 -"], "What did Ann paint?"),
    ],
)
def test_what_is_unconfirmed_or_derived_or_contested_is_no_answer(lines: list[str], question: str) -> None:
    assert ask(lines, question) is None


def test_how_many_is_answered_by_a_fact_that_says_a_number() -> None:
    found = ask(["Ann has_pet 3_cats 2020 -"], "How many pets does Ann have?")
    assert found is not None
    assert found.text == "3 cats"


def test_a_denial_answers_no_and_is_cited() -> None:
    found = ask(["!Ann speaks German - -", "Ann speaks French - -"], "Does Ann speak German?")
    assert found is not None
    assert found.text == "No"
    assert found.citations[0].source.quote == "Ann speaks German"


def test_a_relative_is_reached_through_a_path_and_both_facts_are_cited() -> None:
    space = space_of(ANN)
    facts = space.facts
    (sibling,) = facts.versions("ann", "sibling_of")
    (home,) = facts.versions("beth", "lives_in")
    steps = (Step(sibling, forward=True), Step(home, forward=True))
    path = Path(Root("ann", "Ann", "FACT"), steps, "madrid", PathScores(1, 1, 1))
    found = ask(ANN, "Where does Ann's sibling live?", [path])
    assert found is not None
    assert found.text == "Madrid"
    assert {citation.source.quote for citation in found.citations} == {"Beth lives in Madrid", "Ann sibling of Beth"}


def test_a_hypothesis_is_no_answer() -> None:
    space = space_of(["Ann likes chess - -"])
    (liked,) = space.facts.versions("ann", "likes")
    guess = replace(liked, id="i_1", relation="plays", confidence=0.7)
    step = Step(guess, forward=True, inferred="symmetry", confidence=0.7, via=liked.assertions)
    path = Path(Root("ann", "Ann", "FACT"), (step,), "chess", PathScores(1, 1, 1))
    assert ask(["Ann likes chess - -"], "What does Ann play?", [path]) is None


@pytest.mark.parametrize("seed", range(20))
def test_the_value_at_any_time_has_the_latest_start(seed: int) -> None:
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


def test_now_is_the_moment_that_the_caller_sets() -> None:
    found = ask(ANN, "Where does Ann live?", now=instant("2016", NOW))
    assert found is not None
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
def test_hostile_questions_get_no_answer(hostile: str) -> None:
    assert ask(ANN, hostile) is None


def test_a_fact_without_its_text_is_not_cited_and_gives_no_answer() -> None:
    question, knowledge = about(space_of(ANN), "Where does Ann live?")
    assert certain_answer(question, replace(knowledge, turns={})) is None
