"""Reading takes no longer than a text is long: 90 hostile texts, grown eight times, by the processor's time.

Each generator repeats something that rules look at again and again: a word, a mark, a clause, a date, a script. What is
quadratic grows 64 times where the text grows eight times. A busy machine only makes a reading longer, so the shortest
of some readings counts, and they are repeated while the bound does not hold.
"""

import itertools
import time

import pytest
from reading import turn

from mcp_memory.language.segments import split
from mcp_memory.language.stated import stated_times
from mcp_memory.rules.facts import prose
from mcp_memory.rules.facts.extractor import RuleExtractor

SMALL = 4_000
"""Characters of the small text; the large one has eight times as many."""
GROWTH = 1.3 * 8
"""Most that the time may grow, where eight times is linear. With 25,000 and 200,000 characters: at worst 1.12 * 8."""
FREE_S = 0.02
"""Seconds that a text may take whatever the growth: those of the small one are too few to compare."""
ATTEMPTS = 8

REPEATED = {
    **{
        f"word {word}": f"{word} "
        for word in (
            "not", "my", "and", "the", "I", "is", "that", "who", "if", "said", "was", "to", "of", "no", "never", "or",
            "but", "because", "she", "name", "brother", "really", "very", "had", "will", "would", "Ann", "New", "don't",
            "moved", "Monday", "yesterday", "ago", "since", "until", "between", "May", "2020",
        )
    },
    **{
        f"mark {number}": mark
        for number, mark in enumerate(
            ['"', "“", "'", "’s ", "(", ")", "()", "[", "…", ", ", "; ", ": ", "-", "—", "*", "_", "`", ">", "#", "\n",
             "\n\n", "!", "? ", ". ", ".", "@", "/", "$", "%", "0", "a", "A"]
        )
    },
    "day and month": "1 May ",
    "dates": "2020-01-01 ",
    "date list": "on 1 May 2020, ",
    "numbers": "12 345 ",
    "clock": "10:30 ",
    "sentences": "I live in Lisbon. ",
    "clauses": "I live in Lisbon and ",
    "owners": "my sister's ",
    "relatives": "who knows the man ",
    "quotes": '"he said" ',
    "names": "Ann Lee ",
    "emoji": "\U0001f600",
    "family emoji": "\U0001f468\u200d\U0001f469\u200d",
    "chinese": "我昨天去了北京",
    "chinese sentences": "我昨天去了北京。",
    "arabic": "ذهبت أمس ",
    "combining": "a\u0301",
    "list items": "- buy milk\n",
    "short lines": "a\n",
    "questions": "Do you like it? ",
    "notes": "blood type: O\n",
    "corrections": "no wait, I mean ",
    "denied": "I am not ",
    "ages": "I am 30. ",
}  # fmt: skip
"""90 texts, each given by what it repeats."""


def repeated(part, size):
    return (part * (size // len(part) + 1))[:size]


def read_s(text):
    """Return the seconds of processor time that reading a message takes."""
    message = turn(text)
    started = time.thread_time()
    spans = split(text)
    times = [stated_times(text, message.said_at, start, end) for start, end in spans]
    RuleExtractor().extract(message, "Leo", spans, times)
    return time.thread_time() - started


def test_there_are_ninety_texts():
    assert len(REPEATED) == len(set(REPEATED.values())) >= 90


@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_reading_takes_no_longer_than_a_text_is_long(part):
    small = large = float("inf")
    for _ in range(ATTEMPTS):
        small = min(small, *(read_s(repeated(part, SMALL)) for _ in range(3)))
        large = min(large, read_s(repeated(part, 8 * SMALL)))
        if large < max(FREE_S, GROWTH * small):
            return
    pytest.fail(f"{small:.4f} s, and {large:.4f} s for eight times as much")


def test_a_message_that_takes_too_long_is_put_aside_with_a_word(monkeypatch, caplog):
    towns = ("Oslo", "Rome", "Bern", "Riga", "Bath", "Kiel", "Genoa", "Turin")
    text = " ".join(f"I live in {name}." for name in towns)

    def read():
        return {one.tail for one in RuleExtractor().extract(turn(text), "Leo", split(text), [()] * len(towns))}

    assert read() == {*towns}
    ticks = itertools.count(step=prose.CEILING_S / 4)
    monkeypatch.setattr(prose.time, "thread_time", lambda: next(ticks))
    assert 0 < len(read()) < len(towns)
    assert "its facts are not read" in caplog.text
