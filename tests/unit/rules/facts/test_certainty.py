"""What is certain: a sentence of which every word is accounted for, and nothing beside it."""

import pytest
from reading import read

from mcp_memory.domain.facts import CERTAIN

SILENT = [
    # the first word is no part of a name
    "Imagining Petra lives in Bergen.",
    "Conjecture Petra is a nurse.",
    "Pavel misheard Petra lives in Bergen.",
    # nor is the last, written otherwise
    "Petra works at Norvik FWIW",
    "I live in Turku ish",
    "My boss is Petra NOT",
    # questions without their mark
    "Is my boss Petra",
    "Did Petra live in Bergen",
    # more than one thing
    "Petra and Pavel work at Norvik and Halden.",
    "I live in Bergen and Petra lives in Turku.",
    "I live in Bergen and hate it.",
    "I don't just work at Norvik.",
    "I joined Norvik and quit.",
    # times that are not fixed
    "I moved to Bergen around 2016.",
    "I moved to Bergen by June 2016.",
    "I moved to Bergen after June 2016.",
    "I moved to Bergen in June or July 2016.",
    "I married Petra between 2014 and 2017.",
    "I have worked at Norvik since before 2014.",
    "I moved to Bergen in 2051.",
]
CERTAIN_STILL = [
    ("Petra lives in Bergen.", "Petra lives_in Bergen"),
    ("Dr. Holm lives in Bergen.", "Dr. Holm lives_in Bergen"),
    ("Petra's sister lives in Bergen.", "Petra's sister lives_in Bergen"),
    ("Petra Holm works at Norvik. I like Petra.", "Petra Holm works_at Norvik"),
    ("Petra and Pavel live in Turku.", "Pavel lives_in Turku"),
    ("I live in Bergen and work at Norvik.", "Maria works_at Norvik"),
    ("I just moved to Bergen.", "Maria lives_in Bergen"),
    ("I live in Nova Grau", "Maria lives_in Nova Grau"),
    ("I moved to Bergen in June 2016.", "Maria lives_in Bergen"),
    ("I have worked at Norvik since 2014.", "Maria works_at Norvik"),
    ("I lived in Bergen from 2014 to 2017.", "Maria lives_in Bergen"),
]


def certain(text: str) -> list[str]:
    return [f"{one.head} {one.relation} {one.tail}" for one in read(text) if one.confidence >= CERTAIN]


@pytest.mark.parametrize("text", SILENT)
def test_nothing_is_certain_where_a_word_may_mean_something_else(text: str) -> None:
    assert certain(text) == []


@pytest.mark.parametrize(("text", "fact"), CERTAIN_STILL)
def test_what_is_said_plainly_is_certain(text: str, fact: str) -> None:
    assert fact in certain(text)


@pytest.mark.parametrize(
    ("text", "goes_on"),
    [
        ("I have lived in Bergen.", False),
        ("I've had a dog.", False),
        ("I have lived in Bergen since 2014.", True),
        ("I've been living in Bergen.", True),
        ("I've got a dog.", True),
        ("I have moved to Bergen.", True),
    ],
)
def test_a_bare_perfect_tells_what_was(text: str, goes_on: bool) -> None:
    (one,) = (fact for fact in read(text) if fact.relation in ("lives_in", "has_pet"))
    assert (one.until > one.said_at) == goes_on
