"""Roots: the entities that a query is about, and its intent."""

from __future__ import annotations

import pytest
from small_graph import graph, said

from mcp_memory.language.questions import understand
from mcp_memory.navigation.anchors import select_roots
from mcp_memory.view.facts import Facts

FACTS = graph(
    said("Ann Lee", "lives_in", "New York City"),
    said("Dr. Marie Patel", "works_at", "Bank of England"),
    said("Ann Lee", "likes", "a video game"),
    said("user", "lives_in", "York"),
    said("assistant", "likes", "chess"),
    said("Bob", "owns", "the red car"),
)


def roots(question: str, *named: str, facts: Facts = FACTS, speakers: tuple[str, ...] = ()) -> list[str]:
    return [root.key for root in select_roots(facts, understand(question, speakers), named)]


def test_names_in_the_query_are_roots_after_the_callers_names() -> None:
    assert roots("Does Ann Lee know Bob?") == ["ann lee", "bob"]
    assert roots("Does Ann Lee know Bob?", "York") == ["york", "ann lee", "bob"]


def test_lower_case_mentions_are_found_the_longest_first_and_no_word_twice() -> None:
    assert roots("does ann lee like new york city?") == ["new york city", "ann lee"]


def test_a_part_of_a_persons_name_refers_to_the_person() -> None:
    assert roots("Where does Patel work?") == ["marie patel"]
    assert roots("Where does Professor Anna Marie Patel work?") == ["marie patel"]


def test_names_are_found_in_scripts_without_spaces() -> None:
    facts = graph(said("田中", "lives_in", "東京"), said("東京タワー", "located_in", "東京"))
    assert roots("田中はいつ東京タワーに行きましたか", facts=facts) == ["田中", "東京タワー"]


def test_i_is_the_user_and_you_are_the_assistant() -> None:
    assert roots("Where do I live?") == ["user"]
    assert roots("What do you like?") == ["assistant"]
    assert roots("Do you know my address?") == ["user", "assistant"]


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("Why did Bob sell the red car?", "CAUSAL"),
        ("What led to it, and when, Bob?", "CAUSAL"),
        ("How has Bob changed?", "EVOLUTION"),
        ("Does Bob still own the red car?", "EVOLUTION"),
        ("When did Bob buy it?", "TEMPORAL"),
        ("What did Bob own before 2015?", "FACT"),  # it says itself when
        ("When did Bob own it before 2015?", "TEMPORAL"),
        ("What did Bob buy first?", "TEMPORAL"),
        ("Does Bob drive more than Ann Lee?", "CONTRAST"),
        ("What does Bob own?", "FACT"),
        ("Does Bob know the head of Red Before Dawn (1995 film)?", "FACT"),
        ("Who wrote “Why We Changed” (2010) with Bob?", "FACT"),
        ("What did Bob own (in 1995)?", "TEMPORAL"),
    ],
)
def test_the_words_of_a_query_determine_its_intent(question: str, intent: str) -> None:
    assert {root.intent for root in select_roots(FACTS, understand(question, ()))} == {intent}
