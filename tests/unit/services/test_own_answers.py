"""The memory learns from its own answers: at once or after confirmation, never from an abstention."""

import numpy as np
import pytest
from fakes import full_disk
from learning_memory import answered, held, judged, lessons, memory, recalled, told

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
    for question, doubt in (
        (f"Which dog did Ann adopt{when}?", doubt) for when, doubt in (("", 1.0), (" in May 2023", 0.201))
    ):
        recall = await recalled(one, question)
        await judged(one, recall.episode, supports=(recall.evidence[0].id,))
        assert held(one).beliefs.get(sentence).time_doubt == pytest.approx(doubt)
