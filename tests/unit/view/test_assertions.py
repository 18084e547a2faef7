"""Which assertions count: of one sentence the best reading, of a document the last revision."""

from itertools import permutations

import pytest
from asserting import asserted, shown

from mcp_memory.domain.facts import WHOLE, Assertion
from mcp_memory.view.facts import Facts

INF = float("inf")
READINGS = [
    asserted("Oslo", 2010, turn="t", sentence=0, extractor="embedded"),
    asserted("Bergen", 2010, turn="t", sentence=0, extractor="anthropic"),
    asserted("Turin", 2010, turn="t", sentence=0, extractor="caller"),
    asserted("Lima", 2015, turn="t", sentence=1, extractor="embedded"),
]


def facts_of(*said: Assertion) -> Facts:
    facts = Facts()
    facts.add(said)
    return facts


@pytest.mark.parametrize("order", list(permutations(READINGS)))
def test_of_one_sentence_the_best_extractors_assertions_count_in_any_order(order: tuple[Assertion, ...]) -> None:
    facts = Facts()
    for assertion in order:
        facts.add([assertion])
        facts.versions("ann", "lives_in")  # cached results must not matter
    assert shown(facts.versions("ann", "lives_in")) == [("Turin", 2010, 2015), ("Lima", 2015, INF)]
    assert {a.tail for a in facts.assertions_in("t")} == {"Turin", "Lima"}
    assert facts_of(*READINGS[:2]).versions("ann", "lives_in")[0].tail == "Bergen"


def test_an_assertion_about_the_whole_turn_counts_beside_those_of_its_sentences() -> None:
    whole = asserted("Oslo", 2010, turn="t", sentence=WHOLE, extractor="caller")
    facts = facts_of(whole, asserted("Lima", 2015, turn="t", sentence=0, extractor="embedded"))
    assert shown(facts.versions("ann", "lives_in")) == [("Oslo", 2010, 2015), ("Lima", 2015, INF)]


def test_assertions_of_an_old_revision_of_a_document_do_not_count() -> None:
    facts = facts_of(asserted("Oslo", 2010, turn="t_old"), asserted("Lima", 2015, turn="t_new"))
    assert len(facts.versions("ann", "lives_in")) == 2
    facts.retire("t_old")
    assert shown(facts.versions("ann", "lives_in")) == [("Lima", 2015, INF)]
    assert facts.assertions_in("t_old") == []
    late = Facts()
    late.retire("t_old")  # a view that is loaded at once retires the turn before the assertions are added
    late.add(facts.rows)
    assert late.versions("ann", "lives_in") == facts.versions("ann", "lives_in")
