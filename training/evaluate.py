"""Print the recall of the search's own order, and with the reader's chance added at several weights, by set and kind.

python -m training.evaluate SCORED.jsonl …
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from training.worlds import NOTHING, is_kept

WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2.0)
AT = (1, 3, 5, 10)


def order(row: Mapping[str, Any], weight: float, without: Sequence[str]) -> list[str]:
    """Return the ids of a question's records, best first.

    Args:
        row: a line of `training.score`.
        weight: of the reader's chance, where the best record of the search has 1.
        without: channels whose score is taken off.
    """
    best = max((sum(scores.values()) for scores in row["scores"]), default=1.0) or 1.0
    chances = row["chances"] + [0.0] * (len(row["ids"]) - len(row["chances"]))
    totals = [
        total - sum(scores.get(name, 0.0) for name in without) / best + weight * chance
        for total, scores, chance in zip(row["totals"], row["scores"], chances, strict=True)
    ]
    return [row["ids"][place] for place in sorted(range(len(totals)), key=lambda place: -totals[place])]


def recall(rows: Sequence[Mapping[str, Any]], weight: float, without: Sequence[str] = ()) -> list[float]:
    """Return the mean share of the gold among the first `AT` records, in per cent."""
    ordered = [(order(row, weight, without), set(row["gold"])) for row in rows]
    return [100 * fmean(len(set(ids[:first]) & gold) / len(gold) for ids, gold in ordered) for first in AT]


def main(files: Sequence[Path], without: Sequence[str]) -> None:
    """Print a table for each set: of worlds the kept ones alone, and by kind of question."""
    sets: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in (json.loads(line) for file in files for line in file.open(encoding="utf-8")):
        if not row["gold"] or row["kind"] in NOTHING or (row["set"] == "worlds" and not is_kept(row["world"])):
            continue
        sets[row["set"]].append(row)
        if row["set"] == "worlds":
            sets[f"worlds: {row['kind']}"].append(row)
    for name, rows in sets.items():
        for taken in ((), *([tuple(without)] if without else [])):
            for weight in WEIGHTS:
                figures = " / ".join(f"{one:5.1f}" for one in recall(rows, weight, taken))
                print(f"{name} ({len(rows)}), weight {weight}, without {', '.join(taken) or 'nothing'}: {figures}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scored", nargs="+", type=Path)
    parser.add_argument("--without", nargs="*", default=[], help="channels whose score is taken off")
    chosen = parser.parse_args()
    main(chosen.scored, chosen.without)
