"""A session without a key: the client's own model extracts facts, inserts and merges points, and asks about them."""

import pytest
from integration.test_caller_session import keyless, structured, texts

pytestmark = pytest.mark.anyio
TALK = [
    {
        "id": "m1",
        "speaker": "Tove",
        "text": "From 2012 until April 2016 Ines rowed for Treviso, then coached them.",
    },
    {"id": "m2", "speaker": "Ugo", "text": "Treviso trains on the Sile, where the old boat house burned down."},
    {"id": "m3", "speaker": "Tove", "text": "Ugo gave up rowing after the fire and may be in Graz by now."},
]
FACTS = [
    {"head": "Ines", "relation": "rows_for", "tail": "Treviso", "source": "m1"}
    | {"valid_from": "2012-01-01", "valid_to": "2016-04-01"},
    {"head": "Ines", "relation": "coaches", "tail": "Treviso", "source": "m1", "valid_from": "2016-04-01"},
    {"head": "Ugo", "relation": "rows_for", "tail": "Treviso", "source": "m2", "valid_from": "2014-01-01"},
    {"head": "Ugo", "relation": "lives_in", "tail": "Graz", "source": "m3", "confidence": 0.5},
]
ENDED = {"head": "Ugo", "relation": "rows_for", "tail": "Treviso", "negated": True, "valid_from": "2018-06-01"}
GOAL = "How did rowing go on at Treviso, and who was there?"
POINTS = [
    {"entities": ["Ines", "Treviso"], "description": "Ines rowed for Treviso until April 2016 and coached them then."},
    {"entities": ["Ugo", "Treviso"], "description": "Ugo rowed for Treviso until the boat house burned down in 2018."},
]
MERGED = "Treviso had Ines, who rowed and then coached, and Ugo, who gave up after the fire of 2018."


async def written(client):
    messages = [message | {"time": "2020-03-01"} for message in TALK]
    return await structured(client, "memory_write", messages=messages, facts=FACTS, session="row")


async def test_a_model_writes_facts_with_times_and_gets_them_as_answers():
    async with keyless() as client:
        stored = await written(client)
        assert stored["engine"] == "caller"
        assert {"Ines rows for Treviso", "Ines coaches Treviso", "Ugo lives in Graz"} <= set(texts(stored["facts"]))
        ended = await structured(client, "memory_write", facts=[ENDED], session="row")
        assert [(fact["op"], fact["valid_to"]) for fact in ended["facts"]] == [("closed", "2018-06-01")]

        answer = await structured(client, "memory_answer", question="When did Ines begin to row for Treviso?")
        assert (answer["answer"], answer["engine"]) == ("January 2012", "embedded")
        history = await structured(client, "memory_explore", operator="timeline", entity="Treviso")
        assert [(fact["text"], fact["valid_from"], fact.get("valid_to")) for fact in history["items"]] == [
            ("Ines rows for Treviso", "2012-01-01", "2016-04-01"),
            ("Ugo rows for Treviso", "2014-01-01", "2018-06-01"),
            ("Ines coaches Treviso", "2016-04-01", None),
        ]

        unsure = await structured(client, "memory_reconstruct", query="Where does Ugo live?", include_uncertain=True)
        (graz,) = [item["id"] for item in unsure["evidence"] if item["text"] == "Ugo lives in Graz"]
        feedback = {"supports": [graz], "answer_correct": True}
        sure = await structured(client, "memory_evolve", episode=unsure["episode"], feedback=feedback)
        assert ("confidence", graz) in [(change["step"], change["id"]) for change in sure["changes"]]
        again = await structured(client, "memory_answer", question="Where does Ugo live?")
        assert (again["answer"], again["hedged"]) == ("Graz", False)


async def test_a_model_inserts_points_merges_two_and_recalls_them():
    async with keyless() as client:
        await written(client)
        made = await structured(client, "memory_evolve", goal=GOAL, points={"insert": POINTS})
        ids = [change["id"] for change in made["changes"] if change["kind"] == "point"]
        assert (made["engine"], len(ids)) == ("caller", 2)
        merge = [{"ids": ids, "description": MERGED}]
        one = await structured(client, "memory_evolve", goal=GOAL, points={"merge": merge})
        assert (one["engine"], [change["step"] for change in one["changes"]]) == ("caller", ["merge"])

        recall = await structured(client, "memory_reconstruct", query="What became of Ines and Ugo at Treviso?")
        (point,) = recall["points"]
        assert (point["text"], sorted(point["entities"])) == (MERGED, ["Ines", "Treviso", "Ugo"])
        around = await structured(client, "memory_explore", operator="local_points", ids=[point["id"]])
        assert around["engine"] == "caller"
        assert TALK[1]["text"] in texts(around["items"])

        helped = {"supports": [item["id"] for item in around["items"]]}
        taught = await structured(client, "memory_evolve", episode=recall["episode"], feedback=helped)
        assert {change["step"] for change in taught["changes"]} == {"feedback"}


async def test_a_correction_without_an_extracted_fact_is_stored_with_a_warning():
    async with keyless() as client:
        await written(client)
        answer = await structured(client, "memory_answer", question="Where does Treviso train?")
        feedback = {"answer_correct": False, "correction": "Since the fire the crews of Treviso use a lake."}
        done = await structured(client, "memory_evolve", episode=answer["episode"], feedback=feedback)
        (warning,) = done["warnings"]
        assert "Give memory_write the fact that changed" in warning
        read = {"correction": "Ines lives in Udine."}
        done = await structured(client, "memory_evolve", episode=answer["episode"], feedback=read)
        assert done["warnings"] == []
