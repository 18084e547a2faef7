"""With a right judge an answer keeps its calls and tokens; with ``auto`` a certain fact makes no request."""

import json

import pytest

from mcp_memory.reasoning.anthropic.answer import FORM_TOKENS, AnswerReply, RelatingReply, token_room
from mcp_memory.reasoning.anthropic.messages import estimate_tokens, reply_schema

pytestmark = pytest.mark.anyio


def test_the_tokens_of_each_form_are_known_and_none_pays_for_what_it_does_not_ask():
    for form, tokens in FORM_TOKENS.items():
        assert tokens - 40 < estimate_tokens(json.dumps(reply_schema(form))) <= tokens
    assert FORM_TOKENS[AnswerReply] < FORM_TOKENS[RelatingReply]


def test_a_judgement_has_room_for_evidence_however_much_was_spent_before_it():
    assert token_room(8_000, 2_000, 0.5) == 2_000
    assert token_room(5_000, 2_000, 0.5) == 700  # as much as it leaves for another
    assert token_room(2_500, 2_000, 1) == 500
    assert token_room(30_000, 2_000, 0.5) == token_room(20_000, 2_000, 1) == 4_000
