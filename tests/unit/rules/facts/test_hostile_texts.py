"""No text breaks the rules, slows them down, or yields a span outside its sentence."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import read, turn

from mcp_memory.rules.facts.extractor import RuleExtractor

PIECES = [
    "I ",
    "and ",
    "'s ",
    "Ann ",
    ", ",
    "of ",
    "my ",
    "moved to ",
    '"',
    "(",
    "in 2019 ",
    "is ",
    "the ",
    "since ",
    "’",
    "\n",
]


@given(
    st.lists(
        st.sampled_from(
            [*PIECES, "é", "𝔘", "🙂", "\u200d", "who ", "been ", "not ", "was made ", "They put me ", "no ", ". "]
        ),
        max_size=60,
    )
)
@settings(max_examples=150, deadline=None)
def test_no_text_raises_and_every_span_lies_in_its_text(pieces: list[str]) -> None:
    text = "".join(pieces)
    for fact in read(text):
        assert 0 <= fact.start < fact.end <= len(text)
        assert fact.since < fact.until
        assert 0 < fact.confidence <= 1


@pytest.mark.parametrize("verb", ["made", "put", "given", "taken", "named", "left", "sold", "married", "born", "told"])
def test_a_passive_without_anything_behind_it_raises_nothing(verb: str) -> None:
    assert not [fact for fact in read(f"The book was {verb}.") if fact.tail == ""]
    read(f"I was {verb}.")


@pytest.mark.parametrize("piece", [*PIECES, "I live in Bergen and ", "a, ", "((", "don't not "])
def test_a_sentence_of_a_hundred_kilobytes_takes_less_than_three_seconds(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    before = time.process_time()
    RuleExtractor().extract(turn(text), "Tom", [(0, len(text))], [[]])
    assert time.process_time() - before < 3.0  # 0.3 on a quiet machine
