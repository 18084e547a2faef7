"""Texts are cut where their headings, code and tables have it, nothing is lost, and it takes linear time."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.language.segments import WHOLE_BLOCK, outline, pack_segments, split
from mcp_memory.language.tokens import count_tokens

PIECES = st.sampled_from(
    [
        "# Boats",
        "## Hulls and keels",
        "**Paint**",
        "Intro to the code:",
        "```python\nhull = 3  # metres\n\nprint(hull)\n```",
        "```\n" + "sail = sail + 1\n" * 40 + "```",
        "~~~\n# no heading\n~~~",
        "```",
        "| boat | length |\n|---|---|\n| Ada | 7 m |",
        "- tar the hull\n- dry it\n\n1. sand\n2. oil",
        "The keel is of oak. It was laid in May, when the yard was empty. " * 3,
        "\t  \n",
        "x",
    ]
)
TEXTS = st.lists(PIECES, max_size=25).flatmap(
    lambda pieces: st.sampled_from(["\n", "\n\n", "\r\n"]).map(lambda between: between.join(pieces))
)


@given(TEXTS, st.integers(5, 200))
def test_segments_hold_every_word_in_order_and_each_adds_a_sentence(text, limit):
    spans = split(text)
    runs = pack_segments(text, spans, limit)
    covered = [n for (_, before), (first, last) in pairwise([(0, -1), *runs]) for n in range(before + 1, last + 1)]
    assert covered == list(range(len(spans)))
    for before, after in pairwise(runs):
        assert before[0] <= before[1] < after[1]
        assert after[0] in (before[1], before[1] + 1)
    held = set()
    for first, last in runs:
        held.update(range(spans[first][0], spans[last][1]))
    assert all(place in held for place, sign in enumerate(text) if not sign.isspace())


@given(TEXTS, st.integers(20, 200))
def test_only_code_and_long_sentences_exceed_the_limit(text, limit):
    spans = split(text)
    sizes = [count_tokens(text[start:end]) for start, end in spans]
    blocks = outline(text).blocks
    for first, last in pack_segments(text, spans, limit):
        size = sum(sizes[first : last + 1])
        if first < last and size > limit:
            assert size <= WHOLE_BLOCK * limit
            assert any(start < spans[last][1] and spans[first][0] < end for start, end in blocks)


def test_a_sentence_beyond_the_limit_stands_alone():
    text = "So. " + "x " * 50 + "y.\n\nNo. Yes."
    assert pack_segments(text, split(text), 10) == [(0, 0), (1, 1), (2, 3)]
    assert pack_segments("", []) == []


def packed(text, limit):
    spans = split(text)
    return [text[spans[first][0] : spans[last][1]] for first, last in pack_segments(text, spans, limit)]


def test_a_block_of_code_is_one_piece_with_its_heading_and_the_line_before_it():
    code = "```python\n" + "\n".join(f"plank_{n} = cut({n})" for n in range(9)) + "\n```"
    before = "We tarred the hull on Monday, and it dried until Thursday noon. " * 4
    text = f"{before}\n\n## Cutting\n\nThis cuts the planks of the boat:\n{code}\n\nThen we oiled them, and went home."
    assert f"## Cutting\n\nThis cuts the planks of the boat:\n{code}" in packed(text, 60)


def test_a_full_segment_ends_before_its_last_heading():
    prose = "The oak was dry and straight, as it should be. "
    text = f"# Wood\n{prose * 3}\n# Tar\n{prose}\n{prose * 3}"
    first, second, *_ = packed(text, 60)
    assert first.startswith("# Wood")
    assert second.startswith("# Tar")


def test_headings_lead_to_a_path():
    text = "# Boats\nA.\n## Hull\nB.\n**Tar**\nC.\n```\n# comment\n```\nD.\n## Sail ##\nE.\n# Cars\nF."
    shape = outline(text)
    paths = {word: shape.path(text.index(f"{word}.")) for word in "ABCDEF"}
    assert paths == {
        "A": ("Boats",),
        "B": ("Boats", "Hull"),
        "C": ("Boats", "Hull", "Tar"),
        "D": ("Boats", "Hull", "Tar"),
        "E": ("Boats", "Sail"),
        "F": ("Cars",),
    }
    assert shape.path(text.index("## Hull")) == ("Boats",)
    assert shape.path(0) == ()


def test_an_open_fence_reaches_to_the_end_and_a_table_is_a_block():
    text = "Look:\n| a | b |\n| c | d |\nso\n```\n# x\n**y**\n"
    shape = outline(text)
    assert [text[start:end] for start, end in shape.blocks] == ["| a | b |\n| c | d |\n", "```\n# x\n**y**\n"]
    assert shape.headings == []


@pytest.mark.parametrize("unit", ["# Oak\n", "```\nx = 1\n", "| a | b |\n", "**tar**\n\n", "```", "# a\n```\nb:\n"])
def test_structure_takes_linear_time(unit):
    def spent(length):
        text = unit * (length // len(unit))
        spans = [(start, start + len(unit) - 1) for start in range(0, len(text), len(unit))]
        began = time.process_time()
        shape = outline(text)
        pack_segments(text, spans, 50)
        for start, _ in spans:
            shape.path(start)
        return time.process_time() - began

    short = max(spent(40_000) for _ in range(3))  # an outline that is kept takes no time
    assert spent(400_000) < 40 * short + 0.5
