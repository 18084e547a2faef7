"""Events as anchors of time: an event that a query names gets the time of its fact."""

from __future__ import annotations

import pytest
from small_graph import said

from mcp_memory.language.iso import parse
from mcp_memory.language.questions import understand
from mcp_memory.navigation.known_facts import date_event
from mcp_memory.view.facts import Facts


def lived() -> Facts:
    facts = Facts()
    facts.add([said("Ann", "lives_in", "Paris", 2010), said("Ann", "lives_in", "Oslo", 2015)])
    facts.add([said("Ann", "works_at", "Acme", 2012), said("Ben", "lives_in", "Oslo", 2001)])
    return facts


def year(number: int) -> int:
    return parse(f"{number}-01-01")[0]


@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("What did Ann do before she moved to Oslo?", year(2015), year(2015) + 1),
        ("What did Ann buy after she joined Acme?", year(2012), year(2012) + 1),
        ("Where did Ann work while she lived in Paris?", year(2010), year(2015)),
    ],
)
def test_an_event_has_the_time_of_the_fact_that_its_words_state(question: str, since: int, until: int) -> None:
    time = date_event(lived(), understand(question, ())).time
    assert time is not None
    assert (time.since, time.until) == (since, until)


@pytest.mark.parametrize("event", ["she moved", "she moved to Rome and sang", "the concert", "she was happy"])
def test_an_event_that_matches_no_single_fact_leaves_the_time_unknown(event: str) -> None:
    question = understand(f"What did Ann do before {event}?", ())
    assert date_event(lived(), question) == question
