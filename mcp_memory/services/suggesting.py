"""What to try next, for a client that navigates itself: steps of the explore tool that might find what is missing."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_memory.domain.evidence import Suggestion
from mcp_memory.domain.facts import Intent
from mcp_memory.language.questions import Question
from mcp_memory.navigation.navigate import Navigation

MOST = 5
"""Steps that are suggested at once."""
_OF_TIME: frozenset[Intent] = frozenset(("TEMPORAL", "EVOLUTION"))


def suggestions(question: Question, navigation: Navigation) -> tuple[Suggestion, ...]:
    """Return steps for a recall that is not sufficient, most promising first; none where the facts name nothing."""
    return tuple(_steps(question, navigation))[:MOST]


def _steps(question: Question, navigation: Navigation) -> Iterator[Suggestion]:
    roots = [root for root in navigation.roots if not root.soft]
    bound = question.time is not None and question.time.dated
    for root in roots:
        if bound or root.intent in _OF_TIME:
            yield Suggestion("versions", {"entity": root.name}, f"how what is known of {root.name} changed")
    for root in roots:
        reached = [path for path in navigation.paths if path.root.key == root.key and path.inferred is None]
        if reached:
            yield Suggestion(
                "expand_facts", {"entity": root.name, "query": question.text}, f"what else is known of {root.name}"
            )
        else:
            yield Suggestion(
                "counterfactual", {"entity": root.name, "query": question.text}, f"no fact of {root.name} answers this"
            )
    for path in navigation.paths:
        last = path.steps[-1].version
        name = last.tail if path.steps[-1].forward else last.head
        if not path.inferred and path.end not in {root.key for root in roots}:
            yield Suggestion("expand_facts", {"entity": name, "query": question.text}, f"where a path led: {last.text}")
