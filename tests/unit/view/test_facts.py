"""The facts of a space, for any assertions: the order of arrival does not matter, and every id stays valid."""

from asserting import asserted
from hypothesis import given, settings
from hypothesis import strategies as st
from soak.invariants import fact_faults

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.facts import CERTAIN, WHOLE, count
from mcp_memory.view.facts import Facts

thorough = settings(max_examples=100, derandomize=True)


def facts_of(*said):
    facts = Facts()
    facts.add(said)
    return facts


def test_an_id_stays_valid_when_an_earlier_assertion_arrives_late_or_a_better_one_replaces_it():
    read = asserted("Oslo", 2012, turn="t", extractor="embedded")
    facts = facts_of(read)
    (before,) = facts.versions("ann", "lives_in")
    facts.add([asserted("Oslo", 2010), asserted("oslo", 2012, turn="t", extractor="caller")])
    after = facts.version(before.id)
    assert (after.since, [a.extractor for a in after.assertions]) == (2010, ["caller", "caller"])
    facts.add([asserted("Lima", 2011)])
    split = facts.version(before.id)
    assert (split.since, split.tail) == (2012, "oslo")


def test_assertions_of_an_old_revision_of_a_document_do_not_count():
    facts = facts_of(asserted("Oslo", 2010, turn="t_old"), asserted("Lima", 2015, turn="t_new"))
    assert len(facts.versions("ann", "lives_in")) == 2
    facts.retire("t_old")
    assert [version.tail for version in facts.versions("ann", "lives_in")] == ["Lima"]
    assert facts.assertions_in("t_old") == []
    late = Facts()
    late.retire("t_old")  # a view that is loaded at once retires the turn before the assertions are added
    late.add(facts.rows)
    assert late.versions("ann", "lives_in") == facts.versions("ann", "lives_in")


HEADS = ("Ann", "Anna Patel", "Patel", "Dr. Patel", "Raj Patel", "Anna", "Bob", "Paris")
RELATIONS = ("lives_in", "roots_for", "friend_of", "also_known_as")
assertions = st.builds(
    asserted,
    st.sampled_from(["Oslo", "Paris", "oslo", "Patel", "Raj Patel", "Paris Hilton", "Bob"]),
    st.integers(0, 5),
    head=st.sampled_from(HEADS),
    relation=st.sampled_from(RELATIONS),
    turn=st.sampled_from(["t_1", "t_2", "t_3", "t_4", "t_5"]),
    sentence=st.sampled_from([0, 1, WHOLE]),
    negated=st.sampled_from([False, False, True]),
    confidence=st.sampled_from([0.45, 0.75, 0.95]),
    change=st.booleans(),
    extractor=st.sampled_from(["embedded", "anthropic", "caller"]),
)
histories = st.lists(assertions, max_size=12, unique_by=lambda assertion: assertion.id)


def visible(facts):
    """Return everything visible of the facts of a space except ids, which depend on the order of arrival."""

    def shown(v):
        told = sorted(a.id for a in v.assertions)
        return facts.key(v.tail), v.head, v.since, v.until, v.status, v.confidence, told

    keys = sorted(facts.entities())
    groups = [(key, relation) for key in keys for relation in sorted(facts.relations_of(key))]
    layers = [layer for group in groups for layer in (facts.versions(*group), facts.suspected(*group))]
    return (
        [(key, facts.names(key), facts.kind(key), facts.degree(key)) for key in keys],
        [(name, facts.resolve(name)) for name in (*HEADS, "Hilton", "Raj", "Zoe")],
        [(name, facts.counts(name), facts.cardinality(name)) for name in RELATIONS],
        groups,
        [sorted(shown(v) for v in layer) for layer in layers],
        [sorted((v.head, v.relation, v.since, v.until) for v in facts.to(key, suspected=True)) for key in keys],
        [sorted(a.id for a in facts.assertions_in(f"t_{number}")) for number in range(1, 6)],
    )


@thorough
@given(histories, st.booleans(), st.randoms(use_true_random=False))
def test_nothing_visible_depends_on_the_order_of_arrival_or_on_queries_in_between(said, retired, rng):
    once, stepwise = Facts(), Facts()
    if retired:
        once.retire("t_1")
    once.add(said)
    once.add_speaker("Bob Patel")
    stepwise.add_speaker("Bob Patel")
    for assertion in rng.sample(said, len(said)):
        stepwise.add([assertion])
        visible(stepwise)
    if retired:
        stepwise.retire("t_1")
    assert visible(stepwise) == visible(once)


@thorough
@given(histories, st.randoms(use_true_random=False))
def test_counters_kept_up_to_date_equal_those_counted_from_scratch(said, rng):
    facts = Facts()
    for assertion in said:
        facts.add([assertion])
        facts.counts(rng.choice(RELATIONS))
    facts.retire("t_2")
    counting = [a for number in range(1, 6) for a in facts.assertions_in(f"t_{number}")]
    for relation in RELATIONS:
        tail = entity_key if relation == "also_known_as" else facts.key
        of_heads = [
            count([a for a in counting if (facts.key(a.head), a.relation) == (head, relation)], tail)
            for head in facts.entities()
        ]
        assert facts.counts(relation) == (sum(s for s, _ in of_heads), sum(m for _, m in of_heads))


@thorough
@given(histories)
def test_every_id_that_was_ever_returned_still_names_a_version(said):
    facts, shown_ids = Facts(), set()
    for assertion in said:
        facts.add([assertion])
        shown_ids |= {version.id for version in facts.all(suspected=True)}
    counting = {a.id for number in range(1, 6) for a in facts.assertions_in(f"t_{number}")}
    for fact_id in shown_ids:
        version = facts.version(fact_id)
        if "x_" + fact_id.removeprefix("f_") in counting:
            assert version.id in {v.id for v in facts.all(suspected=True)}


@thorough
@given(histories)
def test_every_version_is_found_from_its_head_and_from_its_tail(said):
    facts = facts_of(*said)
    for version in facts.all(suspected=True):
        head, tail = facts.key(version.head), facts.key(version.tail)
        assert version in facts.from_(head, suspected=True)
        assert version in facts.to(tail, suspected=True)
        assert facts.version(version.id) == version
        assert entity_key(version.head) == head


@thorough
@given(histories, st.booleans())
def test_one_value_holds_at_a_time_of_what_was_told_as_certain_and_one_of_the_rest(said, left):
    facts = Facts(as_of=lambda version: 9 if left and version.confidence >= CERTAIN else None)
    facts.add(said)
    assert list(fact_faults(facts)) == []


def test_what_was_told_as_certain_stands_beside_what_was_not_also_when_something_was_said_since():
    facts = Facts(as_of=lambda version: 2012 if version.confidence >= CERTAIN else None)
    facts.add([asserted("Oslo", 2010), asserted("Lima", 2012, confidence=0.8)])
    assert [version.tail for version in facts.versions("ann", "lives_in") if version.current] == ["Oslo", "Lima"]
    assert list(fact_faults(facts)) == []
