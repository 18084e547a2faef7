"""The inflected forms of verbs."""

import pytest
from bench.inflected import inflect


@pytest.mark.parametrize(
    ("lemma", "third", "past", "participle", "ing"),
    [
        ("go", "goes", "went", "gone", "going"),
        ("have", "has", "had", "had", "having"),
        ("carry", "carries", "carried", "carried", "carrying"),
        ("plan", "plans", "planned", "planned", "planning"),
        ("write", "writes", "wrote", "written", "writing"),
        ("wozzle", "wozzles", "wozzled", "wozzled", "wozzling"),
    ],
)
def test_a_verb_takes_each_of_its_forms(lemma, third, past, participle, ing):
    assert inflect(lemma, "plain") == lemma
    found = (
        inflect(lemma, "third"),
        inflect(lemma, "past"),
        inflect(lemma, "participle"),
        inflect(lemma, "ing"),
    )
    assert found == (third, past, participle, ing)
