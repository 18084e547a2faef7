"""What the settings say reaches the rooms, whose own defaults are the same."""

from dataclasses import asdict

from mcp_memory.config import Config
from mcp_memory.domain.confidence import STABLE
from mcp_memory.gain.settings import Learning, Propagating
from mcp_memory.hypergraph.settings import Shaping
from mcp_memory.loading import load
from mcp_memory.navigation.limits import Limits
from mcp_memory.navigation.limits import Switches as Walks
from mcp_memory.rooms import Rooms
from mcp_memory.search.settings import ChannelSwitches
from mcp_memory.services.answer import Bar


def test_settings_that_a_room_keeps_too_have_the_same_defaults_there() -> None:
    config = Config()
    for room in (asdict(ChannelSwitches()), asdict(Walks())):
        assert room.items() <= asdict(config.switches).items()
    assert asdict(config.answer) == asdict(Bar())
    assert asdict(config.navigation).items() <= asdict(Limits()).items()
    assert config.facts.stable == STABLE
    assert Rooms(config).learning == Learning()
    assert Rooms(config).propagating == Propagating()
    assert Rooms(config).shaping == Shaping()


def test_settings_of_learning_reach_it() -> None:
    environment = {
        "MCP_MEMORY_GAIN_GATE": "published",
        "MCP_MEMORY_GAIN_UPDATE": "additive",
        "MCP_MEMORY_GAIN_EMBEDDED": "3",
        "MCP_MEMORY_GAIN_TALK": "0.2",
        "MCP_MEMORY_SWITCHES_TASK_MEMORY": "no",
    }
    learning = Rooms(load(None, environment)).learning
    assert (learning.gating.form, learning.gating.talk, learning.update) == ("published", 0.2, "additive")
    assert (learning.noise.embedded, learning.task_memory, learning.time_memory) == (3.0, False, True)
