"""Prints drawings of facts and memory points whose names do their worst, as a JSON list for ``parse.mjs``."""

import json
import random
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "services"))
from batches import point
from test_graph import FACTS, NAMES, facts_of, said, space_with

from mcp_memory.services.graph import around, graph_of, hyperedges_of, mermaid

PIECES = [*"'\"`#;:%{}[]()<>|&\\/*_-.~=^$@!?, \n\t01éﬂ°¶ß😀\u202e\u200d", "end", "style", "graph"]


def drawn(*facts):
    """Return the drawing of facts."""
    return mermaid(graph_of(facts_of(*facts)))


def pointed(*names):
    """Return the drawing of some facts and a memory point that joins these names and says them."""
    space = space_with(replace(point("it", names), description=" ".join(names)))
    graph = graph_of(space.facts)
    return mermaid(graph, hyperedges_of(space, graph))


def main():
    """Print them."""
    dice = random.Random(1)
    wild = ["".join(dice.choices(PIECES, k=dice.randint(1, 30))) for _ in range(900)]
    names = [*NAMES, *wild]
    drawings = [drawn(), mermaid(graph_of(FACTS)), mermaid(around(graph_of(FACTS), "lisbon", 1))]
    drawings += [drawn(said(*names[place : place + 3], "2020-01-01")) for place in range(len(names) - 2)]
    drawings += [pointed(*names[place : place + 4]) for place in range(0, len(names) - 3, 4)]
    for filler in ("é", "."):  # one is cut for its edges, the other for its length
        crowd = [said("Ann", "knows", f"{number} {filler * 50}", "2020-01-01", number=number) for number in range(700)]
        drawings.append(drawn(*crowd))
    sys.stdout.write(json.dumps(drawings))


main()
