"""The text of the status reply."""

import re
from dataclasses import replace

import pytest

from mcp_memory.domain.language_model import Spending
from mcp_memory.domain.status import Judging, SpaceStatus, Status, StoreStatus
from mcp_memory.server.tools.status import spent_today_text, status_reply

ONE = Spending(1, 1, 1, 1, 1.0)
JUDGING = Judging("auto", "claude", "https://api.example", key=True, spent=ONE, today=ONE)
STORE = StoreStatus("memory", 1, 1, 1, 1, "hashing", (1,), 1, ())


def test_a_count_of_one_has_a_singular_noun() -> None:
    text = status_reply(Status((SpaceStatus("default", *[1] * 9),), "hashing", STORE, 1.0, "1", judging=JUDGING)).text
    assert re.findall(r"\b1 [a-z]+", text) == [
        *("1 message", "1 document", "1 session", "1 space", "1 statement", "1 entity", "1 lesson", "1 memory"),
        *("1 call", "1 token", "1 read", "1 received", "1 call", "1 token", "1 commit", "1 process"),
    ]


@pytest.mark.parametrize(
    ("most", "sentence"), [(0, "1 token sent."), (1, "1 of 1 token sent."), (9, "1 of 9 tokens sent.")]
)
def test_the_cost_of_a_day_is_stated_with_its_bound(most: int, sentence: str) -> None:
    assert spent_today_text(replace(JUDGING, day_tokens=most)) == f"Today (UTC), by all processes: 1 call, {sentence}"
