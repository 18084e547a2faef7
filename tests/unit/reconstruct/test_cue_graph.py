"""The cue–tag–content graph: forward and reverse maps agree, however it was built."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talk_space import new_space, say

from mcp_memory.domain.requests import NewFact
from mcp_memory.domain.turns import Turn
from mcp_memory.reconstruct.graph import (
    MOST_CUES,
    SAME_CUE_OVERLAP,
    CueGraph,
    cue_similarity,
    cues_of,
    key_of,
    relation_tag,
)

WORDS = "went trip plan garden chess tea harbour Ann Bob Cid Paris red mill game lesson bought quiet painted"


def random_lines(seed):
    rng = random.Random(seed)
    return [f"{rng.choice(['Ann', 'Bob'])}: {' '.join(rng.choices(WORDS.split(), k=6))}." for _ in range(25)]


def number(graph, name):
    (found, like), *_ = graph.find(name)
    assert like == 1.0
    return found


def maps(space):
    """Return all that the graph says, by the keys of its cues."""
    graph = CueGraph.of(space)
    forward = {
        graph.key(cue): {tag: graph.contents(space, cue, tag) for tag in graph.tags(space, cue)}
        for cue in range(len(graph))
    }
    return dict(sorted(forward.items()))


def test_a_cue_leads_to_tags_a_cue_and_a_tag_to_sentences_and_a_sentence_back():
    """DESIGN W14."""
    space = say(new_space(), "Alice: Plan.", "Alice: The Paris trip.")
    graph = CueGraph.of(space)
    alice, paris = number(graph, "alice"), number(graph, "Paris")
    assert graph.tags(space, alice) == {"plan": 1, "trip": 1}
    assert graph.contents(space, alice, "trip") == [1]
    named = {(cue, tag) for cue, tag in graph.reverse(space, 1) if cue in graph.names(1)}
    assert named == {(alice, "trip"), (paris, "trip")}


@pytest.mark.parametrize("seed", range(20))
def test_forward_and_reverse_agree(seed):
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
def test_sentences_that_arrive_in_several_calls_give_the_same_graph(seed):
    lines, parts = random_lines(seed), new_space()
    for line in lines:
        say(parts, line)
        graph = CueGraph.of(parts)
        assert graph.tags(parts, 0)
    assert maps(parts) == maps(say(new_space(), *lines))


def test_two_words_are_a_phrase_once_two_sentences_or_a_name_have_them():
    space = say(new_space(), "Ann: I like a board game.", "Bob: The red mill burnt.")
    assert [like for _, like in CueGraph.of(space).find("board game")] == []
    say(space, "Bob: No board game today.", "Ann: Red Mill opened.")
    graph = CueGraph.of(space)
    assert graph.rows(number(graph, "board games")) == [0, 2]
    assert graph.rows(number(graph, "the Red Mill")) == [1, 3]


def test_the_relation_of_a_fact_is_the_tag_of_its_two_ends_alone():
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


def turn(text, speaker="Ann", kind="message", title=None):
    return Turn("t", "x", "s", "1", kind, text, speaker, None, title, 0, 0, 0, 0)


def test_the_speaker_comes_first_then_names_then_the_content_words():
    text = "We saw Bob Lee at the old harbour in 2019."
    found = cues_of(turn(text), text)
    assert [cue.written for cue in found] == ["Ann", "Bob Lee", "saw", "old", "harbour"]
    assert [cue.name for cue in found] == [True, True, False, False, False]
    assert [cue.written for cue in found if cue.follows] == ["harbour"]


def test_a_sentence_has_at_most_thirty_cues():
    text = " ".join(f"word{n}x" for n in range(40))
    assert len(cues_of(turn(text), text)) == MOST_CUES == 30


TEXTS = st.text(alphabet=st.sampled_from("abCD eE’'-,.中文カタ日ＴeßéİǅαΩ١ \u0301\u0651ﬁ12"), max_size=120)


@given(TEXTS, st.sampled_from(["Ann", None]))
def test_every_cue_is_in_the_sentence_or_is_its_speaker(text, speaker):
    """DESIGN I37."""
    found = cues_of(turn(text, speaker), text)
    for cue in found:
        assert cue.key
        assert cue.written == speaker or cue.written.casefold() in text.casefold()
    assert len({cue.key for cue in found}) <= MOST_CUES


@pytest.mark.parametrize(
    ("asked", "known", "index"),
    [
        ("video game tournament", "video game", 2 / 3),
        ("red car", "blue car", 0.0),
        ("Lee", "Ann Lee", SAME_CUE_OVERLAP),
    ],
)
def test_cues_match_by_equality_containment_or_jaccard_index(asked, known, index):
    """DESIGN W16."""
    assert cue_similarity(key_of(asked), key_of(known)) == pytest.approx(index)


def test_the_spellings_of_one_thing_share_a_key():
    assert key_of("the Paintings") == key_of("painting")
    assert key_of("Dr. Patel's") == key_of("patel")
    assert key_of("The Who") == "who"
    assert key_of("?!") == ""
