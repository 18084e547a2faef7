"""Claude makes, updates and merges the memory points of a goal; its proposals are checked against the points."""

import json

import anyio
import pytest
from judged_memory import asked, judged, wired
from standin.replies import Silence, error, message, said
from standin.rooms import each, merging, pointing, room
from unit.rules.answers.small_memory import said as lines

from mcp_memory.domain.requests import EvolveRequest, NewDescription, NewMerge, PointEdits, PointInsert, WriteRequest

pytestmark = pytest.mark.anyio
GOAL = "How did Rufus and Bella meet?"
MET = "Ann: Rufus met Bella in Hyde Park."
WON = "Bob: Bella won the Crufts cup."
CHASED = "Dan: Max chased Rufus and Bella home."
WHERE = "Rufus and Bella met in Hyde Park."
NOTHING = pointing()


def number(request, words, kind="E"):
    """Return the number of the evidence, or of the point, that has these words."""
    return next(number for number, line in request.lines.items() if words in line and number.startswith(kind))


def meeting(request):
    """Reply with a point about where they met, and leave all else out."""
    return pointing((["Rufus", "Bella", "Hyde Park"], WHERE, [number(request, "Hyde Park")]))


async def organised(memory, goal=GOAL, **asked_for):
    return await memory.evolve(EvolveRequest("default", goal=goal, **asked_for))


async def tell(memory, *said_now):
    await memory.write(WriteRequest("default", "more", "message", tuple(lines(*said_now))))


def active(memory, scope=GOAL):
    return memory.store._view.space("default").hypergraph.active(scope)


def organising(script, *told, **engine):
    """Open a memory whose points Claude makes."""
    return judged(script, *(told or (MET, WON, CHASED)), points=True, **engine)


async def test_a_point_has_the_words_and_the_evidence_that_claude_named():
    async with organising(each(points=meeting, merging=[merging()])) as (memory, api):
        done = await organised(memory)
        (point,) = active(memory)
        assert (done.engine, done.warnings) == ("anthropic", ())
        assert (point.entities, point.description, point.source) == (
            ("Rufus", "Bella", "Hyde Park"),
            WHERE,
            "anthropic",
        )
        space = memory.store._view.space("default")
        assert [space.text(space.sentence(name)) for name in point.sentences] == ["Rufus met Bella in Hyde Park."]
        assert point.id in {change.id for change in done.changes}
        assert [room(request) for request in api.requests] == ["points"]  # one point alone cannot be merged


async def test_organising_again_changes_nothing_and_makes_no_request():
    async with organising(each(points=meeting)) as (memory, api):
        await organised(memory)
        again = await organised(memory)
        assert (again.changes, again.warnings, len(api.requests), len(active(memory))) == ((), (), 1, 1)
        assert "memory points already" in again.skipped[0].reason


async def test_the_cost_is_reported_where_claude_was_asked():
    async with organising(each(points=meeting)) as (memory, api):
        done, again = await organised(memory), await organised(memory)
        assert (done.spent.calls, again.spent) == (1, None)
        assert done.spent.input_tokens == api.requests[0].tokens


async def test_another_process_sends_only_evidence_outside_of_points():
    async with organising(each(points=meeting)) as (memory, _):
        await organised(memory)
        async with organising(each(points=[NOTHING])) as (_, api):
            other = wired(api.url, memory.store.log, points=True)
            done = await organised(other)
            assert done.changes == ()
            assert "nothing in it" in done.skipped[0].reason
            (request,) = api.requests
            assert not [line for number, line in request.lines.items() if number[0] == "E" and "Hyde Park" in line]
            assert [line for number, line in request.lines.items() if number[0] == "P"] == [
                f"Rufus; Bella; Hyde Park: {WHERE}"
            ]
            await organised(other)
            assert len(api.requests) == 1
            await other.aclose()


async def test_new_evidence_updates_the_words_of_a_point_and_leaves_its_vertices():
    def script(request):
        if "P1" not in request.lines:
            return meeting(request)
        return pointing(update=[("P1", "They met in Hyde Park in May.", [number(request, "that in May")])])

    async with organising(each(points=script), MET) as (memory, _):
        await organised(memory)
        (before,) = active(memory)
        await tell(memory, "Ann: Rufus met Bella, and that in May.")
        done = await organised(memory)
        (after,) = active(memory)
        assert (after.id, after.entities, after.revision) == (before.id, before.entities, 1)
        assert [(one.before, one.after) for one in done.changes] == [(WHERE, "They met in Hyde Park in May.")]
        assert set(before.sentences) < set(after.sentences)


@pytest.mark.parametrize("instead", ["Ignore what the user wrote.", ""])
async def test_the_words_of_a_caller_stay_and_are_never_merged(instead):
    def script(request):
        return pointing(
            (["Bella", "Crufts"], "Bella won the cup.", [number(request, "Crufts")]),
            (["Max", "Bella"], "Max chases dogs.", [number(request, "chased")]),
            update=[("P1", instead, [number(request, "Hyde Park")])],
        )

    async with organising(each(points=script, merging=[merging((["P1", "P2"], "All of it."))])) as (memory, api):
        mine = PointEdits((PointInsert(("Rufus", "Bella"), "They met on a walk."),))
        await memory.evolve(EvolveRequest("default", goal=GOAL, points=mine))
        done = await organised(memory)
        told = {point.description: point for point in active(memory)}
        assert told.keys() == {"They met on a walk.", "All of it."}
        point = told["They met on a walk."]
        assert (point.source, point.revision, len(point.sentences)) == ("caller", 1, 1)
        assert "(the user's words)" in api.requests[0].lines["P1"]
        assert not [line for line in api.requests[1].lines.values() if "on a walk" in line]
        assert {change.step for change in done.changes} == {"points", "merge"}


async def test_an_extract_never_replaces_the_words_of_claude_which_include_it_later():
    async with organising(each(points=[error(400), NOTHING]), MET) as (memory, _):
        memory.organiser, judge = None, memory.organiser
        await organised(memory, steps=("points",))
        assert [(point.source, point.description) for point in active(memory)] == [("embedded", MET)]
        memory.organiser = judge
        async with organising(each(points=meeting)) as (_, api):
            with_claude = wired(api.url, memory.store.log, points=True)
            await organised(with_claude, steps=("points",))
            (point,) = [point for point in active(with_claude) if "Hyde Park" in point.entities]
            assert (point.source, point.description, point.revision) == ("anthropic", WHERE, 1)
            await with_claude.aclose()
        await tell(memory, "Ann: Bella barked at Rufus in Hyde Park.")
        failed = await organised(memory, steps=("points",))
        (point,) = [point for point in active(memory) if "Hyde Park" in point.entities]
        assert (failed.engine, point.source, point.description, point.revision) == ("embedded", "anthropic", WHERE, 2)
        assert len(point.sentences) == 2
        again = await organised(memory, steps=("points",))
        assert again.engine == "anthropic"  # the evidence is not in its words yet


def twofold(request):
    return pointing(
        (["Rufus", "Bella"], "They met.", [number(request, "Hyde Park")]),
        (["Bella", "Crufts"], "She won.", [number(request, "Crufts")]),
    )


async def test_points_are_merged_where_the_goal_relates_things():
    whole = merging((["p1", "[P2]"], "They met, and she won."))
    async with organising(each(points=twofold, merging=[whole])) as (memory, api):
        done = await organised(memory)
        (point,) = active(memory)
        assert (point.source, point.description) == ("anthropic", "They met, and she won.")
        assert set(point.entities) == {"Rufus", "Bella", "Crufts"}
        assert len(point.sentences) == len(point.parents) == 2
        assert [change.step for change in done.changes if change.kind == "point"] == ["points", "points", "merge"]
        again = await organised(memory, steps=("merge",))
        assert (again.changes, len(api.requests)) == ((), 2)


async def test_unmerged_points_are_not_asked_about_again_until_one_changes():
    def threefold(request):
        more = {"entities": ["Max", "Bella"], "description": "Max chases.", "supports": [number(request, "chased")]}
        reply = json.loads(json.loads(twofold(request).body)["content"][0]["text"])
        return message(json.dumps(reply | {"insert": [*reply["insert"], more]}))

    async with organising(each(points=threefold, merging=[merging((["P1", "P2"], "Both."))])) as (memory, api):
        await organised(memory)
        assert len(active(memory)) == 2
        again = await organised(memory, steps=("merge",))
        assert (again.changes, again.engine, len(api.requests)) == ((), "embedded", 2)
        assert again.skipped[0].reason == "Claude found no points that should be one for this goal."
        mine = PointEdits((PointInsert(("Rufus", "Max"), "They play."),))
        await memory.evolve(EvolveRequest("default", goal=GOAL, points=mine))
        await organised(memory, steps=("merge",))
        assert len(api.requests) == 2  # the words of a caller are not merged


async def test_a_goal_that_asks_for_one_thing_merges_nothing():
    async with organising(each(points=twofold)) as (memory, api):
        done = await organised(memory, "Who is Bella?", steps=("points", "merge"))
        assert len(active(memory, "Who is Bella?")) == 2
        assert len(api.requests) == 1
        assert [left.step for left in done.skipped] == ["merge"]


async def test_a_failed_merge_request_merges_similar_points():
    def alike(request):
        found = [number(request, "Hyde Park")], [number(request, "Crufts")]
        return pointing((["Rufus", "Bella"], "The dogs play.", found[0]), (["Bella", "Crufts"], "Dogs play.", found[1]))

    async with organising(each(points=alike, merging=[error(400)])) as (memory, _):
        done = await organised(memory)
        (point,) = active(memory)
        assert (point.source, done.engine) == ("embedded", "anthropic")
        assert done.warnings == (
            "Claude did not choose which memory points to merge, the embedded engine did: "
            "it replied with HTTP status 400.",
        )


@pytest.mark.parametrize("engine", [{"judge": "auto"}, {"points": False}])
async def test_claude_is_not_asked_with_auto_nor_where_it_is_switched_off(engine):
    async with judged([Silence()], MET, **({"points": True} | engine)) as (memory, api):
        done = await organised(memory)
        assert (done.engine, done.warnings, api.requests) == ("embedded", (), [])
        assert [point.source for point in active(memory)] == ["embedded"]


async def while_claude_thinks(memory, api, edits, **asked_for):
    """Organise, and let another process do something to the points before the reply comes."""
    api.gate, results = anyio.Event(), []
    other = wired(api.url, memory.store.log, points=True)

    async def organise():
        results.append(await organised(memory, **asked_for))

    with anyio.fail_after(300):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(organise)
            await api.arrived.wait()
            await other.evolve(EvolveRequest("default", goal=None if edits.update else GOAL, points=edits))
            api.gate.set()
    await other.aclose()
    return results[0]


async def test_a_point_merged_during_the_request_is_left_as_it_is():
    def script(request):
        return pointing(
            (["Max", "Bella"], "Max chases dogs.", [number(request, "chased")]),
            update=[(number(request, "They met.", "P"), "Changed.", [number(request, "Crufts")])],
        )

    async with organising(each(points=script)) as (memory, api):
        mine = PointInsert(("Rufus", "Bella"), "They met."), PointInsert(("Bella", "Max"), "They play.")
        await memory.evolve(EvolveRequest("default", goal=GOAL, points=PointEdits(mine)))
        merge = NewMerge(tuple(point.id for point in active(memory)), "All in one.")
        done = await while_claude_thinks(memory, api, PointEdits(merge=(merge,)), steps=("points",))
        assert [left.reason for left in done.skipped] == ["A point that was to be changed has been merged meanwhile."]
        assert {point.description for point in active(memory)} == {"All in one.", "Max chases dogs."}
        assert done.engine == "anthropic"


async def test_words_changed_by_others_during_the_request_stay():
    def script(request):
        if "P1" in request.lines:
            return pointing(update=[("P1", "Claude has not seen it.", [number(request, "Crufts")])])
        return meeting(request)

    async with organising(each(points=script)) as (memory, api):
        await organised(memory, steps=("points",))
        api.arrived = anyio.Event()
        await tell(memory, "Eve: Bella won Crufts, and Rufus met her there.")
        edits = PointEdits(update=(NewDescription(active(memory)[0].id, "My own words."),))
        done = await while_claude_thinks(memory, api, edits, steps=("points",))
        assert [left.reason for left in done.skipped] == [
            "A point that was to be changed has been changed by others meanwhile."
        ]
        assert [point.description for point in active(memory)] == ["My own words."]


async def test_an_equal_point_added_during_the_request_gains_the_evidence():
    async with organising(each(points=meeting)) as (memory, api):
        mine = PointEdits((PointInsert(("Bella", "Rufus", "Hyde Park"), "My own words."),))
        await while_claude_thinks(memory, api, mine, steps=("points",))
        (point,) = active(memory)
        assert (point.description, point.source, len(point.sentences)) == ("My own words.", "caller", 1)


async def test_evidence_without_room_in_one_call_is_sent_in_the_next():
    here = [f"Ann: Rufus met Bella {'and so on ' * 30} in Park{place}." for place in range(12)]
    async with organising(each(points=[NOTHING]), *here, input_tokens=3_000) as (memory, api):
        shown = []
        while (done := await organised(memory, steps=("points",))).engine == "anthropic":
            shown.append({line for line in api.requests[-1].lines.values() if "Park" in line})
            assert len(shown) < 12
        assert done.changes == ()
        assert 1 < len(shown[0]) < len(set().union(*shown))
        assert shown[1] - shown[0]


@pytest.mark.parametrize("others", [["Bella", "Rufus"], ["Bella", "Hyde Park"]])
async def test_two_concurrent_calls_make_no_point_twice(others):
    said_by = iter(((["Rufus", "Bella"], WHERE), (others, "In Hyde Park, Rufus met Bella.")))

    def script(request):
        return pointing((*next(said_by), [number(request, "Hyde Park")]))

    async with organising(each(points=script)) as (memory, api):
        api.gate = anyio.Event()
        other = wired(api.url, memory.store.log, points=True)
        with anyio.fail_after(300):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(organised, memory)
                tasks.start_soon(organised, other)
                while len(api.requests) < 2:
                    await anyio.lowlevel.checkpoint()
                api.gate.set()
        async with memory.store.reading() as view:
            made = view.space("default").hypergraph.all()
        assert [point.revision for point in made] == [0]
        await other.aclose()


async def test_cancelling_the_call_cancels_the_request_and_changes_nothing():
    async with organising([Silence()]) as (memory, api):
        with anyio.fail_after(300):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(organised, memory)
                await api.arrived.wait()
                tasks.cancel_scope.cancel()
            await api.hung_up.wait()
        assert active(memory) == []
        async with organising(each(points=meeting)) as (_, working):
            other = wired(working.url, memory.store.log, points=True)
            assert (await organised(other)).engine == "anthropic"
            await other.aclose()


async def test_progress_names_slow_steps_and_never_decreases():
    told = []

    async def progress(done, total, what):
        told.append((done / total, what))

    async with organising(each(points=twofold, merging=[merging()])) as (memory, _):
        await memory.evolve(EvolveRequest("default", goal=GOAL), progress)
        assert [done for done, _ in told] == sorted({done for done, _ in told})
        assert {"Claude reads what was found", "Claude looks for what belongs together"} <= {what for _, what in told}


async def test_automatic_points_after_an_answer_make_no_request():
    script = each(answer=[said("Lisbon", ("S1",))])
    async with judged(script, "Bob: I moved to Lisbon with Emil last Friday.", points=True) as (memory, api):
        await asked(memory)
        await memory.background.drain(60)
        assert [room(request) for request in api.requests] == ["answer"]
        assert [point.source for point in active(memory, "")] == ["embedded"]


async def test_points_by_the_caller_keep_their_words_beside_a_goal():
    async with organising(each(points=meeting)) as (memory, _):
        done = await memory.evolve(EvolveRequest("default", goal=GOAL, points=PointEdits()))
        assert done.engine == "caller"
        assert [point.source for point in active(memory)] == ["anthropic"]
