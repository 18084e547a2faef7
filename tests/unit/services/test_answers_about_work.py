"""Questions about what was told of work are answered rightly or not at all."""

import pytest
from learning_memory import memory, told

from mcp_memory.domain.query import Query

pytestmark = pytest.mark.anyio

NOTES = (
    "@ 2023-02-01",
    "user: Default page size: 40",
    "user: staging runs on port 7071",
    "user: Owner of billing: Ilka",
    "user: tests: `make check`",
    "user: the style guide is at docs/style.md",
    "user: upgraded to Django 5.1",
    "user: We use Postgres 16 and Redis for the API.",
    "user: upload limit is 10 MB",
    "user: we moved from Jenkins to Buildkite",
    "@ 2023-06-01",
    "user: We raised the upload limit from 10 MB to 30 MB.",
)


QUESTIONS = (
    ("What is the default page size?", "40"),
    ("Which port does staging run on?", "port 7071"),
    ("Who owns billing?", "Ilka"),
    ("What is the command to run the tests?", "make check"),
    ("Where is the style guide?", "docs/style.md"),
    ("Which version of Django do we use?", "5.1"),
    ("What is the upload limit?", "30 MB"),
    ("Which database do we use?", "Postgres 16"),
    ("What replaced Jenkins?", "Buildkite"),
)


@pytest.mark.parametrize(("question", "expected"), QUESTIONS)
async def test_a_question_about_work_is_answered_from_its_facts_or_not(question: str, expected: str) -> None:
    one = await told(memory(read=True), *NOTES)

    assert (await one.answer(Query(question, "default", 12))).text in (None, expected)
