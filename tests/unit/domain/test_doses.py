"""A new dose replaces the old one of the same medicine, in whatever order they are told."""

from collections.abc import Sequence
from itertools import permutations

import pytest
from asserting import asserted

from mcp_memory.domain.entities import medicine
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.versions import fold


@pytest.mark.parametrize(
    ("tail", "thing"),
    [
        ("20 mg of Velorin", "Velorin"),
        ("20mg Velorin", "Velorin"),
        ("Velorin 20 mg", "Velorin"),
        ("Velorin (20 mg)", "Velorin"),
        ("20 mg of Velorin every morning", "Velorin"),
        ("two tablets of Velorin", "Velorin"),
        ("10 mg", ""),
        ("5 mg twice daily", ""),
        ("Velorin", None),
        ("two sons", None),
        ("20 of us", None),
        ("1 mg of " + "x" * 200, None),
    ],
)
def test_the_medicine_of_a_dose(tail: str, thing: str | None) -> None:
    assert medicine(tail) == thing


def takes(tail: str, since: int, *, negated: bool = False, relation: str = "takes") -> Assertion:
    return asserted(tail, since, relation=relation, negated=negated)


def current(told: Sequence[Assertion]) -> list[str]:
    return sorted(version.tail for version in fold(told, single=False, key=str.casefold) if version.current)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([takes("20 mg of Velorin", 1), takes("10 mg of Velorin", 5)], ["10 mg of Velorin"]),
        ([takes("20 mg of Velorin", 1), takes("Velorin 10 mg", 5)], ["Velorin 10 mg"]),
        ([takes("20 mg of Velorin", 1), takes("10 mg", 5)], ["10 mg"]),
        ([takes("20 mg of Velorin", 1), takes("5 mg of Ostrin", 5)], ["20 mg of Velorin", "5 mg of Ostrin"]),
        (
            [takes("20 mg of Velorin", 1), takes("5 mg of Ostrin", 2), takes("10 mg", 5)],
            ["10 mg", "20 mg of Velorin", "5 mg of Ostrin"],
        ),
        ([takes("20 mg of Velorin", 1), takes("5 mg of Ostrin", 7), takes("10 mg", 5)], ["10 mg", "5 mg of Ostrin"]),
        ([takes("Velorin", 1), takes("20 mg of Velorin", 2), takes("Velorin", 5, negated=True)], []),
        ([takes("20 mg of Velorin", 1), takes("Velorin", 5)], ["20 mg of Velorin", "Velorin"]),
        ([takes("Velorin", 1), takes("Ostrin", 5, negated=True)], ["Velorin"]),
    ],
)
def test_a_new_dose_replaces_that_of_the_same_medicine(told: list[Assertion], expected: list[str]) -> None:
    for order in permutations(told):
        assert current(order) == expected


def test_several_purchases_stand_side_by_side() -> None:
    told = [takes("20 mg of Velorin", 1, relation="bought"), takes("10 mg of Velorin", 5, relation="bought")]
    assert all(version.superseded_by is None for version in fold(told, single=False, key=str.casefold))
