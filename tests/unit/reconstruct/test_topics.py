"""Topics: leader clustering in the order of arrival, and their summaries."""

import numpy as np
import pytest
from talk_space import new_space, say

from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.reconstruct.topics import TOPIC_COSINE, Topics

TEA, CHESS, ALONE = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
LINES = ("Ann: I brew green tea.", "Ann: I won at chess.", "Bob: Green tea is fine.", "Bob: It rains.")


def vectors(seed, count, width=4):
    found = np.random.default_rng(seed).standard_normal((count, width))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def clustered_one_by_one(rows):
    """Return the members of each leader, by the definition."""
    leaders = []
    members = {}
    for row, vector in enumerate(rows):
        similarity = {leader: float(rows[leader] @ vector) for leader in leaders}
        best = max(leaders, key=lambda one: similarity[one], default=None)
        if best is None or similarity[best] < TOPIC_COSINE:
            leaders.append(row)
            members[row] = [row]
        else:
            members[best].append(row)
    return [found for found in members.values() if len(found) > 1]


def test_two_similar_segments_make_a_topic_and_one_alone_does_not():
    space = say(new_space(), *LINES, vectors=[TEA, CHESS, (0.8, 0.6, 0.0), ALONE])
    topics = Topics.of(space)
    (tea,) = topics.all(space)
    assert list(tea.members) == [0, 2]
    assert topics.get(space, tea.id) == tea == topics.topic_of(space, 2)
    assert topics.topic_of(space, 3) is None
    assert topics.get(space, "o_none") is None
    say(space, "Ann: Chess again.", vectors=[CHESS])
    assert [list(one.members) for one in Topics.of(space).all(space)] in ([[0, 2], [1, 4]], [[1, 4], [0, 2]])
    assert Topics.of(space).get(space, tea.id) == tea


def test_a_topic_is_about_the_cues_that_its_segments_share_the_longer_for_the_shorter():
    space = say(new_space(), *LINES, vectors=[TEA, CHESS, TEA, ALONE])
    topics = Topics.of(space)
    (tea,) = topics.all(space)
    typical, terms = topics.summary(space, CueGraph.of(space), tea)
    assert (space.text(space.sentences[typical]), terms) == ("I brew green tea.", ("green tea",))


@pytest.mark.parametrize("seed", range(20))
def test_topics_do_not_depend_on_how_arrivals_were_divided_into_calls(seed):
    rows = vectors(seed, 60)
    lines = [f"Ann: Line {number} here." for number in range(60)]
    whole, parts = say(new_space(), *lines, vectors=rows), new_space()
    for start in (0, 1, 20, 45):
        end = {0: 1, 1: 20, 20: 45, 45: 60}[start]
        say(parts, *lines[start:end], vectors=rows[start:end])
        Topics.of(parts)
    expected = sorted(clustered_one_by_one(rows))
    assert sorted(list(one.members) for one in Topics.of(whole).all(whole)) == expected
    assert [one.members for one in Topics.of(parts).all(parts)] == [one.members for one in Topics.of(whole).all(whole)]
