"""Memory points that a caller inserts, revises and merges: all of a call or nothing, and repeatable."""

import random
from dataclasses import replace

import pytest
from fakes import Disk
from learning_memory import held, memory, recalled, told

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
from mcp_memory.errors import InvalidInput
from mcp_memory.settings import Settings


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
    async with other.store.reading() as view:
        assert view.space("default").hypergraph.all() == points(one).all()


async def test_a_point_whose_caller_names_its_evidence_is_forgotten_with_it():
    """Whatever words it is in; an id that names no evidence is refused, and nothing is inserted."""
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
    async with one.store.reading() as view:
        assert [point.description for point in view.space("default").hypergraph.all()] == ["They have never met."]
