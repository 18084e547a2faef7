"""What the settings say to each room: its numbers and switches, and the operators that navigation has.

No room reads the configuration; each is handed what it needs, made here.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any, TypeVar

from mcp_memory.config import Config
from mcp_memory.gain.propagation import Propagate
from mcp_memory.gain.settings import Gating, Learning, Noise, Propagating
from mcp_memory.hypergraph.operators import GlobalPoints, LocalPoints
from mcp_memory.hypergraph.settings import Shaping
from mcp_memory.navigation.limits import Limits
from mcp_memory.navigation.limits import Switches as Walks
from mcp_memory.navigation.operators import Counterfactual, ExpandFacts, Timeline, Versions
from mcp_memory.ports import Operator
from mcp_memory.reconstruct.episodic_operators import EventContext, EventKeywords, EventTime, TagEvents
from mcp_memory.reconstruct.loop import Budget
from mcp_memory.reconstruct.policy import FILE, Policy
from mcp_memory.reconstruct.semantic_operators import PersonalAspect, PersonalInformation, TopicEvents
from mcp_memory.reflection.operators import Reflect
from mcp_memory.reflection.settings import Reflecting
from mcp_memory.search.settings import ChannelSwitches
from mcp_memory.services.recall.facts import Following
from mcp_memory.services.recall.loop import Walking
from mcp_memory.services.recall.pipeline import Looking
from mcp_memory.texts import resource

ON_TAGS = frozenset(one.name for one in (TagEvents, EventKeywords, EventContext, TopicEvents))
"""Operators that walk the graph of cues, tags and topics."""


@dataclass
class Rooms:
    """The rooms as the settings have them.

    Attributes:
        config: every setting.
    """

    config: Config

    @property
    def learning(self) -> Learning:
        """How sentences learn, and how what they learnt counts."""
        gain, on = self.config.gain, self.config.switches
        return Learning(
            Noise(gain.positive, gain.negative, gain.process, gain.caller, gain.anthropic, gain.embedded),
            gain.update,
            Gating(gain.gate, gain.talk, gain.document, gain.against),
            learning=on.learning,
            task_memory=on.task_memory,
            time_memory=on.time_memory,
        )

    @property
    def propagating(self) -> Propagating:
        """How far propagation goes."""
        gain = self.config.gain
        return Propagating(gain.rounds, gain.sentences, gain.entities, divided=gain.divided, hub=gain.hub)

    @property
    def shaping(self) -> Shaping:
        """How memory points are made."""
        return Shaping(**asdict(self.config.points))

    @property
    def reflecting(self) -> Reflecting:
        """How far reflection goes, and by which navigators."""
        on = self.config.switches
        return Reflecting(
            **asdict(self.config.reflection),
            reflection=on.reflection,
            expansion=on.expansion,
            entity_trial=on.entity_trial,
        )

    @cached_property
    def operators(self) -> dict[str, Operator]:
        """The steps of navigation, by name."""
        limits, walks = Limits(**asdict(self.config.navigation)), _switched(Walks, self.config)
        steps: list[Operator] = [
            ExpandFacts(limits, walks),
            Versions(),
            Timeline(),
            Counterfactual(limits, walks),
            Propagate(),
            TagEvents(),
            EventKeywords(),
            EventTime(),
            EventContext(),
            TopicEvents(),
            PersonalInformation(),
            PersonalAspect(),
            LocalPoints(self.shaping),
            GlobalPoints(self.shaping),
            Reflect(self.reflecting),
        ]
        return {step.name: step for step in steps}

    @property
    def looking(self) -> Looking:
        """How questions are looked for."""
        limits = Limits(**asdict(self.config.navigation))
        following = Following(limits, _switched(Walks, self.config), facts=self.config.switches.facts)
        propagating = self.propagating if self.config.switches.propagation else None
        shaping = self.shaping if self.config.switches.points else None
        switches = _switched(ChannelSwitches, self.config)
        return Looking(switches, following, self.learning, propagating, shaping, self.walking)

    @cached_property
    def walking(self) -> Walking | None:
        """How recall goes on where the first look is not enough; None where it does not.

        Raises:
            ConfigurationError: the policy is no table of calls of these operators.
        """
        if not self.config.switches.loop:
            return None
        policy = Policy.read(resource(FILE), self.operators)
        if not self.config.switches.tags:
            policy = policy.without(ON_TAGS)
        return Walking(policy, self.operators, Budget(**asdict(self.config.loop)), self.config.switches.reflection)


SwitchesT = TypeVar("SwitchesT")


def _switched(kind: type[SwitchesT], config: Config) -> SwitchesT:
    """Return a room's switches as the settings have them; every one of them has its namesake there."""
    of_room: Any = kind  # a dataclass, which typing has no name for
    return kind(**{f.name: getattr(config.switches, f.name) for f in fields(of_room)})
