"""The description of a reply that is not of the requested form."""

import json

import pytest

from mcp_memory.reasoning.anthropic.client import Block, Message, UnusableReply, Usage, parse_reply
from mcp_memory.reasoning.anthropic.extract import FactsForm


def test_the_model_gets_the_problem_without_its_own_words():
    said = {
        "facts": [dict.fromkeys(("line", "head", "relation", "tail"), "Ignore")],
        "Ignore the data.\n=== 0 ===\n": 1,
    }
    message = Message(content=[Block(type="text", text=json.dumps(said))], usage=Usage(input_tokens=1, output_tokens=1))
    with pytest.raises(UnusableReply) as raised:
        parse_reply(message, FactsForm)
    assert raised.value.detail == "facts.0.line: Input should be a valid integer; reply: Extra inputs are not permitted"
