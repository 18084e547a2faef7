"""Read the openings of encyclopaedia articles by their fixed form.

Examples: "X (4 May 1950 – 3 June 2001) was a Danish poet", "Y is a 1958 film directed by Z". Such openings state more
than their clauses: dates of birth and death in brackets, credits in participles, locations in a chain of commas. The
order of reading is the subject of the sentence and its class (``article.py``), the brackets behind the name
(``life.py``), and then what the class makes likely (``credits.py``). Short sentences that continue about the same
subject ("It stars …", "He was born in …") are read in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, FOREVER, StatedTime
from mcp_memory.domain.turns import Turn
from mcp_memory.language.iso import years
from mcp_memory.rules.facts.article import Article, Predicate, article_subject, continuation, read_predicate
from mcp_memory.rules.facts.claims import make_assertion
from mcp_memory.rules.facts.credits import credit_facts
from mcp_memory.rules.facts.life import alias_facts, bracket_facts, life_facts
from mcp_memory.rules.facts.modality import PLAIN
from mcp_memory.rules.facts.names import Bracket, OpeningFact, find_brackets, mask_brackets, read_name
from mcp_memory.rules.facts.validity import Validity

SENTENCES = 5
"""Sentences of a document that are read."""
LONGEST = 1_000
"""Characters of a sentence that are read."""
_OFFICE = re.compile(r"\sof\s(?:the\s)?(?=[^\W\d_a-z])")
_IS = ("is_a", "works_as")


def opening_assertions(
    turn: Turn, sentences: Sequence[tuple[int, int]], times: Sequence[Sequence[StatedTime]]
) -> list[Assertion]:
    """Return the assertions of the opening of a document; none for a message or for another form.

    Args:
        turn: the document.
        sentences: spans of its sentences, in characters.
        times: the stated times of each sentence.
    """
    if turn.kind != "document" or not sentences:
        return []
    assertions: dict[str, Assertion] = {}
    for index, fact in _opening_facts(turn, sentences, times):
        assertion = _assertion(turn, index, fact)
        if assertion is not None:
            assertions.setdefault(assertion.id, assertion)
    return list(assertions.values())


def merge_openings(
    turn: Turn, sentences: Sequence[tuple[int, int]], times: Sequence[Sequence[StatedTime]], read: list[Assertion]
) -> list[Assertion]:
    """Return the assertions of the general rules together with those of the opening, without duplicates.

    Args:
        turn: the document, or a message, which has no opening.
        sentences: spans of its sentences, in characters.
        times: the stated times of each sentence.
        read: the assertions of the general rules.
    """
    opening = opening_assertions(turn, sentences, times)
    if not opening:
        return read
    keys = {_key(item.sentence, item.head, item.relation, item.tail) for item in opening}
    kinds = [(item.sentence, entity_key(item.head), entity_key(item.tail)) for item in opening if item.relation in _IS]
    others = [
        item
        for item in read
        if item.negated
        or not (
            _key(item.sentence, item.head, item.relation, item.tail) in keys
            or _key(item.sentence, item.tail, relations().get(item.relation).inverse or "", item.head) in keys
            or (item.relation in _IS and _is_covered(item, kinds))
        )
    ]
    return [*opening, *others]


def _is_covered(item: Assertion, kinds: Sequence[tuple[int, str, str]]) -> bool:
    """Return whether a class holds one of the opening: "1958 comedy film" holds "comedy film"."""
    head, tail = entity_key(item.head), entity_key(item.tail)
    return any(item.sentence == sentence and head == ours and kind in tail for sentence, ours, kind in kinds)


def _key(sentence: int, head: str, relation: str, tail: str) -> tuple[int, str, str, str]:
    return sentence, entity_key(head), relation, entity_key(tail)


def _opening_facts(
    turn: Turn, sentences: Sequence[tuple[int, int]], times: Sequence[Sequence[StatedTime]]
) -> Iterator[tuple[int, OpeningFact]]:
    start, end = sentences[0]
    end = min(end, start + LONGEST)
    brackets = find_brackets(turn.text, start, end)
    text = mask_brackets(turn.text, brackets)
    about = article_subject(turn.title, text, start, end)
    if about is None:
        return
    what = read_predicate(text, about.copula, end) if about.copula else None
    person = _is_person(about, what, brackets)
    for fact in _first_sentence_facts(turn.text, text, about, what, person, brackets, end, times[0]):
        yield 0, fact
    for index in range(1, min(SENTENCES, len(sentences))):
        start, end = sentences[index]
        start_of_rest = continuation(turn.text, about, start, end, person=person)
        if start_of_rest is None:
            continue
        end = min(end, start + LONGEST)
        text = mask_brackets(turn.text, find_brackets(turn.text, start, end))
        if person:
            read = life_facts(text, start_of_rest, end, times[index], about.name)
        else:
            read = credit_facts(text, start, end, times[index], about.name, what.kind if what else "", continued=True)
        for fact in read:
            yield index, fact


def _is_person(about: Article, what: Predicate | None, brackets: Sequence[Bracket]) -> bool:
    if what is not None and what.kind:
        return what.kind == "person"
    born = any(bracket.born for bracket in brackets if bracket.start < (about.copula or about.end + 40))
    return born or (what is not None and what.kin)


def _first_sentence_facts(
    whole: str, text: str, about: Article, what: Predicate | None, person: bool, brackets: Sequence[Bracket],
    end: int, times: Sequence[StatedTime],
) -> Iterator[OpeningFact]:  # fmt: skip
    written = whole[about.start : about.end]
    place = about.start, about.end
    ours, theirs = entity_key(about.name), entity_key(written)
    if person and ours != theirs and len(theirs) > len(ours) and read_name(text, *place) == (*place, False):
        yield OpeningFact(about.name, "also_known_as", written, *place)
    head = about.copula or min(end, about.end + 200)
    if about.copula:
        yield from alias_facts(whole, about.end, head, about.name)
    if person or (what is not None and not what.kind):
        near = [bracket for bracket in brackets if bracket.end <= head + 1]
        yield from bracket_facts(whole, near, about.name, sure=person)
    if what is None:
        return
    for role, first, last in what.kinds:
        relation = "is_a"
        if person and _OFFICE.match(text, last):
            continue  # "Bishop of Harn" is read whole by the general rules
        if person and (role, first, last) == what.kinds[0]:
            relation = "works_as"
        yield OpeningFact(about.name, relation, role, first, last)
    for first, last in what.nationalities:
        relation = "nationality" if person else "comes_from"
        if person or what.kind in ("work", "body"):
            yield OpeningFact(about.name, relation, whole[first:last], first, last)
    if what.year and what.kind == "work":
        since, until = years(int(whole[slice(*what.year)]))
        first, last = what.year
        yield OpeningFact(about.name, "released_on", whole[first:last], first, last, StatedTime(
            first, last, since, until, "year", False
        ))  # fmt: skip
    if person:
        yield from life_facts(text, about.end, end, times, about.name)
    else:
        yield from credit_facts(text, what.start, end, times, about.name, what.kind, after=what.end)


def _assertion(turn: Turn, index: int, fact: OpeningFact) -> Assertion | None:
    head, relation, tail = fact.head, fact.relation, " ".join(fact.tail.split())
    if not tail or entity_key(head) == entity_key(tail):
        return None
    time = fact.time
    since = time.since if time else BEGINNING if turn.local_said_at is None else turn.local_time
    until = time.until if time and relations().get(relation).event else FOREVER
    if since >= until:
        return None
    validity = Validity(since, until, time is not None)
    triple = head, relation, tail
    return make_assertion(turn, index, (fact.start, fact.end), triple, validity, "TEMPORAL" if time else "FACT", PLAIN)
