"""Memory-guided retrieval for one question."""

import numpy as np
import pytest
from sentence_space import documents, space_of

from mcp_memory.domain.episodes import Belief
from mcp_memory.domain.query import Window
from mcp_memory.gain.guided import Guidance, guide
from mcp_memory.gain.settings import GainSettings
from mcp_memory.language.questions import understand
from mcp_memory.view.beliefs import Beliefs
from mcp_memory.view.space import Space

X, Y = (1.0, 0.0), (0.0, 1.0)
LINES = ([("Ann met Bob.", X)], [("Bob met Cid.", (0.8, 0.6))], [("Eve hid.", (0.6, 0.8))], [("Eve met Fay.", X)])


def ask(space: Space, text: str, *known: Belief, window: Window = Window(), rounds: int = 3) -> Guidance:  # noqa: B008
    beliefs = Beliefs()
    beliefs.add(known)
    question = understand(text, ())
    vectors = np.float32([X])
    cosines = np.float32([[0.5, 0.4, 0.3, 0.2]])
    settings = GainSettings(rounds=rounds) if rounds else GainSettings(propagation=False)
    return guide(space, beliefs, question, vectors, cosines, window=window, settings=settings)


def learnt(name: str, doubt: float = 0.2) -> Belief:
    return Belief(name, "x", np.float32(X), doubt)


def test_propagation_goes_from_the_named_entities_to_further_ones() -> None:
    found = ask(documents(*LINES), "Whom did Ann meet?")
    assert (found.activated, found.rounds) == (("s_0.0", "s_1.0"), 2)
    assert list(found.channels) == ["propagation"]
    assert found.channels["propagation"] == pytest.approx([1, 0.5, 0, 0])


def test_experience_is_a_channel_and_leads_to_sentences_never_shown() -> None:
    found = ask(documents(*LINES), "Whom did Ann meet?", learnt("s_2.0"))
    assert found.channels["experience"] == pytest.approx([0, 0, 0.8, 0])
    assert found.activated[:2] == ("s_2.0", "s_0.0")
    assert "s_3.0" in found.activated


def test_a_known_message_ends_the_search_at_once() -> None:
    talk = space_of(LINES, "message")
    assert ask(talk, "Whom did Ann meet?").rounds == 2
    assert ask(talk, "Whom did Ann meet?", learnt("s_0.0")).rounds == 1
    assert ask(talk, "Whom did Ann meet?", learnt("s_0.0", doubt=0.8)).rounds == 2


def test_a_question_without_entities_begins_with_the_nearest_segments() -> None:
    found = ask(documents(*LINES), "who was it?", rounds=1)
    assert found.activated == ("s_0.0", "s_3.0", "s_1.0", "s_2.0")


def test_nothing_outside_the_window_is_activated() -> None:
    assert ask(documents(*LINES), "Whom did Bob meet?", window=Window(since=1)).activated == ("s_1.0",)


def test_without_propagation_only_experience_is_a_channel() -> None:
    assert ask(documents(*LINES), "Whom did Ann meet?", rounds=0) == Guidance({})
    found = ask(documents(*LINES), "Whom did Ann meet?", learnt("s_0.0"), rounds=0)
    assert list(found.channels) == ["experience"]
    assert found.rounds == 0


def test_an_empty_space_gives_nothing() -> None:
    space = documents()
    question, nothing = understand("Where is Ann?", ()), np.zeros((1, 0), np.float32)
    found = guide(space, Beliefs(), question, np.float32([X]), nothing, settings=GainSettings())
    assert found == Guidance({})
