"""Memory points in recall and answers: they lift the texts that they join and add no others."""

import random
from dataclasses import replace

import pytest
from learning_memory import memory, recalled, told

from mcp_memory.domain.requests import EvolveRequest

pytestmark = pytest.mark.anyio
GOAL = "Who owns the dog that won the Crufts cup?"
LINES = (
    "Ann: I saw that Bella won the Crufts cup.",
    "Bob: My sister Eve owns a dog called Bella.",
    "Cid: Dover has a ferry.",
)


async def organised(*lines, goal=GOAL, **switches):
    one = await told(memory(), *(lines or LINES))
    one = replace(one, settings=replace(one.settings, points=replace(one.settings.points, **switches)))
    await one.evolve(EvolveRequest("default", goal=goal))
    return one


def refs(recall):
    return [source.turn.text for item in recall.evidence for source in item.sources]


async def test_a_point_more_similar_than_each_of_its_texts_lifts_them():
    before = await recalled(await told(memory(), *LINES), GOAL)
    found = await recalled(await organised(), GOAL)
    (item,) = [item for item in found.evidence if item.kind == "point"]
    assert {"won", "Crufts", "owns", "dog"} <= set(item.text.split())
    assert [source.quote for source in item.sources] == refs(before)[:2]
    assert item.via[0] == "points"
    assert item.score == found.evidence[0].score == 1.0
    assert sorted(refs(found)) == sorted(refs(before))  # each text once, and none is lost
    assert [point.id for point in found.points] == [item.id]


async def test_feedback_about_a_point_teaches_the_sentences_that_support_it():
    one = await organised()
    found = await recalled(one, GOAL)
    (item,) = [item for item in found.evidence if item.kind == "point"]
    kept = one.episodes.get("default", found.episode)
    (shown,) = [shown for shown in kept.shown if shown.id == item.id]
    assert sorted(shown.sentences) == sorted(found.points[0].sentences)


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_points_there_are_recall_shows_the_same_texts_each_once_and_the_best_first(seed):
    dice = random.Random(seed)
    names, verbs = ("Rufus", "Bella", "Dover", "Crufts"), ("won", "owns", "met", "left")
    lines = [
        f"{who}: The dog of {dice.choice(names)} {dice.choice(verbs)} {dice.choice(names)}."
        for who in dice.choices(("Ann", "Bob"), k=9)
    ]
    goals = [f"Who {dice.choice(verbs)} {dice.choice(names)} and {dice.choice(verbs)} {name}?" for name in names]
    one, plain = await told(memory(), *lines), await told(memory(), *lines)
    for goal in goals:
        await one.evolve(EvolveRequest("default", goal=goal))
    for goal in goals:
        found, before = await recalled(one, goal), await recalled(plain, goal)
        assert sorted(refs(found)) == sorted(refs(before))
        assert refs(found)[0] == refs(before)[0]
        assert all(1 <= len(item.sources) <= 3 for item in found.evidence)
        assert [item.score for item in found.evidence] == sorted((i.score for i in found.evidence), reverse=True)
