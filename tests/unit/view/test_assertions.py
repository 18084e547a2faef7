"""Which assertions count: of one sentence the best reading, of a document the last revision."""

from asserting import asserted, shown

from mcp_memory.domain.facts import WHOLE, Assertion
from mcp_memory.view.facts import Facts

INF = float("inf")


def facts_of(*said: Assertion) -> Facts:
    facts = Facts()
    facts.add(said)
    return facts


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
