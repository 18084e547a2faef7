"""What holds now leads where a question asks for it and something else held before."""

from __future__ import annotations

import pytest
from small_memory import ask, said

pytestmark = pytest.mark.anyio
JOBS = (
    "user: I work at the harbour office.",
    "@ 2023-03-01",
    "user: I work at the bakery now.",
    "@ 2023-09-01",
    "user: I've started a new job at Fenwick Labs.",
)


@pytest.mark.parametrize(
    "question", ["Where do I work?", "Who is my employer?", "Where am I working now?", "Which company do I work for?"]
)
async def test_the_present_job_comes_first(question: str) -> None:
    found = (await ask(said(*JOBS), question, read=True)).recall
    assert "Fenwick Labs" in found.evidence[0].sources[0].quote


@pytest.mark.parametrize("question", ["Where did I work before?", "Where did I work in February 2023?"])
async def test_a_question_of_the_past_has_no_present_value_first(question: str) -> None:
    found = (await ask(said(*JOBS), question, read=True)).recall
    assert "Fenwick Labs" not in found.evidence[0].sources[0].quote
