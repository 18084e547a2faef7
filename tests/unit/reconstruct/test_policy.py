"""The policy: kinds of query, sources of arguments, and errors of the file."""

import pytest
from unit.reconstruct.talk_space import new_space, say

from mcp_memory.domain.evidence import Coverage
from mcp_memory.domain.points import Point
from mcp_memory.errors import ConfigurationError
from mcp_memory.language.questions import understand
from mcp_memory.operators import operators
from mcp_memory.reconstruct.loop import LoopState
from mcp_memory.reconstruct.policy import FILE, Policy
from mcp_memory.reconstruct.topics import Topics
from mcp_memory.settings import Settings
from mcp_memory.texts import resource

OPERATORS = operators(Settings())
POINT = Point("h_1", "x", ("Bella", "Cora"), "They met.", "", 0, "active", (), None, (), (), "here", 0)
WORTH = "[operators.tag_events]\ncarries = 0.5\n[operators.event_time]\n"
ANY = '[[kinds]]\nname = "any"\nturns = [[{ operator = "tag_events", entity = "roots" }]]\n'


def state_of(question, *lines, vectors=None, **more):
    space = say(new_space(), *lines, vectors=vectors)
    candidates = [(row, 1.0 - row / 10) for row in range(len(space.segments))]
    return LoopState.begin(space, understand(question, ("Ann",), 0), candidates, width=1, **more)


def called(policy, state, turns=8):
    missing = Coverage(0.1, False, ("harp",), "missing: harp")
    return [(one.operator, dict(one.args), one.strength) for one in policy.actions(state, missing, turns)]


def test_the_policy_that_ships_with_the_project_can_be_read():
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
def test_a_query_is_of_the_first_kind_whose_sign_it_has(signs, fits, other):
    kind = f'[[kinds]]\nname = "one"\n{signs}\nturns = [[]]\n'
    policy = Policy.read(WORTH + kind + ANY, OPERATORS)
    names = [policy.kind(understand(text, ("Ann",), 0)).name for text in (fits, other)]
    assert names == ["one", "any"]


def test_a_call_is_made_for_every_value_of_its_source_and_none_without_values():
    policy = Policy.read(WORTH + ANY, OPERATORS)
    found = called(policy, state_of("Who?", "Ann: Tea.", roots=("Ann", "Bob")))
    assert found == [("tag_events", {"entity": "Ann"}, 1.0), ("tag_events", {"entity": "Bob"}, 1.0)]
    assert called(policy, state_of("Who?", "Ann: Tea.")) == []


def test_the_last_listed_turn_is_repeated_and_further_calls_precede_the_last_turn():
    turns = '[[{ operator = "tag_events", entity = "roots" }], [{ operator = "tag_events", entity = "missing" }]]'
    kind = f'[[kinds]]\nname = "a"\nturns = {turns}\nbefore_last = [{{ operator = "event_time", ids = "best" }}]\n'
    policy = Policy.read(WORTH + kind, OPERATORS)
    state = state_of("Who?", "Ann: Tea.", roots=("Ann",))
    assert [args for _, args, _ in called(policy, state)] == [{"entity": "Ann"}]
    state.turns = 5
    assert [args for _, args, _ in called(policy, state)] == [{"entity": "harp"}]
    assert [name for name, _, _ in called(policy, state, turns=2)] == ["event_time", "tag_events"]


@pytest.mark.parametrize(
    ("call", "given"),
    [
        ('operator = "tag_events", query = "question"', [{"query": "Who met Bella in May 2020?"}]),
        ('operator = "tag_events", query = "reason"', [{"query": "missing: harp"}]),
        ('operator = "tag_events", entity = "missing"', [{"entity": "harp"}]),
        ('operator = "tag_events", entity = "cues"', [{"entity": "Cora"}]),
        ('operator = "event_time", ids = "best"', [{"ids": ("g_0", "g_1", "g_2")}]),
        ('operator = "event_time", ids = "new"', [{"ids": ("g_0",)}]),
        ('operator = "local_points", ids = "points"', [{"ids": ("h_1",)}]),
        (
            'operator = "tag_events", entity = "roots", since = "since", until = "until"',
            [{"entity": "Bella", "since": "2020-05-01", "until": "2020-05-31"}],
        ),
    ],
)
def test_each_source_gives_its_values(call, given):
    lines = ("Ann: Bella met Cora.", "Bob: Cora won.", "Cid: Tea.", "Dan: It rained.")
    state = state_of("Who met Bella in May 2020?", *lines, roots=("Bella",), points=(POINT,))
    name = call.split('"')[1]
    kind = f'[operators.{name}]\n[[kinds]]\nname = "a"\nturns = [[{{ {call} }}]]\n'
    assert [args for _, args, _ in called(Policy.read(kind, OPERATORS), state)] == given


def test_the_topic_of_the_frontier_is_a_source():
    state = state_of("What does Ann drink?", "Ann: Green tea.", "Bob: Tea is fine.", vectors=[(1, 0), (1, 0)])
    kind = '[[kinds]]\nname = "a"\nturns = [[{ operator = "topic_events", topic = "topics" }]]\n'
    (topic,) = Topics.of(state.space).all(state.space)
    found = called(Policy.read(f"[operators.topic_events]\n{kind}", OPERATORS), state)
    assert found == [("topic_events", {"topic": topic.id}, 1.0)]


def test_the_policy_without_an_operator_keeps_its_other_calls():
    policy = Policy.read(WORTH + ANY, OPERATORS).without({"tag_events"})
    assert called(policy, state_of("Who?", "Ann: Tea.", roots=("Ann",))) == []
    assert set(policy.worths) == {"event_time"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("operators =", "policy.toml"),
        (ANY, "operators"),
        (WORTH, "kinds"),
        (WORTH + ANY + "[more]\n", "unknown keys: more"),
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
def test_a_wrong_policy_is_refused_with_the_problem(text, problem):
    with pytest.raises(ConfigurationError, match=problem):
        Policy.read(text, OPERATORS)
