"""A store on a disk or on object storage: what is forgotten goes with all that rests only on it, and no more."""

import json
from dataclasses import replace

import numpy as np
import pytest
from batches import asserted, batch, belief, erasing, lesson, merged, point, pointed, taught, turn, unit_vectors
from lance_at import commit_to, forgotten
from remembering import space_in

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.requests import ForgetTargets
from mcp_memory.domain.turns import PooledQuestion
from mcp_memory.errors import InvalidInput


def texts(*refs):
    """Choose messages of the default space."""
    return erasing(ForgetTargets("default", turns=frozenset(turn(ref).id for ref in refs)))


def sentences(ref):
    return [piece.id for piece in batch(ref).sentences]


async def test_a_text_goes_with_its_pieces_facts_jobs_questions_and_beliefs_in_every_process(open_store):
    store, other = open_store(), open_store()
    await commit_to(store, batch("alpha", "bravo"))
    await commit_to(other, batch("alpha", space="other"))
    first, second = sentences("alpha")[0], sentences("bravo")[0]
    await commit_to(store, taught("one", sentence=first))
    await commit_to(store, taught("two", sentence=second))
    jobs = tuple(Job("default", turn(ref).id, "done", 1, 0, 0, "", 1) for ref in ("alpha", "bravo"))
    await commit_to(store, Batch(jobs=jobs))
    questions = tuple(
        PooledQuestion("default", f"Who is {ref}?", batch(ref).segments[0].id, frozenset())
        for ref in ("alpha", "bravo")
    )
    named = PooledQuestion(
        "default", "Who told bravo of alpha?", batch("bravo").segments[0].id, frozenset()
    )  # a word that goes
    questions = (*questions, named)
    await commit_to(store, Batch(questions=questions, question_vectors=unit_vectors(["a", "b", "c"])))
    assert len((await space_in(other)).turns) == 2
    await store.forget(texts("alpha"))
    kept = batch("alpha", "bravo")
    for opened in (store, other, open_store()):
        async with opened.reading() as view:
            space = view.space("default")
            assert [one.ref for one in space.turns.values()] == ["bravo"]
            assert [piece.id for piece in space.sentences] == sentences("bravo")
            assert [piece.turn_id for piece in space.segments] == [turn("bravo").id]
            assert {row.id for row in space.facts.rows} == {
                row.id for row in kept.assertions if row.turn_id == turn("bravo").id
            }
            assert space.beliefs.sentence_ids == [second]
            assert [one.episode_id for one in space.beliefs.lessons()] == ["ep_two"]
            assert set(space.jobs) == {turn("bravo").id}
            assert [one.text for one in space.questions.rows] == ["Who is bravo?"]
            assert np.allclose(space.sentence_vectors[1], unit_vectors(sentences("bravo"))[1], atol=1e-5)
            assert list(view.space("other").turns) == [turn("alpha", "other").id]


async def test_writing_goes_on_after_a_forget_and_the_same_words_can_be_told_again(open_store):
    store, other = open_store(), open_store()
    await commit_to(store, batch("alpha", "bravo"))
    await store.forget(texts("alpha"))
    await commit_to(other, batch("charlie"))
    await commit_to(store, batch("alpha"))
    for opened in (store, other, open_store()):
        assert [one.ref for one in (await space_in(opened)).turns.values()] == ["bravo", "charlie", "alpha"]


async def test_a_point_that_rests_on_more_is_made_anew_in_the_words_of_the_rest(open_store):
    """The words of what goes are kept in no description; a point that rests on nothing else goes."""
    store = open_store()
    await commit_to(store, batch("alpha", "bravo"))
    both = replace(point("both"), sentences=(sentences("alpha")[0], sentences("bravo")[0]), description="alpha, bravo")
    alone = replace(point("alone"), sentences=(sentences("alpha")[1],))
    free = point("free")
    told = replace(point("told"), description="Ann and Bob like alpha.")
    await commit_to(store, pointed(both, alone, free, told))
    found = await store.forget(texts("alpha"))
    assert [one.description for one in found.remade] == ["bravo came first."]
    for opened in (store, open_store()):
        graph = (await space_in(opened)).hypergraph
        assert {one.description for one in graph.all()} == {"bravo came first.", free.description}
        (made,) = [one for one in graph.all() if one.id != free.id]
        assert (made.entities, made.sentences, made.source) == (both.entities, both.sentences[1:], "embedded")


async def test_a_point_that_was_merged_into_one_that_goes_is_active_again(open_store):
    store = open_store()
    await commit_to(store, batch("alpha", "bravo"))
    one = replace(point("one"), sentences=(sentences("alpha")[0],))
    two = replace(point("two"), sentences=(sentences("bravo")[0],))
    union, *gone = merged("union", one, two)
    await commit_to(store, pointed(one, two))
    await commit_to(store, pointed(replace(union, sentences=(*one.sentences, *two.sentences)), *gone))
    await store.forget(texts("alpha"))
    (left,) = (await space_in(store)).hypergraph.all()
    assert (left.id, left.active, left.description) == (two.id, True, two.description)


async def test_a_lesson_about_others_loses_the_record_that_tells_what_goes(open_store):
    """It shows no sentence of the text that goes, but recall had followed a fact of it."""
    store = open_store()
    rows = batch("alpha", "bravo")
    facts = tuple(asserted(turn(ref), head=ref.title(), tail="Ann") for ref in ("alpha", "bravo"))
    await commit_to(store, replace(rows, assertions=facts))
    kept = sentences("bravo")[0]
    about = lesson("bravo", {kept: 1})
    trace = about.read_trace()
    told = trace | {"roots": ["Bravo"], "paths": ["Bravo -knows-> Ann", "Ann <-knows- Alpha"]}
    about = replace(about, trace=json.dumps(told).encode())
    await commit_to(store, Batch(lessons=(about,), beliefs=(belief(kept),)))
    await store.forget(texts("alpha"))
    (left,) = (await space_in(open_store())).beliefs.lessons()
    assert (left.read_trace().get("paths"), dict(left.labels)) == (None, {kept: 1})
    assert len(trace["shown"]) == 1


async def test_a_lesson_goes_whose_question_was_answered_by_what_goes_and_its_beliefs_are_learnt_again(open_store):
    """The question may tell the thing in other words; another lesson about the other sentence stays."""
    store = open_store()
    await commit_to(store, batch("alpha", "bravo"))
    first, second = sentences("alpha")[0], sentences("bravo")[0]
    both, other = lesson("both", {first: 1, second: 1}), lesson("bravo", {second: 1})
    await commit_to(store, Batch(lessons=(both, other), beliefs=(belief(first), belief(second, 2))))
    found = await store.forget(texts("alpha"))
    assert found.relearn
    assert [one.episode_id for one in (await space_in(open_store())).beliefs.lessons()] == ["ep_bravo"]


async def test_names_that_only_the_forgotten_said_are_no_aliases_any_more(open_store):
    store = open_store()
    await commit_to(store, batch("alpha", "bravo"))
    known, gone = (
        Alias("default", "Ann", "bravo", "same", "embedded", 1),
        Alias("default", "Ann", "Alpha", "same", "embedded", 1),
    )
    await commit_to(store, Batch(aliases=(known, gone)))
    await store.forget(texts("alpha"))
    facts = (await space_in(open_store())).facts
    assert facts.inferred_aliases(facts.key("Ann")) == [known]


async def test_a_fact_that_a_caller_stated_of_a_text_that_stays_goes_alone(open_store):
    store = open_store()
    await commit_to(store, batch("alpha"))
    stated = asserted(turn("alpha"), 1, "caller")
    await commit_to(store, Batch(assertions=(stated,)))
    await store.forget(erasing(ForgetTargets("default", assertions=frozenset([stated.id]))))
    assert [row.id for row in (await space_in(open_store())).facts.rows] == [
        row.id for row in batch("alpha").assertions
    ]


async def test_a_whole_space_goes_and_the_others_stay(open_store):
    store, other = open_store(), open_store()
    for space in ("default", "other"):
        await commit_to(store, batch("alpha", space=space))
        await commit_to(store, pointed(point("p" + space, space=space)))
        await commit_to(store, Batch(lessons=(lesson("l" + space, space=space),)))
        await commit_to(store, Batch(aliases=(Alias(space, "Ann", "Annie", "same", "embedded", 1),)))
    await store.forget(erasing(ForgetTargets("default", everything=True)))
    for opened in (store, other, open_store()):
        async with opened.reading() as view:
            assert set(view.spaces) == {"other"}
            space = view.space("other")
            assert len(space.turns) == len(space.hypergraph) == len(space.beliefs.lessons()) == 1
    await commit_to(other, batch("bravo"))
    assert [one.ref for one in (await space_in(store)).turns.values()] == ["bravo"]


async def test_what_remains_is_that_something_was_forgotten(open_store):
    store = open_store()
    await commit_to(store, batch("alpha", "bravo"))
    await store.forget(texts("alpha"))
    await store.forget(texts("bravo"))
    for opened in (store, open_store()):
        assert await forgotten(opened) == 2


async def test_an_error_of_the_choice_and_an_empty_choice_change_nothing(open_store):
    store = open_store()
    tx = await commit_to(store, batch("alpha"))

    def refuse(_view):
        raise InvalidInput("ids", "is not known", "Name another.")

    with pytest.raises(InvalidInput, match="not known"):
        await store.forget(refuse)
    await store.forget(erasing(ForgetTargets("default")))
    async with store.reading() as view:
        assert (view.tx, len(view.space("default").turns)) == (tx, 1)
    assert await forgotten(store) == 0


async def test_what_was_made_of_a_text_before_it_was_forgotten_is_not_stored_after(open_store):
    """A process that read it goes on: facts, jobs, points, questions and lessons of it are left out, others stay."""
    store, other = open_store(), open_store()
    await commit_to(store, batch("alpha", "bravo"))
    async with other.reading() as view:
        assert view.tx
    await store.forget(texts("alpha"))
    gone, kept = asserted(turn("alpha"), 3, "anthropic"), asserted(turn("bravo"), 3, "anthropic")
    await commit_to(
        other, Batch(assertions=(gone, kept), jobs=(Job("default", turn("alpha").id, "done", 1, 0, 0, "", 1),))
    )
    late = replace(point("late"), sentences=(sentences("alpha")[0],))
    await commit_to(other, pointed(late, point("free")))
    question = PooledQuestion("default", "Who is alpha?", batch("alpha").segments[0].id, frozenset())
    await commit_to(other, Batch(questions=(question,), question_vectors=unit_vectors(["q"])))
    await commit_to(other, taught("late", sentence=sentences("alpha")[0]))
    space = await space_in(open_store())
    assert kept.id in {row.id for row in space.facts.rows}
    assert gone.id not in {row.id for row in space.facts.rows}
    assert not space.jobs
    assert [one.id for one in space.hypergraph.all()] == ["h_free"]
    assert not space.questions.rows
    assert not space.beliefs.lessons()
