"""From evidence to points, and subqueries around them: DESIGN W13 by hand, properties for any graph (DESIGN I17)."""

import random
from dataclasses import replace

import numpy as np
import pytest
from asserting import asserted
from batches import point
from hypothesis import given
from hypothesis import strategies as st
from unit.gain.sentence_space import documents

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Root
from mcp_memory.domain.query import Query
from mcp_memory.hypergraph import evolution
from mcp_memory.hypergraph.evolution import (
    EvidenceGroup,
    apply_group,
    evidence_item,
    extract_description,
    group_evidence,
    is_relational,
    merge_points,
    pairs_to_merge,
)
from mcp_memory.hypergraph.retrieval import (
    ENTITIES_A_SUBQUERY,
    neighbourhood,
    relevant_points,
    retrieve,
    uncovered_entities,
)
from mcp_memory.language.questions import understand
from mcp_memory.language.tokens import rouge_l, words
from mcp_memory.view.facts import Facts
from mcp_memory.view.hypergraph import vertices

Z = (0.0, 0.0)


def groups_of(space, *ids):
    items = [evidence_item(space, name, [name]) for name in ids]
    return group_evidence(space, [item for item in items if item is not None])


def test_evidence_with_common_entities_forms_connected_groups():
    space = documents([("Ann met Bob.", Z)], [("Cid met Dot.", Z)], [("Bob met Eve.", Z)], [("Eve ran.", Z)])
    first, second = groups_of(space, "s_3.0", "s_1.0", "s_0.0", "s_2.0")
    assert set(first.entities.values()) == {"Ann", "Bob", "Eve"}
    assert first.sentences == ("s_3.0", "s_0.0", "s_2.0")  # best first
    assert [text for _, text in first.texts] == ["Eve ran.", "Ann met Bob.", "Bob met Eve."]
    assert take([], first).description == "Ann met Bob.\nBob met Eve.\nEve ran."  # by time
    assert set(second.entities.values()) == {"Cid", "Dot"}


def test_a_hub_joins_nothing_but_is_joined(monkeypatch):
    passages = [[(f"Ann met {name}.", Z)] for name in ("Bob", "Cid", "Dot", "Eve")]
    space = documents(*passages)
    names = [f"s_{number}.0" for number in range(4)]
    assert len(groups_of(space, *names)) == 1  # so few sentences make no hub
    monkeypatch.setattr(evolution, "HUB_LEAST", 2)
    apart = groups_of(space, *names)
    assert [set(group.entities.values()) for group in apart] == [{"Ann", one} for one in ("Bob", "Cid", "Dot", "Eve")]


def test_evidence_of_one_entity_is_no_group_and_a_large_group_keeps_the_most_named(monkeypatch):
    space = documents([("Ann ran.", Z)], [("Ann and Bob and Cid and Dot and Eve.", Z)], [("Ann met Dot.", Z)])
    assert groups_of(space, "s_0.0") == []
    monkeypatch.setattr(evolution, "MAX_ENTITIES", 3)
    (group,) = groups_of(space, "s_1.0", "s_2.0")
    assert [*group.entities.values()] == ["Ann", "Bob", "Dot"]
    assert groups_of(space, "s_nobody") == []


@pytest.mark.parametrize("seed", range(10))
def test_no_two_texts_of_an_extract_say_the_same(seed):
    dice = random.Random(seed)
    texts = [" ".join(dice.choices("abcd", k=dice.randint(1, 5))) + "." for _ in range(8)]
    told = extract_description(list(enumerate(texts)), 99).split(".")[:-1]
    assert {f"{text.strip()}." for text in told} <= set(texts)
    assert all(rouge_l(words(a), words(b)) < 0.6 for n, a in enumerate(told) for b in told[:n])
    for text in texts:
        assert any(rouge_l(words(text), words(one)) >= 0.6 for one in told)


@given(st.lists(st.text("ab ", min_size=1, max_size=12).filter(str.strip), min_size=1, max_size=8), st.integers(1, 12))
def test_an_extract_begins_with_the_first_and_has_no_more_words_than_it_may(texts, most):
    told = extract_description(list(enumerate(texts)), most)
    first = " ".join(texts[0].split())
    assert told.startswith(first)
    assert told == first or len(told.split()) <= most


def group(*entities, text="They met.", sentences=("s_1",)):
    return EvidenceGroup({name.casefold(): name for name in entities}, ((0, text),), sentences)


def take(points, what):
    return apply_group(Facts(), {one.id: one for one in points}, what, "default", "", 7)


def test_evidence_about_almost_the_same_entities_updates_and_leaves_the_vertices():
    five = point("p", ("A1", "B1", "C1", "D1", "E1"))
    made = take([five], group("A1", "B1", "C1", "D1"))  # 4 of 5
    assert (made.id, made.entities, made.revision, made.sentences) == (five.id, five.entities, 1, ("s_1",))
    other = take([five], group("A1", "B1", "C1"))  # 3 of 5
    assert other.id != five.id
    assert (other.entities, other.revision, other.description, other.at) == (("A1", "B1", "C1"), 0, "They met.", 7)


def test_evidence_for_a_merged_point_goes_to_its_successor():
    a, b = point("a", ("A1", "B1")), point("b", ("B1", "C1"))
    whole, gone = merge_points((a, b), "Both.", "", "embedded", 1)
    taken = take([whole, *gone], group("A1", "B1"))
    assert (taken.id, taken.entities, taken.description) == (whole.id, ("A1", "B1", "C1"), "Both.\nThey met.")


@pytest.mark.parametrize("seed", range(20))
def test_applying_evidence_twice_equals_once(seed):
    dice = random.Random(seed)
    points = {}
    names = [f"{one}1" for one in "ABCDEF"]
    history = []
    for number in range(10):
        what = group(*dice.sample(names, dice.randint(2, 4)), text=f"Text {number} of it.", sentences=(f"s_{number}",))
        history.append(what)
        for _ in range(2):
            made = apply_group(Facts(), points, what, "default", "goal", number)
            if made is not None:
                before = points.get(made.id)
                assert before is None or (before.entities, before.revision + 1) == (made.entities, made.revision)
                points[made.id] = made
        assert apply_group(Facts(), points, what, "default", "goal", number) is None
    supported = {name for one in points.values() for name in one.sentences}
    assert supported == {f"s_{number}" for number in range(10)}


@pytest.mark.parametrize("seed", range(20))
def test_a_round_of_merges_takes_each_point_once_and_none_grows_too_large(seed, monkeypatch):
    """DESIGN I13 and DESIGN I16; the pairs share an entity and are alike, the likeliest first."""
    dice = random.Random(seed)
    names = [f"{one}1" for one in "ABCDEFGHIJ"]
    points = [point(str(number), dice.sample(names, dice.randint(2, 4))) for number in range(8)]
    vectors = np.abs(np.random.default_rng(seed).normal(size=(8, 3)))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    of = {one.id: vector for one, vector in zip(points, vectors, strict=True)}
    monkeypatch.setattr(evolution, "MAX_ENTITIES", 5)
    chosen = pairs_to_merge(Facts(), points, lambda one: of[one.id])
    taken = [one.id for pair in chosen for one in pair]
    assert len(taken) == len(set(taken))
    cosines = [float(of[one.id] @ of[other.id]) for one, other in chosen]
    assert cosines == sorted(cosines, reverse=True)
    assert all(cosine >= 0.6 for cosine in cosines)
    for pair in chosen:
        whole, gone = merge_points(pair, "Both.", "", "embedded", 1)
        sets = [vertices(Facts(), one) for one in pair]
        assert sets[0] & sets[1]
        assert vertices(Facts(), whole) == sets[0] | sets[1]
        assert len(whole.entities) == len({entity_key(name) for name in whole.entities}) <= 5
        assert [(one.merged_into, one.revision, one.entities) for one in gone] == [
            (whole.id, 1, parent.entities) for parent in pair
        ]


@pytest.mark.parametrize(
    ("goal", "names", "relates"),
    [
        ("Where does Ann live?", ["Ann"], False),
        ("Who is Ann?", ["Ann"], False),
        ("When did it open?", [], False),
        ("How many dogs has Ann?", ["Ann"], False),
        ("Where did Ann meet Bob?", ["Ann", "Bob"], True),
        ("Why did Ann leave?", ["Ann"], True),
        ("How did Ann come to Oslo?", ["Ann"], True),
        ("What is the difference of the two?", [], True),
        ("Ann's years in Oslo", ["Ann"], True),
    ],
)
def test_a_goal_relates_if_it_asks_why_or_how_names_two_or_is_a_topic(goal, names, relates):
    roots = [Root(name.lower(), name, "FACT") for name in names]
    assert is_relational(understand(goal, ()), roots, ()) is relates


def space_with(points, edges, *passages):
    space = documents(*passages)
    space.facts.add([asserted(tail, head=head, relation="knows_about") for head, tail in edges])
    space.hypergraph.add(points, np.eye(len(points) or 1, 2 + len(points), dtype=np.float32)[: len(points)])
    return space


def test_local_investigation_looks_one_step_around_a_point_and_global_exploration_beyond_all():
    e1, e2 = points = point("e1", ("Aa", "Bb"), "x"), point("e2", ("Bb", "Cc"), "x")
    edges = (("Aa", "Xx"), ("Bb", "Yy"), ("Dd", "Zz"))
    space = space_with(points, edges, [("Aa saw Cc.", Z)], [("Dd ran.", Z)])
    assert neighbourhood(space, e1) == {"aa", "bb", "cc", "xx", "yy"}
    assert neighbourhood(space, e2) == {"aa", "bb", "cc", "yy"}  # a by e1, x is two steps away
    assert uncovered_entities(space) == {"dd", "xx", "yy", "zz"}
    assert {key for one in (e1, e2) for key in vertices(space.facts, one)} == {"aa", "bb", "cc"}


@pytest.mark.parametrize("seed", range(20))
def test_what_is_retrieved_lies_in_scope_and_is_at_most_n_v(seed):
    dice = random.Random(seed)
    names = [f"{one}{one.lower()}" for one in "ABCDEFGHIJKL"]
    points = [point(f"p{n}", dice.sample(names, dice.randint(2, 4)), "x") for n in range(3)]
    edges = [tuple(dice.sample(names, 2)) for _ in range(6)]
    passages = [[(f"{' met '.join(dice.sample(names, 2))}.", Z)] for _ in range(12)]
    space = space_with(points, edges, *passages)
    weights = np.array([dice.random() for _ in passages], dtype=np.float32)
    joined = {key for one in points for key in vertices(space.facts, one)}
    for one in points:
        scope = neighbourhood(space, one)
        found = retrieve(space, scope, lambda rows: weights[rows])
        assert vertices(space.facts, one) <= scope
        assert set(found) <= scope
        assert len(found) <= ENTITIES_A_SUBQUERY
        best = [max(own.values()) for own in found.values()]
        assert best == sorted(best, reverse=True)
    outside = retrieve(space, uncovered_entities(space), lambda rows: weights[rows])
    assert not set(outside) & joined
    assert len(outside) <= ENTITIES_A_SUBQUERY


def test_a_point_that_joins_nobody_but_the_user_of_a_question_must_bear_on_it():
    described = {"far": "Fish is bought on Fridays.", "word": "The dentist moved.", "near": "A bridge over the Wye."}
    points = [replace(point(name, ("user", f"E{name}"), "x"), description=text) for name, text in described.items()]
    space = space_with([*points, point("other", ("user", "Ann"), "x")], ())
    vector = np.array([0.1, 0.1, 0.5, 0.1, 0, 0], dtype=np.float32)

    def found(text, *names):
        asked = replace(understand(text, ()), names=names, vector=vector)
        return [one.id for one in relevant_points(space, asked, ["user"])]

    assert found("When does the user see a dentist?") == ["h_near", "h_word"]
    assert found("When does the user see a dentist with Ann?", "ann") == ["h_near", "h_other", "h_word"]
    assert len(found("The user?")) == 4  # it says nothing more


def test_points_of_named_entities_and_of_the_same_goal_are_relevant_most_similar_first():
    points = [point(str(n), ("Ann", f"E{n}"), "x") for n in range(3)] + [point("goal", ("Zoe", "Yan"), "x", "Who won?")]
    space = space_with(points, ())
    ann = Query("who WON?", names=("ann",), vector=np.array([0.1, 0.9, 0.5, 0.3, 0, 0], dtype=np.float32))
    assert [one.id for one in relevant_points(space, ann, [])] == ["h_1", "h_2", "h_goal", "h_0"]
    assert [one.id for one in relevant_points(space, replace(ann, text="", names=()), ["e2"])] == ["h_2"]
    assert relevant_points(documents(), ann, []) == []
