"""``mcp-memory eval DATA``: how much of the annotated evidence a recall finds, by kind of question, with intervals.

The tools are called in this process, with the user's settings and an empty store: everything is written, then every
question is asked once. Nothing is taught, no language model takes part unless the settings say so, and the store
goes afterwards unless ``--store`` keeps it. The paired difference of two runs (``--against``) says whether a change
helped: intervals of the runs themselves are far wider.

recall@k of a question is the share of its gold ids among the first k distinct ids that the evidence cites, best item
first and, within an item, in the order of its sources.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from math import sqrt
from pathlib import Path
from statistics import fmean, median, pstdev
from typing import Any, Final, NamedTuple

import anyio

from mcp_memory import __version__
from mcp_memory.commands.dataset import UNNAMED, Asked, Dataset, read
from mcp_memory.commands.terminal import ProgressBar, Terminal
from mcp_memory.errors import ConfigurationError
from mcp_memory.ports import Progress
from mcp_memory.server.tools.catalogue import TOOLS
from mcp_memory.services.ingest import silent
from mcp_memory.settings import Settings, with_switches
from mcp_memory.wiring import open_memory

LIMIT, MAX_TOKENS = 20, 20_000
"""Pieces of evidence, and tokens, that a question asks for."""
ITEMS_A_CALL = 50


class Mean(NamedTuple):
    """A mean over questions.

    Attributes:
        value: the mean; NaN without questions.
        half_width: the half width of the 95 % interval, in the same unit (normal approximation, independent questions).
        number: the number of questions.
    """

    value: float
    half_width: float
    number: int


def mean(values: Sequence[float]) -> Mean:
    """Return the mean of one value per question."""
    if not values:
        return Mean(float("nan"), float("nan"), 0)
    return Mean(fmean(values), 1.96 * pstdev(values) / sqrt(len(values)), len(values))


def ranked_ids(evidence: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the distinct ids of the messages and documents that the evidence cites, best item first."""
    return list(dict.fromkeys(str(source["id"]) for item in evidence for source in item.get("sources", ())))


def recall_at(k: int, gold: Collection[str], ids: Sequence[str]) -> float:
    """Return the share of the gold ids among the first k ids, in [0, 1]; there must be at least one gold id."""
    first = set(ids[:k])
    return sum(ref in first for ref in gold) / len(gold)


Call = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Calls a tool with arguments, and returns the structured part of its reply."""


@asynccontextmanager
async def calling(settings: Settings, store: Path) -> AsyncIterator[Call]:
    """Yield what calls the tools on a store; each write waits until it is indexed."""
    storage, write = replace(settings.storage, uri=str(store)), replace(settings.write, wait=True)
    memory = await open_memory(replace(settings, storage=storage, write=write))

    async def call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return (await TOOLS[tool].prepare(arguments, settings.limits)(memory, silent)).structured

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(memory.work)
            yield call
            tasks.cancel_scope.cancel()
    finally:
        await memory.aclose()


async def write_items(call: Call, dataset: Dataset, progress: Progress = silent) -> int:
    """Write every item of a data set; return how many."""
    total, done = sum(len(session.items) for session in dataset.calls), 0
    for session in dataset.calls:
        for start in range(0, len(session.items), ITEMS_A_CALL):
            items = list(session.items[start : start + ITEMS_A_CALL])
            await call("memory_write", {session.kind: items, "session": session.session, "space": session.space})
            done += len(items)
            await progress(done, total, "writing")
    return total


async def recall(call: Call, asked: Asked, text: str, **more: str) -> dict[str, Any]:
    """Return what ``memory_reconstruct`` replies.

    Args:
        call: calls the tools on a store that has the items.
        asked: the question.
        text: its wording.
        more: further arguments of the tool.
    """
    arguments = {"query": text, "limit": LIMIT, "max_tokens": MAX_TOKENS, "space": asked.space, **more}
    return await call("memory_reconstruct", arguments)


KS: Final = (2, 5, 10, 20)
ALL: Final = "all answerable"
WITH_UNANSWERABLE: Final = "with the unanswerable"
_WRITTEN: Final = "written.json"

Row = Mapping[str, Any]
"""A question's result: id, kind, answerable, and recall in [0, 1] by "R@2", …"""


async def evaluate(settings: Settings, options: argparse.Namespace, _terminal: Terminal) -> None:
    """Measure, print the table, and write what was asked for.

    Raises:
        ConfigurationError: the data, a switch or a file cannot be used.
    """
    settings = with_switches(settings, options.switch or ())
    before = _earlier(options.against) if options.against else None
    dataset = read(options.data, options.questions, unanswerable=True)
    with ExitStack() as opened:
        folder = options.store or Path(
            opened.enter_context(tempfile.TemporaryDirectory(prefix="mcp-memory-eval-", ignore_cleanup_errors=True))
        )
        bar = ProgressBar("items")
        opened.callback(bar.end)
        report = await _measure(settings, dataset, folder, bar.show)
    report["switches"] = sorted(options.switch or ())
    print("\n".join(table(report)))
    if before is not None:
        print("\n".join(["", f"paired difference to {options.against}, in points:", *differences(before, report)]))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


async def _measure(settings: Settings, dataset: Dataset, folder: Path, progress: Progress) -> dict[str, Any]:
    """Write what is not written yet, ask everything, and return the report."""
    fresh = not _is_written(folder, dataset)
    questions: list[dict[str, Any]] = []
    seconds: list[float] = []
    began = time.perf_counter()
    async with calling(settings, folder / "store") as call:
        if fresh:
            await write_items(call, dataset, progress)
            (folder / _WRITTEN).write_text(json.dumps([dataset.name, _items(dataset)]), encoding="utf-8")
        written_s = time.perf_counter() - began
        for number, asked in enumerate(dataset.questions, 1):
            began = time.perf_counter()
            reply = await recall(call, asked, asked.text)
            seconds.append(time.perf_counter() - began)
            ids = ranked_ids(reply["evidence"])
            found = {f"R@{k}": recall_at(k, asked.gold, ids) for k in KS}
            questions.append({"id": asked.id, "kind": asked.kind, "answerable": asked.answerable, **found})
            await progress(number, len(dataset.questions), "asking")
    return {
        "data": dataset.name,
        "version": __version__,
        "items": _items(dataset),
        "written_s": round(written_s, 2) if fresh else None,
        "recall_p50_ms": round(1000 * median(seconds), 1),
        "recall_p95_ms": round(1000 * sorted(seconds)[int(0.95 * len(seconds))], 1),
        "recall": {
            kind: {f"R@{k}": list(each) for k, each in zip(KS, means, strict=True)}
            for kind, means in by_kind(questions).items()
        },
        "questions": questions,
    }


def _items(dataset: Dataset) -> int:
    return sum(len(call.items) for call in dataset.calls)


def _is_written(folder: Path, dataset: Dataset) -> bool:
    """Return whether a folder has the data set already; the folder is made.

    Raises:
        ConfigurationError: it holds another one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    note = folder / _WRITTEN
    if not note.exists():
        return False
    if json.loads(note.read_text(encoding="utf-8")) != [dataset.name, _items(dataset)]:
        raise ConfigurationError(f"--store {folder} holds other data ({note.name} says which). Name another folder.")
    return True


def by_kind(questions: Sequence[Row]) -> dict[str, tuple[Mean, ...]]:
    """Return recall in % at each of `KS`: of the answerable questions, of each kind, of all if some have no answer."""
    groups: dict[str, list[Row]] = {ALL: [row for row in questions if row["answerable"]]}
    for row in sorted(questions, key=lambda row: str(row["kind"])):
        if row["kind"] != UNNAMED:
            groups.setdefault(row["kind"], []).append(row)
    if len(groups[ALL]) < len(questions):
        groups[WITH_UNANSWERABLE] = list(questions)
    return {
        kind: tuple(mean([100 * row[f"R@{k}"] for row in rows]) for k in KS) for kind, rows in groups.items() if rows
    }


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return a line for each kind: the mean difference of recall on the questions that both runs asked.

    Args:
        before: an earlier report.
        now: the report of this run.

    Raises:
        ConfigurationError: the runs share no question.
    """
    was = {row["id"]: row for row in before["questions"]}
    pairs = [
        {**row, **{f"R@{k}": row[f"R@{k}"] - was[row["id"]][f"R@{k}"] for k in KS}}
        for row in now["questions"]
        if row["id"] in was
    ]
    if before["data"] != now["data"] or not pairs:
        raise ConfigurationError(f"--against: that run asked nothing of {now['data']}, but of {before['data']}")
    return [_line(kind, each, "+") for kind, each in by_kind(pairs).items()]


def table(report: Mapping[str, Any]) -> list[str]:
    """Return the report as lines for a terminal."""
    asked = len(report["questions"])
    written = "" if report["written_s"] is None else f" written in {report['written_s']:.0f} s"
    switches = "".join(f", {text}" for text in report["switches"])
    head = (
        f"{report['data']}{switches}: {asked} questions, {report['items']:,} items{written};"
        f" a recall takes {report['recall_p50_ms']:.0f} ms (median), {report['recall_p95_ms']:.0f} ms (95 %)"
    )
    lines = [head, f"  {'evidence recall in %':<28}" + "".join(f"{f'R@{k}':>13}" for k in KS)]
    return lines + [_line(kind, each) for kind, each in by_kind(report["questions"]).items()]


def _line(kind: str, each: Sequence[Mean], sign: str = "") -> str:
    cells = "".join(f"{f'{mean.value:{sign}.1f} ±{mean.half_width:.1f}':>13}" for mean in each)
    return f"  {kind[:28]:<28}{cells}  n={each[0].number}"


def _earlier(file: Path) -> dict[str, Any]:
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
        if not all({"id", "kind", "answerable", "R@2"} <= row.keys() for row in report["questions"]):
            raise KeyError("questions")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"--against {file} is no file that `mcp-memory eval --json` wrote: {error}") from error
    return dict(report)
