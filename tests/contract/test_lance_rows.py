"""LanceDB's store keeps rows of every kind through dead writers, rebuilds and compactions, and in parts."""

from dataclasses import replace

import pytest
from batches import DIMENSION, batch, belief, derive, lesson, point, pointed, taught, turn, unit_vectors
from lance_at import NOW, commit_to, fold_all, make_rows, open_at
from rows_checked import row_problems
from written_stores import held, memory_of
from written_stores import write as write_everything

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.language_model import Job, Reservation, Spending
from mcp_memory.domain.turns import PooledQuestion
from mcp_memory.errors import StoreMismatch
from mcp_memory.services.indexing import deriver, silent
from mcp_memory.storage import rebuild, refresh, tables
from mcp_memory.storage.log import table_rows
from mcp_memory.storage.rows import TABLE_KINDS
from mcp_memory.storage.tables import Tables

ALIAS = Alias("default", "Ann", "Anna", "a guess", "embedded", 1)
LEASED = Job("default", turn("a").id, "leased", 0, 0, NOW + 1, "one", NOW)
DONE = replace(LEASED, state="done", parts=1, until=0, holder="")
TODAY = 20_833


def asked(*texts, dimension=DIMENSION):
    pooled = tuple(PooledQuestion("default", text, "g_1", frozenset({"ann"})) for text in texts)
    return Batch(questions=pooled, question_vectors=unit_vectors(texts, dimension))


def together(*parts):
    """Return one batch with the rows of several that have no kind in common."""
    fields = ((name, getattr(part, name)) for part in parts for name in Batch.__dataclass_fields__)
    return Batch(**{name: value for name, value in fields if len(value)})


def sentence(ref, index=0):
    return derive([turn(ref)]).sentences[index].id


async def shown(store):
    """Return what a store has besides texts."""
    async with store.reading() as view:
        space = view.space("default")
        points = space.hypergraph.all()
        pool = space.questions
        return {
            "episodes": [one.episode_id for one in space.beliefs.lessons()],
            "beliefs": [(n, b.supported) for n in space.beliefs.sentence_ids if (b := space.beliefs.get(n))],
            "points": [(one, space.hypergraph.vector(one.id).round(5).tolist()) for one in points],
            "questions": [(one.text, pool.vectors[row].round(5).tolist()) for row, one in enumerate(pool.rows)],
            "aliases": [space.facts.key("Anna")],
            "jobs": list(space.jobs.values()),
            "spent": [view.spent(TODAY)],
            "facts": list(space.facts.rows),
        }


def drawn(texts, dimension=DIMENSION):
    return [vector.round(5).tolist() for vector in unit_vectors(texts, dimension)]


async def count(space, lessons):
    """Return beliefs that count how often each sentence helped; unknown sentences are skipped."""
    made = []
    for one in lessons:
        for name in one.labels:
            if space.sentence(name) is not None:
                before = next((b for b in reversed(made) if b.sentence_id == name), None) or space.beliefs.get(name)
                made.append(belief(name, before.supported + 1 if before else 1))
    return made


def making_while(store, rows):
    """Return what derives turns in a rebuild, and commits rows when it is first called."""
    waiting = [rows]

    async def make(turns):
        while waiting:
            await commit_to(store, waiting.pop())
        return derive(turns, 4)

    return make


def everything(name, supported):
    """Return rows of every kind, each of which has this name."""
    rows = pointed(point(name))
    return together(batch(name), taught(name, supported=supported), rows, asked(f"{name}?"), Batch(jobs=(LEASED,)))


async def test_rows_of_a_process_that_died_while_it_filled_the_tables_are_replaced(uri):
    store = open_at(uri)
    await commit_to(store, replace(batch("plain"), assertions=()))
    await commit_to(store, everything("a", 1))
    before, tables = await shown(store), Tables(uri)
    (entry,) = tables.log.entries(1)
    for kind in TABLE_KINDS:
        tables.append(entry.commit.table(kind), table_rows([entry], kind)[:1])
    assert await shown(open_at(uri)) == before
    assert await row_problems(store) == []
    assert await shown(open_at(uri)) == await shown(store) == before


async def test_a_rebuild_keeps_everything_and_makes_new_vectors_with_another_embedder(uri):
    """Also what is written during the rebuild; another rebuild finds it again, and writing goes on as before."""

    async def embed(texts):
        return unit_vectors(texts, 4)

    old, new = open_at(uri), open_at(uri, "new", 4, embed=embed)
    await commit_to(old, together(batch("a"), pointed(point("a")), Batch(aliases=(ALIAS,))))
    changed = replace(point("a"), revision=1, description="Other words.")
    await commit_to(old, together(pointed(point("b"), changed), asked("Where?", "Who?"), Batch(jobs=(DONE,))))
    await commit_to(old, Batch(outlays=(Reservation(TODAY, Spending(1, 700)),)))
    other = replace(DONE, turn_id=turn("b").id)
    late = together(pointed(point("c")), asked("When?"), Batch(jobs=(other,), outlays=(spent(-300, 0), spent(100, 0))))
    make = making_while(old, late)
    points, texts = [changed, point("b"), point("c")], ["Where?", "Who?", "When?"]
    for _ in range(2):
        assert await new.rebuild(make) == 1
        found = await shown(new)
        assert found["points"] == list(zip(points, drawn([one.description for one in points], 4), strict=True))
        assert found["questions"] == list(zip(texts, drawn(texts, 4), strict=True))
        assert (found["aliases"], found["jobs"], found["spent"]) == (["ann"], [DONE, other], [Spending(1, 500)])
        assert await row_problems(new) == []
    await commit_to(new, together(pointed(point("d"), dimension=4), asked("Why?", dimension=4)))
    assert [one.id for one, _ in (await shown(new))["points"]] == ["h_a", "h_b", "h_c", "h_d"]
    assert await shown(new) == await shown(open_at(uri, "new", 4))
    with pytest.raises(StoreMismatch):
        await commit_to(old, batch("late"))


def spent(tokens, calls=1, day=TODAY):
    return Reservation(day, Spending(calls, tokens))


async def test_after_a_rebuild_without_an_embedder_points_are_similar_to_nothing(uri):
    await commit_to(open_at(uri), pointed(point("a")))
    await open_at(uri).rebuild(make_rows)
    assert (await shown(open_at(uri)))["points"] == [(point("a"), [0.0] * DIMENSION)]


async def test_a_rebuild_makes_the_beliefs_anew_from_the_lessons_in_order(uri, monkeypatch):
    monkeypatch.setattr(rebuild, "CHUNK_TEXTS", 2)
    monkeypatch.setattr(rebuild, "LOOKED_UP_SENTENCES", 1)
    a, b = sentence("a"), sentence("b", 1)
    seen = []

    async def relearn(space, lessons):
        assert space.speakers == {"Ann": len(space.turns)}
        for name in (name for one in lessons for name in one.labels):
            piece = space.sentence(name)
            if piece is not None and piece.turn_id in space.turns:
                vector = space.sentence_vectors[space.sentence_row(piece.turn_id, piece.index)]
                assert vector @ unit_vectors([name], 4)[0] > 0.999
        seen.extend((one.episode_id, [t.ref for t in space.turns.values()], len(space.beliefs)) for one in lessons)
        return [replace(one, task=unit_vectors(["x"], 4)[0], time=None) for one in await count(space, lessons)]

    old, new = open_at(uri), open_at(uri, "new", 4, relearn=relearn)
    await commit_to(old, batch("a"))
    for name in ("1", "2", "3"):
        await commit_to(old, taught(name, sentence=a, supported=7))
    await commit_to(old, batch("b"))
    last = Batch(lessons=(lesson("4", {a: 1, b: 1, "s_gone": 1}),), beliefs=(belief(a, 8), belief("s_gone")))
    await commit_to(old, last)
    assert await new.rebuild(making_while(old, taught("5", sentence=b, supported=9))) == 2
    found = await shown(new)
    assert (found["episodes"], dict(found["beliefs"])) == ([f"ep_{n}" for n in range(1, 6)], {a: 4, b: 2})
    assert seen == [(f"ep_{n}", ["a", "b"], before) for n, before in zip(range(1, 6), (0, 0, 1, 1, 2), strict=True)]
    assert await row_problems(new) == []
    await commit_to(new, replace(taught("6"), beliefs=(replace(belief(a, 5, dimension=4)),)))
    for opened in (new, open_at(uri, "new", 4)):
        assert dict((await shown(opened))["beliefs"]) == {a: 5, b: 2}


async def test_a_rebuild_without_learning_or_one_that_fails_keeps_the_lessons_for_a_later_one(uri):
    await commit_to(open_at(uri), together(batch("a"), taught("x", sentence=sentence("a"))))
    await open_at(uri).rebuild(make_rows)
    found = await shown(open_at(uri))
    assert (found["episodes"], found["beliefs"]) == (["ep_x"], [])

    async def fail(_space, _lessons):
        raise LookupError

    with pytest.raises(LookupError):
        await open_at(uri, relearn=fail).rebuild(make_rows)
    await open_at(uri, relearn=count).rebuild(make_rows)
    assert (await shown(open_at(uri)))["beliefs"] == [(sentence("a"), 1)]


@pytest.mark.parametrize("rebuilt", [False, True])
async def test_a_store_reads_the_same_in_parts_as_at_once(tmp_path, monkeypatch, rebuilt):
    """So that a large one is never in memory twice; the assertions that only a rebuild derived are in every part."""
    await write_everything(tmp_path / "store")
    memory = memory_of(tmp_path / "store", writing=True)
    if rebuilt:
        await memory.store.rebuild(deriver(memory.reading, progress=silent))
    async with memory.store.reading() as view:
        once = held(view)
    monkeypatch.setattr(refresh, "PART_SENTENCES", 1)
    async with memory_of(tmp_path / "store", writing=True).store.reading() as view:
        assert held(view) == once


async def test_a_process_that_reads_what_another_writes_keeps_no_more_of_the_commits_than_its_bound(uri, monkeypatch):
    sessions, new_session, bound = [], tables.new_session, 64 << 10

    def noted():
        sessions.append(new_session())
        return sessions[-1]

    monkeypatch.setattr(tables, "METADATA_BYTES", bound)
    monkeypatch.setattr(tables, "new_session", noted)
    writer, reader = open_at(uri), open_at(uri)
    for number in range(0, 24, 2):
        await commit_to(writer, batch(f"m{number}"))
        await commit_to(writer, batch(f"m{number + 1}"))
        fold_all(uri)
        async with reader.reading() as view:
            assert view.tx == number + 2
    assert 0 < max(one.size_bytes for one in sessions) <= 2 * bound
