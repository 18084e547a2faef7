"""Feedback changes the next recall and answer: wrong evidence loses, a correction decides and is shown with its words.

Similar questions gain by it, and other questions are unchanged.
"""

from dataclasses import replace

import pytest
from learning_memory import answered, held, judged, lessons, memory, recalled, told

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


def place(recall, words):
    return next((n for n, item in enumerate(recall.evidence, 1) if words in item.text), 99)


async def test_taught_and_similar_questions_find_what_helped_and_others_are_unchanged():
    one = await told(memory(), *PARTY)
    before = [await recalled(one, question) for question in (WHICH_PRESENT, LIKE_IT, OTHER)]
    ranks = [place(recall, "telescope") for recall in before[:2]]
    right = next(item.id for item in before[0].evidence if "telescope" in item.text)
    await judged(one, before[0].episode, supports=(right,))
    after = [await recalled(one, question) for question in (WHICH_PRESENT, LIKE_IT, OTHER)]
    assert all(place(recall, "telescope") < rank for recall, rank in zip(after[:2], ranks, strict=True))
    assert [item.id for item in after[2].evidence] == [item.id for item in before[2].evidence]


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
MOVED = "The harvest supper was moved to the school in Wexham, because the barn leaks."


async def corrected(correction=MOVED, **word):
    one = await told(memory(), BARN, "Bob: I like the harvest.")
    recall = await recalled(one, SUPPER)
    await judged(one, recall.episode, answer_correct=False, correction=correction, **word)
    return one


async def test_the_next_answer_is_the_correction_in_its_own_words_where_it_says_more_than_a_value():
    one = await corrected()
    answer = await answered(one, SUPPER)
    assert (answer.text, answer.hedged) == (MOVED, False)
    assert [citation.source.quote for citation in answer.citations] == [MOVED]


async def test_another_question_that_finds_the_wrong_words_is_told_of_the_correction():
    one = await corrected()
    other = "In which barn is the supper of Ann?"
    recall = await recalled(one, other)
    assert recall.correction is None
    assert "This was said of the answer to “Where is the harvest supper?” from “The harvest" in recall.conflicts[0]
    answer = await answered(one, other)
    assert answer.text is None


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
    other = "In which barn is the supper of Ann?"
    recall = await recalled(one, other)
    assert recall.corrected
    await judged(one, recall.episode, supports=(recall.evidence[0].id,))
    assert not (await recalled(one, other)).corrected


async def test_with_learning_switched_off_no_correction_decides():
    one = await corrected()
    one = replace(one, settings=replace(one.settings, switches=replace(one.settings.switches, learning=False)))
    recall = await recalled(one, SUPPER)
    assert (recall.correction, recall.corrected) == (None, ())
