"""Keep what a recall finds for each question, with its score by every channel, as the reader is to see it.

    python -m training.candidates OUT.jsonl training/data/worlds/*
    python -m training.candidates OUT.jsonl --data DATA/NAME [--store FOLDER]

A ranker learns best from the mistakes of what it follows. One line a question: ``{"set", "world", "q", "kind",
"gold": [ids], "ids": [of the records found, best first], "texts": [as `mcp_memory.search.ranking` shows them],
"roles", "totals": [the score of the search], "scores": [{channel: score}], "counts": [how much the user's and the named
speaker's words counted]}``. The reader is switched off.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.language import iso
from mcp_memory.memory import Memory
from mcp_memory.search.ranking import record_text
from mcp_memory.services.recall import pipeline
from mcp_memory.settings import load
from mcp_memory.wiring import open_memory
from tests.bench import evidence
from training.worlds import read_worlds, requests

MOST_RECORDS = 60
"""Records kept of each question."""
ITEMS = 200
"""Items of one call."""


@dataclass(frozen=True)
class Question:
    """A question with its gold records."""

    space: str
    text: str
    kind: str
    gold: Sequence[str]
    now: int | None = None


async def candidates(memory: Memory, asked: Question, data: str) -> dict[str, Any]:
    """Return the line of a question."""
    query = Query(asked.text, asked.space, limit=MOST_RECORDS, mode="best").asked(
        memory.clock(), memory.masking.mask, None
    )
    if asked.now is not None:
        query = replace(query, now=asked.now)
    query = await pipeline.embed_query(memory.store, memory.embedder, query)
    line: dict[str, Any] = {"set": data, "world": asked.space, "q": asked.text, "kind": asked.kind}
    line |= {"gold": list(asked.gold), "ids": [], "texts": [], "roles": [], "totals": [], "scores": []}
    line["counts"] = [query.user_words, query.speaker_words]
    async with memory.store.reading() as view:
        space = view.space(asked.space)
        ranked = (await pipeline.find(memory.embedder, view, query, memory.recall)).candidates
        for one in ranked:
            turn = space.segment_turn[one.row]
            line["ids"].append(turn.ref)
            line["texts"].append(record_text(space, one.row))
            line["roles"].append(turn.role or turn.kind)
            line["totals"].append(round(one.score, 4))
            line["scores"].append({name: round(score, 4) for name, score in one.scores.items()})
    return line


def of_worlds(folders: Sequence[Path]) -> tuple[list[WriteRequest], list[Question]]:
    """Return what to write and to ask of worlds."""
    found = read_worlds(folders)
    writes = [request for world in found for request in requests(world)]
    asked = [
        Question(
            world["id"], one["q"], one["kind"], one["gold"], iso.parse(one["asked"])[0] if one.get("asked") else None
        )
        for world in found
        for one in world["questions"]
    ]
    return writes, asked


def of_dataset(data: Path) -> tuple[list[WriteRequest], list[Question]]:
    """Return what to write and to ask of a data set that ``tests/bench/evidence.py`` reads."""
    writes = []
    for call in evidence.writes(data):
        kind = "messages" if "messages" in call else "documents"
        items = tuple(
            NewItem(
                item["text"],
                ref=item["id"],
                title=item.get("title"),
                speaker=item.get("speaker"),
                said_at=iso.parse(item["time"])[0] if item.get("time") else None,
            )
            for item in call[kind]
        )
        writes.append(WriteRequest(call["space"], call["session"], kind.removesuffix("s"), items))  # type: ignore[arg-type]
    asked = [one for one in evidence.questions(data) if one.answerable]
    return writes, [Question(one.space, one.text, one.kind, one.gold) for one in asked]


async def main(options: argparse.Namespace) -> None:
    """Write, ask, and keep what was found."""
    if options.data is not None:
        name, (writes, asked) = options.data.name, of_dataset(options.data)
    else:
        name, (writes, asked) = "worlds", of_worlds(options.folders)
    settings = load(None)
    settings = replace(settings, reader=replace(settings.reader, use="off"))
    with tempfile.TemporaryDirectory() as folder:
        written = options.store is not None and options.store.exists()
        place = str(options.store or Path(folder) / "store")
        memory = await open_memory(replace(settings, storage=replace(settings.storage, uri=place)))
        try:
            for number, request in enumerate(writes if not written else ()):
                for start in range(0, len(request.items), ITEMS):
                    await memory.write(replace(request, items=request.items[start : start + ITEMS]))
                if number % 20 == 0:
                    print(f"{number} of {len(writes)} sessions written", file=sys.stderr, flush=True)
            with options.out.open("w", encoding="utf-8") as out:
                for question in asked:
                    out.write(json.dumps(await candidates(memory, question, name), ensure_ascii=False) + "\n")
        finally:
            await memory.aclose()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--store", type=Path, help="a store to keep, or one that was kept")
    anyio.run(main, parser.parse_args())
