"""Contradictions between facts are reported, and a change is no contradiction."""

from dataclasses import replace

import pytest
from asserting import asserted

from mcp_memory.domain.answers import RelationFacts, conflicts
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.versions import fold


def said(relation, tail, since, *, negated=False):
    return asserted(tail, since, relation=relation, negated=negated, recorded_at=since)


def group(relation, *assertions, single=True):
    versions = fold(assertions, single=single, key=entity_key)
    denials = tuple(one for one in assertions if one.negated)
    return RelationFacts("ann", ("Ann",), relation, True, versions, denials=denials)


def test_two_values_with_one_start_are_reported_as_a_conflict_while_the_winner_holds():
    homes = group("lives_in", said("lives_in", "Rome", 10), replace(said("lives_in", "Turin", 10), sentence=1))
    assert conflicts([homes], 20, 21) == ("Ann lives in Turin, but it was also said: Ann lives in Rome",)
    assert conflicts([homes], 5, 6) == ()


@pytest.mark.parametrize("sure", [(0.95, 0.85), (0.85, 0.95), (0.85, 0.85)])
def test_no_conflict_stands_on_a_fact_that_is_not_certain(sure):
    rome, turin = said("lives_in", "Rome", 10), said("lives_in", "Turin", 10)
    homes = group("lives_in", replace(rome, confidence=sure[0]), replace(turin, confidence=sure[1]))
    assert conflicts([homes], 20, 21) == ()
    denial = replace(said("lives_in", "Turin", 10, negated=True), confidence=sure[1])
    home = group("lives_in", replace(turin, confidence=sure[0]))
    assert conflicts([replace(home, denials=(denial,))], 20, 21) == ()


def test_a_fact_that_is_denied_for_its_own_time_is_reported():
    tea = group("likes", said("likes", "tea", 10), said("likes", "tea", 10, negated=True), single=False)
    assert conflicts([tea], 20, 21) == ("Ann likes tea, but it was also said that this does not hold",)


def test_who_gives_a_thing_up_denies_nothing_of_who_takes_it_over():
    """Seen from the thing, whose owners are the heads of its facts."""
    first = said("owned_by", "rota", 10)
    second = replace(said("owned_by", "rota", 20), head="Bea")
    given_up = said("owned_by", "rota", 20, negated=True)
    versions = fold([second], single=False, key=entity_key)
    owners = RelationFacts("rota", ("rota",), "owned_by", False, versions, denials=(given_up,))
    assert conflicts([owners], 30, 31) == ()
    versions = fold([first], single=False, key=entity_key)
    owners = RelationFacts("rota", ("rota",), "owned_by", False, versions, denials=(replace(given_up, since=10),))
    assert len(conflicts([owners], 15, 16)) == 1
