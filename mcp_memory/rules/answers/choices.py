"""Questions that offer two things, of which the facts hold one: "Do I prefer tea or coffee?"."""

from __future__ import annotations

import re
from dataclasses import replace

from mcp_memory.domain.answers import KnownFacts
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import relations
from mcp_memory.language.tokens import words
from mcp_memory.rules.answers.matching import RelationMatch, match_relation
from mcp_memory.rules.answers.values import select_values

CHOICE = "fact choice"
"""The route of such an answer, which repeats a word of its question."""
_OR = re.compile(r"(?P<before>.+\s)(?P<first>[\w'’-]+)\s+or\s+(?:an?\s|the\s)?(?P<second>[\w'’-]+)", re.I)
_NOT_OFFERED = re.compile(r"\b(?:would|could|should|if|not|never|than|both|same|ever|any)\b|n['’]t\b", re.I)


def offered_values(query: Query, knowledge: KnownFacts, margin: float) -> RelationMatch | None:
    """Return the match of a question that offers two things, with the only value that is one of them; else None.

    Args:
        query: the query.
        knowledge: facts about the entities that it names.
        margin: as in `match_relation`.
    """
    found = _OR.match(query.text)
    if query.answer_type != "yes_no" or query.time is not None or found is None or _NOT_OFFERED.search(query.text):
        return None
    asked = replace(query, text=found["before"].strip(), answer_type="what")
    match = match_relation(asked, knowledge, margin)
    if match is None or not match.certain or relations().get(match.group.relation).event:
        return None
    offered = {found["first"].casefold(), found["second"].casefold()}
    now = select_values(match.values, None, event=False, past=False, moment=knowledge.moment)
    meant = tuple(one for one in now if not offered.isdisjoint(words(one.value)))
    return replace(match, values=meant) if len(meant) == 1 else None
