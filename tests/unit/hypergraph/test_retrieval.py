"""Subqueries and the scores of relevant points: DESIGN W13 by hand, and properties for any graph (DESIGN I17)."""

import random
from dataclasses import replace

import numpy as np
import pytest
from asserting import asserted
from batches import point
from unit.gain.sentence_space import documents

from mcp_memory.domain.query import Query
from mcp_memory.hypergraph.retrieval import (
    ENTITIES_A_SUBQUERY,
    neighbourhood,
    relevant_points,
    retrieve,
    uncovered_entities,
)
from mcp_memory.language.questions import understand
from mcp_memory.view.hypergraph import vertices

Z = (0.0, 0.0)


def space_with(points, edges, *passages):
    space = documents(*passages)
    space.facts.add([asserted(tail, head=head, relation="knows_about") for head, tail in edges])
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
