"""Answer comparisons from facts: which of two came first, and whether two have the same value.

"Who was born first, Ann or Bob?", "Is Ann older than Bob?", "Are Ash and Elm in the same country?" are answered where
the facts know one reliable value for each of the two; both are cited. The same holds over one step: "Which film has the
director who was born later, …?", where each film has one director.

The rules are strict, as in `matching`: every word of the query has to be explained by the two names, the form, the
relation, or a value that both share ("Who moved to *Lisbon* first?"). Two times that overlap have no known order, a
town and a province are not two countries, and where an entity has two values neither is used. English only.

**Departure.** REAL (§3.3.1) gives such questions the intent CONTRAST and leaves the comparison to a language model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from mcp_memory.domain.answers import KnownFacts, Proposal, RelationFacts
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Citation
from mcp_memory.domain.facts import Version
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import Millis
from mcp_memory.language.questions import looks_back
from mcp_memory.language.tokens import STOP_WORDS, stem, words
from mcp_memory.rules.answers.comparison_questions import (
    COMPARISON_WORDS,
    Comparison,
    country_named,
    country_of,
    parse_comparisons,
)
from mcp_memory.rules.answers.relations import find_mention, mentions_end, name_positions, query_tokens
from mcp_memory.rules.answers.settings import ComparisonSettings
from mcp_memory.rules.answers.values import (
    ValidValue,
    assertion_rank,
    contested_values,
    lies_within,
    named_interval,
    select_values,
    start_interval,
    valid_values,
)

_STEP_NOUNS: dict[str, tuple[str, str]] = {
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
"""Nouns for the entities that are compared instead of the named ones: the relation to them, and the relation back."""
_AGE_RELATIONS = ("born_on", "age", "founded_on", "opened", "released_on")
"""Relations that tell the age of somebody or something."""
_EXTRA_WORDS: dict[str, str] = {
    "born_on": "born birth birthday birthdate",
    "age": "born",
    "died_on": "die died death dead pass away",
    "released_on": "release come came out publish premiere air appear",
    "founded_on": "found founded establish form start create open begin come came",
    "opened": "open opened start establish",
    "happened_on": "happen place take come came",
    "nationality": "national",
}
"""Words by which a comparison asks for a relation, in addition to those of the registry."""
_COUNTRY_WORDS = (
    "country nation nationality citizenship citizen hold originate origin come locate situate base lie find"
)
_KINDS = (
    "film movie picture show series song album single book novel magazine newspaper journal play opera band group"
    " company firm school college university institute academy club team party airport station bridge building church"
    " river lake mountain island village town city place municipality settlement person people man woman guy director"
    " actor actress singer writer author composer artist player politician friend colleague"
)
_KIN_RELATIONS = frozenset(
    (
        *("parent_of", "child_of", "sibling_of", "grandparent_of", "grandchild_of"),
        *("aunt_or_uncle_of", "niece_or_nephew_of", "cousin_of"),
    )
)
"""Relations that are less specific than their words, a mother or a father."""
_MOSTLY_SINGLE = frozenset(relation for relation, _ in _STEP_NOUNS.values())
"""Relations that may have many values and mostly have one: two entities with different values do not share one."""
_WHICH = re.compile(r"\b(?:which|what)\s+(?:of\s+the\s+(?:two\s+)?)?(\w+)", re.IGNORECASE)
_CITIES = frozenset(("city", "town", "village"))
MOST_CITED = 4


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two compared entities.

    Attributes:
        groups: the facts about it.
        step_fact: the fact that leads to it from the named entity; None where it is named itself.
    """

    groups: tuple[RelationFacts, ...]
    step_fact: Version | None = None


@dataclass(frozen=True, slots=True)
class _Verdict:
    """The result of comparing two facts.

    Attributes:
        first: for an order, whether the first of the two is the earlier one; else whether both are the same.
        facts: those that it rests on.
    """

    first: bool
    facts: tuple[ValidValue, ...]


def answer_comparison(query: Query, knowledge: KnownFacts, settings: ComparisonSettings) -> Proposal | None:
    """Return the answer of the facts to a comparison, or None where the query is none or the facts do not decide it."""
    found = (
        _answer(query, comparison, knowledge, settings) for comparison in parse_comparisons(query, knowledge.groups)
    )
    return next((value for value in found if value is not None), None)


def _answer(
    query: Query, comparison: Comparison, knowledge: KnownFacts, settings: ComparisonSettings
) -> Proposal | None:
    if mentions_end(comparison.remainder):
        return None  # "who left first": starts are known better than ends
    unexplained = _content_stems(comparison.remainder)
    kinds = _stems(_KINDS).union(*(_kinds(knowledge, thing.key) for thing in comparison.things))
    sides, unexplained = _compared_sides(comparison, knowledge, unexplained)
    if sides is None:
        return None
    if comparison.form == "same":
        verdict = _same_verdict(query, comparison, knowledge, sides, unexplained, kinds)
    else:
        verdict = _order_verdict(comparison, knowledge, sides, unexplained, kinds)
    if verdict is None:
        return None
    if comparison.yes_no:
        text = "Yes" if verdict.first != comparison.inverted else "No"
    else:
        text = comparison.things[0 if verdict.first != comparison.inverted else 1].text
    return _proposal(text, verdict, sides, knowledge, settings)


def _content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that say what is compared."""
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS and word not in COMPARISON_WORDS)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


def _kinds(knowledge: KnownFacts, key: str) -> frozenset[str]:
    """Return the stems of what an entity is, by its "is_a" facts."""
    groups = (group for group in knowledge.groups if group.key == key and group.relation == "is_a" and group.forward)
    return frozenset(stem(word) for group in groups for value in group.versions for word in words(group.value(value)))


def _compared_sides(
    comparison: Comparison, knowledge: KnownFacts, unexplained: frozenset[str]
) -> tuple[tuple[_Side, _Side] | None, frozenset[str]]:
    """Return the two that are compared, or None, and the stems that do not lead to them."""
    known = [group for group in knowledge.groups if group.inferred is None]
    direct = [
        tuple(value for value in known if value.key == thing.key and not value.through) for thing in comparison.things
    ]
    said = words(comparison.remainder)
    shared = {after for word, after in pairwise(said) if word in ("same", "different")}
    nouns = [
        noun for noun in _STEP_NOUNS if stem(noun) in unexplained and noun not in shared and f"{noun}s" not in shared
    ]
    if not nouns:
        others = any(after == "of" and stem(word) in _stems(_KINDS) for word, after in pairwise(said))
        described = others or any(
            thing.is_possessive for thing in comparison.things
        )  # "Ann's friend", whom no fact leads to
        return None if described else (_Side(direct[0]), _Side(direct[1])), unexplained
    if len(nouns) > 1 or (comparison.yes_no and f"{nouns[0]}s" not in said and said.count(nouns[0]) < 2):
        return None, unexplained  # "Is Ann older than Bob's wife?" describes one of them
    sides = [_side_after_step(groups, _STEP_NOUNS[nouns[0]], known) for groups in direct]
    return (sides[0], sides[1]) if sides[0] and sides[1] else None, unexplained - {stem(nouns[0])}


def _side_after_step(
    groups: Iterable[RelationFacts], relation: tuple[str, str], known: Iterable[RelationFacts]
) -> _Side | None:
    """Return the one entity that a relation leads to from a named one; None where it leads to none or to several."""
    for name, forward in ((relation[0], True), (relation[1], False)):
        for group in groups:
            if (group.relation, group.forward) != (name, forward) or group.denials:
                continue
            live = [value for value in group.versions if value.since < value.until]
            if len({entity_key(group.value(value)) for value in live}) != 1:
                return None
            ids = {value.id for value in live}
            there = [value for value in known if len(value.through) == 1 and value.through[0].version.id in ids]
            return _Side(tuple(there), live[0]) if there else None
    return None


def _order_verdict(
    comparison: Comparison,
    knowledge: KnownFacts,
    sides: tuple[_Side, _Side],
    unexplained: frozenset[str],
    kinds: frozenset[str],
) -> _Verdict | None:
    """Return which of two came first by every relation that the query may ask for; None where these disagree."""
    noun = _WHICH.search(comparison.remainder)
    unexplained -= kinds & (_stems(noun[1].lower()) if noun else frozenset())
    found: list[_Verdict] = []
    for name in _shared_relations(sides):
        explained = _mentioned_stems(comparison, name, unexplained)
        if not _is_time_relation(name):
            explained -= kinds  # who "joined a band" has to have joined a band
        begins = comparison.ages and name in _AGE_RELATIONS and not unexplained - kinds
        if not (begins if comparison.ages else explained):
            continue
        times = [_start_of_side(side, name, comparison, knowledge, unexplained - explained, kinds) for side in sides]
        if times[0] is None or times[1] is None:
            continue
        (value, first), (other, second) = times[0], times[1]
        if first[1] <= second[0] or second[1] <= first[0]:
            found.append(_Verdict(first[1] <= second[0], (value, other)))
    return found[0] if len({verdict.first for verdict in found}) == 1 else None


def _shared_relations(sides: tuple[_Side, _Side]) -> list[str]:
    """Return the relations with facts about both."""
    both = [{group.relation for group in side.groups if group.forward} for side in sides]
    return sorted(both[0] & both[1] - _KIN_RELATIONS, key=lambda name: (name not in _AGE_RELATIONS, name))


def _mentioned_stems(comparison: Comparison, name: str, unexplained: frozenset[str]) -> frozenset[str]:
    """Return those of the stems that ask for a relation."""
    tokens = query_tokens(comparison.remainder)
    mention = find_mention(tokens, relations().get(name))
    found = frozenset(tokens[place].stem for place in mention.positions) if mention else frozenset()
    return unexplained & (found | _stems(_EXTRA_WORDS.get(name, "")))


def _start_of_side(
    side: _Side,
    name: str,
    comparison: Comparison,
    knowledge: KnownFacts,
    unexplained: frozenset[str],
    kinds: frozenset[str],
) -> tuple[ValidValue, tuple[Millis, Millis]] | None:
    """Return the one fact of a relation and its start interval; the value has to hold the stems left unexplained."""
    group = _group(side, name)
    if group is None or group.denials:
        return None
    values = valid_values(group, knowledge)
    if _is_time_relation(name):
        unexplained -= kinds
    if unexplained:
        tokens = query_tokens(comparison.remainder)
        values = [
            one for one in values if name_positions(tokens, (one.value,)) and unexplained <= _content_stems(one.value)
        ]
    elif any(named_interval(value) is None for value in contested_values(group)):
        return None
    timed = [(one, start_interval(one, group, knowledge)) for one in values]
    known = [(one, time) for one, time in timed if time is not None]
    if not known or len(known) < len(timed):
        return None
    best = min(known, key=lambda pair: pair[1][1] - pair[1][0])  # of "1967" and "28 December 1967" the second
    others = [time for _, time in known] + [
        time for value in contested_values(group) if (time := named_interval(value))
    ]
    return best if all(lies_within(best[1], time) or lies_within(time, best[1]) for time in others) else None


def _is_time_relation(name: str) -> bool:
    return name in _AGE_RELATIONS or relations().get(name).tail == "time"


def _group(side: _Side, name: str) -> RelationFacts | None:
    return next((group for group in side.groups if group.relation == name and group.forward), None)


def _same_verdict(
    query: Query,
    comparison: Comparison,
    knowledge: KnownFacts,
    sides: tuple[_Side, _Side],
    unexplained: frozenset[str],
    kinds: frozenset[str],
) -> _Verdict | None:
    """Return whether two have the same value of what the query asks for."""
    past = looks_back(query.text)
    if not unexplained.isdisjoint(_stems("country nation nationality citizenship")):
        if unexplained - kinds - _stems(_COUNTRY_WORDS):
            return None
        countries = [country_of(side.groups, knowledge, past=past) for side in sides]
        if countries[0] is None or countries[1] is None:
            return None
        (value, first), (other, second) = countries[0], countries[1]
        same = first.same_as(second)
        return None if same is None else _Verdict(same, (*value, *other))
    found: list[_Verdict] = []
    for name in _shared_relations(sides):
        explained = _mentioned_stems(comparison, name, unexplained)
        if not explained or unexplained - explained - kinds:
            continue
        values = [_single_value(side, name, knowledge, past=past) for side in sides]
        verdict = _equality(values[0], values[1], unexplained) if values[0] and values[1] else None
        if verdict and (verdict.first or name in _MOSTLY_SINGLE or relations().get(name).cardinality == "single"):
            found.append(verdict)
    return found[0] if len({verdict.first for verdict in found}) == 1 else None


def _single_value(side: _Side, name: str, knowledge: KnownFacts, *, past: bool) -> ValidValue | None:
    """Return the one value of a relation at the moment that is meant, or None."""
    group = _group(side, name)
    if group is None or group.denials:
        return None
    if contested_values(group):
        return None
    event = relations().get(name).event
    values = select_values(valid_values(group, knowledge), None, event=event, past=past, moment=knowledge.moment)
    return values[0] if len({entity_key(value.value) for value in values}) == 1 else None


def _equality(one: ValidValue, other: ValidValue, unexplained: frozenset[str]) -> _Verdict | None:
    """Return whether two values are equal; None where one may be a part, or another name, of the other."""
    asks_for_city = not unexplained.isdisjoint(_stems(" ".join(_CITIES)))
    if asks_for_city and any(country_named(value.value) for value in (one, other)):
        return None
    first, second = entity_key(one.value), entity_key(other.value)
    if first == second:
        return _Verdict(True, (one, other))
    if not set(first.split()).isdisjoint(second.split()) or bool(country_named(first)) != bool(country_named(second)):
        return None
    return _Verdict(False, (one, other))


def _proposal(
    text: str, verdict: _Verdict, sides: tuple[_Side, _Side], knowledge: KnownFacts, settings: ComparisonSettings
) -> Proposal | None:
    steps = [side.step_fact for side in sides if side.step_fact]
    facts = [(value.version, value.assertions, value.reliable) for value in verdict.facts]
    facts = [*facts, *((step, step.assertions, True) for step in steps)]
    citations: dict[str, Citation] = {}
    for version, assertions, _ in facts:
        assertion = max(assertions, key=assertion_rank)
        source = knowledge.source(assertion)
        if source is None:
            return None
        citations.setdefault(assertion.id, Citation(version.id, source))
    extracted = any(one.extractor != "caller" for _, assertions, _ in facts for one in assertions)
    kinds = {one.source.turn.kind for one in citations.values()}
    confidence = settings.caller if not extracted else settings.document if kinds == {"document"} else settings.talk
    for version, _, _ in facts:
        confidence *= version.confidence
    confidence *= settings.step ** bool(steps)
    reliable = all(reliable for _, _, reliable in facts)
    return Proposal(text, confidence, not reliable, tuple(citations.values())[:MOST_CITED], route="comparison")
