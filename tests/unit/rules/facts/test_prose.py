"""What an assistant writes, and what is no prose (code, tables, logs, quoted lines), states no facts."""

from dataclasses import replace
from time import process_time

import pytest
from reading import facts, turn

from mcp_memory.language.segments import split
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.rules.facts.prose import cut_out, foreign_spans


@pytest.mark.parametrize(
    "foreign",
    [
        "```\nMy boss is Ulla Strand.\nI live in Turku.\n```",
        "~~~python\nI live in Turku.\n~~~",
        "> I live in Turku.",
        "| I live in Turku. | yes |",
        "name | I live in Turku | yes",
        "2024-03-05 10:22:31 INFO I live in Turku.",
        "[10:22:31] I live in Turku.",
        "WARNING: I live in Turku.",
        'Traceback (most recent call last):\n  File "a.py", line 3\n    I live in Turku.\nKeyError: I live in Turku.',
        'text = "I live in Turku."',
        "$ echo I live in Turku.",
        "<p>I live in Turku.</p>",
        'print("I live in Turku.");',
    ],
)
def test_what_is_no_prose_of_the_speaker_is_not_read(foreign: str) -> None:
    assert facts(f"My sister lives in Vaasa.\n\n{foreign}\n\nMy aunt lives in Salo.") == [
        "Maria's sister lives_in Vaasa",
        "Maria's aunt lives_in Salo",
    ]


@pytest.mark.parametrize("note", ["owner = Henrike", "retries=0 at the moment", "master -> trunk", "limit: 50"])
def test_a_short_note_is_no_code(note: str) -> None:
    assert foreign_spans(note) == []


def test_an_open_fence_reaches_to_the_end() -> None:
    assert foreign_spans("So:\n```\na\n\nb") == [(4, 12)]


def test_adjacent_foreign_lines_are_one_span() -> None:
    assert foreign_spans("> a\n> b\nc\n> d\n") == [(0, 8), (10, 14)]


def test_a_sentence_ends_where_foreign_text_begins() -> None:
    assert cut_out((0, 10), [(4, 12)], 0) == ((0, 4), 0)
    assert cut_out((5, 9), [(4, 12)], 0) == ((5, 5), 0)
    assert cut_out((12, 20), [(4, 12)], 0) == ((12, 20), 1)


@pytest.mark.parametrize(
    ("speaker", "role", "read"),
    [
        ("Maria", "assistant", False),
        (None, "assistant", False),
        ("assistant", None, False),
        ("ChatGPT", None, False),
        ("Claude", "user", True),
        ("Maria", "user", True),
        ("Maria", None, True),
    ],
)
def test_an_assistant_states_no_facts(speaker: str | None, role: str | None, read: bool) -> None:
    said = replace(turn("Oskar lives in Turku.", speaker=speaker), role=role)
    spans = split(said.text)
    assert bool(RuleExtractor().extract(said, None, spans, [()] * len(spans))) == read


@pytest.mark.parametrize(
    "line", ["`" * 3000, "a = " * 3000, "| " * 3000, "@" * 9000, "(" * 9000, "x " * 4500, "> \n" * 3000]
)
def test_hostile_lines_take_linear_time(line: str) -> None:
    start = process_time()
    foreign_spans("\n".join([line] * 20))
    assert process_time() - start < 4
