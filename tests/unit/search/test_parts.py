"""The parts of a query: their candidates join those of the whole query."""

import numpy as np
import pytest
from small_space import document, message, refs, space_of

from mcp_memory.configurable import Switches
from mcp_memory.language.questions import understand
from mcp_memory.search.candidates import CandidateSet, find_candidates, rank_candidates
from mcp_memory.view.space import Space

TALK = space_of(
    message("sea", "Ann", "The sea was warm.", session="1"),
    message("baker", "Bob", "My sister is a baker in town.", session="2"),
    message("rain", "Ann", "It rained on the sea all day.", session="3"),
    message("tea", "Bob", "I like green tea.", session="4"),
)
PAPERS = space_of(
    document("mill", None, "The mill by the sea was built in 1901."),
    document("baker", None, "The baker of the town has a sister."),
)


def candidates_of(space: Space, text: str) -> CandidateSet:
    nothing = np.zeros(len(space.segments), np.float32)
    found = find_candidates(space, understand(text, space.speakers), nothing, Switches())
    assert found is not None
    return found


def order(space: Space, *parts: str) -> list[str]:
    found = [candidates_of(space, part) for part in parts]
    return refs(space, rank_candidates(space, candidates_of(space, "How was the sea?").add_parts(space, found)))


@pytest.mark.parametrize("space", [TALK, PAPERS])
def test_what_only_a_part_finds_ranks_behind_what_the_query_finds(space: Space) -> None:
    first = order(space)[0]
    assert "baker" not in order(space)
    assert "baker" in order(space, "the baker's sister")
    assert order(space, "the baker's sister")[0] == first
    candidates = candidates_of(space, "sea").add_parts(space, [candidates_of(space, "the baker's sister")])
    baker = next(one for one in rank_candidates(space, candidates) if space.segment_turn[one.row].ref == "baker")
    assert baker.via == ("parts",)
