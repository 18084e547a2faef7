"""Memory-guided retrieval for one question."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sentence_space import documents, space_of

from mcp_memory.configurable import Switches
from mcp_memory.domain.episodes import Belief
from mcp_memory.domain.query import Window
from mcp_memory.gain.gates import gates_and_propagation
from mcp_memory.language.questions import understand
from mcp_memory.view.beliefs import Beliefs
from mcp_memory.view.space import Space

X, Y = (1.0, 0.0), (0.0, 1.0)
LINES = ([("Ann met Bob.", X)], [("Bob met Cid.", (0.8, 0.6))], [("Eve hid.", (0.6, 0.8))], [("Eve met Fay.", X)])


def ask(space: Space, text: str, *known: Belief, window: Window = Window()) -> Any:  # noqa: B008
    beliefs = Beliefs()
    beliefs.add(known)
    question = replace(understand(text, ()), vector=np.float32(X), window=window)
    cosines = np.float32([0.5, 0.4, 0.3, 0.2])
    return gates_and_propagation(space, beliefs, question, cosines, "sharp", Switches())


def learnt(name: str, doubt: float = 0.2) -> Belief:
    return Belief(name, "x", np.float32(X), doubt)


def test_propagation_goes_from_the_named_entities_to_further_ones() -> None:
    channels, activated, rounds, _ = ask(documents(*LINES), "Whom did Ann meet?")
    assert (activated, rounds) == (("s_0.0", "s_1.0"), 2)
    assert list(channels) == ["propagation"]
    assert channels["propagation"] == pytest.approx([1, 0.5, 0, 0])


def test_experience_is_a_channel_and_leads_to_sentences_never_shown() -> None:
    channels, activated, *_ = ask(documents(*LINES), "Whom did Ann meet?", learnt("s_2.0"))
    assert channels["experience"] == pytest.approx([0, 0, 0.8, 0])
    assert activated[:2] == ("s_2.0", "s_0.0")
    assert "s_3.0" in activated


def test_a_known_message_ends_the_search_at_once() -> None:
    talk = space_of(LINES, "message")
    assert ask(talk, "Whom did Ann meet?")[2] == 2
    assert ask(talk, "Whom did Ann meet?", learnt("s_0.0"))[2] == 1
    assert ask(talk, "Whom did Ann meet?", learnt("s_0.0", doubt=0.8))[2] == 2
