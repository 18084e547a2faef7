"""A question that relates things: memory points are made, reworded and merged while it is answered (HGMem §3.5)."""

import anyio
import pytest
from judged_memory import asked, judged, wired
from standin.messages_api import room
from standin.replies import error, said
from unit.services.learning_memory import held

from mcp_memory.configurable import Switches
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, PointEdits, PointInsert

TALK = (
    "Ann: My knee hurts since the race in May.",
    "Ann: I swim in the lake now, running is over for this year.",
    "Bob: The lake is cold in autumn.",
    *(f"Bob: On day {number} I walked the dog along the canal and read a novel." for number in range(40)),
    "Ann: The physiotherapist Orla told me that cold water helps the joint.",
)
MET = "Ann: Rufus met Bella in Hyde Park."
QUESTION = "How is the race connected with what Ann does?"


def point(of=(), entities=(), text="", supports=(), concern=""):
    lists = {"of": list(of), "entities": list(entities), "supports": list(supports)}
    return lists | {"description": text, "concern": concern}


def relating(request):
    """Make two points, merge them with what was found for their concern, and answer from the merged one."""
    knee, swim = request.numbers_of("knee hurts"), request.numbers_of("swim in the lake")
    points = [number for number in request.lines if number[0] == "P"]
    if not points:
        made = [
            point((), ("Ann", "race"), "The race in May hurt Ann's knee.", knee, "What helps the knee of Ann?"),
            point((), ("Ann", "lake"), "Ann swims in the lake.", swim),
        ]
        return said(missing=("why she swims",), supports=(*knee, *swim), points=made, beyond="Who is Orla?")
    if len(points) == 2:
        merged = point(points, (), "The race in May hurt Ann's knee, so she swims.", request.numbers_of("cold water"))
        return said("She swims", (points[0],), points=[merged])
    return said("She swims", (points[0],))


async def test_points_are_made_investigated_merged_and_kept_for_the_next_question():
    async with judged(relating, *TALK, points=True) as (memory, api):
        answer = await asked(memory, QUESTION, limit=2)
        assert (answer.text, answer.engine, answer.recall.warnings) == ("She swims", "anthropic", ())
        first, second = api.requests
        assert not [number for number in first.lines if number[0] == "P"]
        assert [second.lines[number].split(":")[0] for number in ("P1", "P2")] == ["Ann, race", "Ann, lake"]
        assert second.numbers_of("knee hurts")  # what a point rests on is shown with it
        assert second.numbers_of("cold water")
        steps = [(call.operator, call.args.get("query")) for call in answer.recall.trace[-2:]]
        assert steps == [("local_points", "What helps the knee of Ann?"), ("global_points", "Who is Orla?")]
        assert {citation.source.quote for citation in answer.citations} == {"My knee hurts since the race in May."}
        stored = held(memory).hypergraph.active(QUESTION)
        assert [one.description for one in stored] == ["The race in May hurt Ann's knee, so she swims."]
        assert set(stored[0].entities) == {"Ann", "race", "lake"}
        assert len(stored[0].sentences) == 3
        await asked(memory, QUESTION, limit=2)
        assert api.requests[-1].lines["P1"].endswith("The race in May hurt Ann's knee, so she swims.")
        assert len(held(memory).hypergraph) == 1  # nothing new was made of it


async def test_a_recall_stores_nothing_until_its_episode_is_organised():
    async with judged(relating, *TALK, points=True) as (memory, _):
        result = await memory.reconstruct(Query(QUESTION, "default", 2))
        assert [one.entities for one in result.points] == [("Ann", "race", "lake")]
        assert not len(held(memory).hypergraph)
        memory.organiser = None
        changed = await memory.evolve(EvolveRequest("default", result.episode, goal=QUESTION, steps=("points",)))
        assert [change.text for change in changed.changes if "swims" in change.after][:1] == ["Ann, race, lake"]
        stored = held(memory).hypergraph.active(QUESTION)
        assert result.points[0].description in [one.description for one in stored]


@pytest.mark.parametrize(
    ("question", "how"), [(QUESTION, {"switches": Switches(points=False)}), ("Where does Ann swim?", {"points": True})]
)
async def test_without_its_switch_or_for_one_thing_no_points_are_asked_for(question, how):
    async with judged([said(missing=("all",))], *TALK, **how) as (memory, api):
        await asked(memory, question, limit=2)
        assert room(api.requests[0]) == "answer"
        assert "points" not in api.requests[0].body["output_config"]["format"]["schema"]["properties"]


async def test_a_point_that_cannot_be_made_is_left_out_and_the_answer_stands():
    def script(request):
        knee = request.numbers_of("knee hurts")
        wrong = [
            point((), ("Ann",), "One thing.", knee),
            point(("P7",), (), "No such point.", knee),
            point((), ("Ann", "race"), "Nothing supports it.", ("S99",)),
            point((), tuple(f"n{n}" for n in range(40)), "Too many.", knee),
        ]
        return said("Swimming", knee, points=wrong, beyond="x" * 9_000)

    async with judged(script, *TALK, points=True) as (memory, _):
        answer = await asked(memory, QUESTION)
        assert (answer.text, answer.recall.warnings) == ("Swimming", ())
        assert not len(held(memory).hypergraph)


async def test_nothing_is_kept_of_an_answer_that_may_not_learn():
    def script(request):
        swim = request.numbers_of("swim in the lake")
        return said("She swims", swim, points=[point((), ("Ann", "lake"), "Ann swims in the lake.", swim)])

    async with judged(script, *TALK, points=True) as (memory, api):
        answer = await asked(memory, QUESTION, learn=False)
        assert [one.description for one in answer.recall.points] == ["Ann swims in the lake."]
        assert not len(held(memory).hypergraph)
        assert "relations" not in api.requests[0].body["output_config"]["format"]["schema"]["properties"]


async def organised(memory, goal=QUESTION, **asked_for):
    return await memory.evolve(EvolveRequest("default", goal=goal, **asked_for))


def active(memory, scope=QUESTION):
    return held(memory).hypergraph.active(scope)


async def test_a_goal_is_asked_as_a_question_and_its_points_are_kept():
    async with judged(relating, *TALK, points=True) as (memory, api):
        told = []

        async def progress(done, total, what):
            told.append((done / total, what))

        done = await memory.evolve(EvolveRequest("default", goal=QUESTION), progress)
        assert (done.engine, done.warnings, done.spent.calls) == ("anthropic", (), len(api.requests))
        kept = {one.id: (one.description, one.source) for one in active(memory)}
        assert list(kept.values()) == [
            ("The race in May hurt Ann's knee.", "anthropic"),
            ("Ann swims in the lake.", "anthropic"),
        ]
        assert kept.keys() == {change.id for change in done.changes if change.kind == "point"}
        assert [done for done, _ in told] == sorted({done for done, _ in told})
        assert "Claude reads what is found" in {what for _, what in told}
        assert [change.step for change in (await organised(memory)).changes] == ["merge"]
        (merged,) = active(memory)
        assert (set(merged.parents), merged.source) == (set(kept), "anthropic")
        again = await organised(memory)
        assert (again.changes, active(memory)) == ((), [merged])
        assert "memory points already" in again.skipped[0].reason


NOT_ASKED = "Claude did not judge this, the embedded engine did: it replied with HTTP status 400."


@pytest.mark.parametrize(("reply", "warnings"), [(said(missing=("all",)), ()), (error(400), (NOT_ASKED,))])
async def test_a_goal_of_which_claude_makes_no_points_is_left_to_the_rules(reply, warnings):
    async with judged([reply], MET, points=True) as (memory, _):
        done = await organised(memory, goal := "How did Rufus and Bella meet?")
        assert (done.engine, len(done.changes), done.warnings) == ("embedded", 1, warnings)
        assert [one.source for one in active(memory, goal)] == ["embedded"]


async def test_the_words_of_a_caller_stay_and_are_never_merged():
    def merging(request):
        numbers = [number for number in request.lines if number[0] == "P"]
        return said(supports=numbers, points=[point(numbers, (), "All of it at once.", numbers)] if numbers else [])

    mine = [PointInsert(("Ann", "race"), "It hurt her knee."), PointInsert(("Ann", "lake"), "She swims there.")]
    async with judged(merging, *TALK, points=True) as (memory, _):
        await memory.evolve(EvolveRequest("default", goal=QUESTION, points=PointEdits(tuple(mine))))
        await organised(memory)
        words = {one.description for one in active(memory)}
        assert {"It hurt her knee.", "She swims there."} <= words


async def test_what_another_process_made_of_a_goal_meanwhile_stays():
    async with judged(relating, *TALK, points=True) as (memory, api):
        api.gate, other = anyio.Event(), wired(api.url, memory.store.disk, points=True)
        mine = PointEdits((PointInsert(("Ann", "lake"), "The lake is near."),))
        with anyio.fail_after(300):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(organised, memory)
                await api.arrived.wait()
                await other.evolve(EvolveRequest("default", goal=QUESTION, points=mine))
                api.gate.set()
        kept = {one.description: one for one in active(memory)}
        assert kept.keys() >= {"The lake is near.", "The race in May hurt Ann's knee."}
        await other.aclose()
