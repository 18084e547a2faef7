"""Answers from facts to questions that compare two things, and no answer where the facts do not decide."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from known_facts import about, space_of
from small_memory import ask, said

from mcp_memory.domain.answers import Proposal
from mcp_memory.domain.requests import NewItem
from mcp_memory.rules.answers.comparison_questions import country_named
from mcp_memory.rules.answers.comparisons import answer_comparison
from mcp_memory.rules.answers.settings import ComparisonSettings

PEOPLE = (
    "Ann_Lee born_on 1950-05-03 - -",
    "Bob_Hill born_on 1961 - -",
    "Bob_Hill born_on 1961-12-28 - -",
    "Cara_Moor born_on 1950 - -",
    "Ann_Lee died_on 2001-04-01 - -",
    "Bob_Hill died_on 1999 - -",
    "Ann_Lee nationality Danish - -",
    "Bob_Hill nationality Peruvian - -",
    "Cara_Moor comes_from Denmark - -",
    "Ann_Lee lives_in Lisbon 2015-03 -",
    "Bob_Hill lives_in Lisbon 2012 -",
    "Cara_Moor lives_in Oslo 2011 -",
    "Ann_Lee works_at Acme 2012 -",
    "Bob_Hill works_at Acme 2014 -",
    "Cara_Moor works_at Beta 2014 -",
    "Ann_Lee visited Rome 2014-05-03 -",
    "Bob_Hill visited Rome 2014-05-03 -",
    "Ann_Lee member_of choir 2010 -",
    "Bob_Hill member_of chess_club 2012 -",
    "Ann_Lee likes jazz - -",
    "Bob_Hill likes jazz - -",
    "Ann_Lee has_pet Rex - -",
    "Bob_Hill has_pet Milo - -",
    "Ann_Lee child_of Tom_Lee - -",
    "Bob_Hill child_of Tom_Lee - -",
    "Ann_Lee married_to Jon_Lee 1980 -",
    "Bob_Hill married_to Mia_Hill 1985 -",
    "Jon_Lee born_on 1948 - -",
    "Mia_Hill born_on 1963 - -",
)
FILMS = (
    "Low_Tide is_a film - -",
    "Low_Tide released_on 1951 - -",
    "Low_Tide directed_by Ann_Lee - -",
    "Low_Tide comes_from Danish - -",
    "The_Weir is_a film - -",
    "The_Weir released_on 1949 - -",
    "The_Weir directed_by Bob_Hill - -",
    "The_Weir comes_from British - -",
    "Red_Kite directed_by Ann_Lee - -",
    "Red_Kite directed_by Cara_Moor - -",
    "Red_Kite comes_from English - -",
)
PLACES = (
    "Ashby located_in Ash_County - -",
    "Ash_County located_in North_Province - -",
    "North_Province located_in Norway - -",
    "Elmby located_in Norway - -",
    "Firby located_in Fir_Province - -",
    "Pineby located_in Chile - -",
)


def decided(lines: Sequence[str], question: str, *, include_uncertain: bool = False) -> Proposal | None:
    """Return the answer of comparing facts, or None."""
    return answer_comparison(
        *about(space_of(lines), question, include_uncertain=include_uncertain), ComparisonSettings()
    )


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who was born first, Ann Lee or Bob Hill?", "Ann Lee"),
        ("Who was born later, Ann Lee or Bob Hill?", "Bob Hill"),
        ("Who is older, Bob Hill or Ann Lee?", "Ann Lee"),
        ("Who is younger, Bob Hill or Ann Lee?", "Bob Hill"),
        ("Who died earlier, Ann Lee or Bob Hill?", "Bob Hill"),
        ("Was Bob Hill or Ann Lee born first?", "Ann Lee"),
        ("Who was born first out of Bob Hill and Ann Lee?", "Ann Lee"),
        ("Is Ann Lee older than Bob Hill?", "Yes"),
        ("Is Bob Hill older than Ann Lee?", "No"),
        ("Did Ann Lee die after Bob Hill?", "Yes"),
        ("Was Bob Hill born before Ann Lee?", "No"),
        ("Who moved to Lisbon first, Ann Lee or Bob Hill?", "Bob Hill"),
        ("Did Ann Lee move to Lisbon before Bob Hill?", "No"),
        ("Who joined Acme first, Ann Lee or Bob Hill?", "Ann Lee"),
        ("Who married first, Ann Lee or Bob Hill?", "Ann Lee"),
        ("Do Ann Lee and Bob Hill live in the same city?", "Yes"),
        ("Do Ann Lee and Cara Moor live in the same city?", "No"),
        ("Do Ann Lee and Cara Moor work at the same company?", "No"),
        ("Are Ann Lee and Bob Hill of the same nationality?", "No"),
        ("Does Ann Lee have the same nationality as Bob Hill?", "No"),
        ("Do Ann Lee and Bob Hill have different nationalities?", "Yes"),
        ("Are Ann Lee and Cara Moor both from the same country?", "Yes"),
    ],
)
def test_two_people_are_compared_by_one_fact_of_each(question: str, expected: str) -> None:
    found = decided(PEOPLE, question)
    assert found is not None
    assert (found.text, found.hedged, len(found.citations)) == (expected, False, 2)


@pytest.mark.parametrize(
    ("question", "expected", "cited"),
    [
        ("Which film came out earlier, Low Tide or The Weir?", "The Weir", 2),
        ("Which film was released more recently, Low Tide (1951 film) or The Weir?", "Low Tide (1951 film)", 2),
        ("Are the movies Low Tide and The Weir from the same country?", "No", 2),
        ("Which film has the director who was born later, Low Tide or The Weir?", "The Weir", 4),
        ("Which film has the director who is older, Low Tide or The Weir?", "Low Tide", 4),
        ("Do both directors of films Low Tide and The Weir have the same nationality?", "No", 4),
        ("Do Low Tide and The Weir have the same director?", "No", 2),
        ("Is the director of Low Tide older than the director of The Weir?", "Yes", 4),
    ],
)
def test_works_are_compared_by_their_facts_or_their_makers_facts(question: str, expected: str, cited: int) -> None:
    found = decided([*PEOPLE, *FILMS], question)
    assert found is not None
    assert (found.text, len(found.citations)) == (expected, cited)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Are Ashby and Elmby located in the same country?", "Yes"),
        ("Are both villages, Ashby and Pineby, located in the same country?", "No"),
        ("Are Ashby and Firby located in the same country?", None),
    ],
)
def test_places_are_in_one_country_if_the_places_around_them_are(question: str, expected: str | None) -> None:
    found = decided(PLACES, question)
    assert (found.text if found else None) == expected


@pytest.mark.parametrize(
    "question",
    [
        "Who was born first, Ann Lee or Cara Moor?",  # on a day of the year
        "Who visited Rome first, Ann Lee or Bob Hill?",  # on one day
        "Who died first, Ann Lee or Cara Moor?",  # one is not known to have died
        "Who moved to Oslo first, Ann Lee or Cara Moor?",  # one never did
        "Who was born first, Ann Lee, Bob Hill or Cara Moor?",
        "Which of Ann Lee and Bob Hill was not born first?",
        "Weren't Ann Lee and Bob Hill of the same nationality?",
        "Was neither Ann Lee nor Bob Hill born earlier?",
        "Who bought a red house first, Ann Lee or Bob Hill?",
        "Who was born first in Lisbon, Ann Lee or Bob Hill?",
        "Are Ann Lee and Bob Hill of the same nationality and profession?",
        "Would Ann Lee be older than Bob Hill?",
        "Who is older, Ann Lee or Dan Fox?",
        "Is Ann Lee older?",
        "Who was born, Ann Lee or Bob Hill?",
        "Is Ann Lee's friend older than Bob Hill's friend?",
        "Is the friend of Ann Lee older than the friend of Bob Hill?",
        "Is Ann Lee older than Bob Hill's wife?",
        "Who moved from Lisbon first, Ann Lee or Bob Hill?",
        "Who left Acme first, Ann Lee or Bob Hill?",
        "Did Ann Lee move to Lisbon before Bob Hill moved to Oslo?",
        "Who joined a band first, Ann Lee or Bob Hill?",
        "Do Ann Lee and Bob Hill like the same music?",
        "Do Ann Lee and Bob Hill have the same pet?",
        "Do Ann Lee and Bob Hill have the same mother?",
    ],
)
def test_there_is_no_answer_where_the_facts_do_not_decide(question: str) -> None:
    assert decided(PEOPLE, question) is None


@pytest.mark.parametrize(
    "question",
    [
        "Which film has the director who is older, Low Tide or Red Kite?",  # of two directors
        "Are The Weir and Red Kite from the same country?",  # a part of it
        "Which film came out earlier, Low Tide or Red Kite?",
    ],
)
def test_several_values_decide_nothing(question: str) -> None:
    assert decided([*PEOPLE, *FILMS], question) is None


def test_a_denied_fact_decides_nothing() -> None:
    lines = ["Ann_Lee nationality Danish - -", "Bob_Hill nationality Peruvian - -"]
    question = "Are Ann Lee and Bob Hill of the same nationality?"
    assert decided(lines, question) is not None
    assert decided([*lines, "!Bob_Hill nationality Peruvian - -"], question) is None


@pytest.mark.parametrize("other", ["1968", "1950"])
def test_a_contested_value_decides_nothing(other: str) -> None:
    lines = ["Ann_Lee born_on 1955 - -", "Bob_Hill born_on 1961 - -"]
    assert decided(lines, "Is Ann Lee older than Bob Hill?") is not None
    assert decided([*lines, f"Ann_Lee born_on {other} - -"], "Is Ann Lee older than Bob Hill?") is None


@pytest.mark.parametrize(
    ("question", "turned"),
    [
        ("Who was born first, {} or {}?", False),
        ("Who died later, {} or {}?", False),
        ("Who moved to Lisbon first, {} or {}?", False),
        ("Is {} older than {}?", True),
        ("Did {} move to Lisbon before {}?", True),
        ("Are {} and {} of the same nationality?", False),
        ("Do {} and {} live in the same city?", False),
    ],
)
def test_the_order_of_the_two_names_does_not_matter(question: str, turned: bool) -> None:
    one = decided(PEOPLE, question.format("Ann Lee", "Bob Hill"))
    other = decided(PEOPLE, question.format("Bob Hill", "Ann Lee"))
    assert one is not None
    assert other is not None
    assert (one.text == other.text) is not turned


def test_unconfirmed_facts_count_only_on_request_and_are_hedged() -> None:
    lines = ["Ann_Lee born_on 1950 - -", "?Bob_Hill born_on 1961 - -"]
    assert decided(lines, "Is Ann Lee older than Bob Hill?") is None
    guess = decided(lines, "Is Ann Lee older than Bob Hill?", include_uncertain=True)
    assert guess is not None
    assert (guess.text, guess.hedged) == ("Yes", True)
    sure = decided(["Ann_Lee born_on 1950 - -", "Bob_Hill born_on 1961 - -"], "Is Ann Lee older than Bob Hill?")
    assert sure is not None
    assert guess.confidence < sure.confidence


@pytest.mark.parametrize(("second", "expected"), [("45", "Yes"), ("35", None), ("36", None), ("many", None)])
def test_ages_are_compared_where_one_year_cannot_change_the_result(second: str, expected: str | None) -> None:
    found = decided(["Bob age 35 - -", f"Ann age {second} - -"], "Is Ann older than Bob?")
    assert (found.text if found else None) == expected


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Danish", "the Kingdom of Denmark", True),
        ("American", "Ohio", True),
        ("English", "Scottish", None),
        ("English", "British", None),
        ("Soviet", "Estonian", None),
        ("Soviet", "Danish", False),
        ("West German", "French", False),
    ],
)
def test_countries_differ_unless_one_is_part_of_the_other(one: str, other: str, same: bool | None) -> None:
    first, second = country_named(one), country_named(other)
    assert first is not None
    assert second is not None
    assert first.same_as(second) is same
    assert second.same_as(first) is same


@pytest.mark.parametrize("written", ["Georgia", "Springfield", "", "korean", "Republic of"])
def test_an_ambiguous_word_is_no_country(written: str) -> None:
    assert country_named(written) is None


TALK = said(
    "Ann: I moved to Lisbon in March 2015.",
    "Bob: I moved to Lisbon in May 2012.",
    "Ann: I was born on 3 May 1990.",
    "Bob: I was born on 4 June 1988.",
    at="2020-10-02",
)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who moved to Lisbon first, Ann or Bob?", "Bob"),
        ("Is Ann older than Bob?", "No"),
        ("Do Ann and Bob live in the same city?", "Yes"),
    ],
)
async def test_statements_in_the_first_person_are_compared(question: str, expected: str) -> None:
    found = await ask(TALK, question, read=True)
    assert found.text == expected
    assert {one.source.turn.speaker for one in found.citations} == {"Ann", "Bob"}


@pytest.mark.anyio
async def test_documents_are_compared_through_the_people_they_name() -> None:
    texts = {
        "Low Tide": "Low Tide is a 1951 Danish film directed by Ada Moor.",
        "The Weir": "The Weir is a 1949 British film directed by Tom Gale.",
        "Ada Moor": "Ada Moor (4 May 1920 – 3 June 2001) was a Danish film director.",
        "Tom Gale": "Tom Gale (5 July 1908 – 9 August 1977) was a British film director.",
    }
    items = [NewItem(text, title=title) for title, text in texts.items()]
    asked = "Which film has the director who was born earlier, Low Tide or The Weir?"
    found = await ask(items, asked, "document", read=True)
    assert (found.text, found.hedged) == ("The Weir", False)
    assert {one.source.turn.title for one in found.citations} == texts.keys()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When did the director of the film The Salt Road die?", "3 June 1980"),
        ("What is the date of birth of the director of the film The Salt Road?", "12 May 1901"),
        ("When is the director of The Salt Road (1951 film) 's birthday?", "12 May 1901"),
        ("When did the director of The Salt Road (1934 film) die?", None),
        ("What nationality is the director of the film The Salt Road?", "Irish"),
        ("Where was the director of the film The Salt Road in 1950?", None),
        ("Where was Nils Ravn born?", None),
        ("Where was Ida Lund born?", "Ostby"),
    ],
)
async def test_dates_and_nationalities_of_documents_answer_plainly(question: str, expected: str | None) -> None:
    texts = {
        "The Salt Road": "The Salt Road is a 1951 film directed by Orla Fenwick.",
        "Orla Fenwick": "Orla Fenwick (12 May 1901 – 3 June 1980) was an Irish film director.",
        "Nils Ravn": "Nils Ravn (1872 – 20 July 1928), born Otto Wilbur Stone, was a film director.",
        "Ida Lund": "Ida Lund (born 3 May 1910 in Ostby) is a painter.",
    }
    items = [NewItem(text, ref=title, title=title) for title, text in texts.items()]
    found = await ask(items, question, "document", read=True)
    assert (found.text, found.hedged) == (expected, False)
