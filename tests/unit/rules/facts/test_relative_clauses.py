"""A relative clause behind a subject is read beside the clause that it interrupts."""

import pytest
from unit.rules.facts.reading import facts, intervals, read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My husband, who works at the port, is from Malta.", "Maria's husband comes_from Malta"),
        ("My husband, who works at the port, is from Malta.", "Maria's husband works_at port"),
        ("My daughter Petra, who is 34, is a vet in York.", "Petra works_as vet"),
        ("My colleague Ole who lives in Turku bought a boat.", "Ole lives_in Turku"),
        ("My colleague Ole who lives in Turku bought a boat.", "Ole bought boat"),
    ],
)
def test_both_clauses_of_a_subject_are_read(text, expected) -> None:
    assert expected in facts(text)


def test_a_verb_in_the_third_person_is_not_read_of_the_speaker() -> None:
    assert "Maria lives_in Turku" not in facts("My sister, who I love, lives in Turku.")


def test_a_hospital_of_children_belongs_to_nobody() -> None:
    assert "Maria works_at children's hospital" in facts("I'm a nurse at the children's hospital in Ghent.")


def test_what_began_is_no_thing_with_a_date() -> None:
    assert not [fact for fact in facts("Our son Emil started school in September.") if "scheduled_for" in fact]


def test_what_somebody_will_get_has_that_date() -> None:
    assert facts("We get the keys on 13 September.") == ["keys scheduled_for 13 September"]
    assert not [fact for fact in facts("We got the keys on 13 March.") if "scheduled_for" in fact]
    assert "Maria visited Malta" in facts("We're off to Malta in September.")


def test_a_relative_clause_of_nobody_named_begins_no_clause() -> None:
    text = "Olaf Brandt was a painter and filmmaker who wrote, directed and produced films in Turku."
    assert not [fact for fact in facts(text, title="Olaf Brandt") if fact.startswith("filmmaker")]


def test_a_daughter_in_a_document_is_not_she_from_then_on() -> None:
    text = "Ida Holm and her husband had a daughter. She married Olaf Brandt in 1991."
    assert not [fact for fact in facts(text, title="Ida Holm") if "daughter married_to" in fact]


@pytest.mark.parametrize(
    ("text", "relation", "interval"),
    [
        ("Nordwerk is a software company based in Oslo.", "located_in", "Oslo 2023-05-08 …"),
        ("Nordwerk was a software company based in Oslo.", "located_in", "Oslo … 2023-05-08"),
        ("Brindle College is a college located in Turku.", "located_in", "Turku 2023-05-08 …"),
        ("Olga is a nurse based in Oslo.", "lives_in", "Oslo 2023-05-08 …"),
        ("Olga, based in Oslo, makes films.", "lives_in", "Oslo 2023-05-08 …"),
        ("Olga, based in Oslo, made films.", "lives_in", "Oslo … 2023-05-08"),
    ],
)
def test_a_place_behind_a_participle_holds_as_long_as_the_verb_of_its_clause(
    text: str, relation: str, interval: str
) -> None:
    assert [fact.relation for fact in read(text) if fact.relation in ("located_in", "lives_in")] == [relation]
    assert interval in intervals(text)
