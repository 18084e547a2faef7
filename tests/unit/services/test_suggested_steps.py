"""Every recall suggests next steps: along facts, and where these end by the words of its evidence."""

import pytest
from learning_memory import memory, recalled, told

from mcp_memory.domain.requests import NewFact
from mcp_memory.server.tools.arguments import read
from mcp_memory.server.tools.explore import ExploreInput, explore_request
from mcp_memory.settings import LimitSettings

pytestmark = pytest.mark.anyio
TALK = ("Bob: My godfather is Emil.", "Emil: The hives behind my house were full of honey.", "Cleo: It rained.")
ASKED = "Which animals does the godfather of Bob breed?"
FACTS = (
    NewFact("Bob", "godfather", "Emil"),
    NewFact("Emil", "lives_in", "Rome"),
    NewFact("Emil", "lives_in", "Oslo"),
    NewFact("Bob", "likes", "tea"),
)


def steps(recall):
    return [(one.operator, dict(one.args)) for one in recall.next]


async def test_without_facts_steps_start_from_the_evidence_and_from_what_is_missing():
    recall = await recalled(await told(memory(), *TALK), ASKED, max_turns=1)
    ids = tuple(item.id for item in recall.evidence)
    assert not recall.sufficient
    following = dict(steps(recall))
    assert following["event_keywords"] == {"ids": ids[:3], "query": ASKED}
    assert following["reflect"] == {"query": f"{ASKED}; missing: {', '.join(recall.missing)}", "ids": ids[:3]}


async def test_the_first_step_follows_facts_to_where_more_is_known_and_no_step_is_repeated():
    recall = await recalled(await told(memory(), *TALK, facts=FACTS), ASKED, max_turns=1)
    following = steps(recall)
    assert following[0] == ("expand_facts", {"entity": "Emil", "query": ASKED})
    assert following[1][0] == "event_keywords"
    assert ("expand_facts", {"entity": "tea", "query": ASKED}) not in following  # nothing else is known of it
    assert len({str(one) for one in following}) == len(following)


async def test_a_recall_that_finds_itself_sufficient_leaves_the_judgement_to_the_caller():
    recall = await recalled(await told(memory(), *TALK), "Where are the hives of Emil, behind his house?")
    assert recall.sufficient
    assert recall.next


async def test_a_recall_that_finds_nothing_suggests_nothing():
    assert steps(await recalled(memory(), ASKED)) == []


async def test_calls_that_recall_made_itself_are_not_suggested():
    recall = await recalled(await told(memory(), *TALK), ASKED)
    taken = {(call.operator, call.args.get("entity"), call.args.get("ids")) for call in recall.trace}
    assert taken
    assert not taken & {(one.operator, one.args.get("entity"), one.args.get("ids")) for one in recall.next}


@pytest.mark.parametrize("space", ["default", "work"])
async def test_each_suggested_step_can_be_taken_as_given_in_its_space(space):
    one = await told(memory(), *TALK, facts=FACTS, space=space)
    ways, seen = list((await recalled(one, ASKED, space=space)).next), set()
    assert ways
    while ways and len(seen) < 40:
        step = ways.pop(0)
        if str(step) in seen:
            continue
        seen.add(str(step))
        args = {"space": "default", "operator": step.operator} | step.args
        assert args["space"] == space
        given = read(ExploreInput, args | {"ids": list(args.get("ids", ()))})
        reply = await one.explore(explore_request(given, LimitSettings()))
        assert reply.items or reply.next
        assert reply.next
        ways += reply.next
