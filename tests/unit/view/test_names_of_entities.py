"""Which names mean one entity: stated aliases, and what prevents them from counting."""

import random
from itertools import permutations

import pytest
from asserting import asserted, shown
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory.domain.facts import Assertion
from mcp_memory.view.facts import Facts

INF = float("inf")
thorough = settings(max_examples=200, deadline=None, derandomize=True)


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


NAMES = ("Robert", "Bob", "Bobby", "Bob Lee", "Robert Lee", "Lee", "Rome")
sayings = st.one_of(
    st.builds(
        alias,
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
        st.integers(0, 2),
        turn=st.sampled_from(["t_1", "t_2", "t_3"]),
        sentence=st.sampled_from([0, 1]),
        negated=st.sampled_from([False, False, False, True]),
        confidence=st.sampled_from([0.45, 0.95, 0.95]),
        extractor=st.sampled_from(["embedded", "anthropic", "caller"]),
    ),
    st.builds(
        asserted,
        st.sampled_from(("Oslo", "Rome", *NAMES)),
        st.integers(0, 5),
        head=st.sampled_from(NAMES),
        relation=st.sampled_from(["lives_in", "knows", "roots_for"]),
    ),
)


def visible(facts: Facts) -> object:
    keys = sorted(facts.entities())
    groups = [(key, relation) for key in keys for relation in sorted(facts.relations_of(key))]
    folded = [
        sorted(
            (
                *(facts.target_key(v, forward=True), v.head, v.since, v.until, v.confidence),
                sorted(a.id for a in v.assertions),
            )
            for v in facts.all_versions(*group)
        )
        for group in groups
    ]
    return (
        [(name, facts.resolve(name)) for name in NAMES],
        [(key, facts.names(key), facts.kind(key), facts.degree(key)) for key in keys],
        facts.counts("roots_for"),
        groups,
        folded,
    )


@thorough
@given(st.lists(sayings, max_size=10, unique_by=lambda said: said.id), st.booleans(), st.randoms(use_true_random=False))
def test_what_names_mean_does_not_depend_on_the_order_of_arrival_or_on_queries_in_between(
    said: list[Assertion], retired: bool, rng: random.Random
) -> None:
    once, stepwise = facts_of(*said), Facts()
    for assertion in rng.sample(said, len(said)):
        stepwise.add([assertion])
        visible(stepwise)
    if retired:
        once.retire("t_1")
        stepwise.retire("t_1")
    assert visible(stepwise) == visible(once)


@thorough
@given(st.lists(sayings, max_size=10, unique_by=lambda said: said.id))
def test_the_entity_of_a_name_means_itself_and_every_fact_is_found_with_it(said: list[Assertion]) -> None:
    facts = facts_of(*said)
    for name in NAMES:
        assert facts.known_entity(facts.key(name)) in (facts.key(name), None)
    for version in facts.all(suspected=True):
        assert version in facts.to(facts.key(version.tail), suspected=True)
        assert facts.version(version.id) == version
    counting = {a.id for turn in {a.turn_id for a in said} for a in facts.assertions_in(turn) if not a.negated}
    assert {a.id for version in facts.all(suspected=True) for a in version.assertions} == counting
