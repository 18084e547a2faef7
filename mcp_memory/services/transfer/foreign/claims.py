"""What only the user states, in words of their own: who they are, and what they wish of an assistant.

Another program may have stored it of anybody, so it is kept as text and is no fact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_memory.domain.ids import UNKEYED, digest
from mcp_memory.domain.relations import relations
from mcp_memory.domain.requests import NewFact, NewItem
from mcp_memory.domain.turns import USERS
from mcp_memory.services.transfer.foreign.reading import ForeignRecord
from mcp_memory.temporal.assertions import statement
from mcp_memory.view.facts import NAMING


def is_claim(fact: NewFact) -> bool:
    """Return whether a fact of another program names the user."""
    relation = relations().name(fact.relation)
    ends = (fact.head, fact.tail) if relation in NAMING else ()
    return any(end.strip().casefold() in USERS for end in ends)


def as_text(record: ForeignRecord, claims: Sequence[NewFact]) -> ForeignRecord:
    """Return a record in which some facts are no facts, but stand in a text; what has a source stands in that."""
    facts = tuple(fact for fact in record.facts if fact not in claims)
    if record.kind != "statement":
        return replace(record, facts=facts)
    program, texts = record.session.partition(":")[0], [statement(fact) for fact in claims]
    items = tuple(NewItem(text, ref=f"{program}:{UNKEYED}{digest(text)}") for text in texts)
    return replace(record, kind="document", items=items, facts=facts)
