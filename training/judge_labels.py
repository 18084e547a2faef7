"""Print how right the labels of the reader are on lines and worlds that never trained, at several thresholds.

python -m training.judge_labels [--head wish]
"""

from __future__ import annotations

import argparse

import anyio
import numpy as np

from mcp_memory.embedding.reader import HEADS, OnnxReader
from training.labelled import read_labelled
from training.worlds import DATA

THRESHOLDS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)


def main(heads: list[str]) -> None:
    """Read what is kept, and print a line for each head and threshold."""
    rows = [row for row in read_labelled(sorted((DATA / "worlds").glob("*")), kept=True) if row.head in heads]
    chances = anyio.run(OnnxReader().read, [(row.first, row.second) for row in rows])
    for head in heads:
        own = np.array([row.head == head for row in rows])
        holds = np.array([row.holds for row in rows])[own]
        said = chances[own, HEADS.index(head)]
        for least in THRESHOLDS:
            shown = said >= least
            right = (shown & holds).sum()
            print(
                f"{head} ({holds.sum()} of {len(holds)} hold), from {least}: precision "
                f"{right / max(1, shown.sum()):.3f}, recall {right / max(1, holds.sum()):.3f}"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--head", nargs="*", choices=HEADS[1:], default=list(HEADS[1:]))
    main(parser.parse_args().head)
