"""A hypothesis is no answer: without a language model the reply quotes what was said that comes closest."""

from stdio_client import serving

SAID = [
    ("Ann", "I have a beagle called Rufus."),
    ("Bob", "Carla is my sister."),
    ("Ann", "I drink tea in the morning."),
    ("Bob", "The Blue Lantern is in Porto."),
    ("Bob", "I work at the Blue Lantern."),
    ("Ann", "I walked in the rain today."),
]


def test_what_an_implied_relation_says_is_no_answer_and_what_was_said_is_quoted(tmp_path):
    with serving(tmp_path / "store") as talk:
        messages = [{"speaker": speaker, "text": text} for speaker, text in SAID]
        talk.structured("memory_write", messages=messages, wait=True)
        answer = talk.structured("memory_answer", question="What does Ann own?", learn=False)
    assert (answer["answer"], answer["abstained"], answer["hedged"]) == (None, True, False)
    assert "confidence" not in answer
    assert len(answer["closest"]) == 3
    first = answer["closest"][0]
    assert (first["text"], first["speaker"]) == ("I have a beagle called Rufus.", "Ann")
    assert set(first) == {"text", "speaker", "time", "source"}
    assert set(first["source"]) == {"id", "session"}
