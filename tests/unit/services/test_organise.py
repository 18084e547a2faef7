"""Organising for a goal: points are made once, updated by new evidence, and merged for relational goals."""

import anyio
from fakes import Disk
from learning_memory import held, judged, memory, recalled, told

from mcp_memory.domain.requests import EvolveRequest, PointEdits, PointInsert

ORDER = ("Ann: Rufus met Bella in Hyde Park.", "Bob: Bella won the Crufts cup.", "Cid: Dover opened a ferry to Calais.")


GOAL = "How did Rufus and Bella meet?"


async def organised(one, goal=GOAL, **asked):
    return await one.evolve(EvolveRequest("default", goal=goal, **asked))


def active(one, scope=None):
    return held(one).hypergraph.active(scope)


async def test_concurrent_calls_make_the_same_points_as_one():
    disk, alone = Disk(), await told(memory(), *ORDER)
    await organised(alone)
    await told(memory(disk), *ORDER)
    async with anyio.create_task_group() as calls:
        for _ in range(4):
            calls.start_soon(organised, memory(disk))
    last = memory(disk)
    async with last.store.reading() as view:
        made = view.space("default").hypergraph.all()
    expected = held(alone).hypergraph.all()
    assert [(one.entities, one.description, one.revision, one.status) for one in made] == [
        (one.entities, one.description, one.revision, one.status) for one in expected
    ]


async def test_new_evidence_about_the_same_entities_updates_their_point_and_keeps_its_vertices():
    one = await told(memory(), "Ann: Rufus met Bella in Hyde Park.")
    await organised(one, steps=("points",))
    (before,) = active(one)
    await told(one, "Ann: Bella barked at Rufus in Hyde Park and he fled.")
    changed = await organised(one, steps=("points",))
    (after,) = active(one)
    assert (after.id, after.entities, after.revision) == (before.id, before.entities, 1)
    assert [(c.before, c.after) for c in changed.changes if c.kind == "point"] == [
        (before.description, after.description)
    ]
    assert set(before.sentences) < set(after.sentences)


async def test_a_description_by_a_caller_stays_and_only_gains_support():
    one = await told(memory(), "Ann: Rufus met Bella in Hyde Park.")
    edits = PointEdits((PointInsert(("Ann", "Rufus", "Bella", "Hyde Park"), "They met on a walk."),))
    await one.evolve(EvolveRequest("default", goal=GOAL, points=edits))
    assert len(active(one)) == 1  # a caller who brings points has organised
    await organised(one, steps=("points",))
    (point,) = active(one)
    assert (point.description, point.source, point.revision, len(point.sentences)) == (
        "They met on a walk.",
        "caller",
        1,
        1,
    )


async def merging(one, goal):
    """Put two points that are alike under a goal, and merge."""
    alike = (
        PointInsert(("Rufus", "Bella"), "Rufus and Bella play in the park."),
        PointInsert(("Bella", "Max"), "Rufus and Bella and Max play in the park."),
        PointInsert(("Dover", "Calais"), "Rufus and Bella play in the park."),
    )
    await one.evolve(EvolveRequest("default", goal=goal, points=PointEdits(alike)))
    return await organised(one, goal, steps=("merge",))


async def test_similar_points_with_a_common_entity_are_merged_for_a_relational_goal():
    one = await told(memory())
    done = await merging(one, "How do Rufus and Bella get on?")
    (change,) = done.changes
    assert change.step == "merge"
    whole = next(point for point in active(one) if point.parents)
    assert whole.entities in (("Rufus", "Bella", "Max"), ("Bella", "Max", "Rufus"))
    assert whole.description == "Rufus and Bella play in the park."  # ROUGE-L .8: said already
    assert [point.entities for point in active(one) if not point.parents] == [("Dover", "Calais")]


async def test_a_goal_that_asks_for_one_thing_merges_nothing_and_says_why():
    one = await told(memory())
    done = await merging(one, "Who is Zoe?")
    assert done.changes == ()
    assert [(left.step, "asks for one thing" in left.reason) for left in done.skipped] == [("merge", True)]
    assert len(active(one)) == 3


async def test_an_episode_is_organised_under_its_question_without_unsupporting_evidence():
    one = await told(memory(), *ORDER)
    recall = await recalled(one, GOAL)
    wrong = next(item.id for item in recall.evidence if "Crufts" in item.text)
    await judged(one, recall.episode, not_supports=(wrong,))
    await one.evolve(EvolveRequest("default", recall.episode, steps=("points",)))
    (point,) = [point for point in active(one) if "Rufus" in point.entities]
    assert point.scope == GOAL
    assert "Crufts" not in point.description


async def test_a_callers_own_points_replace_organising_the_episode_and_this_is_reported():
    one = await told(memory(), *ORDER)
    recall = await recalled(one, "Who won the Crufts cup?")
    edits = PointEdits((PointInsert(("Ann", "Bella"), "Ann knows Bella."),))
    done = await one.evolve(EvolveRequest("default", recall.episode, points=edits))
    assert [point.description for point in active(one)] == ["Ann knows Bella."]
    assert "of your own" in done.skipped[0].reason


async def test_a_speaker_joins_no_evidence_and_a_comparison_merges_what_it_compares():
    one = await told(memory(), "Ann: Rufus is brown.", "Ann: Rufus barks.", "Ann: Bella is black.", "Ann: Bella sings.")
    changed = await organised(one, "Compare Rufus and Bella", steps=("points",))
    assert {point.entities for point in active(one)} == {("Ann", "Rufus"), ("Ann", "Bella")}
    assert len(changed.changes) == 2
    await organised(one, "Compare Rufus and Bella", steps=("merge",))
    (whole,) = active(one)
    assert {"Rufus", "Bella"} <= set(whole.entities)


async def test_evidence_called_wrong_for_one_episode_enters_no_point_of_another():
    one = await told(memory(), "Ann: Rufus met Bella in Hyde Park.", "Bob: Rufus fled from Bella.")
    first = await recalled(one, "Where did Rufus meet Bella?")
    (wrong,) = (item for item in first.evidence if "Hyde Park" in item.sources[0].quote)
    await judged(one, first.episode, not_supports=(wrong.id,), answer_correct=False)
    second = await recalled(one, "Rufus and Bella")
    await one.evolve(EvolveRequest("default", second.episode, goal="Rufus and Bella", steps=("points",)))
    assert [point.description for point in active(one)] == ["Bob: Rufus fled from Bella."]
    await judged(one, (await recalled(one, "Where?")).episode, supports=(wrong.id,))
    await organised(one, "Rufus and Bella", steps=("points",))
    assert any("Hyde Park" in point.description for point in active(one))
