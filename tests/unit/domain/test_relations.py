"""The registry of relations is consistent, and a relation is found by any of its names."""

import pytest

from mcp_memory.domain.facts import verbalise
from mcp_memory.domain.relations import Registry, Relation, relations


def test_an_unknown_relation_keeps_its_words():
    name = relations().name("rootsFor the Team")
    assert name == "roots_for_the_team"
    assert relations().get(name) == Relation(name, "roots for the team", asked=("roots", "for", "the", "team"))
    assert relations().name(name) == name
    assert relations().get("favourite_film").cardinality == "single"
    assert verbalise("Ann", "study_with", "Bob") == "Ann studies with Bob"
    assert verbalise("Ann", "best_friend", "Bob") == "Ann best friend Bob"
    assert verbalise("Term", "starts_on", "April 2022") == "Term starts in April 2022"
    assert verbalise("Term", "starts_on", "3 April") == "Term starts on 3 April"
    assert verbalise("The bar", "closed_on", "31 December 2002") == "The bar closed on 31 December 2002"
    assert verbalise("The bar", "closed_on", "2002") == "The bar closed in 2002"


@pytest.mark.parametrize("relation", list(relations()), ids=lambda relation: relation.name)
def test_the_entries_of_the_registry_are_consistent(relation):
    assert relations().name(relation.name) == relation.name
    assert relations().get(relation.name) is relation
    others = [*relation.implies, *filter(None, (relation.inverse, relation.antonym))]
    assert all(relations().get(other) in list(relations()) for other in others)
    assert relation.name not in others
    if relation.inverse:
        inverse = relations().get(relation.inverse)
        assert inverse.inverse == relation.name
        assert not relation.symmetric
        for kind, other in ((relation.head, inverse.tail), (relation.tail, inverse.head)):
            assert not kind or not other or kind == other
    if relation.antonym:
        assert relations().get(relation.antonym).antonym == relation.name
    if relation.symmetric:
        assert relation.head == relation.tail
    assert relation.label == relation.label.strip() != ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[knows]\ncolour = 'red'", "'knows'"),
        ("[knows]\nalso = ['met']\n[meets]\nalso = ['met']", "'met' stands for both 'knows' and 'meets'"),
        ("[knows", "."),
    ],
)
def test_an_invalid_registry_is_refused_with_a_message(text, problem):
    with pytest.raises(ValueError, match=problem):
        Registry(text)
