"""Let a trained cross-encoder read what a recall found, and keep its chances beside the scores of the search.

python -m training.score OUT.jsonl CROSS.pt CANDIDATES.jsonl …
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch

from training.models import Cross

FIRST = 48
"""Records that are read of each question."""


@torch.no_grad()
def chances(model: Cross, query: str, texts: list[str]) -> list[float]:
    """Return the chance of each text, in (0, 1), in batches of similar length."""
    order, found = sorted(range(len(texts)), key=lambda place: len(texts[place])), [0.0] * len(texts)
    for start in range(0, len(order), 16):
        part = order[start : start + 16]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model([(query, texts[place]) for place in part]).float()
        for place, chance in zip(part, torch.sigmoid(logits).tolist(), strict=True):
            found[place] = round(chance, 4)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("candidates", nargs="+", type=Path)
    args = parser.parse_args()
    cross = Cross()
    cross.load_state_dict(torch.load(args.weights))
    cross.eval()
    with args.out.open("w", encoding="utf-8") as out:
        for file in args.candidates:
            for line in file.open(encoding="utf-8"):
                row = json.loads(line)
                row["chances"] = chances(cross, row["q"], row["texts"][:FIRST])
                del row["texts"]
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
