"""The parts of a question: what is found for each of them joins what is found for the whole."""

from dataclasses import replace

import numpy as np
import pytest
from small_space import document, message, refs, space_of

from mcp_memory.domain.query import Window
from mcp_memory.language.questions import understand
from mcp_memory.search.look import Survey, Switches, Weights, parted, ranked, survey
from mcp_memory.view.space import Space

TALK = space_of(
    message("sea", "Ann", "The sea was warm."),
    message("baker", "Bob", "My sister is a baker in town."),
    message("rain", "Ann", "It rained on the sea all day."),
    message("tea", "Bob", "I like green tea."),
)
PAPERS = space_of(
    document("mill", None, "The mill by the sea was built in 1901."),
    document("baker", None, "The baker of the town has a sister."),
)
PLAIN = Switches(neighbours=False, links=False, rare_entities=False, residual=False)


def seen_by(space: Space, text: str) -> Survey:
    nothing = np.zeros((2, len(space.segments)), np.float32)
    found = survey(space, understand(text, space.speakers), nothing, Window(), Weights(), PLAIN)
    assert found is not None
    return found


def order(space: Space, *parts: str, weights: Weights = Weights()) -> list[str]:  # noqa: B008 - frozen
    looks = [seen_by(space, part) for part in parts]
    return refs(space, ranked(space, parted(space, seen_by(space, "How was the sea?"), looks, weights)))


@pytest.mark.parametrize("space", [TALK, PAPERS])
def test_what_only_a_part_finds_is_found_behind_what_the_question_finds(space: Space) -> None:
    first = order(space)[0]
    assert "baker" not in order(space)
    assert "baker" in order(space, "the baker's sister")
    assert order(space, "the baker's sister")[0] == first
    hit = next(
        hit
        for hit in ranked(
            space, parted(space, seen_by(space, "sea"), [seen_by(space, "the baker's sister")], Weights())
        )
        if space.segment_turn[hit.row].ref == "baker"
    )
    assert hit.via == ("parts",)


def test_each_part_counts_by_its_own_best_and_the_most_that_any_gives() -> None:
    both = order(TALK, "the baker's sister", "green tea")
    assert {"baker", "tea"} <= set(both)
    assert order(TALK, "the baker's sister", "the baker's sister") == order(TALK, "the baker's sister")


def test_without_parts_nothing_changes() -> None:
    seen = seen_by(TALK, "How was the sea?")
    assert (parted(TALK, seen, [], Weights()).total == seen.total).all()


def test_the_weights_are_those_of_talk_and_of_documents() -> None:
    for space, off, on in ((TALK, "talk_parts", "document_parts"), (PAPERS, "document_parts", "talk_parts")):
        assert "baker" not in order(space, "the baker's sister", weights=replace(Weights(), **{off: 0.0}))
        assert "baker" in order(space, "the baker's sister", weights=replace(Weights(), **{on: 0.0}))


def test_what_is_only_half_as_good_for_a_part_gives_an_eighth() -> None:
    seen = seen_by(TALK, "How was the sea?")
    look = replace(seen, total=np.array([1.0, 0.5, 0.0, 0.0], np.float32))
    given = parted(TALK, seen, [look], Weights(talk_parts=1.0)).parts["parts"] / seen.total.max()
    assert given.tolist() == pytest.approx([1.0, 1 / 8, 0.0, 0.0])
