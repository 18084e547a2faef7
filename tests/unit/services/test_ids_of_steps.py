"""A step that lacks its ids says where they are found."""

import pytest
from learning_memory import memory, told

from mcp_memory.domain.requests import ExploreRequest
from mcp_memory.errors import InvalidInput

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("operator", "words"),
    [("local_points", "memory://default/points lists all"), ("event_context", "numbers of records")],
)
async def test_a_step_without_ids_says_how_to_get_them(operator, words):
    one = await told(memory())
    with pytest.raises(InvalidInput, match=words):
        await one.explore(ExploreRequest("default", operator))
