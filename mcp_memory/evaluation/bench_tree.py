"""``mcp-memory bench --tree``: measure recall on trees that a single search cannot solve.

`tree` describes the stored items and why a single search has to guess. Each tree has its own space and is asked about
in several wordings, in several ways: with the loop, which may return 6 items more than the tree is deep (`SPARE`) and
runs for up to 8 turns, 12 from depth 9 on; and with one search of the channels, with and without links and propagation,
which returns as many items as the tree is deep (the lemma's T) or as many as the loop. A question counts if the leaf is
among the returned items.

The table also states what guessing would reach, T/2^d: if all leaves look alike, a single search can do better only by
following links, propagation or facts, which it does for a few steps.

Everything runs in this process, on one store in a temporary folder, with the user's settings except for its location
and the switches named here. It takes about ten minutes, nearly all of them for writing the trees: the deepest has 2,559
items.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import WriteRequest
from mcp_memory.evaluation.bench_subjects import Figure, document, opened
from mcp_memory.evaluation.tree import FORMS, Tree, tree
from mcp_memory.memory import Memory
from mcp_memory.settings import Settings

TREES = {5: 4, 6: 4, 7: 4, 8: 3, 9: 2, 10: 1}
"""Number of trees of each form, by depth; each is asked in every wording."""
SPARE = 6
"""Items that the loop may return beyond the depth."""
TURNS, MORE_TURNS, FROM = 8, 12, 9
"""Turns of the loop: 8, and 12 from depth 9 on."""
ITEMS_A_CALL = 500


@dataclass(frozen=True, slots=True)
class Way:
    """One way of asking about the trees.

    Attributes:
        name: of the column.
        loop: whether the loop is on.
        onward: whether links and propagation are on.
        spare: items returned beyond the depth.
    """

    name: str
    loop: bool
    onward: bool
    spare: int

    def of(self, memory: Memory) -> Memory:
        """Return the memory with these switches."""
        settings = memory.settings
        return replace(
            memory,
            settings=replace(
                settings,
                loop=replace(settings.loop, enabled=self.loop and settings.loop.enabled),
                search=replace(settings.search, links=self.onward and settings.search.links),
                gain=replace(settings.gain, propagation=self.onward and settings.gain.propagation),
            ),
        )


WAYS = (
    Way("loop, d + 6", loop=True, onward=True, spare=SPARE),
    Way("one look, d", loop=False, onward=False, spare=0),
    Way("one look, d + 6", loop=False, onward=False, spare=SPARE),
    Way("with links, d", loop=False, onward=True, spare=0),
    Way("with links, d + 6", loop=False, onward=True, spare=SPARE),
)


@dataclass(frozen=True, slots=True)
class Reached:
    """The number of questions that reached the leaf, for trees of one depth.

    Attributes:
        depth: of the trees.
        trees: their number.
        asked: number of questions.
        hits: questions that reached the leaf, for each of `WAYS`.
    """

    depth: int
    trees: int
    asked: int
    hits: tuple[int, ...]

    @property
    def guessing(self) -> float:
        """Share of questions that guessing T leaves would reach, in %."""
        return 100 * self.depth / (1 << self.depth)

    def share(self, way: int) -> float:
        """Return the share of questions that reached the leaf in one of `WAYS`, in %."""
        return 100 * self.hits[way] / self.asked


Tell = Callable[[str], None]


def bench_tree(settings: Settings, *, output: Path | None) -> int:
    """Measure, print the table, and return 0.

    Args:
        settings: the settings to measure with.
        output: a file for the figures, as JSON.
    """
    with tempfile.TemporaryDirectory(prefix="mcp-memory-bench-", ignore_cleanup_errors=True) as folder:
        reached = anyio.run(measured, settings, Path(folder), TREES, _progress)
    print(table(reached))
    if output:
        output.write_text(json.dumps(document(figures(reached)), indent=2) + "\n", encoding="utf-8")
    return 0


async def measured(settings: Settings, folder: Path, trees: dict[int, int], tell: Tell) -> list[Reached]:
    """Return the results for each depth in ``trees``, which states the number of trees of each form."""
    found: list[Reached] = []
    async with opened(settings, folder / "trees") as memory:
        for depth, number in trees.items():
            grown = [tree(seed, depth, form) for seed in range(number) for form in FORMS]
            hits = [0] * len(WAYS)
            for place, one in enumerate(grown):
                await plant(memory, one, space := f"depth-{depth}-{place}")
                for way, each in enumerate(WAYS):
                    hits[way] += sum([await reaches(each.of(memory), one, q, space, each.spare) for q in one.questions])
            asked = sum(len(tree.questions) for tree in grown)
            found.append(Reached(depth, len(grown), asked, tuple(hits)))
            tell(f"depth {depth}: the loop reaches {hits[0]} of {asked}")
    return found


async def plant(memory: Memory, grown: Tree, space: str) -> None:
    """Write a tree into a space."""
    for start in range(0, len(grown.items), ITEMS_A_CALL):
        items = grown.items[start : start + ITEMS_A_CALL]
        await memory.write(WriteRequest(space, "tree", grown.kind, items))


async def reaches(memory: Memory, grown: Tree, question: str, space: str, spare: int) -> bool:
    """Return whether the evidence recalled for a question includes the leaf."""
    turns = MORE_TURNS if grown.depth >= FROM else TURNS
    recall = await memory.reconstruct(Query(question, space, grown.depth + spare, max_turns=turns))
    return any(source.turn.ref == grown.leaf for item in recall.evidence for source in item.sources)


def figures(reached: Sequence[Reached]) -> list[Figure]:
    """Return every share of the table as a figure."""
    return [
        Figure(f"tree of depth {each.depth}", way.name, each.share(place), "%", each.asked)
        for each in reached
        for place, way in enumerate(WAYS)
    ]


def table(reached: Sequence[Reached]) -> str:
    """Return the shares as lines for a terminal, one for each depth."""
    lines = [
        "share of questions whose answer is reached, at the end of a chain of d steps through a binary tree, in %",
        "",
        "  ".join(("depth d", "trees", "questions", *(way.name for way in WAYS), "guessing")),
    ]
    for each in reached:
        shares = "  ".join(f"{each.share(place):{len(way.name)}.1f}" for place, way in enumerate(WAYS))
        lines.append(f"{each.depth:7}  {each.trees:5}  {each.asked:9}  {shares}  {each.guessing:8.1f}")
    return "\n".join(lines)


def _progress(text: str) -> None:
    print(f"... {text}", file=sys.stderr)
