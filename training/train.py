"""Train the reader, a cross-encoder of all-MiniLM-L6-v2, on the mistakes of the recall.

python -m training.train OUT.pt CANDIDATES.jsonl …

Needs the extra ``train``. A step takes 40 pairs of a query and a record: for each of eight questions one gold record,
or none where nothing answers, among records that recall had put first wrongly. The loss is that of a choice among them
(listwise) and half that of each pair by itself (pointwise), so that the output is a probability, too. Seeds are fixed.
The vectors of words stay, and nothing is dropped out, which would take half of the time. On two cores with AMX a step
takes a second, with AVX-512 a second and a half, on older ones ten times as long.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from training.models import DEVICE, Cross, fit, half
from training.worlds import NOTHING, is_kept

NEGATIVES, GROUPS = 4, 8
PART = 40
"""Pairs that go through the model at once."""
HARD = 8
"""Records that recall puts first, of which half of the negatives come."""
FIRST = 40
"""Records of which all come."""


class Example(NamedTuple):
    """A query, a gold record (None where nothing answers), and records that recall found wrongly, best first."""

    query: str
    gold: str | None
    wrong: list[str]


def examples(files: Sequence[Path], *, kept: bool) -> list[Example]:
    """Return the pairs of all questions of worlds that train, or of those that are kept."""
    found = []
    for row in (json.loads(line) for file in files for line in file.open(encoding="utf-8")):
        if is_kept(row["world"]) != kept:
            continue
        nothing = row["kind"] in NOTHING or not row["gold"]
        shown = dict(zip(row["ids"], row["texts"], strict=True))
        wrong = [shown[name] for name in row["ids"] if nothing or name not in row["gold"]][:FIRST]
        golds = [None] if nothing else [shown[name] for name in row["gold"] if name in shown]
        found += [Example(row["q"], gold, wrong) for gold in golds]
    return found


def negatives(rng: random.Random, wrong: list[str], count: int) -> list[str]:
    """Return so many wrong records, half of them among those that recall put first."""
    hard = rng.sample(wrong[:HARD], min(len(wrong[:HARD]), count // 2 + 1))
    rest = [one for one in wrong if one not in hard]
    return (hard + rng.sample(rest, min(len(rest), count - len(hard))) + ["nobody: hello"] * count)[:count]


def cross_loss(model: Cross, group: Sequence[Example], rng: random.Random) -> torch.Tensor:
    """Return the loss of the order of a group of questions."""
    pairs: list[tuple[str, str]] = []
    for query, gold, wrong in group:
        items = ([gold] if gold else []) + negatives(rng, wrong, NEGATIVES if gold else NEGATIVES + 1)
        pairs += [(query, item) for item in items]
    order = sorted(range(len(pairs)), key=lambda place: len(pairs[place][0]) + len(pairs[place][1]))
    outputs = torch.zeros(len(pairs), 1, device=DEVICE)
    for start in range(0, len(order), PART):  # by length: less padding
        part = order[start : start + PART]
        with half():
            read = model([pairs[place] for place in part]).float()
        outputs = outputs.index_copy(0, torch.tensor(part, device=DEVICE), read)
    logits = outputs.view(len(group), -1)
    has = torch.tensor([one.gold is not None for one in group], device=DEVICE)
    target = torch.zeros_like(logits)
    target[has, 0] = 1
    twice = torch.tensor(2.0, device=DEVICE)
    loss = 0.5 * torch.nn.functional.binary_cross_entropy_with_logits(logits, target, pos_weight=twice)
    if has.any():
        first = torch.zeros(int(has.sum()), dtype=torch.long, device=DEVICE)
        loss = loss + torch.nn.functional.cross_entropy(logits[has], first)
    return loss


def train(out: Path, data: list[Example], options: argparse.Namespace) -> None:
    """Train a model, and write its weights."""
    torch.manual_seed(options.seed)
    model = Cross()
    model.bert.embeddings.word_embeddings.requires_grad_(requires_grad=False)
    for layer in model.modules():
        if isinstance(layer, torch.nn.Dropout):
            layer.p = 0.0
    if options.start is not None:
        model.load_state_dict(torch.load(options.start))
    fit(model, data, GROUPS, cross_loss, options)
    torch.save(model.cpu().state_dict(), out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("candidates", nargs="+", type=Path)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rate", type=float, default=7e-5, help="the learning rate at its highest")
    parser.add_argument("--start", type=Path, help="weights to go on from")
    parser.add_argument("--seed", type=int, default=3)
    args = parser.parse_args()
    pairs = examples(args.candidates, kept=False)
    train(args.out, pairs, args)
