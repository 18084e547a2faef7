"""The loop of recall as a client sees it: its steps, why it ended, and its limit."""

import json

import pytest
from fakes import FakeLog
from integration.client_calls import connected, content, structured

pytestmark = pytest.mark.anyio
TALK = [
    {"id": "root", "speaker": "Ann", "text": "Whoever has seen Corvane should look for Talmerin."},
    {"id": "step", "speaker": "Bob", "text": "Talmerin was moved next to the winding stair."},
    {"id": "leaf", "speaker": "Cid", "text": "Under the winding stair there is a box of candles."},
    *({"speaker": "Dan", "text": f"The kettle was cold on day {day}."} for day in range(12)),
]
QUESTION = "Which discovery concludes the journey that Corvane begins?"


async def test_a_recall_reports_its_steps_and_why_it_ended():
    async with connected(FakeLog()) as client:
        await structured(client, "memory_write", messages=TALK)
        recall = await structured(client, "memory_reconstruct", query=QUESTION, detail="full", limit=12)
        calls = [(one["operator"], one["args"]) for one in recall["trace"]]
        assert ("tag_events", {"entity": "Talmerin"}) in calls
        assert ("tag_events", {"entity": "winding stair"}) in calls
        assert recall["stop_reason"] == "exhausted"
        assert recall["budget"]["calls"] == len(recall["trace"])
        assert recall["budget"]["turns"] >= 1
        found = {item["sources"][0]["id"]: item["via"] for item in recall["evidence"]}
        assert "tag_events" in found["leaf"]


async def test_a_recall_of_one_turn_takes_one_step():
    async with connected(FakeLog()) as client:
        await structured(client, "memory_write", messages=TALK)
        recall = await structured(client, "memory_reconstruct", query=QUESTION, detail="full", max_turns=1)
        assert recall["stop_reason"] == "max_turns"
        assert {one["turn"] for one in recall["trace"]} == {1}


async def test_a_first_look_that_covers_the_query_takes_no_further_step():
    async with connected(FakeLog()) as client:
        await structured(client, "memory_write", messages=TALK)
        recall = await structured(client, "memory_reconstruct", query="kettle cold day", detail="full")
        assert (recall["stop_reason"], recall["trace"], recall["budget"]["turns"]) == ("covered", [], 0)
        brief = await structured(client, "memory_reconstruct", query="kettle cold day")
        assert not {"stop_reason", "trace", "budget"} & brief.keys()


async def test_the_trace_of_a_learnt_episode_is_stored():
    log = FakeLog()
    async with connected(log) as client:
        await structured(client, "memory_write", messages=TALK)
        recall = await structured(client, "memory_reconstruct", query=QUESTION, detail="full")
        supports = [recall["evidence"][0]["id"]]
        await structured(client, "memory_evolve", episode=recall["episode"], feedback={"supports": supports})
    async with connected(log) as client:
        episode = json.loads(await content(client, f"memory://default/episodes/{recall['episode']}"))
        assert episode["trace"] == recall["trace"]
        assert episode["stop_reason"] == recall["stop_reason"]


async def test_uncertain_evidence_for_a_question_of_time_shows_the_time_that_it_states():
    message = {"speaker": "Ann", "text": "We watched the comet on 5 May 2023.", "time": "2023-06-01"}
    async with connected(FakeLog()) as client:
        await structured(client, "memory_write", messages=[message, *TALK])
        query = "When did they watch the comet from the harbour wall?"
        recall = await structured(client, "memory_reconstruct", query=query, detail="full")
        assert [one["operator"] for one in recall["trace"]] == ["event_time"]
        assert recall["evidence"][0]["valid_from"] == "2023-05-05"
