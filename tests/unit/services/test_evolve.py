"""Feedback about an episode teaches the memory once and reports what changed."""

import anyio
import pytest
from learning_memory import held, judged, lessons, memory, recalled, told

from mcp_memory.domain.requests import EvolveRequest, Feedback, NewFact, NewItem, WriteRequest
from mcp_memory.errors import InvalidInput
from mcp_memory.language.iso import parse
from mcp_memory.server.tools.recall import recall_reply

DOG = "Which dog did Ann adopt?"


async def test_supporting_evidence_is_taught_once_and_a_second_word_is_skipped():
    one = await told(memory(), "Ann: I adopted a beagle.", "Bob: I moved to Lisbon.")
    recall = await recalled(one, DOG)
    best = recall.evidence[0]
    first = await judged(one, recall.episode, supports=(best.id,))
    (change,) = first.changes
    assert (change.step, change.kind, change.id, change.text) == (
        "feedback",
        "sentence",
        best.id,
        "I adopted a beagle.",
    )
    assert (change.before, change.after) == ("doubt 1.000", "supports this question (doubt 0.201)")  # K = 1/(1 + .25)
    second = await judged(one, recall.episode, supports=(best.id,))
    assert second.changes == ()
    assert [(one.step, "heard once" in one.reason) for one in second.skipped] == [("feedback", True)]
    assert held(one).beliefs.get(best.id).supported == 1
    assert first.engine == second.engine == "caller"


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ({"supports": True}, 1),
        ({"supports": True, "answer_correct": True}, 1),
        ({"not_supports": True}, 0),
        ({"not_supports": True, "answer_correct": True}, 0),
        ({"not_supports": True, "answer_correct": False}, -1),
        ({"supports": True, "answer_correct": False}, 1),
    ],
)
async def test_evidence_is_labelled_wrong_only_if_it_misled_to_a_wrong_answer(said, label):
    one = await told(memory(), "Ann: I adopted a beagle.", "Bob: I moved to Lisbon.")
    recall = await recalled(one, DOG)
    best = recall.evidence[0].id
    await judged(
        one,
        recall.episode,
        **{name: (best,) if value is True and "su" in name else value for name, value in said.items()},
    )
    (lesson,) = lessons(one, recall.episode)
    assert (lesson.source, lesson.labels) == ("caller", {best: label})


async def test_an_unknown_episode_is_refused_with_a_remedy():
    one = await told(await told(memory()), "Eve: I adopted a cat.", space="other")
    recall = await recalled(one, DOG)
    for episode, space in (("ep_0", "default"), (recall.episode, "other")):
        with pytest.raises(InvalidInput, match=r"^episode: .* is not known in space .* server process.* Recall again"):
            await judged(one, episode, space, supports=("s_0",))
    assert lessons(one) == []


async def test_an_id_that_is_no_evidence_of_the_episode_is_named_and_nothing_changes():
    one = await told(memory())
    recall = await recalled(one, DOG)
    before, known = one.store.disk.commits, recall.evidence[0].id
    with pytest.raises(InvalidInput, match=rf"^feedback\.not_supports\[1\]: 's_0' is no evidence .*{known}"):
        await judged(one, recall.episode, not_supports=(known, "s_0"), correction="Ann adopted a cat.")
    with pytest.raises(InvalidInput, match="stands in supports too"):
        await judged(one, recall.episode, supports=(known,), not_supports=(known,))
    with pytest.raises(InvalidInput, match="feedback: says nothing"):
        await judged(one, recall.episode)
    for right, argument in ((True, "supports"), (False, "not_supports")):
        with pytest.raises(InvalidInput, match=rf"answer_correct: this episode is a recall.* Name in {argument} the"):
            await judged(one, recall.episode, answer_correct=right)
    with pytest.raises(InvalidInput, match=r"episode: is missing\. Give the episode that the reply"):
        await one.evolve(EvolveRequest("default", feedback=Feedback(supports=(known,))))
    with pytest.raises(InvalidInput, match=r"feedback: is missing\. Say what you think of the episode"):
        await one.evolve(EvolveRequest("default", recall.episode))
    assert lessons(one) == []
    assert one.store.disk.commits == before


async def test_only_the_sentence_of_a_passage_most_similar_to_the_question_is_taught():
    text = "The mill stands by the river. It was built in 1901 by a baker. Its wheel turns to the left."
    one = await told(memory(), f"x: {text}", kind="document")
    recall = await recalled(one, "Who built the mill as a baker in 1901?")
    (passage,) = recall.evidence
    assert passage.kind == "segment"
    done = await judged(one, recall.episode, supports=(passage.id,))
    assert [change.text for change in done.changes] == ["It was built in 1901 by a baker."]


async def test_of_a_text_that_a_caller_named_for_a_fact_only_what_states_it_is_taught():
    one = memory(read=True)
    item = NewItem("I sing in a choir. I live in Oslo.", ref="m1", speaker="Ann")
    fact = NewFact("Ann", "lives_in", "Oslo", source="m1")
    await one.write(WriteRequest("default", "talk", "message", (item,), (fact,)))
    recall = await recalled(one, "Where does Ann live?")
    (shown,) = (found.id for found in recall.evidence if found.kind == "fact")
    await judged(one, recall.episode, supports=(shown,))
    (lesson,) = lessons(one)
    space = held(one)
    assert [space.text(space.sentence(name)) for name in lesson.labels] == ["I live in Oslo."]


async def test_a_correction_is_stored_once_and_closes_what_it_corrects():
    home = NewFact("Ann", "lives_in", "Oslo", valid_from=parse("2020-01-01")[0])
    one = await told(memory(read=True), facts=[home])
    recall = await recalled(one, "Where does Ann live?")
    done = await judged(one, recall.episode, correction="Ann lives in Bergen.")
    told_of = {(change.kind, change.text): change.after for change in done.changes}
    assert told_of["message", "Ann lives in Bergen."] == "stored"
    assert told_of["fact", "Ann lives in Oslo"] == "closed"
    times = {change.text: (change.valid_from, change.valid_to) for change in done.changes if change.kind == "fact"}
    since, until = times["Ann lives in Oslo"]
    assert (since, until) == (home.valid_from, times["Ann lives in Bergen"][0])
    turns = len(held(one).turns)
    again = await judged(one, recall.episode, correction="Ann lives in Bergen.")
    assert again.changes == ()
    assert [skipped.reason for skipped in again.skipped] == [
        "Nothing is changed: the call brings nothing for it, or all of it was known."
    ]
    assert len(held(one).turns) == turns
    assert done.warnings == ()
    unread = await recalled(one, "What does Ann row?")
    told_nothing = await judged(one, unread.episode, correction="Since the fire the crews use a lake.")
    assert "Give memory_write the fact that changed" in told_nothing.warnings[0]


async def test_a_suspected_fact_among_the_supporting_evidence_is_confirmed():
    hint = NewFact("Ann", "allergic_to", "nuts", confidence=0.45)
    one = await told(memory(), facts=[hint])
    recall = await recalled(one, "What is Ann allergic to?", include_uncertain=True)
    fact = next(item for item in recall.evidence if item.kind == "fact")
    done = await judged(one, recall.episode, supports=(fact.id,))
    (change,) = [change for change in done.changes if change.step == "confidence"]
    assert (change.id, change.before, change.after) == (fact.id, "confidence 0.45", "confidence 0.9612")
    facts = held(one).facts
    assert [version.tail for version in facts.versions(facts.key("Ann"), "allergic_to")] == ["nuts"]
    again = await recalled(one, "What is Ann allergic to?")
    word = Feedback(supports=(fact.id,))
    sure = await one.evolve(EvolveRequest("default", again.episode, word, steps=("confidence",)))
    assert ["needs no confirmation" in skipped.reason for skipped in sure.skipped] == [True]


async def test_of_concurrent_calls_about_one_episode_one_is_recorded_and_confirms():
    one = await told(memory(), facts=[NewFact("Ann", "allergic_to", "nuts", confidence=0.45)])
    await told(one, "Ann: I avoid nuts.")
    recall = await recalled(one, "Is Ann allergic to nuts?", include_uncertain=True)
    supports = tuple(item.id for item in recall.evidence)
    assert {item.kind for item in recall.evidence} == {"fact", "sentence"}
    replies = []

    async def judge():
        replies.append(await judged(one, recall.episode, supports=supports))

    async with anyio.create_task_group() as calls:
        for _ in range(4):
            calls.start_soon(judge)
    assert sorted(any(change.kind == "sentence" for change in reply.changes) for reply in replies) == [0, 0, 0, 1]
    assert len(lessons(one)) == 1
    space = held(one)
    assert [version.confidence for version in space.facts.versions("ann", "allergic_to")] == [
        pytest.approx(0.9612, abs=1e-4)
    ]


@pytest.mark.parametrize("part", range(4))
async def test_a_cancelled_call_is_applied_completely_or_not_at_all(part):
    one = await told(memory(), "Ann: I adopted a beagle.", "Bob: I moved to Lisbon.")
    recall = await recalled(one, DOG)
    word = EvolveRequest("default", recall.episode, Feedback((recall.evidence[0].id,), correction="Ann has a cat."))
    with anyio.CancelScope() as call:

        async def cancel(done, _total, _what):
            if done == part:
                call.cancel()

        await one.evolve(word, cancel)
    assert call.cancel_called
    space = held(one)
    assert (len(space.sessions.get("feedback", ())), len(lessons(one))) in {(0, 0), (1, 1)}
    await one.evolve(word)  # the locks are free
    assert (len(space.sessions["feedback"]), len(lessons(one))) == (1, 1)


async def test_a_change_of_a_relations_cardinality_is_reported():
    taught = [
        NewFact(who, "database", what, valid_from=parse(f"{year}-01-01")[0], intent="EVOLUTION")
        for who in ("Ann", "Bob")
        for what, year in (("Postgres 15", 2020), ("MariaDB", 2021))
    ]
    ours = NewFact("user", "database", "Postgres 15", parse("2020-01-01")[0])
    one = await told(memory(read=True), facts=[*taught, ours])
    recall = await recalled(one, "Which database do we use?")
    done = await judged(one, recall.episode, correction="Our database is Postgres 16 now.")
    assert [(change.id, change.before, change.after) for change in done.changes if change.kind == "relation"] == [
        ("database", "unknown", "single")
    ]


async def test_evidence_may_be_named_by_the_number_that_its_record_has_in_the_text():
    one = await told(memory())
    recall = await recalled(one, DOG)
    text = recall_reply(recall, 2000).text
    second = recall.evidence[1]
    assert any(line.startswith("2. ") and second.text in line for line in text.splitlines())
    for wrong in ("0", str(len(recall.evidence) + 1)):
        with pytest.raises(InvalidInput, match=rf"^feedback\.supports\[1\]: .* has no record {wrong}\. It has 1 to"):
            await judged(one, recall.episode, supports=("1", wrong))
    with pytest.raises(InvalidInput, match="stands in supports too"):
        await judged(one, recall.episode, supports=("2",), not_supports=(second.id,))
    await judged(one, recall.episode, supports=("2", second.id), not_supports=("1",))
    (lesson,) = lessons(one, recall.episode)
    assert sorted(lesson.labels.values()) == [0, 1]
    assert lesson.labels[second.id] == 1
