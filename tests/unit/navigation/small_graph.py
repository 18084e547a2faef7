"""Build a graph by hand, one line per fact, and search it for a query without an embedder."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from asserting import asserted

from mcp_memory.configurable import Switches
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.language.iso import midnight
from mcp_memory.language.questions import understand
from mcp_memory.navigation.beam import FoundPaths, search_facts
from mcp_memory.navigation.fact_query import Moment
from mcp_memory.navigation.paths import Cosine
from mcp_memory.view.facts import Facts

NOW = midnight(2024, 6, 1)
TODAY: Moment = (NOW, NOW + 1)


def year(number: int | None) -> Millis:
    """Return when a year begins; the beginning of time for None."""
    return BEGINNING if number is None else midnight(number, 1, 1)


def said(
    head: str, relation: str, tail: str, since: int | None = 2010, until: int | None = None, **more: Any
) -> Assertion:
    """Return a statement of a fact that begins to hold in a year, in a turn of its own unless one is given."""
    began, ends = year(since), FOREVER if until is None else year(until)
    name = relations().name(relation)
    return asserted(tail, began, ends, head=head, relation=name, extractor="embedded", recorded_at=began, **more)


def graph(*assertions: Assertion) -> Facts:
    facts = Facts()
    facts.add(assertions)
    return facts


def cosine_by_relation(**near: float) -> Cosine:
    """Return a cosine by relation; relations not named have that of the background, 0."""
    return lambda assertions: [near.get(assertion.relation, 0.0) for assertion in assertions]


def ask(
    facts: Facts,
    question: str | Query,
    *,
    at: Moment | None = TODAY,
    near: Cosine | None = None,
    switches: Switches = Switches(),  # noqa: B008 - frozen
    named: Sequence[str] = (),
    include_uncertain: bool = False,
) -> FoundPaths:
    query = understand(question, ()) if isinstance(question, str) else question
    query = replace(query, entities=tuple(named), include_uncertain=include_uncertain)
    how = {"cosine": near or cosine_by_relation(), "background": (0.0, 0.1), "rarity": {}}
    return search_facts(facts, query, at=at, switches=switches, **how)
