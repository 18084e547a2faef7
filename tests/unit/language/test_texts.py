"""What is read in texts of any script: words, names and their keys, times, wishes, briefs, ROUGE-L (DESIGN W11).

``texts.jsonl`` has a text in each line, what a reading takes beside it, and what is read in it, by the names of
`READINGS`. ``wishes.txt`` has lines with a standing wish (+) and without one (-).
"""

from concurrent.futures import ThreadPoolExecutor

import pytest
from beside import lines_beside, table_beside
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_memory.domain.entities import entity_key, titled
from mcp_memory.domain.relations import relations
from mcp_memory.domain.turns import Turn
from mcp_memory.language.briefs import brief
from mcp_memory.language.iso import parse, show
from mcp_memory.language.own_words import own_sentences
from mcp_memory.language.segments import split
from mcp_memory.language.tokens import (
    HEAD_LENGTH,
    STOP_WORDS,
    count_tokens,
    head,
    mentions,
    names,
    rouge_l,
    short,
    stem,
    stems,
    words,
)
from mcp_memory.language.wishes import find_wishes, is_small_talk
from mcp_memory.visible import as_name, readable, without_accents, without_hidden

LINES = table_beside(__file__, "texts.jsonl")
WISHES = [line for line in lines_beside(__file__, "wishes.txt") if line[0] in "+-"]


def mentioned(line):
    """Return what the last sentence of a document mentions, or a message of Ann."""
    title, text = line.get("title"), line["text"]
    kind, speaker = ("document", None) if title else ("message", "Ann")
    turn = Turn("t", "x", "s", "1", kind, text, speaker, None, title, 0, 0, 0, 0)
    return list(mentions(turn, text))


def interval(line):
    """Return the first and the last moment of a time in ISO 8601; None if it is none."""
    try:
        return [show(moment) for moment in parse(line["text"])]
    except ValueError:
        return None


def wishes(text):
    return [text[wish.start : wish.end] for wish in find_wishes(text, split(text)) if wish.kind != "withdrawn"]


READINGS = {
    "names": lambda line: list(names(line["text"])),
    "head": lambda line: " ".join(head(line.get("title"), line["text"])),
    "short": lambda line: " ".join(short(line.get("title"), line["text"].split())),
    "words": lambda line: words(line["text"]),
    "stems": lambda line: stems(line["text"]),
    "mentions": mentioned,
    "iso": interval,
    "wishes": lambda line: wishes(line["text"]),
    "small_talk": lambda line: is_small_talk(line["text"]),
    "own": lambda line: own_sentences(line["text"], split(line["text"])),
    "brief": lambda line: brief(line["text"], line["chars"], stems(line.get("topic", ""))),
    "key": lambda line: entity_key(line["text"]),
    "titled": lambda line: titled(line["text"]),
    "relation": lambda line: relations().name(line["text"]),
    "unaccented": lambda line: without_accents(line["text"]),
    "seen": lambda line: without_hidden(line["text"]),
    "as_name": lambda line: as_name(line["text"]),
    "rouge": lambda line: round(rouge_l(line["text"].split(), line["other"].split()), 4),
}


@pytest.mark.parametrize("line", LINES, ids=[f"{line['text']} {[*line][-1]}" for line in LINES])
def test_this_is_read_in_a_text(line):
    said = {name: line[name] for name in line if name in READINGS}
    assert {name: READINGS[name](line) for name in said} == said


@pytest.mark.parametrize("line", WISHES)
def test_a_wish_is_told_from_what_is_none(line):
    assert bool(wishes(line[2:])) is (line[0] == "+")


FESTIVAL = (
    "I'm trying to plan the harbour festival on the north quay, and I want to make sure that nobody gets wet, "
    "I've booked 12 stalls and the brass band Nordlys for 3 June, so can you help me with a plan? "
    "Here's what I have so far:\n```python\nstalls = 99\n```\nThe tent costs €450, is that right?"
)


@pytest.mark.parametrize("chars", [60, 90, 120, 200])
def test_a_brief_is_no_longer_than_asked_and_has_no_code_and_only_words_of_the_message(chars):
    said = brief(FESTIVAL, chars)
    assert len(said) <= chars + 3
    assert "99" not in said
    assert all(word in FESTIVAL for word in said.replace("…", "").replace(",", "").split())


@example("A\u00ad0", None)
@given(st.text(max_size=80), st.one_of(st.none(), st.text(max_size=40)))
def test_any_text_has_words_names_and_a_title_or_none(text, title):
    assert all(name in readable(text) for name in names(text))
    assert len(head(title, text)) <= HEAD_LENGTH
    assert stems(text) == stems(text)
    assert all(word and not word.isspace() for word in words(text))
    assert bool(text.strip()) == bool(count_tokens(text))


def test_stop_words_are_words_as_they_are():
    assert all(words(word) == [word] for word in STOP_WORDS)
    assert stem("the") == "the"


def test_threads_stem_alike():
    text = "running runners were happily considering organizations " * 200
    with ThreadPoolExecutor(4) as pool:
        assert len({tuple(found) for found in pool.map(stems, [text] * 16)}) == 1


@pytest.mark.parametrize("forms", ["speak spoke spoken speaks", "marry wedding married", "favourite favorites"])
def test_forms_of_one_word_have_one_stem(forms):
    assert len({stem(form) for form in forms.split()}) == 1
