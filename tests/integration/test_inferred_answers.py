"""A hypothesis reaches a user without a language model as evidence that says so, and is no answer."""

import pytest
from stdio_client import serving

SAID = [
    ("Ann", "I have a beagle called Rufus."),
    ("Bob", "Carla is my sister."),
    ("Ann", "I drink tea in the morning."),
    ("Bob", "The Blue Lantern is in Porto."),
    ("Bob", "I work at the Blue Lantern."),
    ("Ann", "I walked in the rain today."),
]


@pytest.mark.parametrize("on", ["true", "false"])
def test_what_an_implied_relation_says_is_evidence_and_no_answer(tmp_path, on):
    with serving(tmp_path / "store", MCP_MEMORY_SWITCHES_COUNTERFACTUAL=on) as talk:
        messages = [{"speaker": speaker, "text": text} for speaker, text in SAID]
        talk.structured("memory_write", messages=messages, wait=True)
        answer = talk.structured("memory_answer", question="What does Ann own?", learn=False)
    guesses = [(item["kind"], item["text"]) for item in answer["evidence"] if item.get("inferred") == "symmetry"]
    assert guesses == ([("fact", "Ann owns Rufus")] if on == "true" else [])
    assert answer["answer"] is None
    assert len(answer["closest"]) == 3
    assert {"text", "speaker", "time", "source"} == set(answer["closest"][0])
    assert set(answer["closest"][0]["source"]) == {"id", "session"}
