"""The question pool: DESIGN W11 by hand, DESIGN I30 for any questions, and the questions made of facts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.gain.sentence_space import documents
from unit.navigation.small_graph import said

from mcp_memory.domain.turns import PooledQuestion
from mcp_memory.language.tokens import rouge_l, words
from mcp_memory.reflection.questions import admit, pool_similarity, questions_of

POOLS = st.lists(
    st.builds(
        PooledQuestion,
        st.just("x"),
        st.lists(st.sampled_from(("when", "where", "did", "does", "ann", "bob", "live", "work")), max_size=6).map(
            " ".join
        ),
        st.sampled_from(("g_1", "g_2")),
        st.frozensets(st.sampled_from("abc"), max_size=2),
    ),
    max_size=14,
)


def pooled(text, *entities, segment="g_1"):
    return PooledQuestion("x", text, segment, frozenset(entities))


@pytest.mark.parametrize(
    ("known", "new", "joins"),
    [
        (pooled("where does alice live now", "alice"), pooled("where does alice work now", "alice"), False),  # .8
        (
            pooled("when did alice move to paris", "alice", "paris"),
            pooled("when did bob move to rome", "bob", "rome"),
            True,  # .6667, but of nobody whom both are about
        ),
        (
            pooled("what did alice buy in may", "alice"),
            pooled("what did alice sell in june to bob", "alice", "bob"),
            True,  # .5714
        ),
        (pooled("when did a b", "a"), pooled("when did c d e f", "a"), True),  # .4
        (pooled("when did a b c d", "a"), pooled("when did a x", "a"), False),  # .6 itself
        (pooled("where does alice live", "alice"), pooled("where does alice live", "alice", segment="g_2"), True),
    ],
)
def test_a_question_joins_unless_a_similar_one_of_its_segment_shares_an_entity(known, new, joins):
    assert admit([known], [new]) == [new] * joins
    assert admit([], [known, new]) == [known] + [new] * joins


@given(POOLS, st.randoms(use_true_random=False))
def test_no_two_questions_of_a_pool_are_similar_in_any_order(candidates, random):
    random.shuffle(candidates)
    pool = admit((), candidates)
    for place, one in enumerate(pool):
        for other in pool[:place]:
            if one.segment_id == other.segment_id and one.entities & other.entities:
                assert rouge_l(words(one.text), words(other.text)) < 0.6
    left = [one for one in candidates if one not in pool]
    assert admit(pool, left) == []  # and what was left out was left out for a reason
    assert admit(pool[:3], pool[3:]) == pool[3:]


def test_the_questions_of_facts_belong_to_the_segment_that_states_them():
    space = documents([("Ann lives in Oslo.", (0.0, 0.0))], [("Ann likes tea.", (0.0, 0.0))])
    facts = [said("Ann", "lives_in", "Oslo", turn="t_0"), said("Ann", "likes", "tea", turn="t_1")]
    elsewhere = said("Ann", "likes", "rain", turn="t_9")
    space.facts.add([*facts, elsewhere])
    found = questions_of(space, [*facts, elsewhere])
    assert [(one.text, one.segment_id) for one in found] == [
        ("Where does Ann live?", "g_0"),
        ("What does Ann like?", "g_1"),
    ]
    assert found[0].entities == {"ann", "oslo"}


def test_a_segment_scores_as_its_most_similar_pooled_question():
    lines = ("Ann lives in Oslo.", "Bob ran.", "Cid slept.")
    space = documents(*([(line, (0.0, 0.0))] for line in lines))
    asked = np.array([1, 0], dtype=np.float32)
    assert not pool_similarity(space, asked).any()
    pool = [pooled(text, segment=name) for text, name in zip("abcd", ("g_0", "g_0", "g_1", "x"), strict=True)]
    space.questions.add(pool, np.array([[0.7, 0.1], [1, 0], [0.4, 0.9], [1, 0]], dtype=np.float32))
    assert pool_similarity(space, asked).tolist() == [1, 0, 0]
    assert pool_similarity(space, asked[::-1]).tolist() == pytest.approx([0, 5 / 6, 0])
