"""Gates: 1 without knowledge, always within [0, 2]; those of a question, by beliefs; and retrieval with them."""

from dataclasses import replace

import numpy as np
import pytest
from sentence_space import documents, unit

from mcp_memory.configurable import Switches
from mcp_memory.domain.episodes import Belief
from mcp_memory.domain.query import Query, Window
from mcp_memory.gain.gates import (
    confidence_reached,
    confident_sentences,
    experience_channel,
    gate,
    gates_and_propagation,
    sentence_gates,
)
from mcp_memory.language.questions import understand

X, Y = (1.0, 0.0), (0.0, 1.0)
ASKED = np.float32(X)
LINES = ([("Ann came.", X), ("Bob went.", Y)], [("Cid slept.", (0.6, 0.8))])


def with_beliefs(space, *known):
    space.beliefs.add(known)
    return space


def query(vector, time=None):
    return Query("Who?", "x", vector=vector, time_vector=time)


def belief(name, task, doubt=0.2, **more):
    return Belief(name, "x", np.float32(task), doubt, **more)


def test_a_sharp_gate_stays_shut_for_another_question_where_the_published_one_opens():
    space = with_beliefs(documents(*LINES), belief("s_1.0", (0.4, 0.9165151)))
    assert sentence_gates(space, query(ASKED), "sharp") == {}
    published = sentence_gates(space, query(ASKED), "published")
    assert published == {2: pytest.approx(1 + 0.8 * 0.4)}


def test_a_segment_has_the_gate_of_its_sentence_farthest_from_1():
    space = documents(*LINES)
    assert experience_channel(space, {0: 1.2, 1: 0.3, 2: 1.5}) == pytest.approx([-0.7, 0.5])
    assert experience_channel(space, {0: 1.2, 1: 0.9}) == pytest.approx([0.2, 0])


def test_the_time_gate_counts_only_if_the_question_states_a_time():
    known = belief("s_0.0", X, 0.2, time=np.float32(Y), time_doubt=0.5), belief("s_0.1", Y)
    space, timed = with_beliefs(documents(*LINES), *known), query(ASKED, np.float32(Y))
    assert sentence_gates(space, query(ASKED), "sharp")[0] == pytest.approx(1.8)
    assert sentence_gates(space, timed, "sharp")[0] == pytest.approx(2.0)  # 1.8 · 1.5, and never above 2


@pytest.mark.parametrize("seed", range(20))
def test_no_belief_lifts_a_segment_by_more_than_1(seed):
    known = (Belief(f"s_{n}.0", "x", unit(seed + n), 0.03, unit(seed + n), 0.03) for n in (0, 1))
    space = with_beliefs(documents([("Ann came.", unit(seed))], [("Bob went.", unit(seed + 1))]), *known)
    forms = ("sharp", "published")
    for form in forms:
        channel = experience_channel(space, sentence_gates(space, query(unit(seed + 2), unit(seed + 2)), form))
        assert (np.abs(channel) <= 1).all()


def test_one_message_that_is_known_to_help_is_enough_and_of_documents_it_takes_two():
    gates = {0: 1.35, 1: 1.2, 2: 1.3}
    assert confident_sentences(gates) == [0, 2]
    first, second = {1: 0.6, 0: 0.4}, {2: 1.0}
    talk = confidence_reached(documents(*LINES, kind="message"), confident_sentences(gates))
    papers = confidence_reached(documents(*LINES), confident_sentences(gates))
    assert [talk([first]), papers([first]), papers([first, second])] == [True, False, True]
    assert not talk([{1: 1.0}])


def test_the_published_gate_gives_the_papers_numbers():
    task = gate(np.float32([0.6]), np.float32([1 / 3]), 0, 0)
    time = gate(np.float32([-0.4]), np.float32([0.5]), 0, 0)
    assert task[0] == pytest.approx(1.4, abs=1e-6)
    assert time[0] == pytest.approx(0.8, abs=1e-6)
    assert 0.5 * task[0] * time[0] == pytest.approx(0.56, abs=1e-6)


def test_the_sharp_gate_is_shut_up_to_its_threshold_and_ends_where_the_published_one_does():
    cosines = np.float32([-1, -0.3, 0, 0.3, 0.65, 1])
    found = gate(cosines, np.full(6, 0.25, np.float32), 0.3, 0.3)
    assert found == pytest.approx([0.25, 1, 1, 1, 1.375, 1.75], abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("theta", [0.0, 0.3, 0.5])
def test_a_gate_lies_between_0_and_2_and_is_1_without_knowledge(seed, theta):
    chance = np.random.default_rng(seed)
    cosines = chance.uniform(-1, 1, 50).astype(np.float32)
    found = gate(cosines, chance.uniform(0, 1, 50).astype(np.float32), theta, theta)
    assert ((found >= 0) & (found <= 2)).all()
    assert ((found - 1) * cosines >= 0).all()
    assert (gate(cosines, np.ones(50, np.float32), theta, theta) == 1).all()


MET = ([("Ann met Bob.", X)], [("Bob met Cid.", (0.8, 0.6))], [("Eve hid.", (0.6, 0.8))], [("Eve met Fay.", X)])


def ask(space, text, *known, window=Window()):  # noqa: B008
    question = replace(understand(text, ()), vector=np.float32(X), window=window)
    cosines = np.float32([0.5, 0.4, 0.3, 0.2])
    return gates_and_propagation(with_beliefs(space, *known), question, cosines, "sharp", Switches())


def learnt(name, doubt=0.2):
    return Belief(name, "x", np.float32(X), doubt)


def test_propagation_goes_from_the_named_entities_to_further_ones():
    channels, activated, rounds, _ = ask(documents(*MET), "Whom did Ann meet?")
    assert (activated, rounds) == (("s_0.0", "s_1.0"), 2)
    assert list(channels) == ["propagation"]
    assert channels["propagation"] == pytest.approx([1, 0.5, 0, 0])


def test_experience_is_a_channel_and_leads_to_sentences_never_shown():
    channels, activated, *_ = ask(documents(*MET), "Whom did Ann meet?", learnt("s_2.0"))
    assert channels["experience"] == pytest.approx([0, 0, 0.8, 0])
    assert activated[:2] == ("s_2.0", "s_0.0")
    assert "s_3.0" in activated


def test_a_known_message_ends_the_search_at_once():
    talk = documents(*MET, kind="message")
    assert ask(talk, "Whom did Ann meet?")[2] == 2
    assert ask(talk, "Whom did Ann meet?", learnt("s_0.0", doubt=0.8))[2] == 2
    assert ask(talk, "Whom did Ann meet?", learnt("s_0.0"))[2] == 1
