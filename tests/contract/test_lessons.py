"""Every store records a lesson once and shows it to all; of each sentence the last belief counts."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from batches import batch, belief, known, lesson, taught

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.episodes import Belief, Episode, Lesson
from mcp_memory.ports import Store

pytestmark = pytest.mark.anyio

Open = Callable[..., Store]


async def _write(store: Store, rows: Batch) -> int:
    async with store.writing() as transaction:
        return await transaction.commit(rows)


async def _learnt(store: Store, space: str = "default") -> tuple[list[Lesson], dict[str, tuple[object, ...]]]:
    """Return the lessons of a space in order, and the belief about each sentence."""
    async with store.reading() as view:
        beliefs = view.space(space).beliefs
        assert len(beliefs) == len(beliefs.sentence_ids) == len(beliefs.task) == len(beliefs.task_doubts)
        return beliefs.lessons(), {name: known(beliefs.get(name) or belief("")) for name in beliefs.sentence_ids}


async def test_lessons_and_beliefs_are_read_back_unchanged(open_store: Open) -> None:
    """With every field filled, with every optional field empty, and with odd words."""
    bare = Lesson.of(Episode("ep_bare", "default", "", 0), "embedded")
    odd = lesson("\u202eodd 'id' \N{WOMAN}\u200d\N{GIRL}", {"s_'1": -1, "s_2": 0, "s_3": 1})
    beliefs = belief("s_'1", 1), belief("s_2", 2), belief("s_3", 3)
    store = open_store()
    await _write(store, replace(batch("a"), lessons=(odd, bare), beliefs=beliefs))
    for opened in (store, open_store()):
        lessons, believed = await _learnt(opened)
        assert lessons == [odd, bare]
        assert believed == {one.sentence_id: known(one) for one in beliefs}
        assert next(iter(lessons[0].labels)) == "s_'1"
        assert [one.episode() for one in lessons] == [odd.episode(), Episode("ep_bare", "default", "", 0)]


async def test_the_last_belief_about_a_sentence_counts(open_store: Open) -> None:
    """Across several commits and within one."""
    one, other = open_store(), open_store()
    await _write(one, taught("a", supported=1))
    await _learnt(other)
    await _write(one, taught("b", supported=2))
    last = belief("s_1", 5)
    await _write(other, replace(taught("c", "d"), beliefs=(belief("s_1", 3), belief("s_2"), belief("s_1", 4), last)))
    for store in (one, other, open_store()):
        _, believed = await _learnt(store)
        assert believed == {"s_1": known(last), "s_2": known(belief("s_2"))}


async def test_a_judge_has_one_lesson_per_episode(open_store: Open) -> None:
    """The first lesson counts, whichever process writes it; other judges and other spaces are independent."""
    one, other = open_store(), open_store()
    assert await _write(one, taught("a", supported=1)) == 1
    changed = replace(taught("a", supported=2), lessons=(lesson("a", {"s_1": 0}),))
    assert await _write(other, changed) == await _write(one, changed) == 1
    async with other.writing(changed) as transaction:
        assert await transaction.commit(changed) == 1
    assert await _write(other, replace(changed, turns=batch("b").turns)) == 2
    elsewhere = Batch(lessons=(lesson("a", source="embedded"), lesson("a", space="other")))
    assert await _write(other, elsewhere) == 3
    for store in (one, other, open_store()):
        lessons, believed = await _learnt(store)
        assert lessons == [lesson("a", {"s_1": 1}), lesson("a", source="embedded")]
        assert believed == {"s_1": known(belief("s_1", 1))}
        assert (await _learnt(store, "other"))[0] == [lesson("a", space="other")]


async def test_beliefs_from_known_and_new_lessons_together_are_refused(open_store: Open) -> None:
    """Their beliefs cannot be separated; a batch with one lesson twice is refused too, and nothing is stored."""
    store = open_store()
    await _write(store, taught("a"))
    for names in (["a", "b"], ["b", "b"]):
        with pytest.raises(ValueError, match="recorded before"):
            await _write(store, taught(*names, supported=2))
    assert await _write(store, taught("b", supported=2)) == 2


async def test_a_writer_starts_from_the_beliefs_of_others(open_store: Open) -> None:
    """Even if it has not read the sentences yet; the same holds for a reader of turns alone."""
    stores = [open_store(), open_store()]
    for number in range(6):
        store = stores[number % 2]
        async with store.writing() as transaction:
            before = transaction.view.space("default").beliefs.get("s_1")
            assert (before.supported if before else 0) == number
            rows = replace(batch(f"r{number}"), **_parts(taught(f"l{number}", supported=number + 1)))
            await transaction.commit(rows)
            assert transaction.view.space("default").beliefs.lesson(f"ep_l{number}", "caller") is not None
        async with stores[1 - number % 2].reading(whole=False) as view:
            assert len(view.space("default").beliefs.lessons()) == number + 1


def _parts(rows: Batch) -> dict[str, tuple[Lesson, ...] | tuple[Belief, ...]]:
    return {"lessons": rows.lessons, "beliefs": rows.beliefs}


@pytest.mark.parametrize("seed", range(8))
async def test_lessons_of_two_stores_in_any_interleaving_are_what_a_third_reads(open_store: Open, seed: int) -> None:
    """Old or new lessons, with turns and without, and complete or partial reads in between (DESIGN I27)."""
    dice = random.Random(seed)
    stores = [open_store(), open_store()]
    expected: dict[str, int] = {}
    heard: set[str] = set()
    for number in range(12):
        store = dice.choice(stores)
        name, sentence = f"l{dice.randrange(8)}", f"s_{dice.randrange(3)}"
        async with store.writing() as transaction:
            before = transaction.view.space("default").beliefs.get(sentence)
            rows = taught(name, sentence=sentence, supported=(before.supported if before else 0) + 1)
            if dice.random() < 0.3:
                rows = replace(batch(f"r{number}"), **_parts(rows))
            await transaction.commit(rows)
        expected[sentence] = expected.get(sentence, 0) + (name not in heard)
        heard.add(name)
        if dice.random() < 0.4:
            async with dice.choice(stores).reading(whole=dice.random() < 0.5):
                pass
    fresh = await _learnt(open_store())
    assert await _learnt(stores[0]) == await _learnt(stores[1]) == fresh
    assert {name: belief_[-1][0] for name, belief_ in fresh[1].items()} == {n: c for n, c in expected.items() if c}  # type: ignore[index]


async def test_another_process_reads_a_lesson_and_its_episode(open_store: Open) -> None:
    """Its view was read before; afterwards it contains the same as the first one's."""
    one, other = open_store(), open_store()
    await _write(one, taught("a"))
    await _learnt(other)
    await _write(one, Batch(lessons=(lesson("b", {"s_2": 1}), lesson("a", {"s_1": 0}, source="embedded"))))
    for store in (one, other):
        async with store.reading() as view:
            beliefs = view.space("default").beliefs
            assert beliefs.episode("ep_a") == lesson("a", {"s_1": 1}).episode()
            assert beliefs.episode("ep_b") == lesson("b", {"s_2": 1}).episode()
            assert beliefs.episode("ep_c") is None
