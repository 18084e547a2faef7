"""The cue–tag–content graph: forward and reverse maps agree, however it was built."""

import random

import pytest
from talk_space import new_space, say

from mcp_memory.domain.requests import NewFact
from mcp_memory.reconstruct.graph import CueGraph, relation_tag
from mcp_memory.view.space import Space

WORDS = "went trip plan garden chess tea harbour Ann Bob Cid Paris red mill game lesson bought quiet painted"


def random_lines(seed: int) -> list[str]:
    rng = random.Random(seed)
    return [f"{rng.choice(['Ann', 'Bob'])}: {' '.join(rng.choices(WORDS.split(), k=6))}." for _ in range(25)]


def number(graph: CueGraph, name: str) -> int:
    (found, like), *_ = graph.find(name)
    assert like == 1.0
    return found


def maps(space: Space) -> dict[str, object]:
    """Return all that the graph says, by the keys of its cues."""
    graph = CueGraph.of(space)
    forward = {
        graph.key(cue): {tag: graph.contents(space, cue, tag) for tag in graph.tags(space, cue)}
        for cue in range(len(graph))
    }
    return dict(sorted(forward.items()))


def test_a_cue_leads_to_tags_a_cue_and_a_tag_to_sentences_and_a_sentence_back() -> None:
    """DESIGN W14."""
    space = say(new_space(), "Alice: Plan.", "Alice: The Paris trip.")
    graph = CueGraph.of(space)
    alice, paris = number(graph, "alice"), number(graph, "Paris")
    assert graph.tags(space, alice) == {"plan": 1, "trip": 1}
    assert graph.contents(space, alice, "trip") == [1]
    named = {(cue, tag) for cue, tag in graph.reverse(space, 1) if cue in graph.names(1)}
    assert named == {(alice, "trip"), (paris, "trip")}


@pytest.mark.parametrize("seed", range(20))
def test_forward_and_reverse_agree(seed: int) -> None:
    """DESIGN I36: (c, g) leads to v exactly where v leads back to (c, g)."""
    fact = NewFact("Ann", "lives_in", "Paris")
    space = say(new_space(), *random_lines(seed), facts={3: [fact], 7: [fact]})
    graph = CueGraph.of(space)
    forward = {
        (cue, tag, row)
        for cue in range(len(graph))
        for tag in graph.tags(space, cue)
        for row in graph.contents(space, cue, tag)
    }
    back = {(cue, tag, row) for row in range(len(space.sentences)) for cue, tag in graph.reverse(space, row)}
    assert forward == back
    assert {(cue, row) for cue, _, row in forward} == {
        (cue, row) for cue in range(len(graph)) for row in graph.rows(cue)
    }
    assert all(len(graph.label(tag).split()) <= 2 for _, tag, _ in forward)


@pytest.mark.parametrize("seed", range(20))
def test_sentences_that_arrive_in_several_calls_give_the_same_graph(seed: int) -> None:
    lines, parts = random_lines(seed), new_space()
    for line in lines:
        say(parts, line)
        graph = CueGraph.of(parts)
        assert graph.tags(parts, 0)
    assert maps(parts) == maps(say(new_space(), *lines))


def test_two_words_are_a_phrase_once_two_sentences_or_a_name_have_them() -> None:
    space = say(new_space(), "Ann: I like a board game.", "Bob: The red mill burnt.")
    assert [like for _, like in CueGraph.of(space).find("board game")] == []
    say(space, "Bob: No board game today.", "Ann: Red Mill opened.")
    graph = CueGraph.of(space)
    assert graph.rows(number(graph, "board games")) == [0, 2]
    assert graph.rows(number(graph, "the Red Mill")) == [1, 3]


def test_the_relation_of_a_fact_is_the_tag_of_its_two_ends_alone() -> None:
    space = say(
        new_space(),
        "Ann: I moved to Oslo and bought skis.",
        "Ann: Skis cost much.",
        facts={0: [NewFact("Ann", "livesIn", "Oslo", source="0")]},
    )
    graph = CueGraph.of(space)
    assert graph.tags(space, number(graph, "Oslo")) == {"lives in": 1}
    assert "lives in" in graph.tags(space, number(graph, "Ann"))
    assert "lives in" not in graph.tags(space, number(graph, "skis"))
    assert relation_tag("birthplace_of") == "birthplace"
