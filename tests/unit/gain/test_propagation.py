"""Propagation: the worked example to six places, and properties for any graph."""

from itertools import pairwise

import numpy as np
import pytest
from sentence_space import documents, unit

from mcp_memory.gain import propagation
from mcp_memory.gain.propagation import ENTITIES_A_ROUND, anchor_entities, next_entities, propagate, relative_bonuses
from mcp_memory.view.entities import EntityIndex

NEAR = {"abs": 1e-6}
Z = (0.0, 0.0)


def index_of(space):
    return space.index(EntityIndex)


def worth(*weights):
    return lambda rows: np.float32(weights)[rows]


def worked():
    """Return the rounds, the bonuses, and the entities of the second round by their keys."""
    space = documents([("ann E1", Z), ("bob E1 E2", Z)], [("cid E2 E3", Z)])
    index = index_of(space)
    rounds, bonuses = propagate(space, {index.find("e1") or 0: 0.9}, worth(0.4, 0.5, 0.3), most=2)
    entities = next_entities(index, rounds[0])
    return rounds, bonuses, {index.key(number): value for number, value in entities.items()}


def test_the_worked_example_comes_out_to_six_places():
    (first, second), bonuses, entities = worked()
    assert first == pytest.approx({1: 0.555556, 0: 0.444444}, **NEAR)
    assert entities == pytest.approx({"e1": 0.5, "e2": 0.555556}, **NEAR)
    assert second == {2: 1.0}
    assert [*first, *second] == [1, 0, 2]
    passages = [0.01 * alike + bonuses[row] for row, alike in enumerate((0.5, 0.3))]  # eq. 8
    assert passages == pytest.approx([0.698147, 0.349574], **NEAR)
    assert relative_bonuses(bonuses, 2) == pytest.approx([1, 0.5], abs=1e-6)


def chance_space(seed):
    chance = np.random.default_rng(seed)
    return documents(
        *(
            [(" ".join(f"N{n}" for n in sorted(chance.choice(12, 3, replace=False))), unit(seed)) for _ in range(3)]
            for _ in range(12)
        )
    )


@pytest.mark.parametrize("seed", range(20))
def test_no_sentence_is_activated_twice_and_no_round_is_wider_than_it_may_be(seed):
    space = chance_space(seed)
    weights = np.random.default_rng(seed).uniform(-0.5, 1, 36)
    rounds, _ = propagate(space, {0: 1.0, 1: 0.5}, worth(*weights), most_rounds=4, most=2)
    activated = [row for held in rounds for row in held]
    assert 1 < len(rounds) <= 4
    assert len(set(activated)) == len(activated) <= 4 * 2
    assert all(len(held) <= 2 and len(next_entities(index_of(space), held)) <= ENTITIES_A_ROUND for held in rounds)
    assert all(weights[row] > 0 for row in activated)
    assert all(a >= b for held in rounds for a, b in pairwise(held.values()))


@pytest.mark.parametrize("seed", range(20))
def test_the_shares_of_a_round_add_up_to_1_and_scaling_changes_nothing(seed):
    space = chance_space(seed)
    weights = np.random.default_rng(seed).uniform(0.1, 1, 36)
    rounds, bonuses = propagate(space, {0: 1.0, 5: 0.4}, worth(*weights), most=40)
    scaled, scaled_bonuses = propagate(space, {0: 3.0, 5: 1.2}, worth(*(7 * weights)), most=40)
    assert all(sum(held.values()) == pytest.approx(1, **NEAR) for held in rounds)
    assert [[*held] for held in scaled] == [[*held] for held in rounds]
    assert scaled_bonuses == pytest.approx(bonuses, **NEAR)


@pytest.mark.parametrize("seed", range(20))
def test_a_passage_never_loses_by_a_further_round_and_gains_at_most_ln_2_over_its_number(seed):
    space = chance_space(seed)
    weights = worth(*np.random.default_rng(seed).uniform(0, 1, 36))
    before = {}
    for rounds in (1, 2, 3, 4):
        _, found = propagate(space, {0: 1.0}, weights, most_rounds=rounds)
        for row in range(12):
            assert -1e-9 <= found.get(row, 0) - before.get(row, 0) <= np.log(2) / rounds + 1e-9
        before = dict(found)


def test_after_the_first_round_hubs_are_skipped(monkeypatch):
    lines = [[(f"Hub x{n}", Z)] for n in range(5)]
    space = documents([("Ann Hub", Z)], *lines)
    begin = {index_of(space).find("ann") or 0: 1.0}
    every = worth(*[1.0] * 6)
    assert len(propagate(space, begin, every)[0]) == 2
    monkeypatch.setattr(propagation, "HUB_SENTENCES", 5)
    assert len(propagate(space, begin, every)[0]) == 1
    assert propagate(space, {index_of(space).find("hub") or 0: 1.0}, every)[0]


def test_questions_are_anchored_by_names_alone():
    names = {"a": ["Blue Mill"], "b": ["Mill"], "c": ["Ann Lee"]}
    space = documents([("a", Z)], [("b", Z)], [("c", Z)], named=lambda _, sentence: names[sentence])
    index = index_of(space)

    def found(text, *also):
        return {index.key(number) for number in anchor_entities(index, text, also)}

    assert found("Who built the blue mill?") == {"blue mill"}
    assert found("Whose mill stands by the Blue Mill?") == {"mill", "blue mill"}
    assert found("Where did Ann go?") == set()
    assert found("Where did Ann go?", "Ann Lee") == {"ann lee"}
    assert found("") == set()
    assert set(anchor_entities(index, "mill").values()) == {1.0}
