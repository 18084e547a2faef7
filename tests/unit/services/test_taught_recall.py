"""Lessons improve recall for the taught question and similar ones and leave other questions unchanged."""

import pytest
from learning_memory import judged, memory, recalled, told

from mcp_memory.domain.requests import NewItem, WriteRequest

pytestmark = pytest.mark.anyio
TALK = (
    "Ann: My birthday party was great fun.",
    "Bob: Which present did Ann like best at the party?",
    "Ann: The telescope from my aunt is wonderful.",
    "Bob: I liked the cake best.",
    "Ann: I play chess on Sundays.",
)
QUESTION = "Which birthday present did Ann like best?"
LIKE_IT = "Which present for her birthday did Ann like the best?"
OTHER = "When does Ann play chess?"


def place(recall, words):
    return next((n for n, item in enumerate(recall.evidence, 1) if words in item.text), 99)


async def test_taught_and_similar_questions_find_what_helped_and_others_are_unchanged():
    one = await told(memory(), *TALK)
    before = [await recalled(one, question) for question in (QUESTION, LIKE_IT, OTHER)]
    ranks = [place(recall, "telescope") for recall in before[:2]]
    right = next(item.id for item in before[0].evidence if "telescope" in item.text)
    await judged(one, before[0].episode, supports=(right,))
    after = [await recalled(one, question) for question in (QUESTION, LIKE_IT, OTHER)]
    assert all(place(recall, "telescope") < rank for recall, rank in zip(after[:2], ranks, strict=True))
    assert [item.id for item in after[2].evidence] == [item.id for item in before[2].evidence]


async def test_a_lesson_about_an_old_revision_lifts_neither_the_new_one_nor_another_space():
    old = "The Arno runs through Florence. The Tiber runs through Rome. The Po runs through Turin."
    new = "The Tiber runs through Rome. The Seine runs through Paris."
    question = "Which river runs through Rome?"

    async def written(one, text, space="default"):
        item = NewItem(text, ref="rivers", title="Rivers")
        return await one.write(WriteRequest(space, "atlas", "document", (item,)))

    def shown(recall):
        return [(item.id, item.score, item.via) for item in recall.evidence]

    taught, untaught = [await told(memory(), "Ann: I like Rome.") for _ in range(2)]
    for one in (taught, untaught):
        await written(one, old)
        await written(one, old, "other")
    recall = await recalled(taught, question)
    await judged(taught, recall.episode, supports=[item.id for item in recall.evidence if "Tiber" in item.text])
    assert shown(await recalled(taught, question)) != shown(await recalled(untaught, question))
    elsewhere = [await recalled(one, question, space="other") for one in (taught, untaught)]
    assert shown(elsewhere[0]) == shown(elsewhere[1]) != []
    for one in (taught, untaught):
        await written(one, new)
    assert shown(await recalled(taught, question)) == shown(await recalled(untaught, question))
