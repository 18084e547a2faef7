"""LanceDB's store keeps lessons through dead writers, older programs, bad rows and rebuilds."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from anyio.lowlevel import checkpoint
from batches import batch, belief, derive, known, lesson, taught, turn, unit_vectors
from lance_at import NOW, change_column, commit_to, open_at
from rows_checked import row_problems

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.episodes import Belief, Lesson
from mcp_memory.domain.turns import Turn
from mcp_memory.storage import relearning
from mcp_memory.storage.compaction import compact
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables
from mcp_memory.view.space import Space

pytestmark = pytest.mark.anyio


async def _learnt(store: LanceStore) -> tuple[list[str], dict[str, int]]:
    """Return the ids of the episodes with lessons, and how often each sentence is believed to have helped."""
    async with store.reading() as view:
        beliefs = view.space("default").beliefs
        found = {name: beliefs.get(name) for name in beliefs.sentence_ids}
        return [one.episode_id for one in beliefs.lessons()], {n: b.supported for n, b in found.items() if b}


async def _derive(turns: Sequence[Turn]) -> Batch:
    return derive(turns)


async def _count(space: Space, lessons: Sequence[Lesson]) -> list[Belief]:
    """Return beliefs that count how often each sentence helped; unknown sentences are skipped."""
    made = []
    for one in lessons:
        for name in one.labels:
            if space.sentence(name) is not None:
                before = next((b for b in reversed(made) if b.sentence_id == name), None) or space.beliefs.get(name)
                made.append(belief(name, before.supported + 1 if before else 1))
    return made


def _sentence(ref: str, index: int = 0) -> str:
    return derive([turn(ref)]).sentences[index].id


async def test_a_rebuild_makes_the_beliefs_anew_from_the_lessons_in_order(
    uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In chunks, with lessons written meanwhile, each with the turns and vectors of its time; the log stays."""
    monkeypatch.setattr(relearning, "LESSONS", 2)
    monkeypatch.setattr(relearning, "SENTENCES", 1)
    a, b = _sentence("a"), _sentence("b", 1)
    seen: list[tuple[str, list[str], int]] = []

    async def relearn(space: Space, lessons: Sequence[Lesson]) -> list[Belief]:
        assert space.sentence_vectors is not None
        assert space.speakers == {"Ann": len(space.turns)}
        for name in (name for one in lessons for name in one.labels):
            piece = space.sentence(name)
            if piece is not None and piece.turn_id in space.turns:
                vector = space.sentence_vectors[space.sentence_row(piece.turn_id, piece.index)]
                assert vector @ unit_vectors([name], 4)[0] > 0.999
        seen.extend((one.episode_id, [t.ref for t in space.turns.values()], len(space.beliefs)) for one in lessons)
        return [replace(one, task=unit_vectors(["x"], 4)[0], time=None) for one in await _count(space, lessons)]

    old, new = open_at(uri), open_at(uri, "new", 4, relearn=relearn)
    await commit_to(old, batch("a"))
    for name in ("1", "2", "3"):
        await commit_to(old, taught(name, sentence=a, supported=7))
    await commit_to(old, batch("b"))
    await commit_to(
        old, Batch(lessons=(lesson("4", {a: 1, b: 1, "s_gone": 1}),), beliefs=(belief(a, 8), belief("s_gone")))
    )
    meanwhile = iter([taught("5", sentence=b, supported=9)])

    async def make(turns: Sequence[Turn]) -> Batch:
        for rows in meanwhile:
            await commit_to(old, rows)
        return derive(turns, 4)

    assert await new.rebuild(make) == 2
    assert await _learnt(new) == (["ep_1", "ep_2", "ep_3", "ep_4", "ep_5"], {a: 4, b: 2})
    assert seen == [
        ("ep_1", ["a"], 0),
        ("ep_2", ["a"], 0),
        ("ep_3", ["a"], 1),
        ("ep_4", ["a", "b"], 1),
        ("ep_5", ["a", "b"], 1),
    ]
    assert await row_problems(new) == []
    await commit_to(new, replace(taught("6"), beliefs=(replace(belief(a, 5, dimension=4)),)))
    assert (await _learnt(new))[1] == (await _learnt(open_at(uri, "new", 4)))[1] == {a: 5, b: 2}
    assert Tables(uri).count("beliefs_1") == 3


async def test_a_rebuild_without_learning_keeps_the_lessons_for_a_later_one(uri: str) -> None:
    """A rebuild that fails halfway keeps them too."""
    await commit_to(open_at(uri), replace(taught("x", sentence=_sentence("a")), turns=batch("a").turns))
    await open_at(uri).rebuild(_derive)
    assert await _learnt(open_at(uri)) == (["ep_x"], {})

    async def fail(_space: Space, _lessons: Sequence[Lesson]) -> list[Belief]:
        raise LookupError

    with pytest.raises(LookupError):
        await open_at(uri, relearn=fail).rebuild(_derive)
    await open_at(uri, relearn=_count).rebuild(_derive)
    assert await _learnt(open_at(uri)) == (["ep_x"], {_sentence("a"): 1})


@pytest.mark.filterwarnings("ignore:optimize:UserWarning")
@pytest.mark.parametrize("dies", [False, True])
async def test_compaction_deletes_superseded_beliefs_after_a_thousand_commits(
    uri: str, monkeypatch: pytest.MonkeyPatch, dies: bool
) -> None:
    """Readers with some, none or all of them see the same before and after, even if it dies before merging."""
    store, some, none = open_at(uri), open_at(uri), open_at(uri)
    for number in range(9):
        await commit_to(store, taught(f"l{number}", sentence=f"s_{number % 2}", supported=number // 2 + 1))
        if number == 4:
            await _learnt(some)
    while store._compaction.running:
        await checkpoint()
    if dies:
        monkeypatch.setattr("mcp_memory.storage.compaction.merge_files", _fail)
    for settled, there in ((1000, 9), (0, 2)):
        monkeypatch.setattr("mcp_memory.storage.compaction.SETTLED", settled)
        try:
            compact(Tables(uri), 2, now=NOW, stop=threading.Event(), keep=timedelta(0))
        except MemoryError:
            assert dies
        assert Tables(uri).count("beliefs_0") == there
    expected = {"s_0": 5, "s_1": 4}
    for opened in (some, none, store, open_at(uri)):
        assert (await _learnt(opened))[1] == expected
    await commit_to(some, taught("last", sentence="s_1", supported=5))
    for opened in (none, store, some, open_at(uri)):
        assert (await _learnt(opened))[1] == {"s_0": 5, "s_1": 5}
    assert await row_problems(store) == []


def _fail(*_: object) -> None:
    raise MemoryError


@pytest.mark.parametrize("trace", ["{", None, '{"shown": [{"id": "g"}]}'])
async def test_a_lesson_whose_trace_is_damaged_counts_and_doctor_reports_it(uri: str, trace: str | None) -> None:
    """Its belief stays, its judge cannot judge again, and a rebuild learns from it; the episode is lost."""
    name = _sentence("a")
    await commit_to(open_at(uri), replace(batch("a"), **_teaching(taught("bad", sentence=name))))
    change_column(uri, "episodes", "trace", lambda _: [trace])
    store = open_at(uri)
    assert await _learnt(store) == (["ep_bad"], {name: 1})
    assert await commit_to(store, taught("bad", sentence=name, supported=2)) == 1
    async with store.reading() as view:
        told = view.space("default").beliefs.episode("ep_bad")
        assert isinstance(told, str)
        assert told.startswith("its trace ")
    await open_at(uri, relearn=_count).rebuild(_derive)
    assert await _learnt(open_at(uri)) == (["ep_bad"], {name: 1})


def _teaching(rows: Batch) -> dict[str, tuple[Lesson, ...] | tuple[Belief, ...]]:
    return {"lessons": rows.lessons, "beliefs": rows.beliefs}


async def test_a_lesson_that_is_twice_in_the_log_counts_once(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """This can only happen without a common lock; the first one counts, and a rebuild learns from it alone."""
    name = _sentence("a")
    await commit_to(open_at(uri), replace(batch("a"), **_teaching(taught("x", sentence=name))))
    first = lesson("x", {name: 1})
    monkeypatch.setattr(Batch, "unlearnt", lambda rows, _: rows)
    assert await commit_to(open_at(uri), Batch(lessons=(replace(first, labels={name: 0}),))) == 2
    async with open_at(uri).reading() as view:
        assert view.space("default").beliefs.lessons() == [first]
        assert known(view.space("default").beliefs.get(name) or belief("")) == known(belief(name))
    await open_at(uri, relearn=_count).rebuild(_derive)
    assert await _learnt(open_at(uri)) == (["ep_x"], {name: 1})
