"""Answers to comparisons from facts: which of two came first, and whether two are of the same.

"Who was born first, Ann or Bob?", "Is Ann older than Bob?", "Are Ash and Elm in the same country?" are answered where
the facts know one reliable value for each of the two, and both are cited. Through one step it is the same: "Which film
has the director who was born later, …?", where each film has one director.

It is strict (as `matching` is): every word of the question has to be explained, by the two names, by the form, by the
relation or by a value that both share ("Who moved to *Lisbon* first?"). Of two times that overlap nobody knows the
order, a town and a province are no two countries, and where somebody has two values, none of them is meant.

English, as far as the words below go.

**Departure.** REAL (§3.3.1) gives such questions the intent CONTRAST and leaves the comparing to a language model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from mcp_memory.domain.answers import KnownFacts, Proposal, RelationFacts
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Citation
from mcp_memory.domain.facts import Assertion, Version
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import Millis
from mcp_memory.language.question_form import looks_back
from mcp_memory.language.tokens import STOP_WORDS, stem, words
from mcp_memory.rules.answers.comparison import FORMAL, Comparison, comparisons
from mcp_memory.rules.answers.countries import country
from mcp_memory.rules.answers.held import Held, chosen, held, lost
from mcp_memory.rules.answers.lands import land
from mcp_memory.rules.answers.onsets import began, spanned, within
from mcp_memory.rules.answers.relations import asks, ends, names_in, tokens

_STEPS: dict[str, tuple[str, str]] = {
    "director": ("directed_by", "directed"),
    "author": ("written_by", "wrote"),
    "writer": ("written_by", "wrote"),
    "composer": ("composed_by", "composed"),
    "performer": ("performed_by", "performed"),
    "singer": ("performed_by", "performed"),
    "producer": ("produced_by", "produced"),
    "founder": ("founded_by", "founded"),
    "publisher": ("published_by", "published"),
    "owner": ("owned_by", "owns"),
    "boss": ("has_boss", "boss_of"),
    "husband": ("married_to", "married_to"),
    "wife": ("married_to", "married_to"),
    "spouse": ("married_to", "married_to"),
}
"""Nouns for those whom a question compares instead of the things that it names: the relation that leads to them, and
the one that leads back from them."""
_BEGINNINGS = ("born_on", "age", "founded_on", "opened", "released_on")
"""What tells how old somebody or something is."""
_ALSO: dict[str, str] = {
    "born_on": "born birth birthday birthdate",
    "age": "born",
    "died_on": "die died death dead pass away",
    "released_on": "release come came out publish premiere air appear",
    "founded_on": "found founded establish form start create open begin come came",
    "opened": "open opened start establish",
    "happened_on": "happen place take come came",
    "nationality": "national",
}
"""Words by which a comparison asks for a relation, beside those of the registry."""
_OF_LANDS = "country nation nationality citizenship citizen hold originate origin come locate situate base lie find"
_KINDS = (
    "film movie picture show series song album single book novel magazine newspaper journal play opera band group"
    " company firm school college university institute academy club team party airport station bridge building church"
    " river lake mountain island village town city place municipality settlement person people man woman guy director"
    " actor actress singer writer author composer artist player politician friend colleague"
)
_KIN = frozenset(
    (
        *("parent_of", "child_of", "sibling_of", "grandparent_of", "grandchild_of"),
        *("aunt_or_uncle_of", "niece_or_nephew_of", "cousin_of"),
    )
)
"""Relations that say less than the words for them, a mother or a father."""
_ONE_ONLY = frozenset(relation for relation, _ in _STEPS.values())
"""Relations that may have many values and mostly have one: where two have different ones, they have not the same."""
_WHICH = re.compile(r"\b(?:which|what)\s+(?:of\s+the\s+(?:two\s+)?)?(\w+)", re.IGNORECASE)
_CITIES = frozenset(("city", "town", "village"))
MOST_CITED = 4


@dataclass(frozen=True, slots=True)
class Likelihood:
    """How sure a comparison is, roughly the share that is right, where both facts are certain.

    Attributes:
        caller: where the caller read the facts.
        talk: where one of them was read out of talk.
        document: where one of them was read out of a document, which gives dates and origins in set forms.
        step: for the step to those whom the question describes.
    """

    caller: float = 0.9
    talk: float = 0.75
    document: float = 0.95
    step: float = 0.95


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two that are compared.

    Attributes:
        groups: what is known of it.
        over: the fact that leads to it from what the question names; None where that is it itself.
    """

    groups: tuple[RelationFacts, ...]
    over: Version | None = None


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What comparing two facts comes to.

    Attributes:
        first: for an order, whether the first of the two is the earlier; else whether both are the same.
        facts: those that it rests on.
    """

    first: bool
    facts: tuple[Held, ...]


def compare(question: Query, knowledge: KnownFacts, numbers: Likelihood) -> Proposal | None:
    """Return what the facts say to a question that compares, or None where it does not or they do not.

    Args:
        question: taken apart.
        knowledge: of what it names.
        numbers: how sure which answers are.
    """
    found = (_compare(question, asked, knowledge, numbers) for asked in comparisons(question, knowledge.groups))
    return next((one for one in found if one is not None), None)


def _compare(question: Query, asked: Comparison, knowledge: KnownFacts, numbers: Likelihood) -> Proposal | None:
    if ends(asked.rest):
        return None  # "who left first": when it began is known better than when it ended
    left = _content(asked.rest)
    kinds = _stems(_KINDS).union(*(_kinds(knowledge, thing.key) for thing in asked.things))
    sides, left = _sides(asked, knowledge, left)
    if sides is None:
        return None
    if asked.form == "same":
        verdict = _same(question, asked, knowledge, sides, left, kinds)
    else:
        verdict = _order(asked, knowledge, sides, left, kinds)
    if verdict is None:
        return None
    if asked.polar:
        text = "Yes" if verdict.first != asked.turned else "No"
    else:
        text = asked.things[0 if verdict.first != asked.turned else 1].text
    return _proposal(text, verdict, sides, knowledge, numbers)


def _content(text: str) -> frozenset[str]:
    """Return the stems of the words by which things are compared."""
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS and word not in FORMAL)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


def _kinds(knowledge: KnownFacts, key: str) -> frozenset[str]:
    """Return the stems of what an entity is said to be."""
    groups = (group for group in knowledge.groups if group.key == key and group.relation == "is_a" and group.forward)
    return frozenset(stem(word) for group in groups for one in group.versions for word in words(group.value(one)))


def _sides(
    asked: Comparison, knowledge: KnownFacts, left: frozenset[str]
) -> tuple[tuple[_Side, _Side] | None, frozenset[str]]:
    """Return the two that are compared, and the stems that do not lead to them."""
    known = [group for group in knowledge.groups if group.inferred is None]
    direct = [tuple(one for one in known if one.key == thing.key and not one.through) for thing in asked.things]
    said = words(asked.rest)
    shared = {after for word, after in pairwise(said) if word in ("same", "different")}
    nouns = [noun for noun in _STEPS if stem(noun) in left and noun not in shared and f"{noun}s" not in shared]
    if not nouns:
        others = any(after == "of" and stem(word) in _stems(_KINDS) for word, after in pairwise(said))
        described = others or any(thing.owns for thing in asked.things)  # "Ann's friend", whom no fact leads to
        return None if described else (_Side(direct[0]), _Side(direct[1])), left
    if len(nouns) > 1 or (asked.polar and f"{nouns[0]}s" not in said and said.count(nouns[0]) < 2):
        return None, left  # "Is Ann older than Bob's wife?" describes one of them
    sides = [_stepped(groups, _STEPS[nouns[0]], known) for groups in direct]
    return (sides[0], sides[1]) if sides[0] and sides[1] else None, left - {stem(nouns[0])}


def _stepped(
    groups: Iterable[RelationFacts], relation: tuple[str, str], known: Iterable[RelationFacts]
) -> _Side | None:
    """Return the one to whom a relation leads from a thing; None where it leads to none or to several."""
    for name, forward in ((relation[0], True), (relation[1], False)):
        for group in groups:
            if (group.relation, group.forward) != (name, forward) or group.denials:
                continue
            live = [one for one in group.versions if one.since < one.until]
            if len({entity_key(group.value(one)) for one in live}) != 1:
                return None
            ids = {one.id for one in live}
            there = [one for one in known if len(one.through) == 1 and one.through[0].version.id in ids]
            return _Side(tuple(there), live[0]) if there else None
    return None


def _order(
    asked: Comparison, knowledge: KnownFacts, sides: tuple[_Side, _Side], left: frozenset[str], kinds: frozenset[str]
) -> _Verdict | None:
    """Return which of two came first, by every relation that the question may ask for; None where these disagree."""
    noun = _WHICH.search(asked.rest)
    left -= kinds & (_stems(noun[1].lower()) if noun else frozenset())
    found: list[_Verdict] = []
    for name in _shared(sides):
        explained = _explained(asked, name, left)
        if not _tells_a_time(name):
            explained -= kinds  # who "joined a band" has to have joined a band
        begins = asked.ages and name in _BEGINNINGS and not left - kinds
        if not (begins if asked.ages else explained):
            continue
        times = [_time(side, name, asked, knowledge, left - explained, kinds) for side in sides]
        if times[0] is None or times[1] is None:
            continue
        (one, first), (other, second) = times[0], times[1]
        if first[1] <= second[0] or second[1] <= first[0]:
            found.append(_Verdict(first[1] <= second[0], (one, other)))
    return found[0] if len({verdict.first for verdict in found}) == 1 else None


def _shared(sides: tuple[_Side, _Side]) -> list[str]:
    """Return the relations in which something is known of both."""
    both = [{group.relation for group in side.groups if group.forward} for side in sides]
    return sorted(both[0] & both[1] - _KIN, key=lambda name: (name not in _BEGINNINGS, name))


def _explained(asked: Comparison, name: str, left: frozenset[str]) -> frozenset[str]:
    """Return those of some stems by which a relation is asked for."""
    said = tokens(asked.rest)
    how = asks(said, relations().get(name))
    found = frozenset(said[place].stem for place in how.places) if how else frozenset()
    return left & (found | _stems(_ALSO.get(name, "")))


def _time(
    side: _Side,
    name: str,
    asked: Comparison,
    knowledge: KnownFacts,
    left: frozenset[str],
    kinds: frozenset[str],
) -> tuple[Held, tuple[Millis, Millis]] | None:
    """Return the one fact of a relation, and when it began; stems that are left have to stand in its value."""
    group = _group(side, name)
    if group is None or group.denials:
        return None
    values = held(group, knowledge)
    if _tells_a_time(name):
        left -= kinds
    if left:
        said = tokens(asked.rest)
        values = [one for one in values if names_in(said, (one.value,)) and left <= _content(one.value)]
    elif any(spanned(value) is None for value in lost(group)):
        return None
    timed = [(one, began(one, group, knowledge)) for one in values]
    known = [(one, time) for one, time in timed if time is not None]
    if not known or len(known) < len(timed):
        return None
    best = min(known, key=lambda pair: pair[1][1] - pair[1][0])  # of "1967" and "28 December 1967" the second
    others = [time for _, time in known] + [time for value in lost(group) if (time := spanned(value))]
    return best if all(within(best[1], time) or within(time, best[1]) for time in others) else None


def _tells_a_time(name: str) -> bool:
    return name in _BEGINNINGS or relations().get(name).tail == "time"


def _group(side: _Side, name: str) -> RelationFacts | None:
    return next((group for group in side.groups if group.relation == name and group.forward), None)


def _same(
    question: Query,
    asked: Comparison,
    knowledge: KnownFacts,
    sides: tuple[_Side, _Side],
    left: frozenset[str],
    kinds: frozenset[str],
) -> _Verdict | None:
    """Return whether two have the same value of what the question asks for."""
    past = looks_back(question.text)
    if not left.isdisjoint(_stems("country nation nationality citizenship")):
        if left - kinds - _stems(_OF_LANDS):
            return None
        lands = [land(side.groups, knowledge, past=past) for side in sides]
        if lands[0] is None or lands[1] is None:
            return None
        (one, first), (other, second) = lands[0], lands[1]
        same = first.same(second)
        return None if same is None else _Verdict(same, (*one, *other))
    found: list[_Verdict] = []
    for name in _shared(sides):
        explained = _explained(asked, name, left)
        if not explained or left - explained - kinds:
            continue
        values = [_value(side, name, knowledge, past=past) for side in sides]
        verdict = _equal(values[0], values[1], left) if values[0] and values[1] else None
        if verdict and (verdict.first or name in _ONE_ONLY or relations().get(name).cardinality == "single"):
            found.append(verdict)
    return found[0] if len({verdict.first for verdict in found}) == 1 else None


def _value(side: _Side, name: str, knowledge: KnownFacts, *, past: bool) -> Held | None:
    """Return the one value of a relation, at the moment that is meant."""
    group = _group(side, name)
    if group is None or group.denials:
        return None
    if lost(group):
        return None
    event = relations().get(name).event
    values = chosen(held(group, knowledge), None, event=event, past=past, moment=knowledge.moment)
    return values[0] if len({entity_key(one.value) for one in values}) == 1 else None


def _equal(one: Held, other: Held, left: frozenset[str]) -> _Verdict | None:
    """Return whether two values are the same; None where one may be a part, or another name, of the other."""
    if any(country(value.value) for value in (one, other)) and not left.isdisjoint(_stems(" ".join(_CITIES))):
        return None
    first, second = entity_key(one.value), entity_key(other.value)
    if first == second:
        return _Verdict(True, (one, other))
    if not set(first.split()).isdisjoint(second.split()) or bool(country(first)) != bool(country(second)):
        return None
    return _Verdict(False, (one, other))


def _proposal(
    text: str, verdict: _Verdict, sides: tuple[_Side, _Side], knowledge: KnownFacts, numbers: Likelihood
) -> Proposal | None:
    steps = [side.over for side in sides if side.over]
    facts = [(one.version, one.said, one.sure) for one in verdict.facts]
    facts = [*facts, *((step, step.assertions, True) for step in steps)]
    citations: dict[str, Citation] = {}
    for version, said, _ in facts:
        one = max(said, key=_telling)
        place = knowledge.source(one)
        if place is None:
            return None
        citations.setdefault(one.id, Citation(version.id, place))
    read = [one for _, said, _ in facts for one in said if one.extractor != "caller"]
    kinds = {one.source.turn.kind for one in citations.values()}
    confidence = numbers.caller if not read else numbers.document if kinds == {"document"} else numbers.talk
    for version, _, _ in facts:
        confidence *= version.confidence
    confidence *= numbers.step ** bool(steps)
    sure = all(sure for _, _, sure in facts)
    return Proposal(text, confidence, not sure, tuple(citations.values())[:MOST_CITED])


def _telling(said: Assertion) -> tuple[bool, float, int, str]:
    return said.stated, said.confidence, -said.said_at, said.id
