"""What Claude reads of long chats: a line of every exchange before there are details."""

import re

import pytest
from judged_memory import asked, judged
from standin.replies import said

pytestmark = pytest.mark.anyio
DAYS = tuple(
    line
    for number in range(1, 29)
    for line in (
        f"@ 2024-03-{number:02}",
        f"user: I want to work on the greenhouse, part {number}, and I read what people say of glass and frames in"
        " many threads, some of which contradict each other in ways that I cannot judge by myself at all. My neighbour,"
        " who built one, told me much about the wind and the frost and all that may break in a winter like this."
        f" The greenhouse cost me {100 + number} euros so far. Here is my plan:\n```\nframe = {number}\n```",
        f"assistant: Certainly! ## Frame\nUse larch for part {number}.\n## Glass\nUse 4 mm.\n## Base\nUse stone."
        " Would you like to know more?",
    )
)


async def test_of_a_summary_every_exchange_has_a_line_with_its_figures_before_there_are_details():
    async with judged([said()], *DAYS) as (memory, api):
        await asked(memory, "Can you give me a summary of how my greenhouse has developed?")
    text = api.requests[0].text
    for number in range(1, 29):
        assert re.search(rf" work on the greenhouse, part {number}\b", text)
        assert f"{100 + number} euros" in text
    assert text.count("frost") < 28  # the room ends among the details
    assert "towork" not in text  # what was left out at first stands apart from what was shown
    assert "```" not in text
    assert "Here is my plan" not in text
    assert "Would you like" not in text
    assert re.findall(r"^-- \w+ (\d+) Mar", text, re.MULTILINE) == [str(number) for number in range(1, 29)]
