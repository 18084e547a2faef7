"""How the tokens of a question are divided between its judgements."""

from mcp_memory.reasoning.anthropic.answer import token_room


def test_a_judgement_has_room_for_evidence_however_much_was_spent_before_it():
    assert token_room(8_000, 2_000, 0.5) == 2_000
    assert token_room(5_000, 2_000, 0.5) == 700  # as much as it leaves for another
    assert token_room(2_500, 2_000, 1) == 500
    assert token_room(30_000, 2_000, 0.5) == token_room(20_000, 2_000, 1) == 4_000
