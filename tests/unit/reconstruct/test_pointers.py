"""What leads on from a text: how sure a pointer is, and what is none."""

from itertools import pairwise

import pytest
from unit.reconstruct.talk_space import new_space, say, walked

from mcp_memory.domain.times import StatedTime
from mcp_memory.language.questions import understand
from mcp_memory.reconstruct.cue_operators import TagEvents
from mcp_memory.reconstruct.pointers import pointers
from mcp_memory.reconstruct.state import Action, Asked, State


def found(*lines, question="Whom did Rufus meet?", also=(), times=None):
    """Return the pointers of the first line; of other lines it is said how strongly they are held."""
    space = say(new_space(), *lines, times=times)
    state = State.begin(Asked(space, understand(question, ("Ann",), 0)), [(0, 1.0), *also], active=1)
    return {name: round(strength, 2) for name, strength in pointers(state)}


def test_what_two_texts_alone_name_leads_from_the_one_to_the_other():
    assert found("Ann: Rufus met Bella.", "Bob: Bella won.", "Dan: It rained.") == {"Bella": 1.0}
    assert found("Ann: Rufus saw the old mill.", "Bob: The old mill burnt.") == {"old mill": 1.0}


def test_a_name_of_three_texts_leads_half_as_surely_and_one_of_four_nowhere():
    lines = ["Ann: Rufus met Bella.", "Bob: Bella won.", "Cid: I know Bella."]
    assert found(*lines) == {"Bella": 0.5}
    assert found(*lines, "Dan: So Bella swims.") == {}


def test_where_a_way_forks_its_strength_is_spread():
    lines = ("Ann: Rufus met Bella near the old mill.", "Bob: Bella won.", "Cid: I saw the old mill.")
    assert found(*lines) == {"Bella": 0.71, "old mill": 0.71}
    assert found(*lines, "Dan: The old mill burnt.") == {"Bella": 0.82, "old mill": 0.41}


def test_a_thing_that_is_part_of_a_wording_is_less_sure_than_one_that_is_named():
    lines = ("Ann: On went the main stage light for Bella.", "Bob: On went the main stage light for Cora.")
    alone = found(*lines)
    assert alone == {"main stage": 1.0}
    assert found(*lines, "Cid: We like Bella.") == {"Bella": 0.87, "main stage": 0.29}


def test_what_leads_back_to_where_the_walk_is_as_sure_is_no_pointer_and_takes_no_share():
    lines = ("Ann: Bella knows Cora.", "Bob: Bella won.", "Cid: I met Cora.")
    assert found(*lines, also=[(1, 0.4)]) == {"Bella": 0.71, "Cora": 0.71}
    assert found(*lines, also=[(1, 1.0)]) == {"Cora": 1.0}


def test_what_the_question_says_and_a_date_lead_nowhere():
    lines = ("Ann: Bella came on Friday.", "Bob: Bella won.", "Cid: See you on Friday.")
    stated = {0: StatedTime(11, 20, 0, 1, "day", relative=True)}
    assert found(*lines, question="Where is Bella?", times=stated) == {}


@pytest.mark.parametrize("steps", [3, 6, 10])
def test_a_chain_whose_texts_name_one_other_each_is_as_sure_at_its_end(steps):
    names = [f"Bel{'abcdefghijklm'[number]}or" for number in range(steps + 1)]
    lines = [f"Ann: {here} comes before {there}." for here, there in pairwise(names)]
    space = say(new_space(), *lines)
    state = State.begin(Asked(space, understand(f"What ends with {names[0]}?", ("Ann",), 0)), [(0, 1.0)], active=1)
    for _ in range(steps):
        actions = [Action("tag_events", {"entity": name}, strength) for name, strength in pointers(state)]
        state.consider(actions)
        state.take([(one, walked(space, TagEvents(), entity=one.args["entity"])) for one in actions])
    assert {row: one.strength for row, one in state.held.items()} == dict.fromkeys(range(steps), 1.0)
    assert len(state.trace) == steps - 1
