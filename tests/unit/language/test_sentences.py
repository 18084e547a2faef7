"""Sentences have exact positions, and no character is lost."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.language.segments import SENTENCE_CHARS, split

TEXTS = {
    "English": "Dr. Patel came at 5 p.m. on Monday. She stayed! Why?",
    "German": "Das ist z.B. gut. Am 5. Mai kam Dr. Müller. Wir waren zu Hause.",
    "Chinese": "我住在北京。你呢？我很好！",
    "Arabic": "مرحبا كيف حالك؟ أنا بخير. شكرا.",
    "emoji": "Wow 👨‍👩‍👧! Great 🎉. Yes",
    "bidi": "\u202eabc. def\u202c ghi. \u200fok",
    "line ends": "One line.\r\n\r\nAnother line\r\nand more.\rLast",
    "white space": " \n\t\r\n\u3000 ",
    "nothing": "",
}


def assert_nothing_is_lost(text):
    spans = split(text)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    assert all(end - start <= SENTENCE_CHARS for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    held = "".join(text[start:end] for start, end in spans)
    assert "".join(held.split()) == "".join(text.split())


@pytest.mark.parametrize("name", TEXTS)
def test_every_character_belongs_to_exactly_one_sentence(name):
    assert_nothing_is_lost(TEXTS[name])


@given(st.text(alphabet=st.one_of(st.sampled_from(" .!?\n\r\"'(-。؟a1"), st.characters(exclude_categories=["Cs"]))))
def test_any_text_keeps_every_character(text):
    assert_nothing_is_lost(text)


@given(st.integers(0, 3_000), st.sampled_from(["x", "e\u0301", "👨\u200d👩\u200d👧", "我", "word ", "a. "]))
def test_texts_longer_than_a_block_keep_every_character(times, piece):
    assert_nothing_is_lost(piece * times)


@pytest.mark.parametrize(
    ("name", "count"),
    [("English", 3), ("German", 3), ("Chinese", 3), ("Arabic", 3), ("white space", 0), ("nothing", 0)],
)
def test_sentences_end_where_the_language_ends_them(name, count):
    assert len(split(TEXTS[name])) == count


def test_a_list_item_begins_a_sentence_and_a_wrapped_line_does_not():
    text = "Here is a long line that an editor has wrapped at\nsome width of its own.\n- milk\n- bread"
    assert [text[start:end].split()[0] for start, end in split(text)] == ["Here", "-", "-"]


def test_five_megabytes_without_punctuation_are_cut_at_white_space():
    text = "word " * 1_000_000
    spans = split(text)
    assert {text[start:end][:4] for start, end in spans} == {text[start:end][-4:] for start, end in spans} == {"word"}


def test_a_run_of_clauses_is_cut_behind_a_clause_also_where_a_block_ends():
    text = "and I have chosen oak for the shelves, but the varnish still needs a second coat, " * 60
    pieces = [text[start:end] for start, end in split(text)]
    assert len(pieces) > 4
    assert {piece.split(" ", 1)[0] for piece in pieces} <= {"and", "but"}


def test_five_megabytes_of_chinese_take_linear_time():
    text = "我住在北京你呢" * 700_000
    assert sum(end - start for start, end in split(text)) == len(text)


def test_a_hard_cut_never_separates_a_letter_from_its_accent():
    text = "e\u0301" * 2_001
    assert all(text[start] == "e" for start, _ in split(text[:-1]))
