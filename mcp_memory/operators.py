"""The table of operators: the steps of navigation that the loop of recall and the explore tool call by name.

Each room offers its own; a new operator is one class in the room of its paper and one line here.
"""

from __future__ import annotations

from mcp_memory.gain.propagation import Propagate
from mcp_memory.hypergraph.retrieval import GlobalPoints, LocalPoints
from mcp_memory.navigation.operators import Counterfactual, ExpandFacts, Timeline, Versions
from mcp_memory.ports import Operator, PairReader
from mcp_memory.reconstruct.episodic_operators import EventContext, EventKeywords, EventTime, TagEvents
from mcp_memory.reconstruct.semantic_operators import PersonalAspect, PersonalInformation, TopicEvents
from mcp_memory.reflection.navigators import Reflect
from mcp_memory.services.recall.settings import RecallSettings
from mcp_memory.settings import Settings


def operators(settings: Settings) -> dict[str, Operator]:
    """Return every operator by its name."""
    every: list[Operator] = [
        ExpandFacts(settings.navigation),
        Versions(),
        Timeline(),
        Counterfactual(settings.navigation),
        Propagate(),
        TagEvents(),
        EventKeywords(),
        EventTime(),
        EventContext(),
        TopicEvents(),
        PersonalInformation(),
        PersonalAspect(),
        LocalPoints(settings.points),
        GlobalPoints(settings.points),
        Reflect(settings.reflection),
    ]
    return {operator.name: operator for operator in every}


def recall_settings(settings: Settings, reader: PairReader | None = None) -> RecallSettings:
    """Return the settings of recall with the operators."""
    return RecallSettings(
        settings.search,
        settings.navigation,
        settings.gain,
        settings.points,
        settings.reflection,
        settings.loop,
        operators(settings),
        breadth=settings.breadth,
        reader=reader,
        read_always=settings.reader.use == "always",
    )
