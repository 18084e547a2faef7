"""The scores that relevant points give to the texts that support them."""

from dataclasses import replace

import numpy as np
import pytest
from batches import point
from unit.gain.sentence_space import documents

from mcp_memory.hypergraph.retrieval import point_support

Z = (0.0, 0.0)


def test_a_text_gets_the_score_of_its_most_similar_point():
    space = documents([("Ann met Bob.", Z)], [("Bob met Cid.", Z)], [("Dot ran.", Z)])
    one = replace(point("1", ("Ann", "Bob")), sentences=("s_0.0", "s_gone"))
    other = replace(point("2", ("Bob", "Cid")), sentences=("s_0.0", "s_1.0"))
    space.hypergraph.add([one, other], np.array([[1.0, 0.0], [0.6, 0.8]], dtype=np.float32))
    given = point_support(space, [one, other], np.array([1.0, 0.0], dtype=np.float32))
    assert given is not None
    assert given.tolist() == [1.0, pytest.approx(0.6), 0.0]


@pytest.mark.parametrize("sentences", [(), ("s_gone",), ("s_0.0",)])
def test_points_without_support_or_similarity_give_no_score(sentences):
    space = documents([("Ann met Bob.", Z)])
    one = replace(point("1", ("Ann", "Bob")), sentences=sentences)
    space.hypergraph.add([one], np.array([[-1.0, 0.0]], dtype=np.float32))
    assert point_support(space, [one], np.array([1.0, 0.0], dtype=np.float32)) is None
