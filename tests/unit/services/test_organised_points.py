"""Memory points: those that a caller inserts, revises and merges, and those that are organised for a goal."""

import random
import threading
from dataclasses import replace

import anyio
import pytest
from fakes import Disk
from learning_memory import held, judged, memory, recalled, told
from remembering import space_in

from mcp_memory.configurable import Switches
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.requests import (
    EvolveRequest,
    ForgetRequest,
    NewDescription,
    NewFact,
    NewMerge,
    PointEdits,
    PointInsert,
)
from mcp_memory.domain.times import DAY
from mcp_memory.errors import InvalidInput
from mcp_memory.settings import Settings
from mcp_memory.view.facts import Facts

PEOPLE = "Anna Patel", "Anna Maria Patel"


async def edited(one, insert=(), update=(), merge=(), goal=None, **asked):
    edits = PointEdits(
        tuple(PointInsert(tuple(names), words) for names, words in insert),
        tuple(NewDescription(*given) for given in update),
        tuple(NewMerge(tuple(ids), words) for ids, words in merge),
    )
    return await one.evolve(EvolveRequest("default", goal=goal, points=edits, **asked))


def points(one):
    return held(one).hypergraph


def ids(result):
    return [change.id for change in result.changes if change.kind == "point"]


async def test_repeating_a_call_changes_nothing_even_if_the_points_have_changed():
    one = await told(memory())
    insert = [(("Ann", "Rufus"), "A dog."), (("Ann", "Lisbon"), "A place.")]
    first = ids(await edited(one, insert=insert))
    calls = [{"insert": insert}, {"update": [(first[0], "A beagle.")]}, {"merge": [(first, "Both.")]}]
    for call in calls:
        await edited(one, **call)
    commits = one.store.disk.commits
    for call in (calls[0], calls[2], {"insert": [(("rufus", "ANN"), "A dog.")]}):
        again = await edited(one, **call)
        assert again.changes == ()
        assert again.skipped
    assert one.store.disk.commits == commits


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        ({"insert": [(("Ann", "the Ann"), "x")]}, ["points.insert[1].entities", "name 1 entity", "at least 2"]),
        ({"insert": [(("Rob", "Robert"), "x")]}, ["points.insert[1].entities", "one and the same"]),
        ({"insert": [([f"E{n}" for n in range(13)], "x")]}, ["points.insert[1].entities", "13 entities", "at most 12"]),
        ({"update": [("h_none", "x")]}, ["points.update[0].id", "no point 'h_none'", "memory://default/points"]),
        ({"update": [(0, "x"), (0, "y")]}, ["points.update[1].id", "stands in points.update[0].id too"]),
        ({"update": [(0, "x")], "merge": [([0, 1], "y")]}, ["points.merge[0].ids[0]", "points.update[0].id too"]),
        ({"merge": [([0, 0], "y")]}, ["points.merge[0].ids[1]", "stands in points.merge[0].ids[0] too"]),
        ({"merge": [([0, 1], "y"), ([1, 2], "z")]}, ["points.merge[1].ids[0]", "too"]),
        ({"merge": [([0, "h_none"], "y")]}, ["points.merge[0].ids[1]", "no point"]),
        ({"merge": [([0, 4], "y")]}, ["points.merge[0].ids", "13 entities together", "at most 12"]),
        ({"update": [(3, "x")]}, ["points.update[0].id", "was merged into", "Name h_"]),
        ({"merge": [([2, 2], "y")]}, ["points.merge[0].ids[0]", "was merged into"]),
    ],
)
async def test_a_wrong_edit_is_refused_by_name_and_the_call_changes_nothing(edits, words):
    one = await told(memory(), facts=[NewFact("Robert", "also_known_as", "Rob"), NewFact("Robert", "likes", "tea")])
    names = [("Ann", "Bob"), ("Bob", "Cid"), ("Cid", "Dot"), ("Dot", "Eve"), [f"E{n}" for n in range(11)]]
    made = ids(await edited(one, insert=[(entities, "words") for entities in names]))
    await edited(one, merge=[(made[2:4], "gone")])
    before = points(one).all()

    def named(given):
        return [named(one) for one in given] if isinstance(given, list) else made[given] if given in range(5) else given

    filled = {
        "insert": [(("New", "Point"), "would be made"), *edits.get("insert", ())],
        "update": [(named(name), words) for name, words in edits.get("update", ())],
        "merge": [(named(one), words) for one, words in edits.get("merge", ())],
    }
    with pytest.raises(InvalidInput) as error:
        await edited(one, **filled)
    for word in words:
        assert word in str(error.value)
    assert points(one).all() == before


async def test_switched_off_points_are_neither_made_nor_listed():
    disk = Disk()
    one = await told(memory(disk))
    await edited(one, insert=[(("Ann", "Rufus"), "Rufus is Ann's beagle.")])
    one = replace(one, settings=Settings(switches=Switches(points=False)))
    assert (await recalled(one, "What is Rufus?")).points == ()
    off = await edited(one, insert=[(("Ann", "Bob"), "x")])
    assert off.changes == ()
    assert "switches.points" in off.skipped[0].reason


@pytest.mark.parametrize("seed", range(12))
async def test_any_edits_keep_vertices_and_merge_chains_end_in_an_active_point(seed):
    """DESIGN I12, DESIGN I13, DESIGN I15 and DESIGN I16; a second process reads the same."""
    dice = random.Random(seed)
    disk = Disk()
    one = await told(memory(disk))
    names = [f"E{n}" for n in range(9)]
    for number in range(15):
        active = [point.id for point in points(one).active()]
        before = {point.id: point for point in points(one).all()}
        kind = dice.choice(["insert", "update", "merge"]) if len(active) > 1 else "insert"
        try:
            if kind == "insert":
                await edited(one, insert=[(dice.sample(names, dice.randint(1, 6)), f"words {number}")])
            elif kind == "update":
                await edited(one, update=[(dice.choice(active), f"other words {number}")])
            else:
                await edited(one, merge=[(dice.sample(active, 2), f"merged {number}")])
        except InvalidInput:
            assert points(one).all() == list(before.values())
        for name, point in before.items():
            assert points(one).get(name).entities == point.entities
    for point in points(one).all():
        assert 2 <= len({entity_key(name) for name in point.entities}) <= 12
        if point.parents:
            parents = [points(one).get(name) for name in point.parents]
            assert {name for parent in parents for name in parent.entities} == set(point.entities)
            assert {parent.merged_into for parent in parents} == {point.id}
        end = points(one).resolve(point.id)
        assert end.active
        assert set(point.entities) <= set(end.entities)
    other = memory(disk)
    assert (await space_in(other.store)).hypergraph.all() == points(one).all()


async def test_a_point_whose_caller_names_its_evidence_is_forgotten_with_it():
    one = await told(memory(read=True))
    found = await recalled(one, "What did Ann adopt in May?")
    shown = next(item for item in found.evidence if "beagle" in item.text)
    names = ("Ann", "Lisbon")
    with pytest.raises(InvalidInput, match=r"points.insert\[0\].supports\[0\].*is no sentence, passage, fact or point"):
        await one.evolve(EvolveRequest("default", points=PointEdits((PointInsert(names, "A pet.", ("g_1",)),))))
    inserts = PointInsert(names, "She has company.", (shown.id,)), PointInsert(names, "They have never met.")
    await one.evolve(EvolveRequest("default", points=PointEdits(inserts)))
    (company, _) = points(one).active()
    assert company.sentences or company.facts
    await one.forget(ForgetRequest("default", ids=(shown.sources[0].turn.id,), dry_run=False))
    assert [point.description for point in (await space_in(one.store)).hypergraph.all()] == ["They have never met."]


# Points made once for a goal, updated by new evidence, and merged for relational goals


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
    made = (await space_in(last.store)).hypergraph.all()
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
    (change,) = (change for change in changed.changes if change.kind == "point")
    assert (change.before, change.after) == (before.description, after.description)
    assert set(before.sentences) < set(after.sentences)


async def test_a_description_by_a_caller_stays_and_only_gains_support():
    one = await told(memory(), "Ann: Rufus met Bella in Hyde Park.")
    edits = PointEdits((PointInsert(("Ann", "Rufus", "Bella", "Hyde Park"), "They met on a walk."),))
    await one.evolve(EvolveRequest("default", goal=GOAL, points=edits))
    assert len(active(one)) == 1  # a caller who brings points has organised
    await organised(one, steps=("points",))
    (point,) = active(one)
    assert (point.description, point.source) == ("They met on a walk.", "caller")
    assert (point.revision, len(point.sentences)) == (1, 1)


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


async def test_whoever_recalls_while_names_are_compared_folds_no_facts_half_counted(monkeypatch):
    one, count, inside, folded = memory(), Facts._count, threading.Event(), threading.Event()
    for day, (shade, city) in enumerate((("red", "Oslo"), ("blue", "Rome"))):
        moved = [NewFact(who, "favours_shade", shade, day * DAY, intent="EVOLUTION") for who in (*PEOPLE, "Cid")]
        lives = [NewFact(who, "lives_in", f"{city} {place}", day * DAY) for place, who in enumerate(PEOPLE)]
        await told(one, facts=(*moved, *lives, NewFact("Bob", "favours_shade", shade, day * DAY)))
    one = memory(one.store.disk)

    def waiting(facts, head, relation):
        if threading.current_thread() is not threading.main_thread() and not inside.is_set():
            inside.set()
            folded.wait(0.5)
        return count(facts, head, relation)

    monkeypatch.setattr(Facts, "_count", waiting)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one.evolve, EvolveRequest("default", steps=("entities",)))
        await anyio.to_thread.run_sync(inside.wait)
        async with one.store.reading() as view:
            facts = view.space("default").facts
            shades = [version.tail for version in facts.versions("bob", "favours_shade") if version.current]
        folded.set()
    assert shades == ["blue"]
