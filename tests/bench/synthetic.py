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
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import accumulate, count, pairwise
from random import Random
from typing import Literal

from mcp_memory.domain.requests import NewItem
from mcp_memory.domain.turns import Kind
from mcp_memory.language.iso import MONTHS, WEEKDAYS

QuestionKind = Literal["one-hop", "two-hop", "time"]
KINDS: tuple[QuestionKind, ...] = ("one-hop", "two-hop", "time")


@dataclass(frozen=True, slots=True)
class Question:
    """A question whose answer is in one item.

    Attributes:
        text: the question.
        kind: one-hop: the question names the subject of the item; two-hop: it names an item that names the answer's
            item; time: several items have a value, and the date of the question selects one.
        gold: ref of the item with the answer; refs are unique in a corpus.
    """

    text: str
    kind: QuestionKind
    gold: str


@dataclass(frozen=True, slots=True)
class Collection:
    """Items of one session, to be written in this order."""

    session: str
    kind: Kind
    items: tuple[NewItem, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A synthetic memory.

    Attributes:
        heads: names of the places, the most mentioned first.
        collections: documents first, then talk.
        questions: as many of each kind, in random order.
    """

    heads: tuple[str, ...]
    collections: tuple[Collection, ...]
    questions: tuple[Question, ...]


def corpus(seed: int, sentences: int, questions: int) -> Corpus:
    """Return a corpus of exactly this many sentences.

    Args:
        seed: determines the text.
        sentences: at least 60.
        questions: maximum number, a third of each kind; a small corpus has fewer.
    """
    if sentences < 60:
        raise ValueError("a corpus has at least 60 sentences")
    rng = Random(seed)
    world = _World(rng, heads=max(3, sentences // 2 // _SENTENCES_A_HEAD))
    collections = [_documents(world, 0), *_talks(world, 0, sentences - len(world.heads) * _SENTENCES_A_HEAD)]
    return Corpus(tuple(world.heads), tuple(collections), _drawn(world, rng, questions))


def growing(seed: int, sentences: int, questions: int) -> Iterator[Corpus]:
    """Yield without end what is added to a memory that grows: each time this many sentences, and questions about them.

    Places that were there before are mentioned by Zipf's law too, the oldest most often.

    Args:
        seed: determines the text.
        sentences: of each addition, at least 60.
        questions: maximum number of each addition, a third of each kind.
    """
    rng = Random(seed)
    world = _World(rng, heads=0)
    pairs = 0
    while True:
        before = len(world.heads)
        world.add_heads(max(3, sentences // 2 // _SENTENCES_A_HEAD))
        world.questions.clear()
        left = sentences - (len(world.heads) - before) * _SENTENCES_A_HEAD
        collections = [_documents(world, before), *_talks(world, pairs, left)]
        pairs += _pairs(left)
        yield Corpus(tuple(world.heads), tuple(collections), _drawn(world, rng, questions))


def _drawn(world: _World, rng: Random, questions: int) -> tuple[Question, ...]:
    drawn: list[Question] = []
    for kind in KINDS:
        known = [question for question in world.questions if question.kind == kind]
        drawn += rng.sample(known, min(len(known), questions // len(KINDS)))
    rng.shuffle(drawn)
    return tuple(drawn)


def prose(seed: int, sentences: int) -> str:
    """Return running text of practically distinct sentences, about 75 characters each."""
    world = _World(Random(seed), heads=50)
    return " ".join(_remark(world) for _ in range(sentences))


_SENTENCES_A_HEAD = 12
_SENTENCES_A_PAIR = 300
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

    def __init__(self, rng: Random, heads: int) -> None:
        self.rng = rng
        self.questions: list[Question] = []
        self._names = _names(rng)
        self.heads: list[str] = []
        self.add_heads(heads)

    def add_heads(self, number: int) -> None:
        self.heads += [self.name() for _ in range(number)]
        self._weights = list(accumulate(1 / (rank + 1) for rank in range(len(self.heads))))

    def name(self) -> str:
        return next(self._names)

    def head(self, other_than: str = "") -> str:
        """Return a random place, by Zipf's law."""
        while (head := self.rng.choices(self.heads, cum_weights=self._weights)[0]) == other_than:
            pass
        return head

    def one(self, words: list[str]) -> str:
        return self.rng.choice(words)

    def ware(self) -> str:
        return f"{self.one(_COLOURS)} {self.one(_THINGS)}"

    def ask(self, kind: QuestionKind, text: str, gold: str) -> None:
        self.questions.append(Question(text, kind, gold))


def _names(rng: Random) -> Iterator[str]:
    """Yield distinct names of at least two syllables, longer ones once the short ones run out."""
    seen: set[str] = set()
    for tried in count():
        syllables = 2 + (tried > 200) + (tried > 4_000) + (tried > 80_000)
        name = "".join(rng.choices(_SYLLABLES, k=syllables)).capitalize()
        if name not in seen:
            seen.add(name)
            yield name


def _documents(world: _World, first: int) -> Collection:
    """Return the documents of the places from the ``first`` on."""
    items: list[NewItem] = []
    for number, head in enumerate(world.heads[first:], first):
        items += _about(world, f"place-{number}", head)
    return Collection("places", "document", tuple(items))


def _about(world: _World, ref: str, head: str) -> Iterator[NewItem]:
    """Yield the documents of one place: a description and two periods of its history."""
    rng = world.rng
    stuff, supplier, founded = world.one(_STUFF), world.head(other_than=head), rng.randrange(1950, 2000)
    yield NewItem(
        ref=ref,
        title=head,
        text=f"{head} is a {world.one(_TRADES)} in {world.name()}. It makes {world.ware()}. "
        f"Its {stuff} comes from {supplier}. It was founded by {world.name()} in {founded}. "
        f"Those who visit it often see {world.head(other_than=head)} on the same day. "
        f"People like it for its {world.one(_QUALITIES)}.",
    )
    world.ask("one-hop", f"What does {head} make?", ref)
    target = f"place-{world.heads.index(supplier)}"
    world.ask("two-hop", f"What is made by the supplier of {stuff} to {head}?", target)
    since = founded + rng.randrange(2, 8)
    for span in range(2):
        until = since + rng.randrange(3, 9)
        own = f"{ref}-{span}"
        yield NewItem(
            ref=own,
            title=f"{head}: {since} to {until}",
            text=f"From {world.one(_MONTHS)} {since} to {world.one(_MONTHS)} {until} {head} was led by {world.name()}. "
            f"In those years it had {rng.randrange(4, 900)} workers. "
            f"Most of what it made went to {world.head(other_than=head)}.",
        )
        world.ask("time", f"Who led {head} in {rng.randrange(since + 1, until)}?", own)
        since = until


@dataclass(slots=True)
class _Person:
    name: str
    moves: list[tuple[datetime, str]] = field(default_factory=list)
    bought_at: set[str] = field(default_factory=set)


def _pairs(sentences: int) -> int:
    return max(1, sentences // _SENTENCES_A_PAIR)


def _talks(world: _World, first: int, sentences: int) -> Iterator[Collection]:
    """Yield talk of this many sentences between pairs of people, who are numbered from ``first`` on."""
    pairs = _pairs(sentences)
    for pair in range(pairs):
        yield from _talk(world, first + pair, sentences * (pair + 1) // pairs - sentences * pair // pairs)


def _talk(world: _World, pair: int, sentences: int) -> Iterator[Collection]:
    """Yield the sessions of two people in order, some weeks apart."""
    rng = world.rng
    people = (_Person(world.name()), _Person(world.name()))
    now = datetime(2015, 1, 5, 9, tzinfo=UTC) + timedelta(days=rng.randrange(1_500))
    left = sentences
    for session in count():
        items: list[NewItem] = []
        while left and len(items) < 24:
            person, ref = people[len(items) % 2], f"talk-{pair}-{session}-{len(items)}"
            words = [_statement(world, person, ref, now)]
            if left > 1 and rng.random() < 0.5:
                words.append(_remark(world))
            left -= len(words)
            items.append(NewItem(ref=ref, speaker=person.name, text=" ".join(words), said_at=_millis(now)))
            now += timedelta(minutes=1)
        yield Collection(f"talk-{pair}-{session}", "message", tuple(items))
        if not left:
            break
        now += timedelta(days=rng.randrange(20, 60))
    for person in people:
        for (moved, ref), (next_move, _) in pairwise(person.moves):
            day = moved + (next_move - moved) / 2
            world.ask("time", f"Where did {person.name} live on {day.day} {_MONTHS[day.month - 1]} {day.year}?", ref)


def _statement(world: _World, person: _Person, ref: str, now: datetime) -> str:
    """Return a sentence of the person: sometimes a fact to remember, otherwise small talk."""
    draw, head = world.rng.random(), world.head()
    if draw < 0.06 and (not person.moves or person.moves[-1][0] < now - timedelta(days=30)):
        person.moves.append((now, ref))
        return f"I moved to {world.name()} last {world.one(_DAYS)} and live there now."
    if draw < 0.2 and head not in person.bought_at:
        person.bought_at.add(head)
        world.ask("one-hop", f"What did {person.name} buy at {head}?", ref)
        return f"I bought {world.rng.randrange(2, 90)} {world.ware()} at {head}."
    if draw < 0.28:
        relative, name = world.one(_RELATIVES), world.name()
        question = f"What do they make where {name}, the {relative} of {person.name}, has found work?"
        world.ask("two-hop", question, f"place-{world.heads.index(head)}")
        return f"My {relative} {name} has found work at {head}."
    return _remark(world)


def _remark(world: _World) -> str:
    rng = world.rng
    when = f"{rng.randrange(1, 29)} {world.one(_MONTHS)} {rng.randrange(1990, 2020)}"
    return rng.choice(
        (
            f"We spent last {world.one(_DAYS)} at {world.head()} with {world.name()} and looked at the {world.ware()}.",
            f"Did you hear that {world.name()} carried {rng.randrange(20, 900)} {world.ware()} up the hill?",
            f"There was rain on {when}, and nobody sold any {world.ware()} for a week.",
            f"The {world.ware()} at home are older than the ones that {world.name()} has.",
            f"I would rather mend my {world.ware()} than pay {rng.randrange(20, 900)} coins for new ones.",
        )
    )


def _millis(moment: datetime) -> int:
    return int(moment.timestamp()) * 1_000
