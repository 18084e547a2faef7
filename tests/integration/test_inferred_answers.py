"""A hypothesis reaches a user without a language model: as evidence that says so, and as a hedged answer."""

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
def test_what_an_implied_relation_says_is_answered_with_a_hedge(tmp_path, on):
    with serving(tmp_path / "store", MCP_MEMORY_SWITCHES_COUNTERFACTUAL=on) as talk:
        messages = [{"speaker": speaker, "text": text} for speaker, text in SAID]
        talk.structured("memory_write", messages=messages, wait=True)
        answer = talk.structured("memory_answer", question="What does Ann own?", learn=False)
    guesses = [(item["kind"], item["text"]) for item in answer["evidence"] if item.get("inferred") == "symmetry"]
    if on == "false":
        assert not guesses
        return
    assert (answer["answer"], answer["hedged"]) == ("Rufus", True)
    assert guesses == [("fact", "Ann owns Rufus")]
    assert [one["quote"] for one in answer["citations"]] == ["I have a beagle called Rufus"]
