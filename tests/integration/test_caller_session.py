"""A session without a key: the client's own model judges, and passes its judgement in arguments of the tools."""

from dataclasses import replace

import pytest
from integration.client_calls import connected, structured
from unit.reasoning.judged_memory import wired

from mcp_memory.rules.answers.judge import EmbeddedQuestionJudge

WALKS = [{"speaker": "Cleo", "text": f"On day {day} I walked to the lake with a friend."} for day in range(12)]
HIVES = {"speaker": "Emil", "text": "The hives behind my house were full of honey."}
TALK = [one | {"time": "2023-05-08"} for one in ({"speaker": "Bob", "text": "My godfather is Emil."}, *WALKS, HIVES)]
QUESTION = "Which animals does the godfather of Bob breed?"
PARAPHRASE = "What animals does Bob's godfather breed?"
OTHER = "Which animals does the godfather of Ann breed?"


def keyless():
    """Return a client of a server that could ask nobody, in memory."""
    memory = wired("http://127.0.0.1:9", key=None)
    return connected(one=replace(memory, new_question_judge=EmbeddedQuestionJudge, language_model=None))


async def stepped(client, reply, operator):
    """Return the reply to a step that another reply proposes, taken as it is given."""
    step = next(one for one in reply["next"] if one["operator"] == operator)
    found = await structured(client, "memory_explore", operator=operator, **step["args"])
    assert found["engine"] == "caller"
    return found


def texts(items):
    return [item["text"] for item in items]


@pytest.mark.parametrize("space", ["default", "work"])
async def test_a_model_recalls_explores_answers_gives_feedback_and_recalls_better(space):
    async with keyless() as client:
        await structured(client, "memory_write", messages=TALK, space=space)
        first = await structured(client, "memory_reconstruct", query=QUESTION, limit=4, detail="full", space=space)
        assert (first["sufficiency"], first["sufficiency_by"], first["missing"]) == (None, "nobody", [])
        assert "sufficient" not in first
        assert HIVES["text"] not in texts(first["evidence"])

        leads = await stepped(client, first, "event_keywords")
        found = await stepped(client, leads, "tag_events")
        (hives,) = [item for item in found["items"] if item["text"] == HIVES["text"]]  # so the model says: bees

        helped = {"supports": [hives["id"]]}
        taught = await structured(client, "memory_evolve", episode=first["episode"], feedback=helped, space=space)
        assert (taught["engine"], len(taught["changes"])) == ("caller", 1)

        for question in (QUESTION, PARAPHRASE):
            better = await structured(client, "memory_reconstruct", query=question, limit=4, space=space)
            assert (better["sufficient"], better["sufficiency_by"]) == (True, "caller")
            assert texts(better["evidence"])[:2] == [HIVES["text"], "My godfather is Emil."]
        swapped = await structured(client, "memory_reconstruct", query=OTHER, limit=4, space=space)
        assert (swapped["sufficiency_by"], texts(swapped["evidence"])[0]) == ("nobody", "My godfather is Emil.")


async def test_each_result_says_whether_the_caller_decided_in_that_call():
    async with keyless() as client:
        fact = {"head": "Bob", "relation": "likes", "tail": "tea"}
        engines = [
            (await structured(client, name, **arguments))["engine"]
            for name, arguments in (
                ("memory_write", {"messages": TALK}),
                ("memory_write", {"text": "Bob likes tea.", "facts": [fact]}),
                ("memory_write", {"facts": [fact]}),
                ("memory_reconstruct", {"query": "What does he like?", "entities": ["Bob"]}),
                ("memory_answer", {"question": "What does Bob like?"}),
                ("memory_explore", {"operator": "expand_facts", "entity": "Bob"}),
                ("memory_evolve", {"goal": "What does Bob like?"}),
                ("memory_evolve", {"steps": ["entities"]}),
            )
        ]
        judged, brought = "embedded", "caller"
        assert engines == [judged, brought, brought, judged, judged, brought, judged, judged]
