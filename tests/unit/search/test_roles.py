"""The user first, where an assistant speaks, too; and what only one of them said."""

from dataclasses import replace

import numpy as np
from small_space import ask, document, message, refs, space_of

from mcp_memory.language.questions import understand
from mcp_memory.search.candidates import find_candidates, rank_candidates
from mcp_memory.switches import Switches
from mcp_memory.view.space import Space

ADVICE = "For tomatoes use a clay pot with a wide rim."


def chat() -> Space:
    return space_of(
        message("u", "user", "My tomatoes are in the tin pot.", session="1", role="user"),
        message("a", "assistant", ADVICE, session="2", role="assistant"),
        message("n", "Ann", "Tomatoes? A pot of soup!", session="3", role="user"),
        document("d", "Tomatoes", "Tomatoes grow in a pot."),
    )


def test_what_the_user_said_comes_before_advice() -> None:
    question = "Which pot are the tomatoes in?"
    space = space_of(
        message("u", "user", "My tomatoes are in a pot, right?", session="1"),
        message("a", "assistant", "Your tomatoes are in a pot, yes.", session="2"),
    )
    assert refs(space, ask(space, question)) == ["u", "a"]
    assert refs(space, [one for one in ask(space, question) if "user" in one.scores]) == ["u"]


def test_a_question_for_advice_finds_the_advice() -> None:
    assert refs(chat(), ask(chat(), "Which pot did you suggest for my tomatoes?"))[0] == "a"


def test_a_role_leaves_only_what_such_speakers_said() -> None:
    space = chat()
    found = {}
    for role in ("user", "assistant"):
        query = replace(understand("tomatoes pot", space.speakers), role=role)
        candidates = find_candidates(space, query, np.zeros(4, np.float32), Switches())
        assert candidates is not None
        found[role] = sorted(refs(space, rank_candidates(space, candidates)))
    assert found == {"user": ["n", "u"], "assistant": ["a"]}


def test_a_document_is_not_placed_behind_talk_for_being_no_talk() -> None:
    said = [message(str(number), "user", "The pot is somewhere.", session="1", role="user") for number in range(4)]
    advice = message("a", "assistant", "Look around.", session="1", role="assistant")
    space = space_of(*said, advice, document("d", "House", "The pot stands in the shed."))
    cosines = np.full(len(space.segments), 0.5, np.float32)
    cosines[~space.talk] = 0.9
    assert refs(space, ask(space, "Where does the pot stand?", cosines))[0] == "d"
