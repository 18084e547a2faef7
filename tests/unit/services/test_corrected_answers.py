"""A caller's correction decides the question that it was given to, and is shown wherever the wrong words are found."""

from dataclasses import replace

import pytest
from learning_memory import judged, memory, recalled, told

from mcp_memory.domain.query import Query

pytestmark = pytest.mark.anyio
BARN = "Ann: The harvest supper is in the barn at Keld."
QUESTION = "Where is the harvest supper?"
MOVED = "The harvest supper was moved to the school in Wexham, because the barn leaks."


async def asked(one, question=QUESTION, **more):
    return await one.answer(Query(question, "default", 12, learn=False, **more))


async def corrected(correction=MOVED, **word):
    one = await told(memory(), BARN, "Bob: I like the harvest.")
    recall = await recalled(one, QUESTION)
    await judged(one, recall.episode, answer_correct=False, correction=correction, **word)
    return one


async def test_the_next_answer_is_the_correction_in_its_own_words_where_it_says_more_than_a_value():
    one = await corrected()
    answer = await asked(one)
    assert (answer.text, answer.hedged) == (MOVED, False)
    assert [citation.source.quote for citation in answer.citations] == [MOVED]


async def test_another_question_that_finds_the_wrong_words_is_told_of_the_correction():
    one = await corrected()
    other = "In which barn is the supper of Ann?"
    recall = await recalled(one, other)
    assert recall.correction is None
    assert "This was said of the answer to “Where is the harvest supper?” from “The harvest" in recall.conflicts[0]
    answer = await asked(one, other)
    assert answer.text is None


async def test_a_newer_correction_replaces_an_older_one():
    one = await corrected()
    again = await recalled(one, QUESTION)
    await judged(one, again.episode, answer_correct=False, correction="No, it is at the mill, not at the school.")
    assert (await asked(one)).text == "No, it is at the mill, not at the school."


async def test_after_a_later_message_about_the_same_a_correction_is_no_answer_and_still_comes_first():
    one = await corrected()
    await told(one, "@ 2024-02-01", "Ann: The harvest supper is in the tent now.")
    answer = await asked(one)
    assert (answer.text, answer.closest[0].quote) == (None, MOVED)


async def test_who_says_that_a_corrected_sentence_helps_takes_the_correction_of_it_back():
    one = await corrected()
    other = "In which barn is the supper of Ann?"
    recall = await recalled(one, other)
    assert recall.corrected
    await judged(one, recall.episode, supports=(recall.evidence[0].id,))
    assert not (await recalled(one, other)).corrected


async def test_with_learning_switched_off_no_correction_decides():
    one = await corrected()
    one = replace(one, settings=replace(one.settings, switches=replace(one.settings.switches, learning=False)))
    recall = await recalled(one, QUESTION)
    assert (recall.correction, recall.corrected) == (None, ())
