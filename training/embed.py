"""Tune the embedder: all-MiniLM-L6-v2, on what questions to invented worlds have to find.

    python -m training.embed EMBEDDER.pt [--share .75]

Needs the extra ``train`` and worlds alone. The records of a world are cut into pieces as the server cuts them, with the
speaker in front. A step takes sixteen questions, each with a piece that answers it, among the pieces of the others and
two for each that are near to it in its own world and wrong; the loss is that of a choice among them (Henderson et al.
2017, arXiv 1705.00652). In the end the weights are mixed with those that it began from (Wortsman et al. 2022, arXiv
2203.05482), so that it loses nothing on documents, of which worlds have few. Seeds are fixed. On two cores it takes
twenty minutes.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from mcp_memory.search.words import message_text
from training.models import DEVICE, Embedder, fit, half
from training.worlds import DATA, NOTHING, World, is_kept, read_worlds

GROUP, NEAR, WRONG, HEAT = 16, 16, 2, 20.0
PIECE = 90
"""Words of a piece."""
AT_ONCE = 64


class Pair(NamedTuple):
    """A query, a piece that answers it, all pieces of records that do, and wrong ones that are near to it."""

    query: str
    piece: str
    right: frozenset[str]
    wrong: list[str]


def pieces(world: World) -> list[tuple[str, str]]:
    """Return the id of a record and what is embedded, for each piece of each record."""
    found = []
    for record in world["records"]:
        words = record["text"].split()
        for start in range(0, max(1, len(words)), PIECE):
            text = " ".join(words[start : start + PIECE])
            if record["role"] == "document":
                found.append((record["id"], f"{record.get('title') or record['id']}. {text}"))
            else:
                found.append((record["id"], message_text(record["speaker"], text)))
    return found


def vectors(model: Embedder, texts: Sequence[str]) -> np.ndarray:
    """Return the vectors of texts, shape ``(len(texts), 384)``."""
    found = np.zeros((len(texts), 384), dtype=np.float32)
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    with torch.no_grad():
        for start in range(0, len(order), AT_ONCE):
            part = order[start : start + AT_ONCE]
            found[part] = model([texts[place] for place in part]).cpu().numpy()
    return found


def pairs_of(model: Embedder, world: World) -> list[Pair]:
    """Return the pairs of a world; of a long record the piece that is nearest to the query is the one."""
    asked = [one for one in world["questions"] if one["gold"] and one["kind"] not in NOTHING]
    names, texts = zip(*pieces(world), strict=True)
    cosines = vectors(model, [one["q"] for one in asked]) @ vectors(model, texts).T
    found = []
    for question, row in zip(asked, cosines, strict=True):
        gold, order = set(question["gold"]), np.argsort(-row).tolist()
        right = frozenset(text for name, text in zip(names, texts, strict=True) if name in gold)
        wrong = [texts[place] for place in order if names[place] not in gold][:NEAR]
        for name in gold:
            nearest = next(texts[place] for place in order if names[place] == name)
            found.append(Pair(question["q"], nearest, right, wrong))
    return found


def loss_of(model: Embedder, group: Sequence[Pair], rng: random.Random) -> torch.Tensor:
    """Return the loss of the choice of each query among the pieces of a group; other right ones of its own are out."""
    shown = [one.piece for one in group]
    shown += [text for one in group for text in rng.sample(one.wrong, min(WRONG, len(one.wrong)))]
    with half():
        queries, records = model([one.query for one in group]).float(), model(shown).float()
    out = [[place != own and text in one.right for place, text in enumerate(shown)] for own, one in enumerate(group)]
    logits = (queries @ records.T * HEAT).masked_fill(torch.tensor(out, device=DEVICE), -1e4)
    return torch.nn.functional.cross_entropy(logits, torch.arange(len(group), device=DEVICE))


def train(out: Path, worlds: Sequence[World], options: argparse.Namespace) -> None:
    """Train a model, and write its weights mixed with those of before."""
    torch.manual_seed(options.seed)
    model = Embedder().to(DEVICE)
    before = {name: weights.cpu().clone() for name, weights in model.state_dict().items()}
    fit(model, [pair for world in worlds for pair in pairs_of(model, world)], GROUP, loss_of, options)
    after = model.cpu().state_dict()
    mixed = {
        name: torch.lerp(old, after[name], options.share) if old.is_floating_point() else old
        for name, old in before.items()
    }
    torch.save(mixed, out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--rate", type=float, default=2e-5, help="the learning rate at its highest")
    parser.add_argument("--share", type=float, default=0.75, help="of the tuned weights in the mix")
    parser.add_argument("--seed", type=int, default=3)
    args = parser.parse_args()
    train(args.out, [one for one in read_worlds(sorted((DATA / "worlds").glob("*"))) if not is_kept(one["id"])], args)
