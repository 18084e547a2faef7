"""What the rules read of single messages and paragraphs: one a line in ``sentences.jsonl``, with every fact as `shown`.

Facts that are missing cost little, facts that are wrong cost much: most lines say what must not be read. To add one,
write its text and run the test, which says what is read of it.
"""

from dataclasses import replace

import pytest
from beside import table_beside
from extraction.score import extracted
from reading import read, shown, turn

from mcp_memory.domain.facts import timed
from mcp_memory.domain.times import BEGINNING, FOREVER

LINES = table_beside(__file__, "sentences.jsonl")


@pytest.mark.parametrize("line", LINES, ids=[line["text"] for line in LINES])
def test_exactly_these_facts_are_read(line):
    context = {name: value for name, value in line.items() if name != "facts"}
    assert [shown(fact) for fact in read(**context)] == line["facts"]


def test_the_span_covers_the_words_that_state_the_fact():
    text = "Great to hear! I moved to Bergen in 2016, and it rains."
    fact = read(text)[0]
    assert text[fact.start : fact.end] == "I moved to Bergen"
    assert fact.sentence == 1


def test_a_change_is_marked_and_has_the_intent_of_a_change():
    fact = read("I live in Bergen now.")[0]
    assert (fact.change, fact.intent) == (True, "EVOLUTION")


@pytest.mark.parametrize("name", ["Jonna lives in Grau\u00adwald.", "Hans\u2011Peter lives in Turku."])
def test_the_span_holds_invisible_signs_and_typographic_hyphens(name):
    (one,) = read(name)
    assert name[one.start : one.end] == name[:-1]


def test_an_event_in_a_document_of_unknown_time_has_no_time():
    paper = replace(turn("Ada Moor visited Grauen.", title="Ada Moor"), said_at=None)
    (visit,) = extracted(paper)
    assert (visit.relation, visit.kind, visit.precision) == ("visited", "event", "before")
    assert (timed(visit).since, timed(visit).until, timed(visit).before) == (BEGINNING, FOREVER, True)


@pytest.mark.parametrize(
    ("speaker", "role", "is_read"),
    [("Maria", "assistant", False), ("ChatGPT", None, False), ("Claude", "user", True), ("Maria", None, True)],
)
def test_an_assistant_states_no_facts(speaker, role, is_read):
    said = replace(turn("Oskar lives in Turku.", speaker=speaker), role=role)
    assert bool(extracted(said)) == is_read
