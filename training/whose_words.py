"""Fit how much it counts for a query who said something, by its vector and form; see ``search/channels.py``.

    python -m training.whose_words CANDIDATES.jsonl … [--out resources/whose_words.json]

The candidates are those of ``training.candidates``. The loss is that of a choice among the records of a question
(listwise), with the scores of two channels times what they count for the query. Worlds that are kept do not train. It
takes a minute, and prints recall before and after: of kept worlds by prompts and others, and of any other set.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import anyio
import numpy as np
import torch

from mcp_memory.embedding.onnx import OnnxEmbedder
from mcp_memory.search.channels import form_of
from training.worlds import NOTHING, is_kept

CHANNELS = ("user", "speaker")
MOST_RECORDS = 60
AT = (1, 3, 5, 10)
DECAY, RATE, STEPS = 3e-3, 0.1, 400


class Table(NamedTuple):
    """The candidates of all questions, padded to `MOST_RECORDS`.

    Attributes:
        rest: what a record has from all other channels, shape ``(questions, MOST_RECORDS)``; the best has about 1.
        parts: what it has from each of `CHANNELS`, shape ``(questions, MOST_RECORDS, 2)``.
        gold: whether it is one, shape ``(questions, MOST_RECORDS)``.
        queries: the vectors of the queries and their form, shape ``(questions, 388)``.
    """

    rest: torch.Tensor
    parts: torch.Tensor
    gold: torch.Tensor
    queries: torch.Tensor

    def scores(self, weights: torch.Tensor, biases: torch.Tensor) -> torch.Tensor:
        """Return the score of each record, shape ``(questions, MOST_RECORDS)``."""
        return self.rest + (self.parts * (2 * torch.sigmoid(self.queries @ weights.T + biases))[:, None, :]).sum(-1)


def table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the table of some lines of ``training.candidates``."""
    rest, gold = np.full((len(rows), MOST_RECORDS), -9, np.float32), np.zeros((len(rows), MOST_RECORDS), np.float32)
    parts = np.zeros((len(rows), MOST_RECORDS, len(CHANNELS)), np.float32)
    for place, row in enumerate(rows):
        best = max((sum(scores.values()) for scores in row["scores"]), default=1.0) or 1.0
        for at, (name, total, scores) in enumerate(zip(row["ids"], row["totals"], row["scores"], strict=True)):
            counted = np.array([scores.get(channel, 0.0) / best for channel in CHANNELS], np.float32)
            parts[place, at] = counted / np.maximum(row["counts"], 0.01)
            rest[place, at] = total - counted.sum()
            gold[place, at] = name in row["gold"]
    vectors = anyio.run(OnnxEmbedder().embed, [row["q"] for row in rows])
    vectors = np.concatenate([vectors, [form_of(row["q"]) for row in rows]], axis=1)
    return Table(torch.tensor(rest), torch.tensor(parts), torch.tensor(gold), torch.tensor(vectors))


def fit(data: Table) -> tuple[torch.Tensor, torch.Tensor]:
    """Return weights of shape ``(2, 388)`` and biases of shape ``(2,)``."""
    torch.manual_seed(0)
    weights = torch.zeros(len(CHANNELS), data.queries.shape[1], requires_grad=True)
    biases, heat = torch.zeros(len(CHANNELS), requires_grad=True), torch.tensor(2.5, requires_grad=True)
    optimiser = torch.optim.Adam([{"params": [weights], "lr": RATE}, {"params": [biases, heat], "lr": RATE / 5}])
    for _ in range(STEPS):
        chances = torch.log_softmax(data.scores(weights, biases) * heat.exp(), -1)
        loss = -((chances * data.gold).sum(-1) / data.gold.sum(-1)).mean() + DECAY / 25 * (weights**2).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return weights.detach(), biases.detach()


def report(rows: Sequence[Mapping[str, Any]], data: Table, weights: torch.Tensor, biases: torch.Tensor) -> None:
    """Print recall before and after, by set."""
    before = data.scores(torch.zeros_like(weights), torch.zeros_like(biases))
    after = data.scores(weights, biases)
    counts = 2 * torch.sigmoid(data.queries @ weights.T + biases)
    groups: dict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        kind = "prompts" if row["kind"] == "prompt" else "questions"
        world = f"worlds, {'kept' if is_kept(row['world']) else 'trained on'}, {kind}"
        groups[world if row["set"] == "worlds" else row["set"]].append(place)
    for name, places in groups.items():
        figures = []
        for scores in (before, after):
            found = []
            for place in places:
                row, order = rows[place], torch.argsort(-scores[place], stable=True).tolist()
                ids, gold = [row["ids"][at] for at in order if at < len(row["ids"])], set(row["gold"])
                found.append([len(set(ids[:first]) & gold) / len(gold) for first in AT])
            figures.append(" / ".join(f"{100 * fmean(column):.1f}" for column in zip(*found, strict=True)))
        mean = ", ".join(f"{one:.2f}" for one in counts[places].mean(0).tolist())
        print(f"{name} ({len(places)}): R@{AT} {figures[0]} -> {figures[1]}; user and speaker count {mean}")


def main(options: argparse.Namespace) -> None:
    """Fit, report, and write the weights."""
    lines = (json.loads(line) for file in options.candidates for line in file.open(encoding="utf-8"))
    rows = [row for row in lines if row["ids"] and row["gold"] and row["kind"] not in NOTHING]
    data = table(rows)
    trains = [row["set"] == "worlds" and not is_kept(row["world"]) for row in rows]
    chosen = torch.tensor(trains) & (data.gold.sum(-1) > 0)
    weights, biases = fit(Table(*(part[chosen] for part in data)))
    report(rows, data, weights, biases)
    if options.out is not None:
        learnt: dict[str, Any] = {"embedder": OnnxEmbedder().name}
        for name, row, bias in zip(CHANNELS, weights.tolist(), biases.tolist(), strict=True):
            learnt[name] = {"bias": round(bias, 4), "weights": [round(one, 4) for one in row]}
        options.out.write_text(json.dumps(learnt) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("candidates", nargs="+", type=Path)
    parser.add_argument("--out", type=Path)
    main(parser.parse_args())
