"""What is recalled of a talk, one query a line in ``recalls.jsonl``.

``said`` are the lines of a talk, or the name of one that a line with ``talk`` gives; an object among them is a
document, or a message with a role. ``then`` was said later, and ``facts`` are a caller's own. ``query`` is asked as
``asked`` says. ``first`` is in the first record; ``order`` are the first records, ``only`` all of them; ``has`` are in
some record, and ``lacks`` in none. What else stands in a line is a field of the result. It is 1 January 2024, and
similar is what has words in common.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from learning_memory import memory, recalled
from unit.rules.answers.small_memory import said

from mcp_memory.domain.evidence import RecallResult
from mcp_memory.domain.query import Window
from mcp_memory.domain.requests import NewFact, NewItem, WriteRequest
from mcp_memory.memory import Memory
from mcp_memory.server.tools.arguments import parse_window

pytestmark = pytest.mark.anyio
_FILE = Path(__file__).with_name("recalls.jsonl")
LINES: list[dict[str, Any]] = [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]
TALKS = {line["talk"]: line["said"] for line in LINES if "talk" in line}
QUERIES = [line for line in LINES if "query" in line]


async def hold(lines: list[Any], facts: tuple[NewFact, ...]) -> Memory:
    """Return a memory of what was said, in a session for each day; documents are in one of their own."""
    one, day = memory(), "@ 2023-05-08"
    for place, line in enumerate(lines):
        if isinstance(line, str) and line.startswith("@"):
            day = line
        elif isinstance(line, str):
            await one.write(WriteRequest("default", day, "message", tuple(said(day, line))))
        else:
            kind = "document" if "title" in line else "message"
            await one.write(WriteRequest("default", kind, kind, (NewItem(**({"ref": str(place)} | line)),)))
    if facts:
        await one.write(WriteRequest("default", "facts", "statement", (), facts))
    return one


def seen(recall: RecallResult, name: str) -> Any:
    """Return what a line says of a result under a name."""
    match name:
        case "order" | "only":
            return [item.text for item in recall.evidence]
        case "speakers":
            return sorted({str(item.sources[0].turn.speaker) for item in recall.evidence})
        case "before":
            return [item.before.quote if item.before else None for item in recall.evidence]
        case "missing":
            return list(recall.missing)
    return getattr(recall, name)


@pytest.mark.parametrize("line", QUERIES, ids=[f"{line.get('what', '')} {line['query']}" for line in QUERIES])
async def test_what_is_recalled(line: dict[str, Any]) -> None:
    told = line["said"] if isinstance(line["said"], list) else TALKS[line["said"]]
    one = await hold([*told, *line.get("then", ())], tuple(NewFact(*fact) for fact in line.get("facts", ())))
    asked = dict(line.get("asked", {}))
    asked |= {"window": parse_window(*asked["window"])} if "window" in asked else {"window": Window()}
    recall = await recalled(one, line["query"], **asked)
    texts = [item.text for item in recall.evidence]
    for name in line.keys() - {"what", "said", "then", "facts", "query", "asked"}:
        match name:
            case "first":
                assert line[name] in texts[0]
            case "has":
                assert all(any(words in text for text in texts) for words in line[name]), texts
            case "lacks":
                assert not any(words in text for text in texts for words in line[name]), texts
            case "order":
                assert all(words in text for words, text in zip(line[name], texts, strict=False)), texts
                assert len(texts) >= len(line[name])
            case _:
                assert seen(recall, name) == line[name]
