"""``python -m bench --learning DATA``: what feedback improves, on a data set of the user.

Half of the questions are taught and half never are (`is_taught`). At pass 0 a fresh store is asked the taught
questions, the same questions in other words (`paraphrase`; only where the wording differs enough), and the unseen ones.
Before each further pass every taught question is recalled, and ``memory_evolve`` receives the evidence that cites a
gold id. With clean labels these are the right items; with noisy labels, in 30 % of the cases one wrong item among the
first five replaces them. Both kinds of labels start from a copy of the same store.

The server is a process of its own with the user's settings, called over stdio; no data stays when the measurement ends.
`evaluate` defines recall@k. Rounds are those of propagation, as ``detail: full`` reports them, with early
stopping as configured; they are left out if the server reports none.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Literal

import anyio
from bench.own_server import connected, own_server
from bench.paraphrase import paraphrase
from bench.plot import Line, Panel, writer
from bench.subjects import Figure, document
from mcp import Client

from mcp_memory.commands.dataset import Asked, Dataset, read
from mcp_memory.commands.demo import call
from mcp_memory.commands.evaluate import Mean, mean, ranked_ids, recall, recall_at, write_items
from mcp_memory.errors import ConfigurationError
from mcp_memory.settings import Settings

PASSES = 5
KS = (5, 10)
NOISE = 0.3
"""With noisy labels, the share of taught questions whose label is wrong in a pass."""
WRONG_AMONG = 5
SEED = 3

Labels = Literal["clean", "noisy"]
LABELS: tuple[Labels, ...] = ("clean", "noisy")
Group = Literal["taught", "paraphrased", "unseen"]
GROUPS: tuple[Group, ...] = ("taught", "paraphrased", "unseen")
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Found:
    """The result of one question.

    Attributes:
        recall: in %, for each of `KS`.
        rounds: the rounds of propagation; None if the server does not report it.
    """

    recall: tuple[float, ...]
    rounds: int | None


@dataclass(frozen=True, slots=True)
class Curve:
    """The results of all questions in all passes.

    Attributes:
        name: the name of the data set.
        left_out: taught questions without another wording.
        found: the results of a group in the order of its questions, by labels, group and pass; pass 0 is the same for
            both labels.
        lessons: how many taught questions had evidence to mark, by labels, from pass 1 on.
    """

    name: str
    left_out: int
    found: Mapping[tuple[Labels, Group, int], Sequence[Found]]
    lessons: Mapping[Labels, Sequence[int]]

    @property
    def passes(self) -> int:
        """The number of the last pass."""
        return max(number for _, _, number in self.found)

    def recall(self, labels: Labels, group: Group, number: int, k: int) -> Mean:
        """Return recall@k at a pass, in %."""
        return mean([each.recall[KS.index(k)] for each in self.found[labels, group, number]])

    def gain(self, labels: Labels, group: Group, k: int) -> Mean:
        """Return the paired difference of recall@k between pass 0 and the last pass, in points."""
        pairs = zip(self.found[labels, group, self.passes], self.found[labels, group, 0], strict=True)
        return mean([last.recall[KS.index(k)] - first.recall[KS.index(k)] for last, first in pairs])

    def rounds(self, labels: Labels, group: Group, number: int) -> Mean | None:
        """Return the rounds per query at a pass; None if the server reports none."""
        known = [each.rounds for each in self.found[labels, group, number] if each.rounds is not None]
        return mean([float(rounds) for rounds in known]) if known else None


def is_taught(name: str, question: str) -> bool:
    """Return whether a question, by its id, belongs to the half of a data set that is taught."""
    return zlib.crc32(f"{name}/{question}".encode()) % 2 == 0


def learning(settings: Settings, data: Path, *, questions: int | None, plot: Path | None, output: Path | None) -> int:
    """Measure, print the table, draw the plot, and return 0.

    Args:
        settings: the settings to measure with.
        data: path of the data set, as `dataset.read` takes it.
        questions: maximum number, taught and unseen together.
        plot: a file for the plot, ``.svg`` or ``.png``.
        output: a file for the figures, as JSON.

    Raises:
        ConfigurationError: the data set cannot be read or has no question to teach, or the plot cannot be drawn.
    """
    draw = writer(plot) if plot else None
    dataset = read(data, questions)
    if not any(is_taught(dataset.name, asked.id) for asked in dataset.questions):
        raise ConfigurationError(
            f"{data}: none of its {len(dataset.questions)} questions would be taught, which the qid decides for about "
            "half of them. Take more questions"
        )
    for asked in dataset.questions:
        if asked.unknown:
            _progress(f"question {asked.id} names evidence that is not there: {', '.join(asked.unknown)}")
    with tempfile.TemporaryDirectory(prefix="mcp-memory-bench-", ignore_cleanup_errors=True) as folder:
        curve = anyio.run(_measured, settings, dataset, Path(folder), _progress)
    print(table(curve))
    if draw:
        draw(f"Learning on {curve.name}", panels(curve))
    if output:
        output.write_text(json.dumps(document(figures(curve)), indent=2) + "\n", encoding="utf-8")
    return 0


async def _measured(settings: Settings, dataset: Dataset, folder: Path, tell: Tell) -> Curve:
    taught = [asked for asked in dataset.questions if is_taught(dataset.name, asked.id)]
    reworded = [(asked, paraphrase(asked.text)) for asked in taught]
    groups: dict[Group, list[tuple[Asked, str]]] = {
        "taught": [(asked, asked.text) for asked in taught],
        "paraphrased": [(asked, other.text) for asked, other in reworded if other.enough],
        "unseen": [(asked, asked.text) for asked in dataset.questions if asked not in taught],
    }
    found: dict[tuple[Labels, Group, int], Sequence[Found]] = {}
    lessons: dict[Labels, list[int]] = {labels: [] for labels in LABELS}
    async with connected(own_server(settings, folder / "written")) as (client, _):
        tell(f"{await write_items(partial(call, client), dataset):,} items written")
        for group, questions in groups.items():
            first = [await _ask(client, asked, text) for asked, text in questions]
            found |= {(labels, group, 0): first for labels in LABELS}
    tell("pass 0 asked")
    for labels in LABELS:
        await anyio.to_thread.run_sync(shutil.copytree, folder / "written", folder / labels)
        rng = Random(SEED)
        async with connected(own_server(settings, folder / labels)) as (client, _):
            for number in range(1, PASSES + 1):
                lessons[labels].append(sum([await _teach(client, asked, labels, rng) for asked in taught]))
                for group, questions in groups.items():
                    found[labels, group, number] = [await _ask(client, asked, text) for asked, text in questions]
                tell(f"{labels} labels, pass {number}: {lessons[labels][-1]} of {len(taught)} taught, all asked")
    return Curve(dataset.name, len(taught) - len(groups["paraphrased"]), found, lessons)


async def _ask(client: Client, asked: Asked, text: str) -> Found:
    result = await recall(partial(call, client), asked, text, detail="full")
    ids = ranked_ids(result["evidence"])
    return Found(tuple(100 * recall_at(k, asked.gold, ids) for k in KS), rounds_of(result))


async def _teach(client: Client, asked: Asked, labels: Labels, rng: Random) -> bool:
    """Recall a question and mark the evidence that is right; return whether there was any to mark."""
    result = await recall(partial(call, client), asked, asked.text)
    supports = marked(result["evidence"], asked.gold, labels, rng)
    if supports:
        arguments = {"episode": result["episode"], "feedback": {"supports": supports}, "space": asked.space}
        await call(client, "memory_evolve", arguments)
    return bool(supports)


def marked(evidence: Sequence[Mapping[str, Any]], gold: Sequence[str], labels: Labels, rng: Random) -> list[str]:
    """Return the ids of the evidence that the feedback marks as supporting; empty if no evidence does.

    Args:
        evidence: as recall returned it, best first.
        gold: ids of the right messages or documents.
        labels: noisy: with a probability of `NOISE`, one wrong item of the first `WRONG_AMONG` wrong ones instead.
        rng: decides that; one draw for every question with noisy labels.
    """
    right = [item["id"] for item in evidence if any(str(source["id"]) in gold for source in item["sources"])]
    wrong = [item["id"] for item in evidence if item["id"] not in right]
    if labels == "noisy" and rng.random() < NOISE and wrong:
        return [rng.choice(wrong[:WRONG_AMONG])]
    return right


def rounds_of(result: Mapping[str, Any]) -> int | None:
    """Return the rounds of propagation that a recall with ``detail: full`` reports; None if it reports none."""
    budget = result.get("budget")
    if isinstance(budget, Mapping) and isinstance(rounds := budget.get("rounds"), int):
        return rounds
    return None


def table(curve: Curve) -> str:
    """Return the curve as lines for a terminal."""
    taught, paraphrased, unseen = (len(curve.found["clean", group, 0]) for group in GROUPS)
    passes = range(curve.passes + 1)
    lines = [
        f"learning on {curve.name}: {taught} questions taught, {unseen} never; {paraphrased} of the taught also asked"
        f" in other words, {curve.left_out} could not be reworded far enough",
    ]
    for labels in LABELS:
        told = "/".join(str(number) for number in curve.lessons[labels])
        lines += ["", f"{labels} labels (questions with a lesson, pass by pass: {told})"]
        lines.append(f"  {'pass':<20}" + "".join(f"{number:>12}" for number in passes) + f"{'gain':>14}")
        for k in KS:
            for group in GROUPS:
                cells = "".join(f"{_cell(curve.recall(labels, group, number, k)):>12}" for number in passes)
                lines.append(f"  {f'R@{k} {group}':<20}{cells}{_cell(curve.gain(labels, group, k), '+'):>14}")
        for group in GROUPS:
            rounds = [curve.rounds(labels, group, number) for number in passes]
            known = [each for each in rounds if each is not None]
            if len(known) == len(rounds):
                cells = "".join(f"{each.value:>12.2f}" for each in known)
                share = f"{100 * (known[-1].value / known[0].value - 1):+.0f} %" if known[0].value else ""
                lines.append(f"  {f'rounds {group}':<20}{cells}{share:>14}")
    return "\n".join(lines)


def figures(curve: Curve) -> list[Figure]:
    """Return everything in the table as figures, including half-widths."""
    found: list[Figure] = []
    for labels in LABELS:
        part = f"learning, {labels} labels"
        for group in GROUPS:
            for number in range(curve.passes + 1):
                for k in KS:
                    each = curve.recall(labels, group, number, k)
                    name = f"{group}, R@{k}, pass {number}"
                    found.append(Figure(part, name, each.value, "%", each.number))
                    found.append(Figure(part, f"{name}, half-width", each.half_width, "%", each.number))
                if (rounds := curve.rounds(labels, group, number)) is not None:
                    found.append(Figure(part, f"{group}, rounds, pass {number}", rounds.value, "1", rounds.number))
            for k in KS:
                gain = curve.gain(labels, group, k)
                found.append(Figure(part, f"{group}, R@{k}, gain", gain.value, "%", gain.number))
                found.append(Figure(part, f"{group}, R@{k}, gain, half-width", gain.half_width, "%", gain.number))
    return [figure for figure in found if figure.runs]


def panels(curve: Curve) -> list[Panel]:
    """Return the panels of the plot: recall at the largest k for both kinds of labels, and rounds if they are known."""
    passes = range(curve.passes + 1)
    shown = [group for group in GROUPS if curve.found["clean", group, 0]]
    drawn = []
    for labels in LABELS:
        lines = []
        for group in shown:
            points = [curve.recall(labels, group, number, KS[-1]) for number in passes]
            lines.append(Line(group, [p.value for p in points], [p.half_width for p in points]))
        drawn.append(Panel(f"{labels} labels: recall@{KS[-1]} in %", lines))
    lines = []
    for group in shown:
        rounds = [each for number in passes if (each := curve.rounds("clean", group, number)) is not None]
        if len(rounds) == len(passes):
            lines.append(Line(group, [p.value for p in rounds], [p.half_width for p in rounds]))
    return [*drawn, Panel("clean labels: rounds per query", lines)] if lines else drawn


def _cell(each: Mean, sign: str = "") -> str:
    return "-" if not each.number else f"{each.value:{sign}.1f} ±{each.half_width:.1f}"


def _progress(text: str) -> None:
    print(f"... {text}", file=sys.stderr, flush=True)
