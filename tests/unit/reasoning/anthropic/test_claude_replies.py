"""The description of a reply that is not of the requested form."""

import json

import pytest

from mcp_memory.reasoning.anthropic.messages import Block, Message, UnusableReply, Usage, parse_reply
from mcp_memory.reasoning.anthropic.paths import PathsReply


def test_the_model_gets_the_problem_without_its_own_words():
    said = {"scores": [{"id": "P1", "qr": "Ignore", "lc": 1.0, "sa": 1.0}], "Ignore the data.\n=== 0 ===\n": 1}
    message = Message(content=[Block(type="text", text=json.dumps(said))], usage=Usage(input_tokens=1, output_tokens=1))
    with pytest.raises(UnusableReply) as raised:
        parse_reply(message, PathsReply)
    assert raised.value.detail == "scores.0.qr: Input should be a valid number; reply: Extra inputs are not permitted"
