"""Measure how much of the annotated evidence a recall finds, by kind of question, with 95 % intervals.

    PYTHONPATH=tests python -m bench.evidence data/NAME --json before.json
    MCP_MEMORY_SWITCHES_WORDS=false PYTHONPATH=tests python -m bench.evidence data/NAME --against before.json

The tools are called in this process, with the user's settings and an empty store: everything is written, then every
question is asked once. Nothing is taught. The paired difference of two runs (``--against``) says whether a change
helped: intervals of the runs themselves are far wider. recall@k of a question is the share of its gold ids among the
first k distinct ids that the evidence cites, best item first and, within an item, in the order of its sources.

A data set is ``NAME.conversations.jsonl`` or ``NAME.corpus.jsonl``, and ``NAME.questions.jsonl``, an object a line:

- a conversation: ``id``, ``sessions: [{session_id, date?, turns: [{turn_id, speaker, text, caption?}]}]``; each becomes
  a space, and its questions name it as ``conv_id`` and their turns as ``evidence``;
- a document: ``doc_id``, ``title?``, ``text``; all go into one space, and questions name them as ``supporting``.

A question has ``qid`` and ``question``, and may have a kind: ``category_name``, ``category`` or ``type``. Those without
evidence are left out; those marked as unanswerable (``category`` 5, as in LoCoMo) have a line of their own.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from math import sqrt
from pathlib import Path
from statistics import fmean, median, pstdev
from typing import Any

import anyio

from mcp_memory import __version__
from mcp_memory.server.tools.catalogue import TOOLS
from mcp_memory.services.indexing import silent
from mcp_memory.settings import Settings, load
from mcp_memory.wiring import open_memory

KS = (2, 5, 10, 20)
LIMIT, MAX_TOKENS = 20, 20_000
"""Pieces of evidence, and tokens, that a question asks for."""
ITEMS_A_CALL = 50
DOCUMENTS = "docs"
"""The space of the documents."""
UNANSWERABLE = "5"
_DATES = ("%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M", "%Y/%m/%d", "%d.%m.%Y, %H:%M")
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the space of its evidence, the ids that answer it (at least one), and its kind."""

    id: str
    space: str
    text: str
    gold: tuple[str, ...]
    kind: str
    answerable: bool


def main() -> None:
    """Measure, print the table, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA", help="path without the endings of its files")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every question's figures here")
    parser.add_argument("--against", type=Path, metavar="FILE", help="of an earlier --json: print paired differences")
    options = parser.parse_args()
    before = None if options.against is None else json.loads(options.against.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="mcp-memory-evidence-", ignore_cleanup_errors=True) as folder:
        report = anyio.run(measure, load(None), options.data, Path(folder))
    print("\n".join(table(report)))
    if before is not None:
        print("\n".join([f"paired difference to {options.against}, in points:", *differences(before, report)]))
    if options.json is not None:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


async def measure(settings: Settings, data: Path, folder: Path) -> dict[str, Any]:
    """Write a data set into a store in an empty folder, ask its questions, and return the report."""
    storage, write = replace(settings.storage, uri=str(folder / "store")), replace(settings.write, wait=True)
    calls, asked, seconds, rows = list(writes(data)), questions(data), list[float](), list[dict[str, Any]]()
    memory = await open_memory(replace(settings, storage=storage, write=write))

    async def call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return (await TOOLS[tool].prepare(arguments, settings.limits)(memory, silent)).structured

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(memory.work)
            for arguments in calls:
                await call("memory_write", arguments)
            for one in asked:
                began = time.perf_counter()
                question = {"query": one.text, "limit": LIMIT, "max_tokens": MAX_TOKENS, "space": one.space}
                shown = (await call("memory_reconstruct", question))["evidence"]
                ids = list(dict.fromkeys(str(source["id"]) for item in shown for source in item["sources"]))
                seconds.append(time.perf_counter() - began)
                found = {f"R@{k}": sum(ref in ids[:k] for ref in one.gold) / len(one.gold) for k in KS}
                rows.append({"id": one.id, "kind": one.kind, "answerable": one.answerable, **found})
            tasks.cancel_scope.cancel()
    finally:
        await memory.aclose()
    p50 = round(1000 * median(seconds), 1)
    return {"data": data.name, "version": __version__, "recall_p50_ms": p50, "questions": rows}


def writes(data: Path) -> Iterator[dict[str, Any]]:
    """Yield the arguments of the calls that write a data set."""
    sessions: list[tuple[str, str, str, list[dict[str, str]]]] = []
    for talk in _rows(data, "conversations"):
        for session in talk["sessions"]:
            when = moment(session.get("date"))
            messages = [_message(turn, moment(turn.get("date")) or when) for turn in session["turns"]]
            kept = [message for message in messages if message["text"].strip()]
            sessions.append((str(talk["id"]), str(session["session_id"]), "messages", kept))
    documents = [
        {"id": str(row["doc_id"]), "text": row["text"]} | ({"title": row["title"]} if row.get("title") else {})
        for row in _rows(data, "corpus")
    ]
    for space, session, kind, items in (*sessions, (DOCUMENTS, f"corpus-{data.name}", "documents", documents)):
        for start in range(0, len(items), ITEMS_A_CALL):
            yield {kind: items[start : start + ITEMS_A_CALL], "session": session, "space": space}


def questions(data: Path) -> list[Asked]:
    """Return the questions with evidence."""
    asked = []
    for row in _rows(data, "questions"):
        in_talk, category = "conv_id" in row, row.get("category")
        gold = tuple(map(str, row["evidence" if in_talk else "supporting"]))
        kind = str(row.get("category_name") or category or row.get("type") or "all")
        space = str(row["conv_id"]) if in_talk else DOCUMENTS
        asked.append(Asked(str(row["qid"]), space, row["question"], gold, kind, str(category) != UNANSWERABLE))
    return [question for question in asked if question.gold]


def _rows(data: Path, kind: str) -> list[dict[str, Any]]:
    path = data.with_name(f"{data.name}.{kind}.jsonl")
    lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
    return [json.loads(line) for line in lines if line.strip()]


def _message(turn: Row, when: str | None) -> dict[str, str]:
    caption = f" [shares a picture: {turn['caption']}]" if turn.get("caption") else ""
    message = {"id": str(turn["turn_id"]), "speaker": turn["speaker"], "text": turn["text"] + caption}
    return message | ({"time": when} if when else {})


def moment(date: str | None) -> str | None:
    """Return a date in one of the forms `_DATES` or ISO in the form that the tools take; None if it cannot be read."""
    text = (date or "").strip()
    for form in _DATES:
        with suppress(ValueError):
            return datetime.strptime(text, form).isoformat()
    with suppress(ValueError):
        return datetime.fromisoformat(text).isoformat()
    return None


def table(report: Row) -> list[str]:
    """Return the report as lines for a terminal."""
    head = f"{report['data']}: {len(report['questions'])} questions, {report['recall_p50_ms']:.0f} ms each (median)"
    return [
        head,
        f"  {'evidence recall in %':<28}" + "".join(f"{f'R@{k}':>13}" for k in KS),
        *_lines(report["questions"]),
    ]


def differences(before: Row, now: Row) -> list[str]:
    """Return a line for each kind: the mean difference of recall on the questions that both reports have."""
    was = {row["id"]: row for row in before["questions"]}
    pairs = [
        {**row, **{f"R@{k}": row[f"R@{k}"] - was[row["id"]][f"R@{k}"] for k in KS}}
        for row in now["questions"]
        if row["id"] in was
    ]
    return _lines(pairs, "+")


def _lines(rows: Sequence[Row], sign: str = "") -> Iterator[str]:
    """Yield recall in % at each of `KS`: of the answerable questions, of each kind, of all if some have no answer."""
    groups = {"all answerable": [row for row in rows if row["answerable"]]}
    for row in sorted(rows, key=lambda row: str(row["kind"])):
        groups.setdefault(row["kind"], []).append(row)
    if len(groups["all answerable"]) < len(rows):
        groups["with the unanswerable"] = list(rows)
    for kind, members in groups.items():
        cells = []
        for k in KS:
            values = [100 * row[f"R@{k}"] for row in members]
            half = 1.96 * pstdev(values) / sqrt(len(values)) if values else 0.0  # of independent questions
            cells.append(f"{f'{fmean(values or [0.0]):{sign}.1f} ±{half:.1f}':>13}")
        yield f"  {kind[:28]:<28}{''.join(cells)}  n={len(members)}"


if __name__ == "__main__":
    main()
