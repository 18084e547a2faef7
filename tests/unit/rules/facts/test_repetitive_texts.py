"""What repeats itself is kept, and not read for facts; what stands beside it is."""

import pytest
from reading import read, turn

from mcp_memory.domain.turns import READ_CHARS
from mcp_memory.language.segments import is_repetitive, split
from mcp_memory.rules.facts import extractor
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.rules.facts.prose import TOLD_AGAIN

LIVES = "I live in Lisbon."


@pytest.mark.parametrize("noise", ["not " * 400, "my my and " * 200, "1 May " * 300, "' " * 500])
def test_a_fact_beside_noise_is_read(noise: str) -> None:
    assert "lives_in" in {fact.relation for fact in read(f"{LIVES}\n\n{noise}\n\nMy brother is Tom.")}
    assert is_repetitive(noise, 0, 1_200)


def test_prose_lists_and_tables_are_not_repetitive() -> None:
    prose = " ".join(f"and then we went to place{n}, where aunt{n} told us of the day{n}" for n in range(20))
    assert not is_repetitive(prose, 0, len(prose))
    assert not is_repetitive("no, no, no! " * 4, 0, 48)
    listed = ", ".join(f"item{n}" for n in range(100))
    assert not is_repetitive(listed, 0, len(listed))


def test_a_sentence_that_is_told_very_often_is_read_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    spans_read = []
    plain = extractor.skip_lead_in
    monkeypatch.setattr(extractor, "skip_lead_in", lambda *given: spans_read.append(given[1:]) or plain(*given))
    text = f"{LIVES} " * 50 + "I work at Nokia."
    spans = split(text)
    RuleExtractor().extract(turn(text), None, spans, [[] for _ in spans])
    assert len(spans_read) == TOLD_AGAIN + 1
    assert spans_read[-1] == spans[-1]


def test_a_very_long_message_is_read_up_to_a_ceiling() -> None:
    filler = "".join(f"We saw bird{n} near hill{n}. " for n in range(READ_CHARS // 20))
    assert len(filler) > READ_CHARS
    spans = split(text := f"My sister is Nele. {filler} {LIVES}")
    read_of_it = RuleExtractor().extract(turn(text), None, spans, [[] for _ in spans])
    relations = {fact.relation for fact in read_of_it}
    assert "lives_in" not in relations
    assert any(fact.tail == "Nele" or fact.head == "Nele" for fact in read_of_it)
