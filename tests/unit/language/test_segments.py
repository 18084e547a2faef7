"""Segments of texts without structure."""

from mcp_memory.language.segments import pack_segments, split
from mcp_memory.language.tokens import count_tokens


def spans_of(sizes: list[int]) -> tuple[str, list[tuple[int, int]]]:
    text, spans = "", []
    for size in sizes:
        spans.append((len(text), len(text) + 2 * size - 1))
        text += "x " * size
    return text, spans


def test_a_text_within_the_limit_is_one_segment() -> None:
    text = "I moved. It was far. I am well."
    assert pack_segments(text, split(text)) == [(0, 2)]


def test_a_sentence_beyond_the_limit_stands_alone() -> None:
    assert pack_segments(*spans_of([3, 50, 3, 3]), 10) == [(0, 0), (1, 1), (2, 3)]


def test_no_sentences_make_no_segments() -> None:
    assert pack_segments("", []) == []


def test_the_token_estimate_is_one_for_a_short_word_and_one_for_a_sign() -> None:
    assert count_tokens("I saw Ann, twice.") == 6
