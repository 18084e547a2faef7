"""Memory points in recall: they are listed beside the texts, and change none of them."""

import pytest
from learning_memory import memory, recalled, told

from mcp_memory.domain.requests import EvolveRequest

pytestmark = pytest.mark.anyio
GOAL = "Who owns the dog that won the Crufts cup?"
LINES = (
    "Ann: I saw that Bella won the Crufts cup.",
    "Bob: My sister Eve owns a dog called Bella.",
    "Cid: Dover has a ferry.",
)


async def test_points_of_a_question_are_listed_and_its_evidence_stays():
    one = await told(memory(), *LINES)
    before = await recalled(one, GOAL)
    await one.evolve(EvolveRequest("default", goal=GOAL))
    found = await recalled(one, GOAL)
    (point,) = found.points
    assert {"won", "Crufts", "owns", "dog"} <= set(point.description.split())
    assert found.evidence == before.evidence
