"""No text breaks the rules or slows them down; what repeats itself is kept, and not read for facts."""

import time

import pytest
from extraction.score import extracted
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import read, turn

from mcp_memory.domain.turns import READ_CHARS
from mcp_memory.language.segments import is_repetitive
from mcp_memory.rules.facts.extractor import RuleExtractor

LIVES = "I live in Lisbon."
PIECES = [
    "I ", "and ", "'s ", "Ann ", ", ", "of ", "my ", "moved to ", '"', "(", "in 2019 ", "is ", "the ", "since ", "’",
    "\n", "é", "𝔘", "🙂", "\u200d", "who ", "been ", "not ", "was made ", "They put me ", "no ", ". ",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=60))
@settings(max_examples=150)
def test_no_text_raises_and_every_span_lies_in_its_text(pieces):
    text = "".join(pieces)
    for fact in read(text):
        assert 0 <= fact.start < fact.end <= len(text)
        assert fact.since < fact.until
        assert 0 < fact.confidence <= 1


@pytest.mark.parametrize("piece", [*PIECES, "I live in Bergen and ", "a, ", "((", "don't not "])
def test_a_sentence_of_a_hundred_kilobytes_takes_less_than_three_seconds(piece):
    text = piece * (100_000 // len(piece))
    before = time.process_time()
    RuleExtractor().extract(turn(text), "Tom", [(0, len(text))], [[]])
    assert time.process_time() - before < 3.0  # 0.3 on a quiet machine


GROWTH = 1.3 * 8
"""Most that the time may grow for a text eight times as long; what is quadratic grows 64 times."""


def _read_s(part, size):
    """Return the processor's seconds for a message that repeats a part."""
    message = turn((part * (size // len(part) + 1))[:size])
    started = time.thread_time()
    extracted(message, "Leo")
    return time.thread_time() - started


@pytest.mark.parametrize(
    "part",
    [
        "not ", "my ", "that ", "who ", "Ann ", "moved ", "Monday ", "since ", "2020 ", '"', "'", "’s ", "(", "()",
        ", ", ": ", "`", ">", "\n", "? ", ". ", "@", "0", "a", "1 May ", "on 1 May 2020, ", "I live in Lisbon. ",
        "I live in Lisbon and ", "my sister's ", "who knows the man ", '"he said" ', "我昨天去了北京", "a\u0301",
        "- buy milk\n", "no wait, I mean ", "I am 30. ",
    ],
)  # fmt: skip
def test_reading_takes_no_longer_than_a_text_is_long(part):
    small = large = float("inf")
    for _ in range(8):  # a busy machine only makes a reading longer
        small = min(small, *(_read_s(part, 4_000) for _ in range(3)))
        large = min(large, _read_s(part, 32_000))
        if large < max(0.08, GROWTH * small):
            return
    pytest.fail(f"{small:.4f} s, and {large:.4f} s for eight times as much")


@pytest.mark.parametrize("noise", ["not " * 400, "my my and " * 200, "1 May " * 300, "' " * 500])
def test_a_fact_beside_noise_is_read(noise):
    assert "lives_in" in {fact.relation for fact in read(f"{LIVES}\n\n{noise}\n\nMy brother is Tom.")}
    assert is_repetitive(noise, 0, 1_200)


def test_prose_and_lists_are_not_repetitive():
    prose_text = " ".join(f"and then we went to place{n}, where aunt{n} told us of the day{n}" for n in range(20))
    for text in (prose_text, "no, no, no! " * 4, ", ".join(f"item{n}" for n in range(100))):
        assert not is_repetitive(text, 0, len(text))


def test_a_very_long_message_is_read_up_to_a_ceiling():
    filler = "".join(f"We saw bird{n} near hill{n}. " for n in range(READ_CHARS // 20))
    found = read(f"My sister is Nele. {filler} {LIVES}")
    assert any("Nele" in (fact.tail, fact.head) for fact in found)
    assert "lives_in" not in {fact.relation for fact in found}
