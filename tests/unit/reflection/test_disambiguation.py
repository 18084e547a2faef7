"""Disambiguation: which names mean one person, and what keeps two names apart (DESIGN 2.5)."""

from dataclasses import replace

import pytest
from asserting import asserted
from batches import turn

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.reflection.disambiguation import REASON, same_people
from mcp_memory.view.space import Space


def space_of(*said):
    """Return a space in which each assertion has a turn of its own, all of one session unless it names another."""
    space = Space("default")
    for number, (assertion, session) in enumerate((one if isinstance(one, tuple) else (one, "talk")) for one in said):
        one = turn(f"m{number}", session=session)
        space.add(Batch((one,), assertions=(replace(assertion, turn_id=one.id),)))
    return space


def works(head, tail="Acme", relation="works_at", **more):
    return asserted(tail, head=head, relation=relation, **more)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ((works("Anna Patel"), (works("Anna Maria Patel"), "other")), "no session has both"),
        ((works("Anna Patel"), works("Anna Maria Patel"), works("Anna Rosa Patel")), "either would do"),
        ((works("Tom Hall"), works("Tom Hall Jr")), "a father and his son"),
        ((works("Anna Patel", "Anna Maria Patel", "child"), works("Anna Maria Patel")), "a fact joins them"),
        (
            (works("Anna Patel", "1990", "born_on"), works("Anna Maria Patel", "1960", "born_on")),
            "a fact of one value tells them apart",
        ),
        ((asserted("Mill Park", head="Ann"), asserted("Mill Hill Park", head="Bob")), "they are no people"),
    ],
)
def test_distinguishing_facts_keep_two_names_apart(said, why):
    assert same_people(space_of(*said)) == [], why


def test_two_people_who_speak_stay_apart():
    space = space_of(works("Anna Patel"), works("Anna Maria Patel"))
    assert len(same_people(space)) == 1
    for name in ("Anna Patel", "Anna Maria Patel"):
        space.add(Batch((replace(turn(f"by {name}", session="talk"), speaker=name),)))
    assert same_people(space) == []


@pytest.mark.parametrize("ends", [("Anna Patel", "Anna Maria Patel"), ("Anna Maria Patel", "Anna Patel")])
def test_denied_pairs_stay_apart_in_either_direction(ends):
    denial = asserted(ends[1], head=ends[0], relation="also_known_as", negated=True)
    space = space_of(works("Anna Patel"), works("Anna Maria Patel"), denial)
    assert same_people(space) == []


def test_an_alias_joins_facts_until_it_is_denied_and_changes_no_row():
    space = space_of(works("Anna Patel", "Oslo", "visited"), works("Anna Maria Patel", "Lima", "visited"))
    facts, rows = space.facts, list(space.facts.rows)
    facts.add_aliases([Alias("default", "Anna Maria Patel", "Anna Patel", REASON, "embedded", 1)])
    assert {version.tail for version in facts.from_(facts.key("Anna Patel"))} == {"Oslo", "Lima"}
    assert [one.reason for one in facts.inferred_aliases("anna maria patel")] == [REASON]
    assert same_people(space) == []
    assert "also_known_as" not in facts.relations_of("anna maria patel")  # nobody said so
    denial = asserted("Anna Patel", head="Anna Maria Patel", relation="also_known_as", negated=True)
    facts.add([replace(denial, turn_id=facts.rows[0].turn_id, sentence=7)])
    assert {version.tail for version in facts.from_(facts.key("Anna Patel"))} == {"Oslo"}
    assert facts.inferred_aliases("anna maria patel") == []
    assert facts.rows[: len(rows)] == rows
