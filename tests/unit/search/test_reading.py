"""What the reader says of the first records moves them, within bounds."""

from dataclasses import dataclass, field

import anyio
import numpy as np
from small_space import candidate_set, document, message, space_of

from mcp_memory.domain.query import Query
from mcp_memory.embedding.onnx import nearest_part
from mcp_memory.errors import EmbedderError
from mcp_memory.search.ranking import READER, read_first
from mcp_memory.search.words import READ_CHARS


@dataclass
class SaysWhichHelps:
    """A reader to which records with a word help."""

    word: str
    problem: str = ""
    name: str = "fake"
    read_pairs: list[tuple[str, str]] = field(default_factory=list)

    async def read(self, pairs):
        if self.problem:
            raise EmbedderError(self.problem)
        self.read_pairs += pairs
        return np.array([float(self.word in text) for _, text in pairs], np.float32)


def found(count, scores):
    space = space_of(*(message(f"m{number}", "Ann", f"The {number} one.", number) for number in range(count)))
    return space, candidate_set(*scores)


def order(space, candidates):
    return [space.segment_turn[row].ref for row in np.argsort(-candidates.total, kind="stable")]


def read(reader, space, candidates, *, always=False):
    return anyio.run(lambda: read_first(reader, space, Query("Which?", "s"), candidates, always=always))


def test_a_record_that_helps_rises_above_what_is_near_to_it_and_no_further():
    space, candidates = found(4, [1, 0.9, 0.85, 0.4])
    after, warnings = read(SaysWhichHelps("2"), space, candidates)
    assert (order(space, after)[0], warnings) == ("m2", ())
    after, _ = read(SaysWhichHelps("3"), space, candidates)
    assert order(space, after)[:3] == ["m0", "m1", "m2"]


def test_a_document_keeps_its_place_among_messages_that_are_read():
    space = space_of(
        message("m0", "Ann", "The first one."), document("d", None, "The one."), message("m1", "Ann", "No.")
    )
    candidates = candidate_set(1, 0.95, 0.9)
    reader = SaysWhichHelps("one")
    after, _ = read(reader, space, candidates)
    assert [text for _, text in reader.read_pairs] == ["Ann: The first one.", "Ann: No. [before: The first one.]"]
    helps = after.scores[READER.name]
    assert helps[1] == np.mean(helps[[0, 2]])


def test_where_one_record_is_far_ahead_nothing_is_read_unless_it_always_should_be():
    reader = SaysWhichHelps("1")
    space, candidates = found(2, [1, 0.1])
    assert read(reader, space, candidates)[0] is candidates
    assert reader.read_pairs == []
    read(reader, space, candidates, always=True)
    assert len(reader.read_pairs) == 2


def test_a_reader_that_cannot_read_leaves_the_order_and_warns():
    space, candidates = found(3, [1, 0.9, 0.8])
    reader = SaysWhichHelps("2")

    async def broken(pairs):
        reader.problem = "It is broken."
        raise EmbedderError(reader.problem)

    reader.read = broken
    assert read(reader, space, candidates) == (candidates, ("It is broken.",))
    assert read(reader, space, candidates) == (candidates, ())


def test_of_a_long_record_the_part_with_the_words_of_the_query_is_read():
    text = "user: " + "Nothing of note happened. " * 30 + "The boiler was repaired in May. " + "More followed. " * 30
    part = nearest_part("When was the boiler repaired?", text)
    assert part.startswith("user: ")
    assert "The boiler was repaired in May." in part
    assert len(part) <= READ_CHARS + len("user: ")
    assert nearest_part("boiler", "user: short") == "user: short"
