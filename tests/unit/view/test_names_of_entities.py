"""Which names mean one entity: stated aliases, and what prevents them from counting."""

from itertools import permutations

import pytest
from asserting import asserted, shown

from mcp_memory.domain.facts import Assertion
from mcp_memory.view.facts import Facts

INF = float("inf")


def alias(head: str, tail: str, since: int = 0, **said: object) -> Assertion:
    return asserted(tail, since, head=head, relation="also_known_as", **said)  # type: ignore[arg-type]


def facts_of(*said: Assertion) -> Facts:
    facts = Facts()
    facts.add(said)
    return facts


ROBERT = (alias("Robert", "Bob"), asserted("Oslo", 2010, head="Robert"), asserted("Lima", 2015, head="Bob"))


@pytest.mark.parametrize("order", list(permutations(ROBERT)))
def test_an_alias_means_its_entity_in_any_order_of_arrival(order: tuple[Assertion, ...]) -> None:
    facts = Facts()
    for assertion in order:
        facts.add([assertion])
        list(facts.all())  # cached results must not matter
    assert facts.resolve("Bob") == facts.key("bob's") == "robert"
    assert shown(facts.versions("robert", "lives_in")) == [("Oslo", 2010, 2015), ("Lima", 2015, INF)]
    assert {version.head for version in facts.from_("robert")} == {"Robert"}
    assert facts.names("robert") == ("Robert", "Bob")
    assert sorted(facts.entities()) == ["lima", "oslo", "robert"]


def test_an_alias_of_two_entities_means_neither_of_them() -> None:
    facts = facts_of(*ROBERT, alias("Roberta", "Bob"))
    assert facts.resolve("Bob") == "bob"
    assert shown(facts.versions("bob", "lives_in")) == [("Lima", 2015, INF)]


def test_a_suspected_or_denied_alias_means_only_itself() -> None:
    guess = alias("Robert", "Bob", confidence=0.45)
    assert facts_of(guess).resolve("Bob") == "bob"
    assert facts_of(guess, *(alias("Robert", "Bob", number, confidence=0.75) for number in range(4))).key("Bob") == (
        "robert"
    )
    assert facts_of(alias("Robert", "Bob", negated=True)).key("Bob") == "bob"
    assert facts_of(alias("Robert", "Bob", 2010), alias("Robert", "Bob", 2015, negated=True)).key("Bob") == "robert"


def test_a_name_of_another_type_is_no_alias() -> None:
    town = asserted("Victoria", 2010, head="Ann")
    for order in permutations((alias("Queen", "Victoria"), asserted("Oslo", head="Queen"), town)):
        facts = facts_of(*order)
        assert (facts.resolve("Victoria"), facts.degree("queen")) == ("victoria", 2)


def test_aliases_of_aliases_are_followed_and_a_ring_means_its_longest_name() -> None:
    chain = (alias("Robert", "Bob"), alias("Bob", "Bobby"), asserted("Oslo", head="Bobby"))
    for order in permutations(chain):
        assert facts_of(*order).resolve("Bobby") == "robert"
        assert shown(facts_of(*order).versions("robert", "lives_in")) == [("Oslo", 0, INF)]
    for order in permutations((*chain, alias("Bobby", "Robert"))):
        facts = facts_of(*order)
        assert {facts.resolve(name) for name in ("Robert", "Bob", "Bobby")} == {"robert"}
        assert facts.names("robert") == ("Robert", "Bob", "Bobby")


def test_two_names_of_one_person_do_not_make_a_short_name_ambiguous() -> None:
    lees = [asserted("Oslo", head="Robert Lee"), asserted("Lima", head="Bob Lee")]
    assert facts_of(*lees).resolve("Lee") is None
    for order in permutations((*lees, alias("Robert Lee", "Bob Lee"))):
        assert facts_of(*order).resolve("Lee") == "robert lee"
