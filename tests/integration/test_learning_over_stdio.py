"""Learning from end to end over a real server: lessons survive however the process ends."""

import pytest
from stdio_client import serving

TALK = [
    {"id": "m1", "speaker": "Ann", "time": "2023-05-08", "text": "I adopted a beagle in May. His name is Rufus."},
    {"id": "m2", "speaker": "Bob", "time": "2023-06-12", "text": "I moved to Lisbon last Friday."},
    {"id": "m3", "speaker": "Ann", "time": "2023-06-13", "text": "My sister bakes bread for the whole street."},
    {"id": "m4", "speaker": "Bob", "time": "2023-06-14", "text": "The trams there are loud, but I sleep well."},
]
QUESTION = "Which dog does Ann have?"


def learnt(talk, sentence):
    return talk.read(f"memory://default/sentences/{sentence}")["learnt"]


def taught(talk):
    """Say which sentence helped; return the feedback and the sentences that were labelled."""
    recall = talk.structured("memory_reconstruct", query=QUESTION)
    best = next(item["id"] for item in recall["evidence"] if item["sources"][0]["id"] == "m1")
    feedback = {"episode": recall["episode"], "feedback": {"supports": [best]}}
    done = talk.structured("memory_evolve", **feedback)
    assert done["engine"] == "caller"
    return feedback, [change["id"] for change in done["changes"] if change["kind"] == "sentence"]


@pytest.mark.parametrize("end", ["terminate", "kill"])
def test_a_lesson_survives_its_server_and_counts_once(tmp_path, end):
    with serving(tmp_path / "store") as talk:
        talk.structured("memory_write", messages=TALK)
        feedback, labelled = taught(talk)
        before = [learnt(talk, sentence) for sentence in labelled]
        getattr(talk.process, end)()  # the reply has come, so nothing of it may be lost
    assert labelled
    assert {state["supported"] for state in before} == {1}
    with serving(tmp_path / "store") as talk:
        assert [learnt(talk, sentence) for sentence in labelled] == before
        again = talk.structured("memory_evolve", **feedback)  # the log knows the episode, the new process never saw it
        assert (again["changes"], [one["step"] for one in again["skipped"]]) == ([], ["feedback"])
        trace = talk.read(f"memory://default/episodes/{feedback['episode']}")
        assert (trace["query"], [lesson["source"] for lesson in trace["lessons"]]) == (QUESTION, ["caller"])
        assert talk.structured("memory_status")["healthy"]
