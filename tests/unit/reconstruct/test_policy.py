"""The table of calls: kinds of question, where arguments come from, and what is wrong with a file that is wrong."""

import pytest
from unit.reconstruct.talk_space import new_space, say

from mcp_memory.config import Config
from mcp_memory.errors import ConfigurationError
from mcp_memory.language.questions import understand
from mcp_memory.reconstruct.assess import Assessment
from mcp_memory.reconstruct.policy import FILE, Policy
from mcp_memory.reconstruct.state import Asked, State
from mcp_memory.texts import resource
from mcp_memory.wiring import Memory

OPERATORS = Memory(Config(), None, None).operators
WORTH = "[operators.tag_events]\ncarries = 0.5\n[operators.event_time]\n"
ANY = '[[kinds]]\nname = "any"\nturns = [[{ operator = "tag_events", entity = "roots" }]]\n'


def state_of(question, *lines, roots=()):
    space = say(new_space(), *lines)
    asked = Asked(space, understand(question, ("Ann",), 0), roots)
    return State.begin(asked, [(row, 1.0 - row / 10) for row in range(len(space.segments))], active=1)


def called(policy, state, turns=8):
    missing = Assessment(False, 0.1, ("harp",), "missing: harp")
    return [(one.operator, dict(one.args), one.strength) for one in policy.actions(state, missing, turns)]


def test_the_table_that_ships_with_the_project_can_be_read():
    policy = Policy.read(resource(FILE), OPERATORS)
    assert {kind.name for kind in policy.kinds} == {"temporal", "trail"}


@pytest.mark.parametrize(
    ("signs", "fits", "other"),
    [
        ('asked = ["when"]', "When did it end?", "Who ended it?"),
        ("dated = true", "Who was it in May 2020?", "Who was it?"),
        ("names = 2", "What have Bob and Cid in common?", "What has Bob?"),
        ("speakers = 1", "What does Ann like?", "What does Bob like?"),
        ('words = ["\\\\bstill\\\\b"]', "Is it STILL so?", "Is it stillness?"),
    ],
)
def test_a_question_is_of_the_first_kind_whose_sign_it_has(signs, fits, other):
    kind = f'[[kinds]]\nname = "one"\n{signs}\nturns = [[]]\n'
    policy = Policy.read(WORTH + kind + ANY, OPERATORS)
    names = [policy.kind(Asked(new_space(), understand(text, ("Ann",), 0))).name for text in (fits, other)]
    assert names == ["one", "any"]


def test_a_call_is_made_for_every_value_of_its_source_and_none_where_there_is_none():
    policy = Policy.read(WORTH + ANY, OPERATORS)
    found = called(policy, state_of("Who?", "Ann: Tea.", roots=("Ann", "Bob")))
    assert found == [("tag_events", {"entity": "Ann"}, 1.0), ("tag_events", {"entity": "Bob"}, 1.0)]
    assert called(policy, state_of("Who?", "Ann: Tea.")) == []


def test_the_last_turn_that_is_listed_is_repeated_and_others_come_before_the_last_of_all():
    turns = '[[{ operator = "tag_events", entity = "roots" }], [{ operator = "tag_events", entity = "missing" }]]'
    kind = f'[[kinds]]\nname = "a"\nturns = {turns}\nbefore_last = [{{ operator = "event_time", ids = "best" }}]\n'
    policy = Policy.read(WORTH + kind, OPERATORS)
    state = state_of("Who?", "Ann: Tea.", roots=("Ann",))
    assert [args for _, args, _ in called(policy, state)] == [{"entity": "Ann"}]
    state.turns = 5
    assert [args for _, args, _ in called(policy, state)] == [{"entity": "harp"}]
    assert [name for name, _, _ in called(policy, state, turns=2)] == ["event_time", "tag_events"]


def test_what_two_texts_alone_name_leads_from_the_one_to_the_other():
    kind = '[[kinds]]\nname = "a"\nturns = [[{ operator = "tag_events", entity = "cues" }]]\n'
    lines = (
        "Ann: Rufus met Bella near the old mill.",
        "Bob: Bella won.",
        "Cid: I saw the old mill.",
        "Dan: It rained.",
    )
    found = called(Policy.read(WORTH + kind, OPERATORS), state_of("Whom did Rufus meet?", *lines))
    assert [(args["entity"], round(strength, 2)) for _, args, strength in found] == [
        ("Bella", 0.71),
        ("old mill", 0.71),
    ]


def test_without_an_operator_the_table_keeps_its_other_calls():
    policy = Policy.read(WORTH + ANY, OPERATORS).without({"tag_events"})
    assert called(policy, state_of("Who?", "Ann: Tea.", roots=("Ann",))) == []
    assert set(policy.worths) == {"event_time"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("operators =", "policy.toml"),
        (ANY, "operators"),
        (WORTH, "kinds"),
        (WORTH + ANY + "[more]\n", "no use for more"),
        ("[operators.fly]\n" + ANY, "no operator 'fly'"),
        ("[operators.tag_events]\nspeed = 1\n" + ANY, "speed"),
        (WORTH + ANY.replace("tag_events", "fly"), "no operator 'fly'"),
        (WORTH + ANY.replace("tag_events", "timeline"), r"\[operators.timeline\]"),
        (WORTH + ANY.replace("entity", "speaker"), "does not take 'speaker'"),
        (WORTH + ANY.replace("roots", "stars"), "no source 'stars'"),
        (WORTH + ANY.replace(', entity = "roots"', ""), "cannot do without entity or query"),
        (WORTH + ANY.replace("turns", 'asked = ["whither"]\nturns'), "no question asks for 'whither'"),
        (WORTH + ANY.replace("turns", 'words = ["("]\nturns'), "policy.toml"),
        (WORTH + ANY.replace("turns", "colour = 1\nturns"), "no use for colour"),
        (WORTH + '[[kinds]]\nname = "any"\nturns = []\n', "has no turns"),
    ],
)
def test_a_table_that_is_wrong_is_refused_with_what_is_wrong(text, problem):
    with pytest.raises(ConfigurationError, match=problem):
        Policy.read(text, OPERATORS)
