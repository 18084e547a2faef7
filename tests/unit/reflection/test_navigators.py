"""The three navigators of QRMeM: by hand, and what holds for any graph (I-31)."""

import pytest
from unit.navigation.small_graph import said
from unit.reflection.woven import NAMES, graph, random_graph

from mcp_memory.reflection.expansion import expand
from mcp_memory.reflection.reflect import nearest, reflect
from mcp_memory.reflection.settings import Reflecting
from mcp_memory.reflection.trial import entity_trial, shared


def never(_):
    return False


def rows(pieces):
    return [piece.row for piece in pieces]


CHAIN = (["Aa met Bb."], ["Bb met Cc."], ["Cc met Dd."], ["Aa met Ee."])


def test_reflection_takes_the_nearest_edge_of_all_current_entities_and_so_leaves_the_first_hop():
    found = reflect(graph([0.9, 0.8, 0.7, 0.1], *CHAIN), ["aa"], never, Reflecting(trials=3))
    assert found.entities == ("bb", "cc", "dd")  # C-21: by the letter of line 8 it would be bb, ee and then nothing
    assert (rows(found.important), rows(found.added)) == ([0, 3], [1, 2])
    assert [round(piece.score, 2) for piece in found.added] == [0.9, 0.8]  # of the edges that led there


def test_reflection_ends_when_it_is_enough_and_does_not_begin_when_it_is_enough_at_once():
    line = graph([0.9, 0.8, 0.7, 0.1], *CHAIN)
    assert reflect(line, ["aa"], lambda held: 1 in rows(held), Reflecting()).entities == ("bb",)
    assert reflect(line, ["aa"], lambda _: True, Reflecting()).entities == ()
    assert not reflect(line, ["zz"], never, Reflecting()).entities


def test_an_edge_is_what_states_a_fact_of_the_two_and_only_else_what_names_both():
    web = graph([0.1, 0.9, 0.5], ["Aa lives in Bb."], ["Aa saw Bb."], ["Aa met Cc."])
    web.space.facts.add([said("Aa", "lives_in", "Bb", turn="t_0")])
    assert [(edge.end, edge.row) for edge in web.edges("aa")] == [("cc", 2), ("bb", 0)]


def test_no_step_leads_to_a_hub_or_along_what_is_not_like_the_question_at_all():
    lines = (["Aa met Bb."], ["Bb ran."], ["Bb slept."], ["Aa met Cc."], ["Aa met Dd."])
    assert [edge.end for edge in graph([0.9, 0.9, 0.9, 0.5, 0], *lines, hub=2).edges("aa")] == ["cc"]


def test_a_step_adds_the_nearest_segments_of_its_entity_that_are_not_there():
    line = graph([0.9, 0.2, 0.8, 0.6], ["Aa met Bb."], ["Bb ran."], ["Bb swam."], ["Bb slept."])
    assert rows(reflect(line, ["aa"], never, Reflecting(trials=1)).added) == [2, 3]
    held = line.pieces("bb")[:3]
    assert rows(reflect(line, ["aa"], never, Reflecting(trials=1), held).added) == [3]


@pytest.mark.parametrize("seed", range(30))
def test_each_step_adds_one_entity_within_so_many_hops_and_the_window_is_kept(seed):
    web, settings = random_graph(seed), Reflecting(window=12 + seed, trials=6)
    hops, reached = {"aa": 0}, ["aa"]
    for key in reached:
        for edge in web.edges(key):
            if edge.end not in hops:
                hops[edge.end] = hops[key] + 1
                reached.append(edge.end)
    asked = []
    found = reflect(web, ["aa"], lambda held: bool(asked.append(held)), settings)
    assert len(set(found.entities) | {"aa"}) == len(found.entities) + 1 <= 1 + settings.trials
    assert all(hops[key] <= step for step, key in enumerate(found.entities, start=1))
    if len(found.entities) < settings.trials:
        assert nearest(web, ["aa", *found.entities]) is None
    for held in asked:
        assert sum(piece.tokens for piece in held) <= settings.window or len(held) == 1
    assert found == reflect(web, ["aa"], never, settings)


def test_expansion_goes_along_every_edge_that_is_near_enough_and_no_other():
    lines = (*CHAIN, ["Aa met Ff."], *[["Gg ran."]] * 40)
    web = graph([0.9, 0.8, 0.1, 0.7, 0.05, *[0.02] * 40], *lines, hub=50)
    assert list(expand(web, ["aa"], Reflecting(rounds=1))) == ["bb", "ee"]
    assert list(expand(web, ["aa"], Reflecting(rounds=4))) == ["bb", "ee", "cc"]
    assert list(expand(web, ["aa"], Reflecting(rounds=4, width=1))) == ["bb", "cc", "ee"]
    assert not expand(web, ["ff"], Reflecting())


def test_a_trial_widens_by_what_the_held_segments_share_until_that_is_enough():
    lines = (["Aa met Bb. Cc."], ["Aa saw Bb."], ["Cc ran."], ["Bb swam."], ["Dd slept."])
    web = graph([0.5] * 5, *lines)
    assert shared(web, (0, 1), ("aa",)) == ["bb", "cc"]
    found = entity_trial(web, ["aa"], lambda held: 3 in rows(held), Reflecting(width=1))
    assert (found.entities, rows(found.important), rows(found.added), found.enough) == (("bb",), [0, 1], [3], True)
    assert entity_trial(web, ["aa"], never, Reflecting(width=1)).entities == ("bb", "cc")


def test_a_trial_ends_when_the_window_is_full():
    web = graph([0.9] * 8, *([f"{one} met {other}."] for one, other in zip(NAMES, (*NAMES[1:], "Aa"), strict=True)))
    assert len(entity_trial(web, ["aa"], never, Reflecting(width=1)).entities) == 4
    small = Reflecting(width=1, window=3 * web.pieces("aa")[0].tokens)
    assert len(entity_trial(web, ["aa"], never, small).entities) < 4
