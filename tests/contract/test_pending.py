"""Writes that wait for nothing: found by their words at once, indexed later by any process, and the same in the end."""

from dataclasses import replace

import anyio
import numpy as np
import pytest
from remembering import space_in
from rows_checked import row_problems
from store_contents import decoded, holding
from unit.services.exported_store import MAY, exported, open_at

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, Feedback, ForgetRequest, NewFact, NewItem, WriteRequest
from mcp_memory.services import indexing
from mcp_memory.services.indexing import deriver, index_some, silent

pytestmark = pytest.mark.usefixtures("one_key")
HOUR = 3_600_000
TALK = (
    ("Ann", "I live in Lisbon. My brother is called Ivo."),
    ("Bob", "Do you still work at Fernhill? I moved to Oslo in March 2024."),
    ("Ann", "I moved to Bergen last week, and I adopted a lurcher."),
    ("Bob", "I no longer live in Oslo, I live in Turku now."),
)
LONG = "\n\n".join(
    f"Chapter {n}. The keeper of pier {n} counted {n + 3} gulls and {n + 7} boats. "
    f"He wrote that the lamp of pier {n} was mended by Orla Quill in the year {1900 + n}. Nobody came on day {n}."
    for n in range(120)
)
HEADED = "# Lamps\n\nAll of them.\n\n## Mended ones\n\n" + "\n\n".join(
    f"The lamp of pier {n} was mended by Orla Quill in the year {1900 + n}." for n in range(90)
)


def talk(*lines, wait, session="s", first=0, **more):
    items = tuple(
        NewItem(text, f"m{first + n}", who, said_at=MAY + (first + n) * HOUR) for n, (who, text) in enumerate(lines)
    )
    return WriteRequest("default", session, "message", items, wait=wait, **more)


def document(text, ref="d", *, wait=False):
    return WriteRequest("default", "docs", "document", (NewItem(text, ref, title="Piers", said_at=MAY),), wait=wait)


async def pending(memory):
    async with memory.store.reading() as view:
        return {name: set(left) for space in view.spaces.values() for name, left in space.unindexed.items()}


async def step(memory):
    return await index_some(memory.store, memory.reading)


async def index_all(memory):
    steps = 0
    while await step(memory) == "more":
        steps += 1
    return steps


def held(space):
    """Return what a process holds of a space, rows in their order."""
    rows = np.arange(len(space.segments)), np.arange(len(space.sentences))
    return {
        "segments": [replace(segment) for segment in space.segments],
        "sentences": list(space.sentences),
        "segment vectors": space.segment_vectors.take(rows[0]).round(5).tolist(),
        "sentence vectors": space.sentence_vectors.take(rows[1]).round(5).tolist(),
        "live": space.live.tolist(),
        "previous": space.rows_before.tolist(),
        "facts": sorted((one.turn_id, one.head, one.relation, one.tail, one.negated) for one in space.facts.rows),
        "versions": sorted((v.text, v.since, v.until, v.kind, v.confidence) for v in space.facts.all(suspected=True)),
    }


async def contents(memory):
    return held(await space_in(memory.store))


async def test_a_write_embeds_nothing_and_is_found_by_its_words_by_every_process_at_once(tmp_path):
    one, other = open_at(tmp_path), open_at(tmp_path)
    await one.write(talk(("Ann", "I feed the heron."), ("Bob", "The tank is empty."), wait=True, session="old"))
    before = len(one.embedder.texts)
    result = await one.write(talk(*TALK, wait=False))
    assert len(one.embedder.texts) == before
    assert (result.pending, result.segments, result.facts, result.entities) == (4, 0, (), ())
    for memory in (one, other):
        found = await memory.reconstruct(Query("lurcher", limit=3))
        assert found.evidence[0].sources[0].turn.ref == "m2"
        assert any("4 texts of this space are being indexed" in warning for warning in found.warnings)
        newest = await memory.reconstruct(Query("", limit=2))
        assert [item.sources[0].turn.ref for item in newest.evidence] == ["m3", "m2"]
        assert [space["pending"] for space in (await memory.status()).spaces.values()] == [4]
    assert await row_problems(one.store) == []
    nothing = await other.write(talk(("Ann", "   "), wait=False, first=9))
    again = await other.write(talk(*TALK, wait=True))
    assert (nothing.pending, again.pending, [item.stored for item in again.items]) == (0, 0, [False] * 4)
    assert await pending(one) == {}


async def test_whoever_indexes_it_the_store_holds_what_a_write_that_waits_stores(tmp_path):
    waited, later, other = open_at(tmp_path / "a"), open_at(tmp_path / "b"), open_at(tmp_path / "b")
    for memory, wait in ((waited, True), (later, False)):
        await memory.write(talk(*TALK[:2], wait=wait))
        await memory.write(document(LONG[:600], wait=wait))
        await memory.write(document(HEADED, "headed", wait=wait))  # a piece is embedded with the headings above it
        await memory.write(talk(*TALK[2:], wait=wait, first=2))
        await memory.reconstruct(Query("lurcher"))
    assert await index_all(other) > 1
    whole = await contents(waited)
    assert whole["facts"]
    assert await contents(later) == await contents(other) == await contents(open_at(tmp_path / "b")) == whole
    assert await pending(later) == await pending(open_at(tmp_path / "b")) == {}
    found = await later.reconstruct(Query("lurcher"))
    assert not any("being indexed" in warning for warning in found.warnings)
    assert await row_problems(later.store) == []


async def test_what_the_caller_states_holds_when_the_call_returns(tmp_path):
    memory = open_at(tmp_path)
    facts = (NewFact("Ann", "works_at", "Fernhill", source="m0"), NewFact("Ivo", "lives_in", "Porto"))
    result = await memory.write(talk(*TALK[:1], wait=False, facts=facts))
    assert {fact.text for fact in result.facts} == {"Ann works at Fernhill", "Ivo lives in Porto"}
    assert result.engine == "caller"
    assert (await open_at(tmp_path).answer(Query("Where does Ivo live?"))).text == "Porto"
    await index_all(memory)
    assert {"Ann lives in Lisbon", "Ann works at Fernhill"} <= {
        v.text for v in (await space_in(memory.store)).facts.all()
    }


async def test_a_long_document_is_indexed_in_parts_and_another_process_goes_on_with_them(tmp_path, monkeypatch):
    monkeypatch.setattr(indexing, "STEP_CHARS", 2_000)
    waited, memory = open_at(tmp_path / "a"), open_at(tmp_path / "b")
    await waited.write(document(LONG, wait=True))
    await memory.write(document(LONG))
    ((name, all_of_it),) = (await pending(memory)).items()
    assert [await step(memory), await step(memory)] == ["more", "more"]
    left = (await pending(memory))[name]
    assert left == set(range(len(left)))  # the last parts come first
    assert len(left) < len(all_of_it)
    await memory.write(talk(*TALK[:1], wait=False))
    next_one = open_at(tmp_path / "b")
    assert (await pending(next_one))[name] == left
    async with next_one.store.reading() as view:
        (part,) = indexing.choose(view)
        assert part.turn.ref == "m0"  # talk before the rest of the document
    assert await index_all(next_one) > 3
    await waited.write(talk(*TALK[:1], wait=True))
    assert await contents(next_one) == await contents(open_at(tmp_path / "b")) == await contents(waited)


async def test_a_large_call_that_waits_is_indexed_in_parts_with_progress(tmp_path):
    memory, reports = open_at(tmp_path), []

    async def progress(done, total, what):
        reports.append((done, total, what))

    result = await memory.write(document(LONG * 4, wait=True), progress)
    assert len(LONG) * 4 > 64_000
    assert (result.pending, await pending(memory)) == (0, {})
    space = await space_in(memory.store)
    assert (result.segments, result.sentences) == (len(space.segments), len(space.sentences))
    indexed = [done for done, _, what in reports if what == "indexing"]
    assert len(indexed) > 3
    assert indexed == sorted(indexed)


async def test_only_one_process_indexes_at_a_time(tmp_path):
    one, other = open_at(tmp_path), open_at(tmp_path)
    await one.write(talk(*TALK, wait=False))
    async with one.store.lease("index") as ours:
        assert ours
        assert (await step(one), await step(other)) == ("busy", "busy")
    assert (await step(other), await step(one)) == ("more", "done")


@pytest.mark.parametrize("what", ["rebuild", "forget"])
async def test_what_another_process_does_while_texts_are_being_indexed_counts(tmp_path, what):
    """A rebuild indexes them, so that nothing is stored twice; what is forgotten stays so, and no file holds it."""
    memory, other = open_at(tmp_path / "b"), open_at(tmp_path / "b")
    await memory.write(talk(*TALK[:2], wait=True))
    await memory.write(talk(*TALK[2:], ("Ann", "The password of the shed is xylophone."), wait=False, first=2))
    assert holding(tmp_path, ["xylophone"])

    async def meanwhile():
        memory.embedder.before = anyio.lowlevel.checkpoint
        if what == "rebuild":
            await other.store.rebuild(deriver(other.reading, progress=silent))
        await other.forget(ForgetRequest("default", ids=("m4",), session="s", dry_run=False))

    memory.embedder.before = meanwhile
    await index_all(memory)
    assert await pending(memory) == await pending(open_at(tmp_path / "b")) == {}
    assert await row_problems(memory.store) == []
    assert not holding(tmp_path, ["xylophone"])
    waited = open_at(tmp_path / "a")
    await waited.write(talk(*TALK, wait=True))
    assert await contents(memory) == await contents(waited)


async def test_a_document_that_is_revised_while_it_is_pending_is_found_as_it_is_now(tmp_path):
    memory = open_at(tmp_path)
    await memory.write(document("The gate is painted vermilion. " + LONG[:500]))
    await memory.reconstruct(Query("vermilion"))
    await memory.write(document("The gate is painted ochre."))
    for _ in (1, 2):
        (best, *_) = (await memory.reconstruct(Query("gate painted"))).evidence
        assert "ochre" in best.text
        assert not any("vermilion" in one.text for one in (await memory.reconstruct(Query("gate vermilion"))).evidence)
        await index_all(memory)
    assert await pending(memory) == {}
    assert await contents(open_at(tmp_path)) == await contents(memory)


async def test_feedback_about_a_pending_text_counts_before_and_after_it_is_indexed(tmp_path):
    memory = open_at(tmp_path)
    await memory.write(talk(*TALK, wait=False))
    found = await memory.reconstruct(Query("Who adopted a lurcher?"))
    best = found.evidence[0].id
    await memory.evolve(EvolveRequest("default", episode=found.episode, feedback=Feedback(supports=(best,))))
    await index_all(memory)
    space = await space_in(open_at(tmp_path).store)
    (lesson,) = space.beliefs.lessons()
    assert [name for name, label in lesson.labels.items() if label == 1]
    for name in lesson.labels:
        belief = space.beliefs.get(name)
        assert abs(float(np.linalg.norm(belief.task)) - 1) < 1e-4
    assert await row_problems(memory.store) == []


async def test_a_recall_waits_for_talk_and_a_process_that_ends_indexes_a_little_that_is_left(tmp_path):
    memory = open_at(tmp_path)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(memory.work)
        await memory.write(talk(*TALK, wait=False))
        found = await memory.reconstruct(Query("lurcher"))
        assert not any("being indexed" in warning for warning in found.warnings)
        assert await pending(memory) == {}
        tasks.cancel_scope.cancel()
    ending = open_at(tmp_path)
    await ending.write(talk(("Ann", "One more."), wait=False, first=7))
    await ending.aclose()
    assert await pending(open_at(tmp_path)) == {}


async def test_a_process_that_nobody_calls_indexes_what_another_one_left(tmp_path):
    await open_at(tmp_path).write(talk(*TALK, wait=False))
    idle = open_at(tmp_path)
    with anyio.fail_after(300):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(idle.work)
            left = await pending(idle)
            while left:
                await anyio.sleep(0.01)
                left = await pending(idle)
            tasks.cancel_scope.cancel()
    assert await pending(open_at(tmp_path)) == {}


async def test_secrets_of_a_pending_text_are_masked_before_and_after_it_is_indexed(tmp_path):
    secret = "AKIA" + "IOSFODNN7" + "ABCDEFG"
    writer, reader = open_at(tmp_path), open_at(tmp_path)
    await writer.write(talk(("Ann", "Hello."), ("Ann", f"My key is {secret}, keep it."), wait=False))
    assert secret in decoded(tmp_path)
    for memory in (writer, reader, open_at(tmp_path)):
        assert not any(secret in turn.text for turn in (await space_in(memory.store)).turns.values())
        assert not any(secret in one.text for one in (await memory.reconstruct(Query("my key"))).evidence)
        assert secret.encode() not in await exported(memory)
    await index_all(reader)
    assert not any(secret in one.text for one in (await writer.reconstruct(Query("my key"))).evidence)
