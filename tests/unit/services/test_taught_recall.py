"""Lessons improve recall for the taught question and similar ones and leave other questions unchanged."""

import pytest
from learning_memory import judged, memory, recalled, told

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
