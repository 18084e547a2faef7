"""Subqueries and the scores of relevant points: DESIGN W13 by hand, and properties for any graph (DESIGN I17)."""

import random
from dataclasses import replace

import numpy as np
import pytest
from batches import merged, point
from unit.gain.sentence_space import documents

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import FOREVER
from mcp_memory.domain.turns import assertion_id
from mcp_memory.hypergraph.retrieval import (
    global_points,
    local_points,
    neighbourhood,
    relevant_points,
    retrieve,
    uncovered_entities,
)
from mcp_memory.language.questions import understand
from mcp_memory.ports import OperatorInput
from mcp_memory.view.hypergraph import vertices

Z = (0.0, 0.0)


def said(head, relation, tail):
    name = assertion_id("t_0", 0, 1, head, relation, tail)
    return Assertion(
        name, "x", "t_0", 0, 0, 1, head, relation, tail, False, 0, FOREVER, True, 0.95, "FACT", False, "caller", 0, 0
    )


def space_with(points, edges, *passages):
    space = documents(*passages)
    space.facts.add([said(head, "knows_about", tail) for head, tail in edges])
    space.hypergraph.add(points, np.eye(len(points) or 1, 2 + len(points), dtype=np.float32)[: len(points)])
    return space


def worked():
    points = (point("e1", ("Aa", "Bb"), "x"), point("e2", ("Bb", "Cc"), "x"))
    edges = (("Aa", "Xx"), ("Bb", "Yy"), ("Dd", "Zz"))
    return space_with(points, edges, [("Aa saw Cc.", Z)], [("Dd ran.", Z)])


def test_local_investigation_looks_one_step_around_a_point_and_global_exploration_beyond_all():
    space = worked()
    e1, e2 = space.hypergraph.all()
    assert neighbourhood(space, e1) == {"aa", "bb", "cc", "xx", "yy"}
    assert neighbourhood(space, e2) == {"aa", "bb", "cc", "yy"}  # a by e1, x is two steps away
    assert uncovered_entities(space) == {"dd", "xx", "yy", "zz"}
    assert {key for one in (e1, e2) for key in vertices(space.facts, one)} == {"aa", "bb", "cc"}


def test_merging_joins_what_the_parents_joined():
    space = worked()
    e1, e2 = space.hypergraph.all()
    rows = merged("e3", e1, e2)
    space.hypergraph.add(rows, np.eye(3, 4, dtype=np.float32))
    (whole,) = space.hypergraph.active()
    assert vertices(space.facts, whole) == {"aa", "bb", "cc"}  # Avg-N_v 2 before, 3 now
    assert neighbourhood(space, whole) == {"aa", "bb", "cc", "xx", "yy"}
    assert [one.id for one in space.hypergraph.incident(space.facts, ["aa", "cc"])] == ["h_e3"]


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
        found = retrieve(space, scope, lambda rows: weights[rows], 3)
        assert vertices(space.facts, one) <= scope
        assert set(found) <= scope
        assert len(found) <= 3
        best = [max(own.values()) for own in found.values()]
        assert best == sorted(best, reverse=True)
    outside = retrieve(space, uncovered_entities(space), lambda rows: weights[rows], 3)
    assert not set(outside) & joined
    assert len(outside) <= 3


def step(operator, **asked):
    space = documents(
        [("Ann met Bob.", Z), ("Bob owns Rufus.", Z)], [("Cid met Rufus.", Z)], [("Dot met Eve.", Z)], [("Eve ran.", Z)]
    )
    space.facts.add([said("Bob", "owns", "Rufus")])
    rows = (point("a", ("Ann", "Bob"), "x"), point("b", ("Bob", "Cid"), "x"), point("old", ("Ann", "Cid"), "x"))
    gone = merged("a", rows[2])[1:]
    space.hypergraph.add((*rows, *gone), np.eye(4, dtype=np.float32))
    if query := asked.pop("query", None):
        asked |= {"query": understand(query, ()), "weigh": lambda rows: np.float32([0.5, 0.9, 0.4, 0.0, 0.8])[rows]}
    return operator(OperatorInput(space, lambda rows: [0.0] * len(rows), **asked))


def test_a_local_subquery_finds_sentences_around_a_point_and_points_that_share_an_entity():
    found = step(local_points, ids=("h_a",), query="Who owns a dog?")
    assert [item.text for item in found.items if item.kind == "sentence"] == [
        "Bob owns Rufus.",
        "Ann met Bob.",
        "Cid met Rufus.",
    ]
    assert [item.id for item in found.items if item.kind == "point"] == ["h_b"]
    assert found.items[0].score == 1.0
    assert [(one.operator, dict(one.args)) for one in found.next] == [
        ("local_points", {"ids": ("h_b",), "query": "Who owns a dog?"}),
        ("expand_facts", {"entity": "Rufus"}),
    ]


def test_a_merged_point_counts_as_its_successor_and_an_unknown_one_is_ignored():
    assert step(local_points, ids=("h_old",)) == step(local_points, ids=("h_a",))
    assert step(local_points, ids=("h_none", "s_1")).items == ()


def test_a_global_subquery_finds_only_entities_that_no_point_joins():
    found = step(global_points, query="Who ran?")
    assert [item.text for item in found.items] == ["Bob owns Rufus.", "Eve ran.", "Cid met Rufus."]  # by Rufus and Eve
    assert all(item.via == ("global_points",) for item in found.items)


def test_a_point_that_joins_nobody_but_the_user_of_a_question_must_bear_on_it():
    described = {"far": "Fish is bought on Fridays.", "word": "The dentist moved.", "near": "A bridge over the Wye."}
    points = [replace(point(name, ("user", f"E{name}"), "x"), description=text) for name, text in described.items()]
    space = space_with([*points, point("other", ("user", "Ann"), "x")], ())
    vector = np.array([0.1, 0.1, 0.5, 0.1, 0, 0], dtype=np.float32)

    def found(text, *names):
        asked = replace(understand(text, ()), names=names, vector=vector)
        return [one.id for one in relevant_points(space, asked, ["user"], 5)]

    assert found("When does the user see a dentist?") == ["h_near", "h_word"]
    assert found("When does the user see a dentist with Ann?", "ann") == ["h_near", "h_other", "h_word"]
    assert len(found("The user?")) == 4  # it says nothing more


def test_points_of_named_entities_and_of_the_same_goal_are_relevant_most_similar_first():
    points = [point(str(n), ("Ann", f"E{n}"), "x") for n in range(3)] + [point("goal", ("Zoe", "Yan"), "x", "Who won?")]
    space = space_with(points, ())
    ann = Query("who WON?", names=("ann",), vector=np.array([0.1, 0.9, 0.5, 0.3, 0, 0], dtype=np.float32))
    assert [one.id for one in relevant_points(space, ann, [], 5)] == ["h_1", "h_2", "h_goal", "h_0"]
    assert [one.id for one in relevant_points(space, replace(ann, text="", names=()), ["e2"], 5)] == ["h_2"]
    assert len(relevant_points(space, ann, [], 2)) == 2
    assert relevant_points(documents(), ann, [], 2) == []
