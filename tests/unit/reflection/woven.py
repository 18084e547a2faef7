"""Graphs for one question: passages by hand or at random, and what each of their sentences weighs."""

import numpy as np
from unit.gain.sentence_space import documents

from mcp_memory.reflection.navigators import EntityGraph

NAMES = ("Aa", "Bb", "Cc", "Dd", "Ee", "Ff", "Gg", "Hh")


def graph(weights, *passages):
    """Return the graph of passages of whole sentences; ``weights`` are of these, in order."""
    space = documents(*([(line, (0.0, 0.0)) for line in passage] for passage in passages))
    known = np.array(weights, dtype=np.float32)
    return EntityGraph(space, lambda rows: known[rows])


def random_graph(seed):
    """Return a graph of eight names in passages of one to three sentences, some of which weigh nothing."""
    draw = np.random.default_rng(seed)
    passages = [
        [f"{' met '.join(draw.choice(NAMES, draw.integers(1, 4), replace=False))}." for _ in range(draw.integers(1, 4))]
        for _ in range(draw.integers(1, 10))
    ]
    count = sum(len(passage) for passage in passages)
    return graph(np.maximum(draw.normal(0.4, 0.3, count), 0), *passages)
