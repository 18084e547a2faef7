"""What is answered after messages, and from facts: right, or not at all.

``talks.jsonl`` has messages, a question, and its ``answer`` (null for none) or what an answer ``holds`` if there is
one. The messages go through the whole write and read path, and every fact that is read out of them counts as certain:
so what is tested is what answers make of facts. ``facts.jsonl`` has facts (`known_facts.space_of`) with the answers
to questions about them; those under ``right_or_none`` may be missing.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import known_facts
import pytest
from small_memory import ask, said

HERE = Path(__file__).parent
TALKS, FACTS = (
    [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]
    for name in ("talks.jsonl", "facts.jsonl")
)
OF_FACTS = [(one["facts"], question, answer) for one in FACTS for question, answer in one["answers"].items()]
RIGHT_OR_NONE = [
    (one["facts"], question, answer) for one in FACTS for question, answer in one.get("right_or_none", {}).items()
]


async def answered(line: dict[str, Any]) -> tuple[str | None, tuple[str, ...]]:
    """Return the answer and the warnings after messages; those of "user" have that role and no speaker."""
    items = said(*line["lines"])
    items = [replace(one, role="user", speaker=None) if one.speaker == "user" else one for one in items]
    found = await ask(items, line["question"], read=True)
    return found.text, found.recall.warnings


@pytest.mark.anyio
@pytest.mark.parametrize("line", TALKS, ids=[f"{line['lines'][0]} {line['question']}" for line in TALKS])
async def test_what_was_told_is_answered_rightly_or_not(line: dict[str, Any]) -> None:
    text, warnings = await answered(line)
    if "answer" in line:
        assert text == line["answer"]
    else:
        assert line["holds"] in (text or line["holds"])
    assert any(line.get("warning", "") in warning for warning in warnings or [""])


@pytest.mark.anyio
async def test_a_good_part_of_what_was_told_plainly_is_answered() -> None:
    told = [line for line in TALKS if "holds" in line]
    texts = [(await answered(line))[0] for line in told]
    assert sum(text is not None for text in texts) >= len(told) / 4


@pytest.mark.parametrize(("facts", "question", "answer"), OF_FACTS)
def test_facts_answer_by_their_validity_or_not(facts: list[str], question: str, answer: str | None) -> None:
    found = known_facts.ask(facts, question)
    assert (found.text if found else None) == answer
    assert not found or (found.citations and not found.hedged)


@pytest.mark.parametrize(("facts", "question", "answer"), RIGHT_OR_NONE)
def test_the_only_relative_is_not_taken_for_one_of_another_kind(facts: list[str], question: str, answer: str) -> None:
    found = known_facts.ask(facts, question)
    assert found is None or found.text == answer
