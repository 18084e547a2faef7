"""The three navigators of QRMeM: by hand, and properties for any graph (DESIGN I31)."""

from dataclasses import replace

import pytest
from unit.reflection.woven import NAMES, graph, random_graph

from mcp_memory.reflection.navigators import entity_trial, expand, nearest_edge, reflect, shared_entities
from mcp_memory.reflection.settings import ReflectionSettings


def rows(segments):
    return [piece.row for piece in segments]


CHAIN = (["Aa met Bb."], ["Bb met Cc."], ["Cc met Dd."], ["Aa met Ee."])


def test_reflection_takes_the_nearest_edge_of_all_current_entities_and_so_leaves_the_first_hop():
    line = graph([0.9, 0.8, 0.7, 0.1], *CHAIN)
    found = reflect(line, ["aa"], line.segments_of("aa"), ReflectionSettings(trials=3))
    assert found.entities == ("bb", "cc", "dd")  # DESIGN D21: not bb, ee and then nothing
    assert (rows(found.important), rows(found.added)) == ([0, 3], [1, 2])
    assert [round(piece.score, 2) for piece in found.added] == [0.9, 0.8]  # of the edges that led there


@pytest.mark.parametrize("seed", range(30))
def test_each_step_adds_one_entity_within_its_hops_and_keeps_the_window(seed):
    web, settings = random_graph(seed), ReflectionSettings(window=12 + seed, trials=6)
    hops, reached = {"aa": 0}, ["aa"]
    for key in reached:
        for edge in web.edges(key):
            if edge.end not in hops:
                hops[edge.end] = hops[key] + 1
                reached.append(edge.end)
    found = reflect(web, ["aa"], web.segments_of("aa"), settings)
    assert len(set(found.entities) | {"aa"}) == len(found.entities) + 1 <= 1 + settings.trials
    assert all(hops[key] <= step for step, key in enumerate(found.entities, start=1))
    if len(found.entities) < settings.trials:
        assert nearest_edge(web, ["aa", *found.entities]) is None
    window = (*found.important, *found.added)
    assert sum(piece.tokens for piece in window) <= settings.window or len(window) == 1
    steps = range(len(found.entities) + 1)
    shorter = [reflect(web, ["aa"], web.segments_of("aa"), replace(settings, trials=most)).entities for most in steps]
    assert shorter == [found.entities[:most] for most in steps]


def test_expansion_follows_exactly_the_edges_that_are_near_enough():
    lines = (*CHAIN, ["Aa met Ff."], *[["Gg ran."]] * 40)
    web = graph([0.9, 0.8, 0.1, 0.7, 0.05, *[0.02] * 40], *lines, hub=50)
    assert list(expand(web, ["aa"], ReflectionSettings(rounds=1))) == ["bb", "ee"]
    assert list(expand(web, ["aa"], ReflectionSettings(rounds=4))) == ["bb", "ee", "cc"]
    assert list(expand(web, ["aa"], ReflectionSettings(rounds=4, width=1))) == ["bb", "cc", "ee"]
    assert not expand(web, ["ff"], ReflectionSettings())


def test_an_entity_trial_adds_entities_that_the_given_segments_share():
    lines = (["Aa met Bb. Cc."], ["Aa saw Bb."], ["Cc ran."], ["Bb swam."], ["Dd slept."])
    web = graph([0.5] * 5, *lines)
    assert shared_entities(web, (0, 1), ("aa",)) == ["bb", "cc"]
    found = entity_trial(web, ["aa"], web.segments_of("aa"), ReflectionSettings(width=1, trials=1))
    assert (found.entities, rows(found.important), rows(found.added)) == (("bb",), [0, 1], [3])
    assert entity_trial(web, ["aa"], web.segments_of("aa"), ReflectionSettings(width=1)).entities == ("bb", "cc")


def test_a_trial_ends_when_the_window_is_full():
    web = graph([0.9] * 8, *([f"{one} met {other}."] for one, other in zip(NAMES, (*NAMES[1:], "Aa"), strict=True)))
    held = web.segments_of("aa")
    assert len(entity_trial(web, ["aa"], held, ReflectionSettings(width=1)).entities) == 4
    small = ReflectionSettings(width=1, window=3 * held[0].tokens)
    assert len(entity_trial(web, ["aa"], held, small).entities) < 4
