"""Count how often facts of each class are right, for `rules.facts.certainty`, and how well that holds elsewhere.

    python tests/extraction/calibrate.py tests/extraction/talk_*.jsonl judged.jsonl

A file holds labelled messages (see README.md), or facts that a reader judged, one a line with ``head``, ``relation``,
``tail`` and ``right``. Each file is one source. The first table gives the share of each class; the second what the
shares of all other sources say of the facts of a source, against what is right of them.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from score import load  # type: ignore[import-not-found]  # beside it
from score_talk import _matches, read_talk  # type: ignore[import-not-found]  # beside it

from mcp_memory.rules.facts.doubts import group_of, is_whole

PRIOR = 8
"""Facts of its group that count beside those of a class."""
EDGES = (0.0, 0.6, 0.7, 0.8, 0.9, 1.01)


class Case(NamedTuple):
    """A fact with its judgement.

    Attributes:
        group: of its relation.
        whole: whether it says enough by itself.
        right: whether it is right and complete.
    """

    group: str
    whole: bool
    right: bool


def cases(path: Path) -> Iterator[Case]:
    """Yield the facts of a source; those of labelled messages are read by the rules now."""
    items = load(path)
    if "facts" not in items[0]:
        for item in items:
            yield _case(item["head"], item["relation"], item["tail"], bool(item["right"]))
        return
    for item, found in read_talk(path):
        for fact in found:
            right = any(_matches(fact, label) for label in item["facts"])
            yield _case(fact.head, fact.relation, fact.tail, right)


def _case(head: str, relation: str, tail: str, right: bool) -> Case:
    return Case(group_of(relation), is_whole(head, relation, tail), right)


def shares(found: Sequence[Case]) -> Callable[[str, bool], float]:
    """Return the share right of a class, shrunk towards that of its group, and that towards the share of all."""
    right: dict[Any, list[bool]] = defaultdict(list)
    for case in found:
        for key in (None, case.group, (case.group, case.whole)):
            right[key].append(case.right)

    def shrunk(key: Any, towards: float) -> float:
        return (sum(right[key]) + PRIOR * towards) / (len(right[key]) + PRIOR)

    overall = sum(right[None]) / max(1, len(found))
    return lambda group, whole: shrunk((group, whole), shrunk(group, overall))


def _reliability(said: Sequence[tuple[float, bool]]) -> Iterator[str]:
    for low, high in pairwise(EDGES):
        inside = [(share, right) for share, right in said if low <= share < high]
        if inside:
            mean = sum(share for share, _ in inside) / len(inside)
            true = sum(right for _, right in inside) / len(inside)
            yield f"    from {low:.1f}: {len(inside):4} facts, said {mean:.3f}, right {true:.3f}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the shares and the reliability on sources left out."""
    parser = argparse.ArgumentParser(description="Calibrate the confidence of the rules.")
    parser.add_argument("files", type=Path, nargs="+")
    sources = {path.stem: list(cases(path)) for path in parser.parse_args(arguments).files}
    everything = [case for found in sources.values() for case in found]
    share = shares(everything)
    for group, whole in sorted({(case.group, case.whole) for case in everything}):
        same = [case.right for case in everything if (case.group, case.whole) == (group, whole)]
        line = f'("{group}", {whole}): {share(group, whole):.2f}'
        sys.stdout.write(f"{line:28}  {sum(same)} of {len(same)}\n")
    left_out: list[tuple[float, bool]] = []
    for name, found in sources.items():
        others = shares([case for other, more in sources.items() if other != name for case in more])
        said = [(others(case.group, case.whole), case.right) for case in found]
        sys.stdout.writelines([f"{name}\n", *_reliability(said)])
        left_out += said
    sys.stdout.writelines(["all sources, each left out\n", *_reliability(left_out)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
