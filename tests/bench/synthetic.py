"""Generate synthetic talk and documents for measuring speed; the same seed gives the same text.

Half of the sentences are documents about places that make something, half are talk between pairs of people over some
years. Names are composed of syllables, so nothing comes from real data. The text has four properties of real text that
cost recall time:

- places are mentioned according to Zipf's law: the place of rank r in proportion to 1/r, so a few have very many links;
- documents mention the titles of others (a supplier), and talk mentions titles of documents;
- facts change: who leads a place, where a person lives; each value is in an item of its own;
- dates are written out ("From May 2009 to June 2012") or relative ("last Friday").

Each question comes with the id of the item that has its answer. The questions show whether recall works and what each
kind costs. They are far easier than people's questions, so their hit rate says nothing about quality elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate, count, pairwise
from random import Random
from typing import Literal

from mcp_memory.domain.requests import NewItem
from mcp_memory.domain.turns import Kind
from mcp_memory.language.iso import MONTHS, WEEKDAYS

QuestionKind = Literal["one-hop", "two-hop", "time"]
KINDS: tuple[QuestionKind, ...] = ("one-hop", "two-hop", "time")
SENTENCES_A_PLACE, SENTENCES_A_PAIR = 12, 300


@dataclass(frozen=True, slots=True)
class Question:
    """A question whose answer is in one item.

    One-hop: the question names the subject of the item; two-hop: it names an item that names the answer's item; time:
    several items have a value, and the date of the question selects one.
    """

    text: str
    kind: QuestionKind
    gold: str  # ref of the item with the answer; refs are unique in a corpus


@dataclass(frozen=True, slots=True)
class Collection:
    """Items of one session, to be written in this order."""

    session: str
    kind: Kind
    items: tuple[NewItem, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A synthetic memory: documents first, then talk; and as many questions of each kind, in random order."""

    collections: tuple[Collection, ...]
    questions: tuple[Question, ...]


def corpus(seed: int, sentences: int, questions: int) -> Corpus:
    """Return a corpus of exactly this many sentences; arguments as for `growing`."""
    return next(growing(seed, sentences, questions))


def growing(seed: int, sentences: int, questions: int) -> Iterator[Corpus]:
    """Yield without end what is added to a memory that grows: each time this many sentences, and questions about them.

    Places that were there before are mentioned by Zipf's law too, the oldest most often.

    An addition has at least 60 sentences, and at most so many questions, a third of each kind.
    """
    world = _World(Random(seed))
    pairs = 0
    while True:
        before = len(world.places)
        world.add_places(max(3, sentences // 2 // SENTENCES_A_PLACE))
        documents = Collection("places", "document", tuple(_documents(world, before)))
        left = sentences - (len(world.places) - before) * SENTENCES_A_PLACE
        new = max(1, left // SENTENCES_A_PAIR)
        talks = [
            session
            for pair in range(new)
            for session in _talk(world, pairs + pair, left * (pair + 1) // new - left * pair // new)
        ]
        pairs += new
        drawn: list[Question] = []
        for kind in KINDS:
            known = [question for question in world.questions if question.kind == kind]
            drawn += world.rng.sample(known, min(len(known), questions // len(KINDS)))
        world.questions.clear()
        world.rng.shuffle(drawn)
        yield Corpus((documents, *talks), tuple(drawn))


# ruff: noqa: SIM905 - as a list, each of these would be a page
_SYLLABLES = "vor tek zul mir dra quo sel nax bri oth ule gan fen hob wex lim cor pya sto jun kel ard".split()
_TRADES = "boat yard,bakery,glass works,print shop,dairy,foundry,seed house,tannery,pottery,brewery".split(",")
_COLOURS = "copper blue striped folding oval grey painted tall narrow heavy light round".split()
_THINGS = "kettles lamps oars benches ladders baskets bells kites drums saddles barrels clocks jars nets".split()
_STUFF = "timber clay wool tin barley leather paper sand rope resin".split()
_QUALITIES = "patience,low prices,quick repairs,old tools,fine joints,honest weights".split(",")
_MONTHS, _DAYS = list(MONTHS), list(WEEKDAYS)
_RELATIVES = "cousin sister brother uncle aunt neighbour nephew".split()


class _World:
    """The facts of a corpus, and the questions about them, collected while the text is generated."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.one = rng.choice
        self.questions: list[Question] = []
        self.places: list[str] = []
        self._names: set[str] = set()

    def add_places(self, number: int) -> None:
        self.places += [self.name() for _ in range(number)]
        self._weights = list(accumulate(1 / (rank + 1) for rank in range(len(self.places))))

    def name(self) -> str:
        """Return a name that nobody has: of two syllables, longer as these run out."""
        for tried in count():
            syllables = 2 + (len(self._names) > 200) + (len(self._names) > 4_000) + tried // 20
            name = "".join(self.rng.choices(_SYLLABLES, k=syllables)).capitalize()
            if name not in self._names:
                self._names.add(name)
                break
        return name

    def place(self, other_than: str = "") -> str:
        """Return a random place, by Zipf's law."""
        while (place := self.rng.choices(self.places, cum_weights=self._weights)[0]) == other_than:
            pass
        return place

    def ware(self) -> str:
        return f"{self.one(_COLOURS)} {self.one(_THINGS)}"

    def ask(self, kind: QuestionKind, text: str, gold: str) -> None:
        self.questions.append(Question(text, kind, gold))


def _documents(world: _World, first: int) -> Iterator[NewItem]:
    """Yield the documents of the places from the ``first`` on: a description and two periods of its history of each."""
    rng, one = world.rng, world.one
    for number, place in enumerate(world.places[first:], first):
        ref = f"place-{number}"
        stuff, supplier, founded = one(_STUFF), world.place(other_than=place), rng.randrange(1950, 2000)
        yield NewItem(
            ref=ref,
            title=place,
            text=f"{place} is a {one(_TRADES)} in {world.name()}. It makes {world.ware()}. "
            f"Its {stuff} comes from {supplier}. It was founded by {world.name()} in {founded}. "
            f"Those who visit it often see {world.place(other_than=place)} on the same day. "
            f"People like it for its {one(_QUALITIES)}.",
        )
        world.ask("one-hop", f"What does {place} make?", ref)
        target = f"place-{world.places.index(supplier)}"
        world.ask("two-hop", f"What is made by the supplier of {stuff} to {place}?", target)
        since = founded + rng.randrange(2, 8)
        for span in range(2):
            until = since + rng.randrange(3, 9)
            yield NewItem(
                ref=f"{ref}-{span}",
                title=f"{place}: {since} to {until}",
                text=f"From {one(_MONTHS)} {since} to {one(_MONTHS)} {until} {place} was led by {world.name()}. "
                f"In those years it had {rng.randrange(4, 900)} workers. "
                f"Most of what it made went to {world.place(other_than=place)}.",
            )
            world.ask("time", f"Who led {place} in {rng.randrange(since + 1, until)}?", f"{ref}-{span}")
            since = until


def _talk(world: _World, pair: int, sentences: int) -> Iterator[Collection]:
    """Yield the sessions of two people in order, some weeks apart."""
    rng, left = world.rng, sentences
    moves: dict[str, list[tuple[datetime, str]]] = {world.name(): [], world.name(): []}
    people = list(moves)
    now = datetime(2015, 1, 5, 9, tzinfo=UTC) + timedelta(days=rng.randrange(1_500))
    for session in count():
        items: list[NewItem] = []
        while left and len(items) < 24:
            person, ref = people[len(items) % 2], f"talk-{pair}-{session}-{len(items)}"
            said = [_statement(world, person, moves[person], ref, now)]
            if left > 1 and rng.random() < 0.5:
                said.append(_remark(world))
            left -= len(said)
            items.append(NewItem(ref=ref, speaker=person, text=" ".join(said), said_at=int(now.timestamp()) * 1_000))
            now += timedelta(minutes=1)
        yield Collection(f"talk-{pair}-{session}", "message", tuple(items))
        if not left:
            break
        now += timedelta(days=rng.randrange(20, 60))
    for person, moved in moves.items():
        for (then, ref), (next_move, _) in pairwise(moved):
            day = then + (next_move - then) / 2
            world.ask("time", f"Where did {person} live on {day.day} {_MONTHS[day.month - 1]} {day.year}?", ref)


def _statement(world: _World, person: str, moves: list[tuple[datetime, str]], ref: str, now: datetime) -> str:
    """Return a sentence of a person: sometimes a fact to remember, otherwise small talk."""
    draw, place = world.rng.random(), world.place()
    if draw < 0.06 and (not moves or moves[-1][0] < now - timedelta(days=30)):
        moves.append((now, ref))
        return f"I moved to {world.name()} last {world.one(_DAYS)} and live there now."
    if draw < 0.2:
        ware = world.ware()
        world.ask("one-hop", f"Where did {person} buy the {ware}?", ref)
        return f"I bought {world.rng.randrange(2, 90)} {ware} at {place}."
    if draw < 0.28:
        relative, name = world.one(_RELATIVES), world.name()
        question = f"What do they make where {name}, the {relative} of {person}, has found work?"
        world.ask("two-hop", question, f"place-{world.places.index(place)}")
        return f"My {relative} {name} has found work at {place}."
    return _remark(world)


def _remark(world: _World) -> str:
    rng = world.rng
    when = f"{rng.randrange(1, 29)} {world.one(_MONTHS)} {rng.randrange(1990, 2020)}"
    return rng.choice(
        (
            f"We spent last {world.one(_DAYS)} at {world.place()} with {world.name()} and saw the {world.ware()}.",
            f"Did you hear that {world.name()} carried {rng.randrange(20, 900)} {world.ware()} up the hill?",
            f"There was rain on {when}, and nobody sold any {world.ware()} for a week.",
            f"The {world.ware()} at home are older than the ones that {world.name()} has.",
            f"I would rather mend my {world.ware()} than pay {rng.randrange(20, 900)} coins for new ones.",
        )
    )
