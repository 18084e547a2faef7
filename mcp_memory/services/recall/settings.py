"""What recall is configured with, and the operators: the steps of navigation that the loop and the explore tool call.

Each room offers its own; a new operator is one function in the room of its paper and one line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from mcp_memory.configurable import GainSettings, RecallLoopSettings, Switches
from mcp_memory.gain.propagation import propagate_once
from mcp_memory.hypergraph.retrieval import global_points, local_points
from mcp_memory.navigation.operators import counterfactual, expand_facts, timeline, versions
from mcp_memory.ports import Operator, PairReader
from mcp_memory.reconstruct.operators import (
    event_context,
    event_keywords,
    event_time,
    personal_aspect,
    personal_information,
    tag_events,
    topic_events,
)
from mcp_memory.reflection.navigators import reflect_step

_WINDOW = ("since", "until")
_OF_FACTS = ("entity", "relation", "query", *_WINDOW)
_OF_SENTENCES = ("ids", "query", *_WINDOW)


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """The settings of every room that a query passes through, and what was built from them; one object per memory.

    Attributes:
        switches: which mechanisms take part.
        gain: how lessons count.
        loop: how far the loop goes.
        operators: what the loop can call, by name; none for a recall that searches once.
        reader: reads what was found once more; None leaves it as the search ranked it.
        read_always: whether it reads even where one record is far ahead.
    """

    switches: Switches = field(default_factory=Switches)
    gain: GainSettings = field(default_factory=GainSettings)
    loop: RecallLoopSettings = field(default_factory=RecallLoopSettings)
    operators: Mapping[str, Operator] = field(default_factory=dict)
    reader: PairReader | None = None
    read_always: bool = False


def operators(switches: Switches) -> dict[str, Operator]:
    """Return every operator by its name."""
    every = (
        Operator("expand_facts", expand_facts, ("entity",), _OF_FACTS),
        Operator("versions", versions, ("entity",), ("entity", "relation", *_WINDOW)),
        Operator("timeline", timeline, (), ("entity", *_WINDOW)),
        Operator("counterfactual", partial(counterfactual, enabled=switches.counterfactual), ("entity",), _OF_FACTS),
        Operator("propagate", propagate_once, (), ("entity", "query", *_WINDOW)),
        Operator("tag_events", tag_events, ("entity or query",), ("entity", "query", "tag", *_WINDOW)),
        Operator("event_keywords", event_keywords, ("ids",), _OF_SENTENCES),
        Operator("event_time", event_time, ("ids",), _OF_SENTENCES),
        Operator("event_context", event_context, ("ids",), _OF_SENTENCES),
        Operator("topic_events", topic_events, ("topic",), ("topic", "query", *_WINDOW)),
        Operator("personal_information", personal_information, ("entity",), ("entity", "query", *_WINDOW)),
        Operator(
            "personal_aspect", personal_aspect, ("entity", "relation or tag"), ("entity", "relation", "tag", *_WINDOW)
        ),
        Operator("local_points", local_points, ("ids",), ("ids", "query")),
        Operator("global_points", global_points, ("query",), ("query", *_WINDOW)),
        Operator(
            "reflect",
            partial(reflect_step, enabled=switches.reflection),
            ("query",),
            ("query", "entity", "ids", *_WINDOW),
        ),
    )
    return {operator.name: operator for operator in every}
