"""The confidence of a plain statement is the share right of its class."""

import pytest
from reading import read

from mcp_memory.domain.facts import STABLE
from mcp_memory.rules.facts.doubts import DOUBTFUL, SHARES, group_of, is_whole


@pytest.mark.parametrize(
    ("relation", "group"),
    [
        ("did", "did"),
        ("favourite_colour", "taste"),
        ("bought", "event"),
        ("married_to", "life"),
        ("set_to", "setting"),
        ("landlord", "own"),
    ],
)
def test_every_relation_belongs_to_a_group(relation: str, group: str) -> None:
    assert group_of(relation) == group


@pytest.mark.parametrize(
    ("head", "relation", "tail", "whole"),
    [
        ("Maria", "did", "wrote unit tests", False),
        ("Maria", "did", "wrote a letter to Olga", True),
        ("Maria", "attended", "fair", False),
        ("Maria", "attended", "regional pottery fair", True),
        ("TTL", "set_to", "300", False),
        ("session timeout", "set_to", "300", True),
        ("Maria", "works_at", "practice", False),
        ("Maria", "works_at", "Arden Clinic", True),
    ],
)
def test_a_fact_is_whole_if_its_head_and_tail_say_enough(head: str, relation: str, tail: str, whole: bool) -> None:
    assert is_whole(head, relation, tail) is whole


def test_a_plain_statement_has_the_share_of_its_class_but_stays_stable_if_that_is_not_doubtful() -> None:
    (married,) = read("I'm married to Ivo.")
    assert married.confidence == SHARES["life", True]
    assert DOUBTFUL <= SHARES["setting", True] < STABLE
    (setting,) = read("The session timeout is 15 minutes.")
    assert setting.confidence == STABLE


def test_what_is_doubtful_or_hedged_stays_below_the_stable_line() -> None:
    reasons = [
        item for item in read("We chose Valkey over Redis because of the licence.") if item.relation == "because"
    ]
    hedged = read("Maybe Jan works at Orla Foods.")
    assert [item.confidence < STABLE for item in (*reasons, *hedged)] == [True, True]
