"""Mentions: entities named in full or as common nouns, and names that nobody bears."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from small_graph import graph, said

from mcp_memory.language.questions import understand
from mcp_memory.language.tokens import names
from mcp_memory.navigation.anchors import ROOTS, mentions, resolve_name, select_roots
from mcp_memory.view.facts import Facts

FACTS = graph(
    said("Otto of Ferrand", "friend_of", "Valeria Morlova"),
    said("Madeleine", "knows", "Jerome Storm"),
    said("Blue Lagoon", "directed_by", "Ann Lee"),
    said("assistant", "likes", "chess"),
    said("Governor", "is_a", "office"),
    said("2012", "is_a", "film"),
    said("Ann Lee", "likes", "a video game"),
    *(said(f"Film {place}", "is_a", "film") for place in range(20)),
    *(said(f"Somebody {place}", "works_as", "director") for place in range(20)),
)


class Mentions(NamedTuple):
    """The three groups of mentions by name."""

    named: tuple[str, ...]
    unknown: tuple[str, ...]
    common: tuple[str, ...]


def said_by(question: str, facts: Facts = FACTS) -> Mentions:
    return Mentions(*mentions(facts, question, names(question)))


def roots(question: str, facts: Facts = FACTS) -> list[str]:
    return [root.key for root in select_roots(facts, understand(question, ()))]


def test_a_longer_name_does_not_refer_to_an_entity_with_one_of_its_words() -> None:
    assert roots("Where did Wilma Of Ferrand's husband die?") == []
    assert roots("Was The Great Storm Over Elba a success?") == []
    assert roots("Where did Ferrand die?") == ["otto of ferrand"]  # the only person of that name


def test_a_full_name_never_refers_to_another_person_of_that_surname() -> None:
    assert roots("What is the place of birth of Ludmila Morlova's husband?") == []
    assert resolve_name(FACTS, "Ludmila Morlova") == []
    assert resolve_name(FACTS, "Valeria Ivanovna Morlova") == ["valeria morlova"]


def test_a_part_of_a_name_mentions_nobody_else() -> None:
    assert roots("Where did Madeleine of Savoy die?") == []
    assert roots("Does Ann Lee know Madeleine of Savoy?") == ["ann lee"]


def test_brackets_after_a_name_only_distinguish_it() -> None:
    assert roots("Who directed Blue Lagoon (2012 Film)?") == ["blue lagoon"]
    assert roots("Is Thomas Worth (Governor) older than Ann Lee?") == ["ann lee"]
    assert roots("Who sang Dream (Ann Lee Song)?") == []
    assert roots("Who sang Dream (Ann Lee)?") == []
    assert roots("(Who directed Blue Lagoon?)") == ["blue lagoon"]


def test_common_nouns_and_numbers_are_roots_only_without_names_and_with_few_facts() -> None:
    assert set(said_by("Which film had a director in 2012?").common) == {"film", "director", "2012"}
    assert roots("Which film of Ann Lee is about a video game?") == ["ann lee"]
    assert roots("Which film is about a video game?") == ["video game"]
    assert roots("Which film of Zora Quill is about a video game?") == []  # she is what it is about


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_text_mentions_only_known_entities_each_once(text: str) -> None:
    found = said_by(f"{text} Ann Lee {text}")
    for keys in (found.named, found.common):
        assert len(set(keys)) == len(keys)
        assert all(FACTS.degree(key) for key in keys)
    assert len(roots(text)) <= ROOTS
