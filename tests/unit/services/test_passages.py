"""What a language model is shown of what was found: no empty code, no closing phrases, lines before details."""

from __future__ import annotations

import pytest

from mcp_memory.services.recall.passages import gist_spans, is_idle_reply, telling_spans, whole_words

PLAN = (
    "I want a greenhouse for my tomatoes, can you help me plan it? Here's what I have so far:\n"
    "```python\nlength = 3\n```"
)
INSTALL = "I set it up with these packages:\n```sh\ncd greenhouse\npip install sprinkler==2.1\nls\n```\nIt runs now."


def shown(text, *asked):
    spans = telling_spans(text, 0, len(text), (lambda line: any(word in line for word in asked)) if asked else None)
    return [text[start:end] for start, end in spans]


def test_code_that_is_not_asked_for_leaves_no_shell_and_no_announcement():
    assert shown(PLAN) == ["I want a greenhouse for my tomatoes, can you help me plan it?"]


def test_where_code_is_asked_for_its_lines_are_shown_without_fences():
    assert shown(INSTALL, "sprinkler") == [
        "I set it up with these packages:",
        "cd greenhouse\npip install sprinkler==2.1\nls",
        "It runs now.",
    ]


def test_of_much_code_the_lines_that_say_what_is_asked_are_shown():
    many = "\n".join(f"frame_{number} = bend(larch, {number})" for number in range(40))
    (code,) = shown(f"```\n{many}\n```", "frame_39")[-1:]
    assert code.endswith("frame_39 = bend(larch, 39)")
    assert len(code) < 300


@pytest.mark.parametrize(
    "text",
    [
        "Would you like to explore another kind of roof?",
        "You're welcome!",
        "**Opening Hours:**",
        "## Step by step",
        "Certainly, Ann!",
        "1.",
        "Feel free to ask if you have any more questions.",
    ],
)
def test_offers_headings_and_closing_phrases_of_an_assistant_are_idle(text):
    assert is_idle_reply(text)


@pytest.mark.parametrize(
    "text", ["Water them 2 times a day.", "The roof costs $120.", "Use glass, since it lasts longer."]
)
def test_what_an_assistant_advises_is_not_idle(text):
    assert not is_idle_reply(text)


def test_the_gist_of_a_message_is_how_it_begins_and_its_figures():
    text = (
        "I am building a greenhouse, and I have read a lot about what people say of it in the forums of the town, "
        "because my neighbour likes to read them aloud in the evening, and I paid 340 euros for the glass in the end."
    )
    spans = gist_spans(text, [(0, len(text))], frozenset(), 110)
    said_of_it = " … ".join(text[start:end] for start, end in spans)
    assert said_of_it.startswith("I am building a greenhouse")
    assert "340 euros" in said_of_it
    assert "forums" not in said_of_it


def test_a_span_that_ends_within_a_word_is_shown_with_all_of_it():
    text = "The roof leaks."
    assert [text[slice(*whole_words(text, *span))] for span in ((5, 8), (4, 8), (0, 15))] == [
        "roof",
        "roof",
        "The roof leaks.",
    ]
