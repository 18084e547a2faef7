"""How often facts of a class are right: the confidence of what a message states plainly.

A class is a group of relations and whether the fact is *whole*: its tail names something or says it in several words,
and its head is a person, a name or more than one word. "Attended the regional pottery fair" is right and complete more
often than "attended event", "API time-out is set to 30 s" more often than "TTL is set to 300". What is hedged or
reported has at most the confidence of its hedge. Texts that are no messages keep the confidence of their form.

`SHARES` was counted by ``tests/extraction/calibrate.py`` on facts that readers had judged or labelled and that the
rules had not been built on: of n facts of a class r are right, (r + 8·p) / (n + 8) with p the same share of its group,
which is shrunk towards the share of all alike. No class is finer, so that none is fitted to single facts.
"""

from __future__ import annotations

from functools import cache

from mcp_memory.domain.confidence import STABLE
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.relations import DID, relations
from mcp_memory.language.vocabulary import word_set

_GROUPS = {
    "outing": word_set("attended visited volunteers_at"),
    "taste": word_set("likes dislikes prefers interested_in has_goal"),
    "body": word_set("age takes has_condition"),
    "job": word_set("works_at works_as studies studies_at has_boss colleague_of leads coaches teaches"),
    "date": word_set("scheduled_for due_on starts_on ends_on"),
    "tool": word_set("uses"),
    "setting": word_set(
        "set_to located_at has_command has_branch has_version replaced_by owned_by decided decided_against chose"
        " part_of depends_on"
    ),
    "reason": word_set("because"),
}
_THINGS = frozenset(("date", "setting", "tool", "reason"))
"""Groups whose heads are mostly things, which one word names badly."""
SHARES = {
    ("body", False): 0.63, ("body", True): 0.80, ("date", False): 0.60, ("date", True): 0.72,
    ("did", False): 0.76, ("did", True): 0.86, ("event", False): 0.85, ("event", True): 0.88,
    ("job", False): 0.76, ("job", True): 0.89, ("life", False): 0.95, ("life", True): 0.95,
    ("outing", False): 0.89, ("outing", True): 0.89, ("own", False): 0.85, ("own", True): 0.85,
    ("reason", False): 0.45, ("reason", True): 0.45, ("setting", False): 0.68, ("setting", True): 0.73,
    ("taste", False): 0.89, ("taste", True): 0.89, ("tool", False): 0.70, ("tool", True): 0.97,
}  # fmt: skip
"""The share right of each class, by group and wholeness; at most .89 where fewer than 30 facts were counted."""
DOUBTFUL = 0.6
"""A class with a lower share stays below the stable line, however plainly it is stated."""
_LINKS = word_set("for of to about with from at in on into as that by")
_SIGNS = frozenset('`"“/')


def group_of(relation: str) -> str:
    """Return the group of a relation: "did", one of those above, "event" by its kind, "life", or "own" if unlisted."""
    if relation == DID or relation.startswith("favourite_"):
        return "did" if relation == DID else "taste"
    if named := next((name for name, members in _GROUPS.items() if relation in members), ""):
        return named
    if relation not in _listed():
        return "own"
    return "event" if relations().get(relation).event else "life"


@cache
def _listed() -> frozenset[str]:
    return frozenset(relation.name for relation in relations())


def is_whole(head: str, relation: str, tail: str) -> bool:
    """Return whether the head and the tail of a fact say enough to be understood without the text."""
    words, heads, group = tail.split(), head.split(), group_of(relation)
    if group == "did":
        return len(words) > 4 or not _LINKS.isdisjoint(words[2:])
    if len(heads) < 2 and head != "user" and not (head[:1].isupper() and not (group in _THINGS and head.isupper())):
        return False
    return len(words) > 2 or any(char.isupper() or char.isdigit() or char in _SIGNS for char in tail)


def certainty(fact: Assertion) -> float:
    """Return the confidence in (0, 1] of a fact that a message states plainly.

    What is right more often than not stays at the stable line at least: it was said, and only its wording is in doubt.
    """
    share = SHARES[group_of(fact.relation), is_whole(fact.head, fact.relation, fact.tail)]
    return share if share < DOUBTFUL else max(share, STABLE)
