"""The operators: the steps of navigation that a client's model, Claude and the loop of recall can take.

Each is a row here and a function of its paper's room (``services/recall/loop.py`` brings them together).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Operator(NamedTuple):
    """What is known of an operator without taking it.

    Attributes:
        needs: the required arguments; "entity or query" if one of them is enough.
        uses: the arguments that change what it finds or proposes, beside ``limit``, which all use; no other is
            accepted.
        on: the argument that Claude gives, a tag aside.
        told: what Claude is told of that argument, and of what is found; empty for what it is not offered.
    """

    needs: tuple[str, ...]
    uses: tuple[str, ...]
    on: str = ""
    told: str = ""


_WINDOW = ("since", "until")
_OF_FACTS = ("entity", "relation", "query", *_WINDOW)
_OF_SENTENCES = ("ids", "query", *_WINDOW)
OPERATORS: Mapping[str, Operator] = {
    "expand_facts": Operator(("entity",), _OF_FACTS, "entity", "a name; its facts"),
    "versions": Operator(("entity",), ("entity", "relation", *_WINDOW), "entity", "a name; how its facts changed"),
    "timeline": Operator((), ("entity", *_WINDOW), "entity", "a name; what happened with it, in order"),
    "counterfactual": Operator(("entity",), _OF_FACTS),
    "propagate": Operator((), ("entity", "query", *_WINDOW), "entity", "a name; whom and what its pieces lead to"),
    "tag_events": Operator(
        ("entity or query",),
        ("entity", "query", "tag", *_WINDOW),
        "entity",
        "a name or word, tag: one of its themes, or empty; the pieces with it",
    ),
    "event_keywords": Operator(("ids",), _OF_SENTENCES),
    "event_time": Operator(("ids",), _OF_SENTENCES),
    "event_context": Operator(("ids",), _OF_SENTENCES, "ids", "a number such as S3; what was said around it"),
    "topic_events": Operator(("topic",), ("topic", "query", *_WINDOW), "topic", "the words of a topic; its pieces"),
    "personal_information": Operator(
        ("entity",), ("entity", "query", *_WINDOW), "entity", "a person; the kinds of facts known of them"
    ),
    "personal_aspect": Operator(
        ("entity", "relation or tag"),
        ("entity", "relation", "tag", *_WINDOW),
        "entity",
        "a person, tag: one kind; the facts of it",
    ),
    "local_points": Operator(("ids",), ("ids", "query"), "ids", "a number such as P1; what is near it"),
    "global_points": Operator(("query",), ("query", *_WINDOW), "query", "a question; what no point covers"),
    "reflect": Operator(
        ("query",),
        ("query", "entity", "ids", *_WINDOW),
        "query",
        "the question; what is missing; names; further names near these",
    ),
}
"""By the name that ``memory_explore`` knows.

Claude is not offered ``event_time``, since every piece is shown with its day; nor ``event_keywords`` and
``counterfactual``: the recall has followed names, and repaired the paths of facts.
"""
