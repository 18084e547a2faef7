"""How encyclopaedia articles begin: "X (4 May 1950 – 3 June 2001) was a Danish poet", "Y is a 1958 film directed by Z".

These openings follow a form, and tell more than their clauses do: dates of birth and death in brackets, credits in
participles, the place in a chain of commas. They are read by that form: who the sentence is about, what stands in
brackets behind it (``life.py``), what kind of thing it is, and then what the kind lets one expect (``credits.py``).
Short sentences that go on about the same ("It stars …", "He was born in …") are read likewise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.ids import assertion_id
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, FOREVER, StatedTime
from mcp_memory.domain.turns import Turn
from mcp_memory.language.gregorian import years
from mcp_memory.reasoning.embedded.extraction.credits import credited
from mcp_memory.reasoning.embedded.extraction.formula import Bracket, Formula, brackets, masked
from mcp_memory.reasoning.embedded.extraction.life import aliases, life, said_of_life
from mcp_memory.reasoning.embedded.extraction.modality import PLAIN
from mcp_memory.reasoning.embedded.extraction.predicate import Predicate, predicate
from mcp_memory.reasoning.embedded.extraction.runs import run
from mcp_memory.reasoning.embedded.extraction.tables import word_set

SENTENCES = 5
"""Of a document, how many are looked at."""
LONGEST = 1_000
"""Characters of a sentence that are looked at."""
_COPULA = re.compile(r"[ ,;](?P<verb>is|was|are|were)\s(?=[\w\"“])")
_GOES_ON = re.compile(
    r"(?:(?P<person>He|She)|(?P<thing>It|(?:The|This)\s(?:\w{1,20}\s)?(?:film|movie|song|album|single|novel|book|play|series"
    r"|show|game|episode|opera|story|picture|short|music|score|screenplay|script|soundtrack|company|club|band|team"
    r"|school|village|town|magazine|newspaper|organi[sz]ation)))\s(?=[a-z])"
)
_BEHIND = re.compile(r"\s{0,2}\([^)]{0,100}\)")
_OFFICE = re.compile(r"\sof\s(?:the\s)?(?=[^\W\d_a-z])")
_IS = ("is_a", "works_as")
_ASIDE = re.compile(r"\s{1,300}(?:,|or\b|also\b|born\b|n[ée]e\b|and\b|known\b|better\b|[\"“”])")
_EDGES = " \t\n\"“”'‘’,;«»"
_EMPTY = word_set(
    "it he she they this that there these here in on at as by for to from when while after before although though if"
    " since because during with under until following despite both one"
)
_SMALL = word_set("of the and or de la von van der di da del du le al el bin ibn a an in & for at y e i to on also")
_OTHERS = re.compile(r"\b(?:whose|where|while|when)\b")


@dataclass(frozen=True, slots=True)
class _Subject:
    """What an article is about: its name, and where the first sentence names it and says what it is."""

    name: str
    start: int
    end: int
    copula: int


def openings(
    turn: Turn, sentences: Sequence[tuple[int, int]], times: Sequence[Sequence[StatedTime]]
) -> list[Assertion]:
    """Return what the opening of a document tells; nothing of a message, or where the form is another.

    Args:
        turn: the document.
        sentences: spans of its sentences, in characters.
        times: what each of them states.
    """
    if turn.kind != "document" or not sentences:
        return []
    found: dict[str, Assertion] = {}
    for index, formula in _formulas(turn, sentences, times):
        assertion = _assertion(turn, index, formula)
        if assertion is not None:
            found.setdefault(assertion.id, assertion)
    return list(found.values())


def with_openings(
    turn: Turn, sentences: Sequence[tuple[int, int]], times: Sequence[Sequence[StatedTime]], read: list[Assertion]
) -> list[Assertion]:
    """Return what was read together with what the opening tells; what both tell is told once.

    Args:
        turn: the document, or a message, to which nothing is added.
        sentences: spans of its sentences, in characters.
        times: what each of them states.
        read: by the general rules.
    """
    told = openings(turn, sentences, times)
    if not told:
        return read
    known = {_key(item.sentence, item.head, item.relation, item.tail) for item in told}
    kinds = [(item.sentence, entity_key(item.head), entity_key(item.tail)) for item in told if item.relation in _IS]
    kept = [
        item
        for item in read
        if item.negated
        or not (
            _key(item.sentence, item.head, item.relation, item.tail) in known
            or _key(item.sentence, item.tail, relations().get(item.relation).inverse or "", item.head) in known
            or (item.relation in _IS and _is_told(item, kinds))
        )
    ]
    return [*told, *kept]


def _is_told(item: Assertion, kinds: Sequence[tuple[int, str, str]]) -> bool:
    """Return whether what something is said to be holds one of the kinds: "1958 comedy film" that of "comedy film"."""
    head, tail = entity_key(item.head), entity_key(item.tail)
    return any(item.sentence == sentence and head == ours and kind in tail for sentence, ours, kind in kinds)


def _key(sentence: int, head: str, relation: str, tail: str) -> tuple[int, str, str, str]:
    return sentence, entity_key(head), relation, entity_key(tail)


def _formulas(
    turn: Turn, sentences: Sequence[tuple[int, int]], times: Sequence[Sequence[StatedTime]]
) -> Iterator[tuple[int, Formula]]:
    start, end = sentences[0]
    end = min(end, start + LONGEST)
    beside = brackets(turn.text, start, end)
    text = masked(turn.text, beside)
    subject = _subject(turn.title, text, start, end)
    if subject is None:
        return
    what = predicate(text, subject.copula, end) if subject.copula else None
    person = _is_person(subject, what, beside)
    for formula in _first(turn.text, text, subject, what, person, beside, end, times[0]):
        yield 0, formula
    for index in range(1, min(SENTENCES, len(sentences))):
        start, end = sentences[index]
        goes_on = _goes_on(turn.text, subject, start, end, person)
        if goes_on is None:
            continue
        end = min(end, start + LONGEST)
        text = masked(turn.text, brackets(turn.text, start, end))
        if person:
            read = said_of_life(text, goes_on, end, times[index], subject.name)
        else:
            read = credited(text, start, end, times[index], subject.name, what.kind if what else "", goes_on=True)
        for formula in read:
            yield index, formula


def _subject(title: str | None, text: str, start: int, end: int) -> _Subject | None:
    """Return what the article is about, if its first sentence begins with the words of the title, or with a name."""
    copula = _COPULA.search(text, start, min(end, start + 400))
    stop = copula.start() if copula else min(end, start + 120)
    comma = text.find(",", start, stop)
    gap = text.find("   ", start, stop)  # a bracket was there
    last = min(place for place in (comma, gap, stop) if place >= 0)
    written = text[start:last].strip(_EDGES)
    if not written or (
        written.lower().split()[0] in _EMPTY and written[:4].lower() != (title or "").strip(_EDGES)[:4].lower()
    ):
        return None
    name = _BEHIND.sub("", title).strip() if title else ""
    if name and not _shares(name, written):
        name = name.split(": ")[0]
    if name and ": " in name and entity_key(name) not in entity_key(written):
        name = name.split(": ")[0]
    first = text.index(written, start)
    if not name:
        capital = run(text, first, last)
        if capital is None or capital.end < first + len(written):
            return None
        name = written
    elif not _shares(name, written) or not _is_name(written, name):
        return None
    said = copula is not None and not _OTHERS.search(text, last, copula.start())
    if said and text[last : copula.start() if copula else last].strip()[:1] not in ("", ",", ";", '"', "”"):
        said = _ASIDE.match(text, last, stop) is not None
    return _Subject(" ".join(name.split()), first, first + len(written), copula.end() if copula and said else 0)


def _is_name(written: str, name: str) -> bool:
    """Return whether what stands before the verb is a name: words with capitals, those of the title, and small ones."""
    known = name.lower().split()
    return all(
        not word[0].islower() or word in _SMALL or word.strip(_EDGES) in known or word[1:2].isupper()
        for word in written.split()
    )


def _shares(name: str, written: str) -> bool:
    """Return whether two names share a word of some length, or are one."""
    ours, theirs = entity_key(name), entity_key(written)
    return ours == theirs or bool({w for w in ours.split() if len(w) > 2} & set(theirs.split()))


def _is_person(subject: _Subject, what: Predicate | None, beside: Sequence[Bracket]) -> bool:
    if what is not None and what.kind:
        return what.kind == "person"
    born = any(bracket.born for bracket in beside if bracket.start < (subject.copula or subject.end + 40))
    return born or (what is not None and what.kin)


def _first(
    whole: str, text: str, subject: _Subject, what: Predicate | None, person: bool, beside: Sequence[Bracket],
    end: int, times: Sequence[StatedTime],
) -> Iterator[Formula]:  # fmt: skip
    written = whole[subject.start : subject.end]
    place = subject.start, subject.end
    ours, theirs = entity_key(subject.name), entity_key(written)
    if person and ours != theirs and len(theirs) > len(ours) and run(text, *place) == (*place, False):
        yield Formula(subject.name, "also_known_as", written, *place)
    head = subject.copula or min(end, subject.end + 200)
    if subject.copula:
        yield from aliases(whole, subject.end, head, subject.name)
    if person or (what is not None and not what.kind):
        near = [bracket for bracket in beside if bracket.end <= head + 1]
        yield from life(whole, near, subject.name, sure=person)
    if what is None:
        return
    for role, first, last in what.kinds:
        relation = "is_a"
        if person and _OFFICE.match(text, last):
            continue  # "Bishop of Harn" is read whole by the general rules
        if person and (role, first, last) == what.kinds[0]:
            relation = "works_as"
        yield Formula(subject.name, relation, role, first, last)
    for first, last in what.nationalities:
        relation = "nationality" if person else "comes_from"
        if person or what.kind in ("work", "body"):
            yield Formula(subject.name, relation, whole[first:last], first, last)
    if what.year and what.kind == "work":
        since, until = years(int(whole[slice(*what.year)]))
        first, last = what.year
        yield Formula(subject.name, "released_on", whole[first:last], first, last, StatedTime(
            first, last, since, until, "year", False
        ))  # fmt: skip
    if person:
        yield from said_of_life(text, subject.end, end, times, subject.name)
    else:
        yield from credited(text, what.start, end, times, subject.name, what.kind, after=what.end)


def _goes_on(text: str, subject: _Subject, start: int, end: int, person: bool) -> int | None:
    """Return where a sentence goes on behind its subject, if that is the article's own."""
    if person and text.startswith("Born ", start):
        return start
    found = _GOES_ON.match(text, start, end)
    if found is not None:
        return found.end() if bool(found["person"]) == person else None
    name = run(text, start, min(end, start + 80))
    if name is None or not person:
        return None
    words = entity_key(text[name.start : name.end])
    return name.end if words in (entity_key(subject.name), entity_key(subject.name).split(" ")[-1]) else None


def _assertion(turn: Turn, index: int, formula: Formula) -> Assertion | None:
    head, relation, tail = formula.head, formula.relation, " ".join(formula.tail.split())
    if not tail or entity_key(head) == entity_key(tail):
        return None
    time = formula.time
    since = time.since if time else BEGINNING if turn.said_at is None else turn.time
    until = time.until if time and relations().get(relation).event else FOREVER
    if since >= until:
        return None
    signs = "yes", str(since), str(until), "embedded"
    return Assertion(
        id=assertion_id(turn.id, formula.start, formula.end, head, relation, tail, *signs),
        space=turn.space,
        turn_id=turn.id,
        sentence=index,
        start=formula.start,
        end=formula.end,
        head=head,
        relation=relation,
        tail=tail,
        negated=False,
        since=since,
        until=until,
        stated=time is not None,
        confidence=PLAIN,
        intent="TEMPORAL" if time else "FACT",
        change=False,
        extractor="embedded",
        said_at=turn.time,
        recorded_at=turn.written_at,
    )
