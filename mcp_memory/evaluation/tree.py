"""Generate binary trees of memories whose leaf only a stepwise search can find (MRAgent Theorem 4.1, Lemma C.9).

In the lemma a complete binary tree stores, in each node on the way to one leaf, the next step, in that leaf the answer,
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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Literal, get_args

from mcp_memory.domain.requests import NewItem
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Kind

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
        _fill(rng.choice(LEAVES), names[node], content=_content(rng)) for node in range(2**depth, 2 ** (depth + 1))
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


def _content(rng: Random) -> str:
    return f"{rng.choice(_COUNTS)} {rng.choice(_STUFFS)} {rng.choice(_CONTENTS)}"


def _fill(wording: str, here: str, following: str = "", content: str = "") -> str:
    return wording.format(Here=_capital(here), here=here, Next=_capital(following), next=following, content=content)


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]
