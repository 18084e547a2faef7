"""Every store keeps lessons, points, questions, names and jobs as they were told, for every process."""

import random
from dataclasses import replace

import numpy as np
import pytest
from batches import DIMENSION, batch, belief, known, lesson, point, pointed, taught, turn, unit_vectors
from fakes import FakeEmbedder
from lance_at import commit_to
from remembering import space_in

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.episodes import Episode, Lesson
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.turns import PooledQuestion
from mcp_memory.services.learn.lessons import learn

NOW, LEASE_MS = 1_800_000_000_000, 60_000


def asked(*texts, space="default"):
    """Return questions that one segment answers."""
    pooled = tuple(PooledQuestion(space, text, "g_1", frozenset({"ann", text})) for text in texts)
    return Batch(questions=pooled, question_vectors=unit_vectors(texts))


def leased(ref, holder, space="default"):
    return Job(space, turn(ref, space).id, "leased", 0, 0, NOW + LEASE_MS, holder, NOW)


def beliefs(space):
    held = space.beliefs
    assert len(held) == len(held.sentence_ids) == len(held.task) == len(held.task_doubts)
    return {name: known(held.get(name) or belief("")) for name in held.sentence_ids}


async def test_rows_of_every_kind_are_read_back_unchanged(open_store):
    store = open_store()
    bare = Lesson.of(Episode("ep_bare", "default", "", 0), "embedded")
    odd = lesson("\u202eodd 'id' \N{WOMAN}\u200d\N{GIRL}", {"s_'1": -1, "s_2": 0, "s_3": 1})
    told = belief("s_'1", 1), belief("s_2", 2), belief("s_3", 3)
    points = pointed(
        replace(point("odd"), entities=("O'Neill", '"C++"', "\N{WOMAN}\u200d\N{GIRL}"), scope="why, 'so'?"),
        replace(point("full"), parents=("h_1", "h_2"), sentences=("s_1", "s_2"), facts=("f_1",)),
        replace(point("gone"), status="merged", merged_into="h_full"),
    )
    names = (
        Alias("default", "Ann", "Anna", "a guess", "embedded", 1),
        Alias("default", "O'Neill", '"C++"', "why, 'so'?\n\N{WOMAN}", "embedded", 7),
    )
    texts = ["Where is 'Ann'?", 'Who is "Bob"?', "Why?"]
    rows = replace(batch("a"), lessons=(odd, bare), beliefs=told, points=points.points, aliases=names)
    await commit_to(store, replace(rows, point_vectors=points.point_vectors, jobs=(leased("a", "one"),)))
    await commit_to(store, asked(*texts[:2]))
    await commit_to(store, asked(texts[2]))
    for opened in (store, open_store()):
        space = await space_in(opened)
        assert space.beliefs.lessons() == [odd, bare]
        assert next(iter(space.beliefs.lessons()[0].labels)) == "s_'1"
        assert [space.beliefs.episode(one.episode_id) for one in (odd, bare)] == [odd.episode(), bare.episode()]
        assert beliefs(space) == {one.sentence_id: known(one) for one in told}
        assert np.array_equal(space.beliefs.time[0], np.asarray(told[0].time))
        assert not space.beliefs.time[1].any()  # a sentence without a time has a row of zeros
        assert space.hypergraph.all() == list(points.points)
        for one, vector in zip(points.points, points.point_vectors, strict=True):
            assert np.array_equal(space.hypergraph.vector(one.id), vector)
        assert space.questions.rows == [
            PooledQuestion("default", text, "g_1", frozenset({"ann", text})) for text in texts
        ]
        assert np.allclose(space.questions.vectors.dot(unit_vectors(texts)).diagonal(), 1)
        assert space.facts.key("Anna") == "ann"
        assert space.facts.inferred_aliases("ann") == [names[0]]
        assert space.facts.inferred_aliases(space.facts.key("O'Neill")) == [names[1]]
        assert (list(space.turns), space.jobs) == ([turn("a").id], {turn("a").id: leased("a", "one")})


async def test_the_last_word_counts_whoever_said_it(open_store):
    one, other = open_store(), open_store()
    first = point("a")
    second, third, fourth = (replace(first, revision=n, description=f"words {n}") for n in (1, 2, 3))
    a, b = leased("a", "one"), leased("b", "one")
    waiting, done = replace(b, state="waiting", tries=1, holder=""), replace(a, state="done", parts=1, holder="")
    await commit_to(one, replace(taught("a", supported=1), jobs=(a, b, waiting), points=(first,), **vectors(first)))
    async with other.reading():
        pass
    await commit_to(one, replace(taught("b", supported=2), points=(second,), **vectors(second)))
    last = belief("s_1", 5)
    rows = replace(taught("c", "d"), beliefs=(belief("s_1", 3), belief("s_2"), belief("s_1", 4), last), jobs=(done,))
    await commit_to(other, replace(rows, points=(third, point("b"), fourth), **vectors(third, point("b"), fourth)))
    for store in (one, other, open_store()):
        space = await space_in(store, whole=False)
        assert beliefs(space) == {"s_1": known(last), "s_2": known(belief("s_2"))}
        assert space.hypergraph.all() == [fourth, point("b")]
        assert space.hypergraph.get(first.id) == fourth
        assert list(space.hypergraph.revisions(first.id)) == [first, second, third, fourth]
        assert space.jobs == {done.turn_id: done, waiting.turn_id: waiting}


def vectors(*points):
    return {"point_vectors": pointed(*points).point_vectors}


async def test_rows_of_a_space_are_visible_in_no_other(open_store):
    store = open_store()
    left, right = asked("Where?", space="left"), asked("Who?", space="right")
    points = pointed(point("a", space="left"), point("b", space="right"))
    rows = Batch(
        lessons=(lesson("a", {"s_1": 1}, "left"), lesson("a", {"s_2": 1}, "right")),
        beliefs=(belief("s_1", space="left"), belief("s_2", space="right")),
        points=points.points,
        point_vectors=points.point_vectors,
        questions=(*left.questions, *right.questions),
        question_vectors=np.concatenate([left.question_vectors, right.question_vectors]),
        aliases=(Alias("left", "Ann", "Anna", "a guess", "embedded", 1),),
        jobs=(leased("a", "one", space="left"), leased("b", "one", space="right")),
    )
    await commit_to(store, rows)
    for opened in (store, open_store()):
        async with opened.reading() as view:
            for name, sentence, made, text, key, ref in (
                ("left", "s_1", "h_a", "Where?", "ann", "a"),
                ("right", "s_2", "h_b", "Who?", "anna", "b"),
            ):
                space = view.space(name)
                assert list(beliefs(space)) == [sentence]
                assert [one.id for one in space.hypergraph.all()] == [made]
                assert [one.text for one in space.questions.rows] == [text]
                assert space.facts.key("Anna") == key
                assert list(space.jobs) == [turn(ref, name).id]
            assert not view.space("default").jobs


async def test_a_judge_has_one_lesson_per_episode(open_store):
    one, other, embedder = open_store(), open_store(), FakeEmbedder(DIMENSION)
    rows = batch("a")
    await commit_to(one, rows)
    name = rows.sentences[0].id
    first, elsewhere = lesson("a", {name: 1}), (lesson("a", source="embedded"), lesson("a", space="other"))
    ((learnt, *_),) = await learn(one, embedder, "exact", first) or ()
    for store in (other, one):
        assert await learn(store, embedder, "exact", lesson("a", {name: 0})) is None
    assert [await learn(other, embedder, "exact", more) for more in elsewhere] == [[], []]
    for store in (one, other, open_store()):
        async with store.reading() as view:
            space = view.space("default")
            assert space.beliefs.lessons() == [first, elsewhere[0]]
            assert beliefs(space) == {name: known(learnt)}
            assert view.space("other").beliefs.lessons() == [lesson("a", space="other")]


@pytest.mark.parametrize("seed", range(4))
async def test_lessons_of_two_stores_in_any_interleaving_are_what_a_third_reads(open_store, seed):
    """With turns and without, and complete or partial reads in between: a writer sees all of them (DESIGN I27)."""
    dice = random.Random(seed)
    stores = [open_store(), open_store()]
    expected = {}
    heard = set()
    for number in range(12):
        store = dice.choice(stores)
        name, sentence = f"l{dice.randrange(8)}", f"s_{dice.randrange(3)}"
        async with store.writing() as transaction:
            seen = transaction.view.space("default").beliefs
            before = seen.get(sentence)
            rows = taught(name, sentence=sentence, supported=(before.supported if before else 0) + 1)
            assert (seen.lesson(*rows.lessons[0].key) is not None) is (name in heard)
            if name in heard:
                rows = Batch()
            if dice.random() < 0.3:
                rows = replace(batch(f"r{number}"), lessons=rows.lessons, beliefs=rows.beliefs)
            await transaction.commit(rows)
        expected[sentence] = expected.get(sentence, 0) + (name not in heard)
        heard.add(name)
        if dice.random() < 0.4:
            async with dice.choice(stores).reading(whole=dice.random() < 0.5):
                pass
    found = []
    for store in (*stores, open_store()):
        space = await space_in(store)
        found.append((space.beliefs.lessons(), beliefs(space)))
    assert found[0] == found[1] == found[2]
    assert {name: one[-1][0] for name, one in found[2][1].items()} == {n: c for n, c in expected.items() if c}
