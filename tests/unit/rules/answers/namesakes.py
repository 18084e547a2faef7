"""Two people with one first name: what is told of each, in ten relations, and two questions about each relation."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

PLACES = ("Arnby", "Braksund", "Colmar", "Dunvik", "Estrup", "Fjelby", "Gramnes", "Holtby", "Ivarsund", "Jelling")
PEOPLE = ("Aksel", "Birte", "Carsten", "Ditte", "Esben", "Frida", "Gorm", "Helga", "Ingvar", "Jytte")
FIRMS = ("Nordal Ltd", "Ostrup Bank", "Pavia Ltd", "Quist Bank", "Randal Ltd", "Solvang Bank")


class Asked(NamedTuple):
    """A relation: how it is told, its values, and two questions; {} is the name, {value} the value."""

    told: str
    values: tuple[str, ...]
    questions: tuple[str, str]


ASKED = (
    Asked("{} lives in {value}.", PLACES, ("Where does {} live?", "Which city does {} live in?")),
    Asked("{} was born in {value}.", PLACES, ("Where was {} born?", "What is the birthplace of {}?")),
    Asked("{} works for {value}.", FIRMS, ("Who does {} work for?", "Where does {} work?")),
    Asked("{} works as a {value}.", ("baker", "welder", "nurse"), ("What does {} work as?", "What is {}'s job?")),
    Asked("{} is married to {value}.", PEOPLE, ("Who is {} married to?", "Who is the spouse of {}?")),
    Asked("{} plays the {value}.", ("cello", "harp"), ("What does {} play?", "Which instrument does {} play?")),
    Asked("{} speaks {value}.", ("Danish", "Polish"), ("What does {} speak?", "Which language does {} speak?")),
    Asked("{} likes {value}.", ("chess", "poker", "yoga"), ("What does {} like?", "What does {} enjoy?")),
    Asked("{value} is {}'s brother.", PEOPLE, ("Who is {}'s brother?", "Who is the brother of {}?")),
    Asked("{} visited {value}.", PLACES, ("Which town did {} visit?", "Where did {} go?")),
)


class Telling(NamedTuple):
    """What is told, and the questions with the right value and the one of the namesake."""

    lines: list[str]
    questions: list[tuple[str, str, str]]


def tell(first: str, second: str, seed: int, *, speaker: str = "Ketil", one_sided: int = 0) -> Telling:
    """Return a telling of two people in random order; no value is told of both.

    Args:
        first: the name of one.
        second: the name of the other.
        seed: for the order and the values.
        speaker: who tells it.
        one_sided: relations told of only one of them, in turn; for the other there is no right value ("").
    """
    rng = Random(seed)
    lines, questions = [], []
    for place, asked in enumerate(ASKED):
        mine, theirs = rng.sample(asked.values, 2)
        left_out = (first, second)[place % 2] if place < one_sided else ""
        for name, own, other in ((first, mine, theirs), (second, theirs, mine)):
            if name != left_out:
                lines.append(f"{speaker}: {asked.told.format(name, value=own)}")
            right = own if name != left_out else ""
            questions += [(question.format(name), right, other) for question in asked.questions]
    rng.shuffle(lines)
    return Telling(lines, questions)


def crossings(telling: Telling, answers: dict[str, str | None]) -> Iterator[tuple[str, str]]:
    """Yield the questions that were answered with what was told of the namesake, with the answer."""
    for question, own, other in telling.questions:
        text = (answers[question] or "").casefold()
        if other.casefold() in text and not (own and own.casefold() in text):
            yield question, text
