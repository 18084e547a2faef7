"""Feedback about an episode teaches the memory once, changes the next recall and answer, and reports what changed."""

import json
from dataclasses import replace

import anyio
import numpy as np
import pytest
from fakes import Disk, full_disk
from learning_memory import answered, held, judged, lessons, memory, recalled, told

from mcp_memory.domain.evidence import Source
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, ExploreRequest, Feedback, NewFact, NewItem, WriteRequest
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import InvalidInput
from mcp_memory.language.iso import parse
from mcp_memory.language.questions import understand
from mcp_memory.server.resources import catalogue
from mcp_memory.server.tools.recall import recall_reply
from mcp_memory.services.learn.lessons import supporting_sentences

DOG = "Which dog did Ann adopt?"


async def test_supporting_evidence_is_taught_once_and_a_second_word_is_skipped():
    one = await told(memory(), "Ann: I adopted a beagle.", "Bob: I moved to Lisbon.")
    recall = await recalled(one, DOG)
    best = recall.evidence[0]
    first = await judged(one, recall.episode, supports=(best.id,))
    (change,) = first.changes
    assert (change.step, change.kind) == ("feedback", "sentence")
    assert (change.id, change.text) == (best.id, "I adopted a beagle.")
    assert (change.before, change.after) == ("doubt 1.000", "supports this question (doubt 0.201)")  # K = 1/(1 + .25)
    second = await judged(one, recall.episode, supports=(best.id,))
    assert second.changes == ()
    assert [(one.step, "heard once" in one.reason) for one in second.skipped] == [("feedback", True)]
    assert held(one).beliefs.get(best.id).supported == 1
    assert first.engine == second.engine == "caller"


@pytest.mark.parametrize(
    ("said", "correct", "label"),
    [
        ("supports", None, 1),
        ("supports", True, 1),
        ("supports", False, 1),
        ("not_supports", None, 0),
        ("not_supports", True, 0),
        ("not_supports", False, -1),
    ],
)
async def test_evidence_is_labelled_wrong_only_if_it_misled_to_a_wrong_answer(said, correct, label):
    one = await told(memory(), "Ann: I adopted a beagle.", "Bob: I moved to Lisbon.")
    recall = await recalled(one, DOG)
    best = recall.evidence[0].id
    await judged(one, recall.episode, answer_correct=correct, **{said: (best,)})
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
    unknown = Feedback(not_supports=(known, "s_0"), correction="Ann adopted a cat.")
    a_recall = "answer_correct: this episode is a recall.* Name in"
    for episode, feedback, problem in (
        (recall.episode, unknown, rf"^feedback\.not_supports\[1\]: 's_0' is no evidence .*{known}"),
        (recall.episode, Feedback((known,), (known,)), "stands in supports too"),
        (recall.episode, Feedback(), "feedback: says nothing"),
        (recall.episode, Feedback(answer_correct=True), f"{a_recall} supports the"),
        (recall.episode, Feedback(answer_correct=False), f"{a_recall} not_supports the"),
        (None, Feedback((known,)), r"episode: is missing\. Give the episode that the reply"),
        (recall.episode, None, r"feedback: is missing\. Say what you think of the episode"),
    ):
        with pytest.raises(InvalidInput, match=problem):
            await one.evolve(EvolveRequest("default", episode, feedback))
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
    (version,) = held(one).facts.versions("ann", "allergic_to")
    assert version.confidence == pytest.approx(0.9612, abs=1e-4)


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


# Wrong evidence loses, a correction decides, and other questions are unchanged


PARTY = (
    "Ann: My birthday party was great fun.",
    "Bob: Which present did Ann like best at the party?",
    "Ann: The telescope from my aunt is wonderful.",
    "Bob: I liked the cake best.",
    "Ann: I play chess on Sundays.",
)
WHICH_PRESENT = "Which birthday present did Ann like best?"
LIKE_IT = "Which present for her birthday did Ann like the best?"
OTHER = "When does Ann play chess?"


async def test_taught_and_similar_questions_find_what_helped_and_others_are_unchanged():
    one = await told(memory(), *PARTY)
    (right,) = (sentence.id for sentence in held(one).sentences if "telescope" in held(one).text(sentence))

    async def ranked():
        recalls = [await recalled(one, question) for question in (WHICH_PRESENT, LIKE_IT, OTHER)]
        return recalls[0].episode, [[item.id for item in recall.evidence] for recall in recalls]

    episode, before = await ranked()
    await judged(one, episode, supports=(right,))
    _, after = await ranked()
    assert all(now.index(right) < then.index(right) for now, then in zip(after[:2], before, strict=False))
    assert after[2] == before[2]


TELESCOPES = (
    "Ann: The telescope came from a shop in Wexham.",
    "Bob: The telescope is from a fair in Dunmore.",
    "Ann: I play chess on Sundays in Keld.",
)
FROM_WHERE = "Where did the telescope come from?"


def labelled(one):
    space = held(one)
    return {space.text(space.sentence(name)): y for name, y in lessons(one)[-1].labels.items()}


@pytest.mark.parametrize(("wrong", "right"), [("Wexham", "Dunmore"), ("Dunmore", "Wexham")])
async def test_evidence_called_wrong_ranks_below_evidence_said_to_help(wrong, right):
    one = await told(memory(), *TELESCOPES)
    recall = await recalled(one, FROM_WHERE)
    ids = {word: next(found.id for found in recall.evidence if word in found.text) for word in (wrong, right)}
    await judged(one, recall.episode, answer_correct=False, supports=(ids[right],), not_supports=(ids[wrong],))
    answer = await answered(one, FROM_WHERE)
    assert answer.text is None
    assert right in answer.closest[0].quote


async def test_an_answer_called_wrong_is_not_given_again_and_others_are():
    one = await told(memory(read=True), "Ann: I live in Oslo.", "Bob: I live in Salo.")
    first = await answered(one, "Where does Ann live?", learn=True)
    assert first.text == "Oslo"
    await judged(one, first.recall.episode, answer_correct=False)
    assert (await answered(one, "Where does Ann live?")).text is None
    assert (await answered(one, "Where does Bob live?")).text == "Salo"


async def test_a_correction_teaches_its_first_statements_and_not_its_questions():
    one = await told(memory(), TELESCOPES[0])
    pages = "Where is it from? It is from Lodz. " + " ".join(f"Page {n} is long." for n in range(40))
    await judged(one, (await answered(one, FROM_WHERE)).recall.episode, correction=pages)
    assert set(labelled(one)) == {"It is from Lodz.", "Page 0 is long.", "Page 1 is long."}


@pytest.mark.parametrize(
    ("correction", "labels"), [("The telescope came from a shop in Lodz.", [-1, 1]), ("Cats sleep.", [1])]
)
async def test_a_wrong_answer_is_taken_to_rest_on_what_resembles_its_correction(correction, labels):
    one = await told(memory(), TELESCOPES[0])
    recall = await recalled(one, FROM_WHERE)
    await judged(one, recall.episode, correction=correction, answer_correct=False)
    assert sorted(labelled(one).values()) == labels


BARN = "Ann: The harvest supper is in the barn at Keld."
SUPPER = "Where is the harvest supper?"
WHICH_BARN = "In which barn is the supper of Ann?"
MOVED = "The harvest supper was moved to the school in Wexham, because the barn leaks."


async def corrected():
    one = await told(memory(), BARN, "Bob: I like the harvest.")
    recall = await recalled(one, SUPPER)
    await judged(one, recall.episode, answer_correct=False, correction=MOVED)
    return one


async def test_the_next_answer_is_the_correction_in_its_own_words_where_it_says_more_than_a_value():
    one = await corrected()
    answer = await answered(one, SUPPER)
    assert (answer.text, answer.hedged) == (MOVED, False)
    assert [citation.source.quote for citation in answer.citations] == [MOVED]


async def test_another_question_that_finds_the_wrong_words_is_told_of_the_correction():
    one = await corrected()
    recall = await recalled(one, WHICH_BARN)
    assert recall.correction is None
    assert "This was said of the answer to “Where is the harvest supper?” from “The harvest" in recall.conflicts[0]
    assert (await answered(one, WHICH_BARN)).text is None


async def test_a_newer_correction_replaces_an_older_one():
    one = await corrected()
    again = await recalled(one, SUPPER)
    await judged(one, again.episode, answer_correct=False, correction="No, it is at the mill, not at the school.")
    assert (await answered(one, SUPPER)).text == "No, it is at the mill, not at the school."


async def test_after_a_later_message_about_the_same_a_correction_is_no_answer_and_still_comes_first():
    one = await corrected()
    await told(one, "@ 2024-02-01", "Ann: The harvest supper is in the tent now.")
    answer = await answered(one, SUPPER)
    assert (answer.text, answer.closest[0].quote) == (None, MOVED)


async def test_who_says_that_a_corrected_sentence_helps_takes_the_correction_of_it_back():
    one = await corrected()
    recall = await recalled(one, WHICH_BARN)
    assert recall.corrected
    await judged(one, recall.episode, supports=(recall.evidence[0].id,))
    assert not (await recalled(one, WHICH_BARN)).corrected


async def test_with_learning_switched_off_no_correction_decides():
    one = await corrected()
    one = replace(one, settings=replace(one.settings, switches=replace(one.settings.switches, learning=False)))
    recall = await recalled(one, SUPPER)
    assert (recall.correction, recall.corrected) == (None, ())


# The memory's own answers teach at once or after confirmation, abstentions never


WHERE = "Where did Bob move to?"
TALK = ("Ann: I adopted a beagle.", "Bob: I moved to Lisbon last Friday.")


async def test_an_answer_teaches_what_it_rests_on_with_doubled_noise():
    one = await told(memory(read=True), *TALK)
    answer = await answered(one, WHERE, learn=True)
    (lesson,) = lessons(one, answer.recall.episode)
    assert (lesson.source, set(lesson.labels.values()), lesson.episode().answer) == ("embedded", {1}, answer.text)
    (sentence,) = lesson.labels
    belief = held(one).beliefs.get(sentence)
    assert belief.task_doubt == pytest.approx(0.501)  # K = 1/(1 + 2 · .5)
    await judged(one, answer.recall.episode, answer_correct=True)
    after = held(one).beliefs.get(sentence)
    assert after.task_doubt == pytest.approx((1 - 0.501 / 0.751) * 0.501 + 0.001)  # K = π/(π + ½ · .5)
    assert [lesson.source for lesson in lessons(one, answer.recall.episode)] == ["embedded", "caller"]


async def test_an_abstention_teaches_nothing_but_its_correction():
    one = await told(memory(), *TALK)
    answer = await answered(one, "What is the name of the ship that Zoe built?", learn=True)
    assert answer.text is None
    assert lessons(one) == []
    shown = (answer.recall.evidence[0].id,)
    done = await judged(one, answer.recall.episode, supports=shown)
    assert (done.changes, [skipped.step for skipped in done.skipped]) == ((), ["feedback"])
    assert lessons(one) == []
    await judged(one, answer.recall.episode, supports=shown, correction="Zoe built the Wren.")
    (lesson,) = lessons(one)
    assert not lesson.labels.keys() & set(shown)
    assert list(lesson.labels.values()) == [1]


async def test_known_support_is_not_recorded_again_however_often_it_is_asked():
    one = await told(memory(read=True), *TALK)
    for _ in range(8):
        await answered(one, WHERE, learn=True)
    (sentence,) = {name for lesson in lessons(one) for name in lesson.labels}
    taught = len(lessons(one))
    assert 0 < taught < 4  # the rules' own word is known after two or three
    doubt = held(one).beliefs.get(sentence).task_doubt
    await answered(one, WHERE, learn=True)
    assert len(lessons(one)) == taught
    assert held(one).beliefs.get(sentence).task_doubt == doubt


async def test_repeating_an_answer_never_outweighs_a_caller_who_called_it_wrong():
    one = await told(memory(read=True), *TALK)
    wrong = await answered(one, WHERE)
    (cited,) = one.episodes.get("default", wrong.recall.episode).cited
    (item,) = [item.id for item in wrong.recall.evidence if item.sources[0].turn.speaker == "Bob"]
    await judged(one, wrong.recall.episode, answer_correct=False, not_supports=[item])
    before = held(one).beliefs.get(cited)
    for _ in range(6):
        assert (await answered(one, WHERE, learn=True)).text is None
    after = held(one).beliefs.get(cited)
    assert (after.task_doubt, after.supported, after.unsupported) == (before.task_doubt, 0, 1)
    assert np.array_equal(after.task, before.task)
    for _ in range(2):  # the caller may take the word back
        recall = await recalled(one, WHERE)
        (item,) = [item.id for item in recall.evidence if item.sources[0].turn.speaker == "Bob"]
        await judged(one, recall.episode, supports=[item])
    assert (await answered(one, WHERE, learn=True)).text == wrong.text
    assert held(one).beliefs.get(cited).supported >= 2


async def test_an_unwritable_store_loses_the_lesson_and_not_the_answer():
    one = await told(memory(read=True), *TALK)
    with full_disk():
        answer = await answered(one, WHERE, learn=True)
    assert "Lisbon" in answer.text
    assert ["Nothing was learnt" in warning for warning in answer.recall.warnings] == [True]


async def test_the_time_channel_learns_only_if_question_and_sentence_state_a_time():
    one = await told(memory(), "Ann: I adopted a beagle in May 2023.", "Bob: I have a cat.")
    sentence = held(one).sentences[0].id
    for question, doubt in ((DOG, 1.0), ("Which dog did Ann adopt in May 2023?", 0.201)):
        recall = await recalled(one, question)
        await judged(one, recall.episode, supports=(recall.evidence[0].id,))
        assert held(one).beliefs.get(sentence).time_doubt == pytest.approx(doubt)


# What supports an answer


def witness(name, text, speaker):
    turn = Turn("t_" + name, "x", "s", name, "message", text, speaker, None, None, 0, 0, 0, 0)
    return name, Source(turn, 0, len(text))


WENT = witness("s_moved", "I moved to Lisbon last Friday.", "Bob")
WEATHER = witness("s_weather", "The weather in Lisbon is mild.", "Eve")
ADOPTED = witness("s_dog", "Bob adopted a dog.", "Ann")


def supporting(question, answer, *witnesses, names=(), on_path=()):
    asked = understand(question, ["Ann", "Bob", "Eve"])
    return supporting_sentences(asked, answer, names, dict(witnesses), on_path)


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("Where did Bob move to?", "Lisbon", ["s_moved"]),
        ("Where did Bob move to?", "Lisbon last Friday", ["s_moved"]),
        ("Where did Bob move to?", "to the north of Lisbon", []),
        ("What did Bob adopt?", "a dog", ["s_dog"]),
        ("What is mild?", "Lisbon", ["s_moved", "s_weather"]),  # it names nobody, so every sentence may be meant
        ("Did Bob adopt a dog?", "Yes", []),
        ("How many dogs has Bob?", "1", []),
    ],
)
def test_a_sentence_about_the_question_supports_the_answer_it_holds(question, answer, expected):
    assert supporting(question, answer, WENT, WEATHER, ADOPTED) == expected


def test_a_name_on_the_path_counts_as_one_of_the_question():
    assert supporting("Where did Bob move to?", "mild", WEATHER, names=["Lisbon"]) == ["s_weather"]


def test_a_sentence_on_the_path_supports_whatever_its_words():
    bridge = witness("s_bridge", "He went there.", None)
    assert supporting("Did Bob move?", "Yes, on 9 June 2023", bridge, ADOPTED, on_path={"s_bridge"}) == ["s_bridge"]


# Evidence that a caller found by its own steps decides where recall doubts itself


WALKS = tuple(f"Cleo: On day {day} I walked to the lake with a friend." for day in range(9))
HIVES = "The hives behind my house were full of honey."
KEEPS = "Which animals does the godfather of Bob breed in the shed beside the orchard?"
OTHERS = (KEEPS.replace("Bob", "Ann"), KEEPS.replace("?", " in 2021?"))
SHOWN = 3


async def garden(disk=None):
    return await told(memory(disk), "Bob: My godfather is Emil.", *WALKS, f"Emil: {HIVES}")


async def found(one, space="default"):
    step = await one.explore(ExploreRequest(space, "tag_events", entity="Emil"))
    return next(item.id for item in step.items if item.text == HIVES)


async def asked(one, query=KEEPS):
    return await recalled(one, query, limit=SHOWN)


@pytest.mark.parametrize("query", OTHERS)
async def test_feedback_on_a_query_with_another_name_or_time_decides_nothing(query):
    one = await garden()
    for _ in range(4):
        await judged(one, (await asked(one)).episode, supports=(await found(one),))
    assert not (await asked(one, query)).sufficient


async def test_confirmed_evidence_comes_first_but_does_not_suffice_if_some_of_it_does_not_fit():
    one = await garden()
    first, emil = await asked(one), (await asked(one)).evidence[0]
    await judged(one, first.episode, supports=(await found(one), emil.id))
    assert (await asked(one)).sufficient
    alone = await recalled(one, KEEPS, limit=1)
    assert (len(alone.evidence), alone.sufficient) == (1, None)


@pytest.mark.parametrize("limit", [1, SHOWN])
async def test_an_answer_is_made_from_confirmed_evidence_and_not_from_what_it_displaced(limit):
    one = await garden()
    await judged(one, (await asked(one)).episode, supports=(await found(one),))
    answer = await one.answer(Query(KEEPS, "default", limit))
    assert (answer.recall.evidence[0].text, len(answer.recall.evidence)) == (HIVES, limit)


async def test_evidence_of_another_space_or_of_no_step_is_refused_and_changes_nothing():
    one = await garden()
    await told(one, "Bob: My godfather is Emil.", f"Emil: {HIVES}", space="other")
    hives = await found(one, "other")
    for name in (hives, "s_nope"):
        with pytest.raises(InvalidInput, match=r"^feedback\.supports\[0\]: .* no step found it lately\. Give ids"):
            await judged(one, (await asked(one)).episode, supports=(name,))
    assert not len(held(one).beliefs)


async def test_explored_evidence_is_in_the_trace_of_the_episode_in_every_process():
    disk = Disk()
    one = await garden(disk)
    first, hives = await asked(one), await found(one)
    await judged(one, first.episode, supports=("1", hives))
    other = memory(disk)
    episode = catalogue.match(f"memory://default/episodes/{first.episode}")
    told_of = json.loads(await catalogue.read_content(other, *episode))
    assert [item["id"] for item in told_of["explored"]] == [hives]
    assert hives not in [item["id"] for item in told_of["evidence"]]
    with pytest.raises(InvalidInput, match=f"has no record {SHOWN + 1}"):  # it is none of the reply's
        await judged(other, first.episode, supports=(str(SHOWN + 1),))
