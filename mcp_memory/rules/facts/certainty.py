"""Decide which facts of a message are certain: those beside which nothing else is said.

A fact is certain only if the facts read from its sentence account for every word of it. A word is accounted for if it
belongs to a head or a tail, says the relation, is part of the time that a fact has, or carries no content (`_FILLERS`);
an "and" if it joins what is said of one head, or heads of one value. Whatever else stands there may change what is
said: a context ("at work"), a condition, a denial, a hedge, irony, a second clause, the rest of a value that was cut.
The fact beside it is recorded, walked and recalled, but not certain. Words are what white space separates, and are
compared whole: "3:42" states no 3, and "Oslo?" or "“Oslo”" no Oslo.

A capital that a sentence needs anyway is no sign of a name, so the first of several words is part of one only if it is
written so elsewhere, or is a title: "Assume Anna works at Google." Nor does a name end in a word that is written
otherwise ("Rome jk", "Google AFAIK"), or say "not". A time is fixed only by the few prepositions of `_FIXING`, and
where it is more than likely (`only_likely`).

What one sentence states, another may frame or take back ("Let's play a game." – "Just kidding."), so all of them must
be accounted for. Nothing is certain that a document says, whose sentences rest on what stands before them: more than
one such fact in twenty was wrong.

This one prior stands for lists of what makes a statement doubtful. It leaves few facts certain, since most sentences
of real talk say more than one fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from functools import cache

from mcp_memory.domain.entities import PROJECT, TITLES
from mcp_memory.domain.facts import STABLE, Assertion
from mcp_memory.domain.relations import DATED, Relation, relations
from mcp_memory.domain.times import FOREVER, StatedTime
from mcp_memory.domain.turns import USERS, Turn, speaker
from mcp_memory.language.stated import only_likely
from mcp_memory.language.tokens import stem
from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.words import skip_lead_in

Span = tuple[int, int]

_ARTICLES = word_set("a an the my our")
_AUXILIARIES = word_set("am is are was were has have had do does did")
"""A sentence that begins with one is a question, whether a mark ends it or not."""
_FILLERS = _AUXILIARIES | word_set("a an the be been being also now just currently")
_FIRST_PERSON = word_set("i me my mine we us our ours")
_DENIALS = word_set(
    "not no never longer any more anymore don't doesn't didn't isn't aren't wasn't weren't haven't hasn't hadn't can't"
)
_ENDED = word_set("longer any more anymore")
_FIXING = word_set("at in on since until till from to for of")
_INEXACT = closed.PREPOSITIONS - _FIXING | {"or"}
"""Words that leave open when something was: "after May", "around 1990", "May or June"."""
_NAMED_TYPES = frozenset(("person", "place", "organisation"))
_CONTRACTION = re.compile(r"'(?:m|s|ve|re|d|ll)$")
_WORD = re.compile(r"\S+")
_Said = Sequence[tuple[int, frozenset[str]]]
"""The first character of each word of a sentence, with its forms."""


def with_certainty(
    turn: Turn, sentences: Sequence[Span], times: Sequence[Sequence[StatedTime]], assertions: Iterable[Assertion]
) -> list[Assertion]:
    """Return assertions, those that are not certain with at most the confidence of a stable fact.

    Args:
        turn: the turn that states them.
        sentences: spans of its sentences, in characters.
        times: the times that each sentence states.
        assertions: the assertions of the rules.
    """
    found = list(assertions)
    certain = set() if turn.kind == "document" else _certain_ids(turn, sentences, times, found)
    certain -= {one.id for one in found if _is_open(relations().get(one.relation))}
    return [one if one.id in certain else replace(one, confidence=min(one.confidence, STABLE)) for one in found]


def _certain_ids(
    turn: Turn, sentences: Sequence[Span], times: Sequence[Sequence[StatedTime]], found: Sequence[Assertion]
) -> set[str]:
    """Return the ids of the facts that account for every word of a message; none if words are left."""
    certain: set[str] = set()
    named = _named_words(turn, sentences)
    for index, span in enumerate(sentences):
        start = skip_lead_in(turn.text, *span)  # "Remember that …" asks for what follows to be kept
        said = [(word.start(), _forms(word[0])) for word in _WORD.finditer(turn.text, start, span[1])]
        if not said or not said[0][1].isdisjoint(_AUXILIARIES):
            return set()
        written = frozenset[str]().union(*(forms for _, forms in said))
        capital = said[0][1] - named
        whole = [one for one in found if one.sentence == index and _is_whole(turn, one, written, capital)]
        if not whole or not _is_all_said_by(turn, said, whole, times[index]):
            return set()
        certain.update(one.id for one in whole)
    return certain


def _is_open(relation: Relation) -> bool:
    """Return whether what is read may be another thing: a value of its moment, or a name of nobody knows what.

    "My source is Wikipedia", "my role is Hamlet" say what the words around them are.
    """
    return relation.passing or (not relation.said and relation.cardinality == "unknown")


def _named_words(turn: Turn, sentences: Sequence[Span]) -> Set[str]:
    """Return the words that a text writes with a capital where it needs none, and those of its speaker."""
    words = (turn.speaker or "").split()
    for span in sentences:
        words += turn.text[slice(*span)].split()[1:]
    return {form for word in words if word[:1].isupper() for form in _forms(word.rstrip(",;:!?"))}


def _is_whole(turn: Turn, fact: Assertion, written: Set[str], capital: Set[str]) -> bool:
    """Return whether a sentence names what a fact is about, and has the words of its value as they are.

    "Starting next Monday." does not say who, "128/82" states no 128, and "Assume Anna" is nobody's name.

    Args:
        turn: the turn that holds the sentence.
        fact: what is read from it.
        written: the words of the sentence, in their forms.
        capital: the forms of its first word, unless the text shows elsewhere that it is a name's.
    """
    if written.isdisjoint(_words_for(turn, fact.head) - _FILLERS) or _is_of_user_by_another(turn, fact):
        return False
    firsts = [name.split()[0] for name in (fact.head, fact.tail) if " " in name.strip()]
    swallowed = [one for one in firsts if not (capital.isdisjoint(_forms(one)) or one.endswith(("'s", "’s")))]
    if any(one.casefold().removesuffix(".") not in TITLES for one in swallowed):
        return False
    if fact.stated and fact.kind != "planned" and turn.local_time < fact.since < FOREVER:
        return False  # "I moved in 2040"
    if relations().get(fact.relation).tail in _NAMED_TYPES and not _is_of_one_form(fact.tail):
        return False
    derived = fact.relation in DATED or fact.tail.casefold() == _me(turn)
    return derived or all(written & (_forms(word) | _words_for(turn, word)) for word in fact.tail.split())


def _is_of_one_form(name: str) -> bool:
    """Return whether the last word of a name is written as the one before is."""
    *_, before, last = ("", *name.split())
    if not before[:1].isupper() or before.endswith(("'s", "’s")):
        return True
    return not last[0].islower() and (len(last) < 2 or before.isupper() or not last.isupper())


def _is_all_said_by(turn: Turn, said: _Said, facts: Sequence[Assertion], times: Sequence[StatedTime]) -> bool:
    """Return whether facts account for every word of their sentence.

    Args:
        turn: the turn that holds it.
        said: its words.
        facts: what is read from it.
        times: the times that it states.
    """
    known, stems = set(_FILLERS), set[str]()
    for fact in facts:
        known |= _words_for(turn, fact.head) | _words_for(turn, fact.tail)
        stems |= _stems_of(fact.relation)
    if any(fact.negated for fact in facts):
        if sum(not (_DENIALS - _ENDED).isdisjoint(forms) for _, forms in said) > 1:
            return False  # "I don't not have a dog"
        known |= _DENIALS
        known.discard("just")  # "I don't just work there"
    else:
        known -= _DENIALS
    pairs = {(fact.head, fact.tail) for fact in facts}
    if len(pairs) > 1 and 1 in map(len, map(set, zip(*pairs, strict=True))):
        known.add("and")  # not in "I joined Norvik and quit"
    ends = {end for fact in facts if fact.stated or fact.relation in DATED for end in (fact.since, fact.until)}
    dated = [
        (time.start, time.end)
        for time in times
        if (time.until in ends or (time.since in ends and not time.since <= turn.local_time < time.until < FOREVER))
        and not only_likely(turn.text, time)
    ]  # "I work there this week" has no end
    before_time = before_filler = False
    for place, forms in reversed(said):
        in_time = any(start <= place < end for start, end in dated)
        if (in_time or before_time) and not _INEXACT.isdisjoint(forms):
            return False
        if not (in_time or known & forms):
            if not closed.PREPOSITIONS.isdisjoint(forms):
                if not before_time and (before_filler or stems.isdisjoint(map(stem, forms))):
                    return False  # "for now", "in summer"
            elif stems.isdisjoint(map(stem, forms)):
                return False
        before_time = in_time
        before_filler = not _FILLERS.isdisjoint(forms) and _ARTICLES.isdisjoint(forms)
    return True


def _is_of_user_by_another(turn: Turn, fact: Assertion) -> bool:
    """Return whether somebody with another name speaks of "the user": a tool, a friend, a second program."""
    of_user = fact.head.casefold().split("'s")[0] in USERS or fact.tail.casefold() in USERS
    return of_user and _me(turn) != "" and _me(turn) not in USERS


def _me(turn: Turn) -> str:
    return (speaker(turn) or "").casefold()


def _words_for(turn: Turn, name: str) -> frozenset[str]:
    """Return the words, in their forms, by which a sentence may name a head or a tail.

    Who speaks says "I": a profile that names them is somebody else's text ("User works at Google.").
    """
    name, me = name.casefold(), _me(turn)
    if name == me:
        return _FIRST_PERSON
    own = name == PROJECT or (me and name.startswith(f"{me}'s"))
    return frozenset[str]().union(_FIRST_PERSON if own else (), *map(_forms, name.split()))


def _forms(word: str) -> frozenset[str]:
    """Return a word in lower case without the stop behind it, also as what it is a contraction of.

    A contracted "not" stays: only a denial has it. So does a comma, behind which a value may go on ("Paris, Texas").
    """
    plain = word.casefold().replace("’", "'").removesuffix(".")
    return frozenset((plain, _CONTRACTION.sub("", plain)))


@cache
def _stems_of(relation: str) -> frozenset[str]:
    """Return the stems of the words that say a relation, by the registry and the table of relatives."""
    known = relations().get(relation)
    relatives = [word for word, (other, _) in RELATIVES.items() if other.strip("<()") == relation]
    said = {one for row in known.said for one in (row.word, *row.particles, *row.slots)}
    loose = {one for row in known.said if "loose" in row.options for one in (row.word, *row.particles)}
    others = " ".join((*relatives, *known.asked, known.label)).lower().split()
    return frozenset(map(stem, said.union(others))) - frozenset(map(stem, loose))
