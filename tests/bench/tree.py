"""``python -m bench --tree``: measure recall on trees that a single search cannot solve.

Each tree has its own space and is asked about
in several wordings, in several ways: with the loop, which may return 6 items more than the tree is deep (`SPARE`) and
runs for up to 8 turns, 12 from depth 9 on; and with one search of the channels, with and without links and propagation,
which returns as many items as the tree is deep (the lemma's T) or as many as the loop. A question counts if the leaf is
among the returned items.

The table also states what guessing would reach, T/2^d: if all leaves look alike, a single search can do better only by
following links, propagation or facts, which it does for a few steps.

Everything runs in this process, on one store in a temporary folder, with the user's settings except for its location
and the switches named here. It takes about ten minutes, nearly all of them for writing the trees: the deepest has 2,559
items.

**The trees** are binary, of memories whose leaf only a stepwise search can find (MRAgent Theorem 4.1, Lemma C.9). In
the lemma a complete binary tree stores, in each node on the way to one leaf, the next step, in that leaf the answer,
and nothing useful elsewhere. A search that may read T memories one after the other arrives; one that has to choose all
T in advance guesses among the leaves, and is wrong in 1 - T/2^d of the cases.

Here each node of a complete tree of depth d (2^(d+1) - 1 nodes) is one memory about one thing with an invented name. An
inner node names itself and one of its two children, which it calls the next; a leaf names itself and its content. This
holds for every inner node, on the way or not: the child that its parent does not name starts a chain of its own, which
looks like the right one but is never reached. So d + 1 memories form the way from the root to a leaf, and the question
names the root. Siblings with names of two words share one of the words, memories are in random order, and unrelated
remarks stand between them.

Nothing else leads to the leaf: it shares only stop words with the questions, all leaves are worded alike, and speakers
and times are random.

**Departure.** The nodes of the lemma have addresses, and a step needs one bit of an address. A memory is found by its
text, so a step states the name.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Literal, get_args

import anyio
from bench.subjects import Figure, document, opened

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Kind
from mcp_memory.memory import Memory
from mcp_memory.settings import Settings

Form = Literal["message", "document", "titled"]
"""What the memories of a tree are: messages, documents, or documents titled with the name of their thing."""
FORMS: tuple[Form, ...] = get_args(Form)

# ruff: noqa: SIM905 - as a list, each of these would be a page
QUESTIONS = (
    "What does one arrive at, having departed from {root}?",
    "Follow the trail from {root} as far as it leads. What is there?",
    "Which discovery concludes the journey that {root} begins?",
    "How does the story of {root} finish?",
    "If I start with {root} and never stop, where do I end up?",
)
STEPS = (
    "Whoever has seen {here} should look for {next} afterwards.",
    "{Here} has a note pinned to it: now ask for {next}.",
    "When you are done with {here}, go on to {next}.",
    "We keep {here} on the upper shelf. Its label sends the reader to {next}.",
    "{Here} was sealed with red wax. Under the wax somebody had scratched the name of {next}.",
    "Behind {here} there is a door, and the door opens on {next}.",
    "I came across {here} on a Tuesday; all it told me was to visit {next}.",
    "{Next} comes right after {here}.",
    "They handed me {here} with a warning: from now on only {next} matters.",
    "The clerk stamped {here} and wrote {next} beneath the stamp.",
    "{Here} belongs to a set. The next piece of it is {next}.",
    "Every visitor to {here} is passed on to {next}.",
)
"""The text of an inner node: its own name and that of the next."""
LEAVES = (
    "{Here} holds {content} and nothing else.",
    "Inside {here} lay {content}, wrapped in wool.",
    "{Here} was bought with {content} by my aunt.",
    "Nobody knows why {content} hung beside {here}.",
    "{Here} turned out to be full. There were {content} in it.",
    "My neighbour traded {content} for {here} years ago.",
)
_COUNTS = "eleven twelve fourteen forty sixty ninety".split()
_STUFFS = "brass silver woollen clay striped tin cracked wooden".split()
_CONTENTS = "buttons thimbles walnuts spoons feathers herons bottles ribbons pebbles candles".split()
REMARKS = (
    "The kettle in the {place} is broken again.",
    "It rained on the {place} all of {day}.",
    "I am thinking of painting the {place} before {day}.",
    "Has anybody fed the cat in the {place}? She was hungry on {day}.",
    "My knee hurts, so the {place} has to wait until {day}.",
    "The bus to the {place} was late on {day}, as usual.",
    "Somebody left the light on in the {place}.",
    "On {day} they serve soup in the {place}.",
)
_PLACES = "kitchen garden office station hall attic market school library stable".split()
_DAYS = "Monday Wednesday Thursday Friday Saturday Sunday".split()
_SPEAKERS = "Maren Oskar Tilde Jorun".split()

_SYLLABLES = (
    "vor quem tal zul mir dra sel nax bri oth ule gan fen hob wex lim cor pya sto jun kel ard tiv osk rho esh"
).split()
_QUALITIES = (
    "blue green grey amber crooked narrow hollow patient folded early distant silent copper velvet broken double gentle"
    " northern painted quiet rusty second slanted spotless tall thorny twisted upright violet weary wide winding"
).split()
_THINGS = (
    "ledger lantern compass anchor almanac basket beacon bridge cabinet canvas chapel chimney cottage cradle fiddle"
    " fountain gate hammer harbour helmet kite ladder loom mask mirror orchard parcel pillar plough quill saddle sail"
    " sparrow statue stove tower trumpet tunnel veil wagon well wheel whistle windmill"
).split()
_START: Millis = int(datetime(2024, 3, 4, 9, tzinfo=UTC).timestamp()) * 1_000
_MINUTE: Millis = 60_000


@dataclass(frozen=True, slots=True)
class Tree:
    """A generated benchmark memory in the shape of a binary tree, with questions about it.

    Attributes:
        depth: steps from the root to a leaf.
        form: the form of its memories.
        items: the memories and the remarks between them, in the order of writing.
        questions: one of each wording; all name the root and have the same answer.
        way: refs of the ``depth + 1`` memories from the root to the leaf.
        names: the name of what each memory is about, by its ref.
    """

    depth: int
    form: Form
    items: tuple[NewItem, ...]
    questions: tuple[str, ...]
    way: tuple[str, ...]
    names: Mapping[str, str]

    @property
    def kind(self) -> Kind:
        """The kind of the items."""
        return "message" if self.form == "message" else "document"

    @property
    def leaf(self) -> str:
        """Ref of the memory at the end of the way."""
        return self.way[-1]


def tree(seed: int, depth: int, form: Form) -> Tree:
    """Return a tree; it depends on the three arguments only.

    Args:
        seed: the seed of the names, the wordings, the way and the order.
        depth: from 1 to 10, limited by the number of names.
        form: the form of the memories.
    """
    rng = Random(f"{seed}/{depth}/{form}")
    names = _names(rng, depth)
    inner = range(1, 2**depth)  # node n has the children 2n and 2n + 1
    steps = {node: 2 * node + rng.randrange(2) for node in inner}
    texts = [_fill(rng.choice(STEPS), names[node], names[steps[node]]) for node in inner]
    texts += [
        _fill(rng.choice(LEAVES), names[node], content=_box_content(rng)) for node in range(2**depth, 2 ** (depth + 1))
    ]
    said: list[tuple[int, str]] = list(enumerate(texts, 1))
    said += [(0, rng.choice(REMARKS).format(place=rng.choice(_PLACES), day=rng.choice(_DAYS))) for _ in texts[::4]]
    rng.shuffle(said)
    refs: dict[int, str] = {}
    items: list[NewItem] = []
    for place, (node, text) in enumerate(said):
        ref = refs[node] = f"m{place}"
        if form == "message":
            items.append(NewItem(text, ref, rng.choice(_SPEAKERS), said_at=_START + place * _MINUTE))
        else:
            title = _capital(names[node]) if form == "titled" and node else None
            items.append(NewItem(text, ref, title=title))
    way = [1]
    while way[-1] in steps:
        way.append(steps[way[-1]])
    questions = tuple(wording.format(root=names[1]) for wording in QUESTIONS)
    about = {refs[node]: name for node, name in names.items()}
    return Tree(depth, form, tuple(items), questions, tuple(refs[node] for node in way), about)


def _names(rng: Random, depth: int) -> dict[int, str]:
    """Return a name for each node; siblings have similar names, and no leaf has a word of the root's name."""
    fresh, taken = _fresh(rng), set[tuple[str, str]]()
    names: dict[int, str] = {1: _siblings(rng, fresh, taken, frozenset())[0]}
    root = frozenset(names[1].split())
    for left in range(2, 2 ** (depth + 1), 2):
        barred = root if left >= 2**depth else frozenset()
        names[left], names[left + 1] = _siblings(rng, fresh, taken, barred)
    return names


def _siblings(
    rng: Random, fresh: Iterator[str], taken: set[tuple[str, str]], barred: frozenset[str]
) -> tuple[str, str]:
    """Return two names of one kind: single words, two words sharing the first, or similar things."""
    match rng.randrange(3):
        case 0:
            return next(fresh), next(fresh)
        case 1:
            shared = next(fresh)
            return f"{shared} {next(fresh)}", f"{shared} {next(fresh)}"
    free = [(q, t) for q in _QUALITIES for t in _THINGS if (q, t) not in taken and not barred.intersection((q, t))]
    one = rng.choice(free)
    half = rng.randrange(2)
    alike = [thing for thing in free if thing[half] == one[half] and thing != one]
    other = rng.choice(alike or free)
    taken |= {one, other}
    return f"the {' '.join(one)}", f"the {' '.join(other)}"


def _fresh(rng: Random) -> Iterator[str]:
    """Yield invented, capitalised words, each once."""
    met: set[str] = set()
    while True:
        word = "".join(rng.choices(_SYLLABLES, k=rng.choice((2, 3, 3)))).capitalize()
        if word not in met:
            met.add(word)
            yield word


def _box_content(rng: Random) -> str:
    """Return what a box of the invented store holds, "forty tin candles"."""
    return f"{rng.choice(_COUNTS)} {rng.choice(_STUFFS)} {rng.choice(_CONTENTS)}"


def _fill(wording: str, here: str, following: str = "", content: str = "") -> str:
    return wording.format(Here=_capital(here), here=here, Next=_capital(following), next=following, content=content)


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


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
        name: the name of the column.
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
        depth: the depth of the trees.
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
