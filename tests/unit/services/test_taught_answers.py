"""Feedback changes the next answer: wrong evidence loses, a correction counts at once."""

import pytest
from learning_memory import judged, memory, recalled, told

from mcp_memory.domain.query import Query

pytestmark = pytest.mark.anyio
TALK = (
    "Ann: The telescope came from a shop in Wexham.",
    "Bob: The telescope is from a fair in Dunmore.",
    "Ann: I play chess on Sundays in Keld.",
)
QUESTION = "Where did the telescope come from?"


async def asked(one, question=QUESTION, **more):
    return await one.answer(Query(question, "default", 12, learn=False, **more))


def lessons(one):
    return one.store._view.space("default").beliefs.lessons()


def labelled(one):
    space = one.store._view.space("default")
    return {space.text(space.sentence(name)): y for name, y in lessons(one)[-1].labels.items()}


@pytest.mark.parametrize(("wrong", "right"), [("Wexham", "Dunmore"), ("Dunmore", "Wexham")])
async def test_evidence_called_wrong_ranks_below_evidence_said_to_help(wrong, right):
    one = await told(memory(), *TALK)
    recall = await recalled(one, QUESTION)
    ids = {word: next(found.id for found in recall.evidence if word in found.text) for word in (wrong, right)}
    await judged(one, recall.episode, answer_correct=False, supports=(ids[right],), not_supports=(ids[wrong],))
    answer = await asked(one)
    assert answer.text is None
    assert right in answer.closest[0].quote


async def test_an_answer_called_wrong_is_not_given_again_and_others_are():
    one = await told(memory(read=True), "Ann: I live in Oslo.", "Bob: I live in Salo.")
    first = await one.answer(Query("Where does Ann live?"))
    assert first.text == "Oslo"
    await judged(one, first.recall.episode, answer_correct=False)
    assert (await asked(one, "Where does Ann live?")).text is None
    assert (await asked(one, "Where does Bob live?")).text == "Salo"


async def test_a_correction_teaches_its_first_statements_and_not_its_questions():
    one = await told(memory(), TALK[0])
    pages = "Where is it from? It is from Lodz. " + " ".join(f"Page {n} is long." for n in range(40))
    await judged(one, (await asked(one)).recall.episode, correction=pages)
    assert set(labelled(one)) == {"It is from Lodz.", "Page 0 is long.", "Page 1 is long."}


@pytest.mark.parametrize(
    ("correction", "labels"), [("The telescope came from a shop in Lodz.", [-1, 1]), ("Cats sleep.", [1])]
)
async def test_a_wrong_answer_is_taken_to_rest_on_what_resembles_its_correction(correction, labels):
    one = await told(memory(), TALK[0])
    recall = await recalled(one, QUESTION)
    await judged(one, recall.episode, correction=correction, answer_correct=False)
    assert sorted(labelled(one).values()) == labels
