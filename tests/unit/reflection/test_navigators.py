"""The three navigators of QRMeM: by hand, and properties for any graph (DESIGN I31); their window (DESIGN W12)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.gain.sentence_space import documents

from mcp_memory.reflection import navigators
from mcp_memory.reflection.navigators import (
    EntityGraph,
    WindowSegment,
    entity_trial,
    expand,
    fit_window,
    nearest_edge,
    reflect,
    shared_entities,
)

NAMES = ("Aa", "Bb", "Cc", "Dd", "Ee", "Ff", "Gg", "Hh")


def graph(weights, *passages):
    """Return the graph of passages of whole sentences; ``weights`` are of these, in order."""
    space = documents(*([(line, (0.0, 0.0)) for line in passage] for passage in passages))
    known = np.array(weights, dtype=np.float32)
    return EntityGraph(space, lambda rows: known[rows])


def random_graph(seed):
    """Return a graph of eight names in passages of one to three sentences, some of which weigh nothing."""
    draw = np.random.default_rng(seed)
    passages = [
        [f"{' met '.join(draw.choice(NAMES, draw.integers(1, 4), replace=False))}." for _ in range(draw.integers(1, 4))]
        for _ in range(draw.integers(1, 10))
    ]
    count = sum(len(passage) for passage in passages)
    return graph(np.maximum(draw.normal(0.4, 0.3, count), 0), *passages)


def rows(segments):
    return [piece.row for piece in segments]


def numbers(web, *names):
    return [web.index.find(name) for name in names]


def keys(web, entities):
    return [web.index.key(entity) for entity in entities]


def naming(web, name):
    return web.segments_with(web.index.sentences(web.index.find(name)).tolist())


CHAIN = (["Aa met Bb."], ["Bb met Cc."], ["Cc met Dd."], ["Aa met Ee."])


def test_reflection_takes_the_nearest_edge_of_all_current_entities_and_so_leaves_the_first_hop(monkeypatch):
    monkeypatch.setattr(navigators, "TRIALS", 3)
    line = graph([0.9, 0.8, 0.7, 0.1], *CHAIN)
    found, added = reflect(line, numbers(line, "Aa"), naming(line, "Aa"))
    assert keys(line, found) == ["bb", "cc", "dd"]  # DESIGN D21: not bb, ee and then nothing
    added = fit_window(naming(line, "Aa"), added)[1]
    assert rows(added) == [1, 2]
    assert [round(piece.score, 2) for piece in added] == [0.9, 0.8]  # of the edges that led there


@pytest.mark.parametrize("seed", range(30))
def test_each_step_adds_one_entity_within_its_hops_and_what_it_adds_fits_the_window(seed, monkeypatch):
    monkeypatch.setattr(navigators, "WINDOW", 12 + seed)
    web, trials = random_graph(seed), 6
    monkeypatch.setattr(navigators, "TRIALS", trials)
    begin = [0]
    hops, reached = {0: 0}, [0]
    for entity in reached:
        for edge in web.edges(entity):
            if edge.end not in hops:
                hops[edge.end] = hops[entity] + 1
                reached.append(edge.end)
    given = web.segments_with(web.index.sentences(0).tolist())
    found, added = reflect(web, begin, given)
    assert len({*found, *begin}) == len(found) + 1 <= 1 + trials
    assert all(hops[entity] <= step for step, entity in enumerate(found, start=1))
    if len(found) < trials:
        assert nearest_edge(web, [*begin, *found]) is None
    assert sum(piece.tokens for piece in fit_window(given, added)[1]) <= 12 + seed
    for most in range(len(found) + 1):
        monkeypatch.setattr(navigators, "TRIALS", most)
        assert reflect(web, begin, given)[0] == found[:most]


def test_expansion_follows_exactly_the_edges_that_are_near_enough(monkeypatch):
    monkeypatch.setattr(navigators, "HUB", 50)
    lines = (*CHAIN, ["Aa met Ff."], *[["Gg ran."]] * 40)
    web = graph([0.9, 0.8, 0.1, 0.7, 0.05, *[0.02] * 40], *lines)

    def near(name, rounds=2, width=3):
        monkeypatch.setattr(navigators, "ROUNDS", rounds)
        monkeypatch.setattr(navigators, "WIDTH", width)
        return keys(web, expand(web, numbers(web, name)))

    assert near("Aa", rounds=1) == ["bb", "ee"]
    assert near("Aa", rounds=4) == ["bb", "ee", "cc"]
    assert near("Aa", rounds=4, width=1) == ["bb", "cc", "ee"]
    assert not near("Ff")


def test_an_entity_trial_adds_entities_that_the_given_segments_share(monkeypatch):
    lines = (["Aa met Bb. Cc."], ["Aa saw Bb."], ["Cc ran."], ["Bb swam."], ["Dd slept."])
    web = graph([0.5] * 5, *lines)
    begin = numbers(web, "Aa")
    assert keys(web, shared_entities(web, (0, 1), begin)) == ["bb", "cc"]
    monkeypatch.setattr(navigators, "WIDTH", 1)
    found, _ = entity_trial(web, begin, naming(web, "Aa"))
    assert keys(web, found) == ["bb", "cc"]
    monkeypatch.setattr(navigators, "TRIALS", 1)
    found, added = entity_trial(web, begin, naming(web, "Aa"))
    assert (keys(web, found), rows(added)) == (["bb"], [3])


def test_a_trial_ends_when_the_window_is_full(monkeypatch):
    web = graph([0.9] * 8, *([f"{one} met {other}."] for one, other in zip(NAMES, (*NAMES[1:], "Aa"), strict=True)))
    begin, held = numbers(web, "Aa"), naming(web, "Aa")
    monkeypatch.setattr(navigators, "WIDTH", 1)
    assert len(entity_trial(web, begin, held)[0]) == 4
    monkeypatch.setattr(navigators, "WINDOW", 3 * held[0].tokens)
    assert len(entity_trial(web, begin, held)[0]) < 4


PIECES = st.lists(
    st.builds(
        lambda row, score, own: WindowSegment(row, 1 + 7 * row % 40, score, own),  # a segment has one length
        st.integers(0, 12),
        st.sampled_from((0.1, 0.5, 0.9)),
        st.floats(0, 1),
    ),
    max_size=12,
)


def fitted(important, added, limit):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(navigators, "WINDOW", limit)
        return fit_window(important, added)


def total(segments):
    return sum(piece.tokens for piece in segments)


def test_the_lowest_scored_added_segments_are_dropped_until_the_window_fits():
    important = [WindowSegment(0, 4, 0.2)]
    added = [WindowSegment(1, 3, 0.9), WindowSegment(2, 3, 0.7), WindowSegment(3, 3, 0.8)]
    first, then = fitted(important, added, 10)
    assert (rows(first), rows(then)) == ([0], [1, 3])
    assert total((*first, *then)) == 10
    assert rows(fitted(important, added, 13)[1]) == [1, 3, 2]


@given(PIECES, PIECES, st.integers(1, 100))
def test_the_result_fits_the_window_and_drops_only_lower_scores(important, added, limit):
    first, then = fitted(important, added, limit)
    held = [*first, *then]
    assert total(held) <= limit or (len(first) == 1 and not then)
    assert bool(first) == bool(important)
    assert len(set(rows(held))) == len(held)
    for kept, offered in ((first, important), (then, added)):
        lost = [piece for piece in offered if piece.row not in rows(held)]
        assert all(piece.score >= other.score for piece in kept for other in lost)
