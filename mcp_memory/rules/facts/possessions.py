"""What "my favourite food is ramen" and "her last month at Orbix was May" tell of whose they are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.complements import Slot
from mcp_memory.rules.facts.frames import Effect
from mcp_memory.rules.facts.noun import Noun
from mcp_memory.rules.facts.subjects import RELATIVES
from mcp_memory.rules.facts.tables import adjectives as tables
from mcp_memory.rules.facts.tables import kinds as table
from mcp_memory.rules.facts.tables import small_words as small
from mcp_memory.rules.facts.told import Told
from mcp_memory.rules.facts.words import Word


@cache
def _possessed() -> dict[str, tuple[str, str]]:
    rows = (tuple(cell.strip() for cell in line.split("|")) for line in tables.POSSESSED.strip().splitlines())
    return {word: (relation, tail) for words, relation, tail in rows for word in words.split()}


def complement_of(clause: Clause) -> Slot | None:
    """Return what a subject is said to be, where that is no preposition."""
    return clause.slots[0] if clause.slots and not clause.slots[0].preposition else None


def possession(clause: Clause, subject: Noun, effect: Effect) -> Iterator[Told]:
    """Yield what "my favourite food is ramen" or "Ann's hometown is Bergen" tells."""
    slot = complement_of(clause)
    owner = subject.owner or (subject.of if subject.determiner == "the" else None)
    if owner is None or (subject.name and not (subject.name.isupper() and len(subject.name) < 4)):
        return
    if subject.head in table.JOBS and slot is None:
        return
    if subject.head == "birthday" and clause.times:
        yield Told(owner, "born_on", clause.times[0].text, "lasting", (), clause.end)
    if slot is None:
        return
    for noun in slot.nouns:
        if noun.pronoun or noun.uncertain:
            continue
        if subject.text.startswith("favourite ") or subject.text.startswith("favorite "):
            kind = subject.text.split(" of ")[0].removeprefix("favourite ").removeprefix("favorite ")
            if not (noun.determiner in ("this", "that") or noun.head in table.VAGUE):
                yield Told(owner, "favourite_" + kind.replace(" ", "_").lower(), noun, effect, None, slot.end)
        elif subject.head in _possessed():
            relation, tail = _possessed()[subject.head]
            tail_noun: Noun | str = noun
            if tail == "time":
                if clause.times:
                    yield Told(owner, relation, clause.times[0].text, "lasting", (), slot.end)
                elif any(letter.isdigit() for letter in noun.text) and " " in noun.text:
                    yield Told(owner, relation, noun.text, "lasting", (), slot.end)  # a day of no year
                continue
            if (
                subject.head in ("job", "profession", "occupation")
                and noun.determiner in ("a", "an", "")
                and kinds.is_role(noun)
            ):
                yield Told(owner, relation, tail_noun, effect, None, slot.end)
            elif tail == "any" and any(sign in noun.text for sign in "@0123456789"):
                yield Told(owner, relation, noun.text, effect, None, slot.end)
            elif tail not in ("any", "role") and kinds.fits(noun, tail):
                if relation.startswith("<"):
                    yield Told(noun, relation[1:], owner, effect, None, slot.end)
                else:
                    yield Told(owner, relation, noun, effect, None, slot.end)
        elif (
            subject.head in RELATIVES
            and noun.name
            and not (noun.common or noun.owner or kinds.is_demonym(noun))
            and subject.owner
        ):
            relation = RELATIVES[subject.head][0]
            yield from kinship(owner, subject.head if relation == "(person)" else relation, noun, slot.end)
        elif subject.owner and _own(clause, owner, subject, noun):
            name = subject.text.lower().replace(" ", "_").replace("-", "_")
            yield Told(owner, name, noun, effect, None, slot.end)


def _own(clause: Clause, owner: Noun, subject: Noun, noun: Noun) -> bool:
    """Return whether what something of somebody's is can be told by its own name: "my dentist is Dr. Okafor"."""
    clear = not (subject.of or subject.plural or subject.within) and owner.pronoun != "it"
    if not clear or clause.verb.tense != "present" or subject.head in table.VAGUE | small.EMPTY | table.JUDGED:
        return False
    if subject.head in RELATIVES and RELATIVES[subject.head][0][0] != "(":
        return False
    sign = noun.named or any(letter.isdigit() for letter in noun.text)
    return sign and not noun.determiner and noun.owner is None and not kinds.is_demonym(noun)


def kinship(owner: Noun, relation: str, name: Noun, end: int, times: tuple[Word, ...] | None = None) -> Iterator[Told]:
    """Yield what somebody is to somebody, by the relation in the table of kin.

    Args:
        owner: whose relative it is.
        relation: from the owner, ``<`` before one that runs to the owner, in brackets where none is kept.
        name: the relative.
        end: first character after the words that tell it.
        times: as in ``Told``.
    """
    if relation.startswith("<"):
        yield Told(name, relation[1:], owner, "state", times, end)
    elif relation[0] != "(":
        yield Told(owner, relation, name, "state", times, end)


def turning_point(clause: Clause, subject: Noun) -> Iterator[Told]:
    """Yield what "my last month at Orbix was May 2019" or "her first day in Oslo was …" tells."""
    first = subject.text.split()[0].lower()
    if (
        subject.head not in ("day", "month", "week", "year")
        or first not in ("last", "final", "first")
        or not subject.owner
    ):
        return
    effect: Effect = "begin" if first == "first" else "end"
    for slot in subject.within:
        if clause.times and slot[0] in ("at", "with") and kinds.fits(slot[1], "org"):
            yield Told(subject.owner, "works_at", slot[1], effect)
        elif clause.times and slot[0] == "as" and kinds.fits(slot[1], "role"):
            yield Told(subject.owner, "works_as", slot[1], effect)
        elif clause.times and slot[0] == "in" and kinds.fits(slot[1], "place"):
            yield Told(subject.owner, "lives_in", slot[1], effect)
