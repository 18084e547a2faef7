"""How a caller's fact is written down."""

from dataclasses import replace

from mcp_memory.domain.requests import NewFact
from mcp_memory.language.iso import parse
from mcp_memory.services.assertions import statement


def test_a_denial_says_from_when_on_a_fact_no_longer_holds() -> None:
    told = NewFact("Ann", "lives_in", "Oslo", valid_from=parse("2020-05-01")[0])
    assert statement(told) == "Ann lives in Oslo from 1 May 2020."
    assert statement(replace(told, negated=True)) == "No longer from 1 May 2020 on: Ann lives in Oslo."
