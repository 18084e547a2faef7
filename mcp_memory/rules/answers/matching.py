"""Match a query to the one relation of one entity that it asks for, or to nothing (DESIGN 4 step 4).

A query has to name the entity (or describe it by facts that a path follows, "Ann's sister"), hold a word of the
relation, want the type and the kind of its values, and say no more: a content word that none of these explain asks for
something more specific than the fact states. Of two relations that match, the better one has to lead by a margin.
English only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mcp_memory.domain.answers import KnownFacts, RelationFacts
from mcp_memory.domain.entities import PROJECT, entity_key
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import EntityType, is_told_of_things, relations
from mcp_memory.domain.turns import USERS
from mcp_memory.language.tokens import STOP_WORDS, stem, words
from mcp_memory.language.vocabulary import EVERYDAY_KINSHIP, kinship_words
from mcp_memory.rules.answers.relations import (
    DOES_WHAT,
    QueryToken,
    RelationMention,
    asked_mention,
    asked_type,
    change_positions,
    find_mention,
    name_positions,
    query_tokens,
)
from mcp_memory.rules.answers.values import ValidValue, planned_values, valid_values

MARGIN = 0.1
"""By so much the best relation has to lead the next one."""
_COUNTED = re.compile(r"\bhow many\s+(?:(?:different|other|more)\s+)?([\w'’-]+)", re.I)
_ASKS_PLAN = re.compile(r"\b(?:will|going\s+to|plan(?:s|ned|ning)?|about\s+to|intend(?:s|ed|ing)?)\b", re.I)
_YEAR = re.compile(r"\b\d{4}\b")
_DOES = frozenset(("do", "does", "did"))
_PRONOUNS = frozenset(
    ("i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "you", "your", "yours", "yourself")
)
_OTHER_END: dict[str, frozenset[str]] = {
    "parent_of": frozenset(("child", "son", "daughter", "kid")),
    "child_of": frozenset(("parent", *EVERYDAY_KINSHIP["mother"], *EVERYDAY_KINSHIP["father"])),
    "grandparent_of": frozenset(("grandchild", "grandson", "granddaughter")),
    "grandchild_of": frozenset(("grandparent", *EVERYDAY_KINSHIP["grandmother"], *EVERYDAY_KINSHIP["grandfather"])),
    "aunt_or_uncle_of": kinship_words("<niece_or_nephew_of"),
    "niece_or_nephew_of": kinship_words("niece_or_nephew_of"),
}
"""Relations between two people with a name for each end: the names of the tail."""
_KIND_WORDS = (
    *EVERYDAY_KINSHIP.values(), ("son",), ("daughter",), ("brother",), ("sister",), ("twin",),
    ("grandson",), ("granddaughter",), ("uncle",), ("niece",), ("nephew",),
    ("dog", "puppy"), ("cat", "kitten"), ("car",), ("book", "novel"), ("movie", "film"), ("song",), ("award", "medal"),
    ("instrument",), ("sport",), ("hobby",), ("game",),
    ("party",), ("band",), ("school",), ("university", "college"), ("degree", "major"),
    ("paint",), ("cook",), ("bake",), ("build",), ("design",), ("compose",), ("invent",), ("develop",),
    ("country",), ("state",), ("street",), ("county",), ("region",), ("continent",),
)  # fmt: skip
"""Words that are narrower than their relation: a fact counts only where its own words name the kind too."""
_KIND_STEMS = {stem(word): tuple(stem(same) for same in words) for words in _KIND_WORDS for word in words}
_CHANGES_OF = {
    stem(verb): frozenset(changed)
    for verbs, changed in (
        (("marry", "divorce", "separate", "separated", "split"), ("married_to", "engaged_to", "dating")),
        (("adopt",), ("has_pet", "owns", "parent_of", "child_of", "uses", "chose")),
        (("resign", "retire"), ("works_as", "works_at", "member_of", "plays_for", "leads")),
    )
    for verb in verbs
}
"""Relations of which these verbs tell a beginning or an end; other such verbs may be of any."""
_DOINGS = frozenset(("works_as", "works_at", "studies", "studies_at", "leads", "owns", "volunteers_at"))
"""Relations of which one may tell what somebody does."""


@dataclass(frozen=True, slots=True)
class RelationMatch:
    """Facts that a query asks for.

    Attributes:
        group: the facts about the relation.
        values: those that fit the query, by start.
        named_values: of these, the ones that the query names.
        score: how clearly the query asks for the relation.
    """

    group: RelationFacts
    values: tuple[ValidValue, ...]
    named_values: tuple[ValidValue, ...]
    score: float


def match_relation(query: Query, knowledge: KnownFacts) -> RelationMatch | None:
    """Return the one match of the query, or None where there is none or more than one."""
    asked = query_tokens(query.text)
    groups = (group for group in knowledge.groups if not group.inferred)
    matches = [match for group in groups if (match := _match_group(query, asked, group, knowledge))]
    matches.sort(key=lambda match: -match.score)
    if not matches:
        return None
    best = matches[0]
    rivals = [match for match in matches[1:] if match.score > best.score - MARGIN]
    same = (_version_ids(rival) == _version_ids(best) or _value_keys(rival) == _value_keys(best) for rival in rivals)
    return best if all(same) else None


def _value_keys(match: RelationMatch) -> frozenset[str]:
    return frozenset(entity_key(value.value) for value in match.values)


def _version_ids(match: RelationMatch) -> frozenset[str]:
    """Return the ids of what a match is about; a fact that is named whole is matched from both its ends."""
    return frozenset(value.version.id for value in match.named_values or match.values)


def _match_group(
    query: Query, tokens: tuple[QueryToken, ...], group: RelationFacts, knowledge: KnownFacts
) -> RelationMatch | None:
    """Return the match of the query with one relation of one entity; None where it does not ask for it."""
    relation = relations().get(group.relation)
    values = (planned_values(group) if _ASKS_PLAN.search(query.text) else []) or valid_values(group)
    entity = _entity_positions(tokens, group, query)
    if entity is None or not (values or group.denials):
        return None
    named = [one for one in values if not name_positions(tokens, (one.value,)) <= entity]
    changes = change_positions(tokens)
    mention = asked_mention(query, tokens, relation, changes if named else frozenset())
    if mention is None or not _wants_side(group, mention, tokens):
        return None
    if DOES_WHAT.search(query.text) and relation.name not in _DOINGS:
        return None  # "What does my brother do for a living?" asks for more than his name, and not for where he lives
    if not all(relation.name in _CHANGES_OF.get(tokens[place].stem, (relation.name,)) for place in changes):
        return None  # "When will my brother marry?" does not ask for a brother
    kind, kind_noun = asked_type(query.text)
    fit = _type_fit(query, kind, relation.tail if group.forward else relation.head, tokens)
    steps = _step_positions(tokens, group)
    if fit is None or steps is None:
        return None
    explained = entity | mention.positions | changes | steps
    explained |= {place for place, token in enumerate(tokens) if kind and token.word == kind_noun}
    if query.answer_type in ("yes_no", "when"):
        for value in (*(one.value for one in named), *(group.value(denied) for denied in group.denials)):
            explained |= name_positions(tokens, (value,))
    else:
        named = []
    if any(one.content and place not in explained and one.word != "s" for place, one in enumerate(tokens)):
        return None  # it asks for something more specific
    if query.answer_type == "how_many" and not _counts(query, tokens, mention.positions | entity, kind_noun):
        return None
    meant = _of_kind(values, kind_noun or mention.noun, group, knowledge)
    if kind_noun == "year":
        meant = [one for one in meant if _YEAR.search(one.value)]
    if values and not meant:
        return None
    matching = tuple(one for one in named if one in meant)
    return RelationMatch(group, tuple(meant), matching, mention.strength + fit)


def _step_positions(tokens: tuple[QueryToken, ...], group: RelationFacts) -> frozenset[int] | None:
    """Return the positions of the words for the steps to the entity; None if one of them is not asked for."""
    mentions = [find_mention(tokens, relations().get(step.version.relation)) for step in group.through]
    return frozenset().union(*(one.positions for one in mentions if one)) if all(mentions) else None


def _thing_positions(tokens: Sequence[QueryToken], group: RelationFacts) -> frozenset[int]:
    """Return the positions of the words of a thing, in any order: "the rate limit of the public API"."""
    for name in group.names:
        wanted = {stem(word) for word in words(name) if word not in STOP_WORDS}
        found = frozenset(place for place, token in enumerate(tokens) if token.stem in wanted)
        if wanted and wanted == {tokens[place].stem for place in found}:
            return found
    return frozenset()


def _entity_positions(tokens: Sequence[QueryToken], group: RelationFacts, query: Query) -> frozenset[int] | None:
    """Return the positions of the words that name the entity, or the one it is reached from, or None."""
    if group.through:
        first = group.through[0]
        names: tuple[str, ...] = (first.version.head if first.forward else first.version.tail,)
    else:
        names = group.names
    if places := name_positions(tokens, names):
        return places
    for owned in (name.partition("'s ")[2] for name in names):
        if owned and (places := name_positions(tokens, (owned,))) and tokens[min(places) - 1].word in _PRONOUNS:
            return places  # "my bike", of the user's bike
    if is_told_of_things(group.relation) and (places := _thing_positions(tokens, group)):
        return places
    parts = [word for name in names for word in name.split() if len(name.split()) > 1 and word[:1].isupper()]
    if places := name_positions(tokens, parts):
        return places
    mine = frozenset(place for place, token in enumerate(tokens) if token.word in _PRONOUNS)
    if query.speakers and not {*map(str.casefold, query.speakers), *USERS, PROJECT} & {*map(str.casefold, names)}:
        return None
    if mine and not any(token.content and token.word == name.casefold() for token in tokens for name in names):
        return mine
    return None


def _counts(query: Query, tokens: Sequence[QueryToken], asked: frozenset[int], kind_noun: str | None) -> bool:
    """Return whether the query counts the values: "how many pets", not "how much" or "how many times"."""
    counted = _COUNTED.search(query.text)
    if counted is None:
        return False
    return counted[1].lower() == kind_noun or any(tokens[place].word == counted[1].lower() for place in asked)


def _wants_side(group: RelationFacts, mention: RelationMention, tokens: Sequence[QueryToken]) -> bool:
    """Return whether the query wants the end of the relation that the facts give: a mother, not a child."""
    if group.relation in _OTHER_END and mention.noun is not None:
        tail = (
            mention.noun in _OTHER_END[group.relation] or mention.noun.removesuffix("s") in _OTHER_END[group.relation]
        )
        return tail == group.forward
    if group.relation in ("coaches", "likes") and group.forward:  # not "her coach", nor "what is she like?"
        return any(token.word in _DOES for token in tokens) or mention.noun not in ("coach", "manager", "like")
    return True


def _type_fit(
    query: Query, kind: EntityType | None, value: EntityType | None, tokens: Sequence[QueryToken]
) -> float | None:
    """Return how well the type of the values fits the query, or None where it does not."""
    if kind is not None and value not in (None, kind):
        return None
    match query.answer_type:
        case "where":
            return 0.5 if value == "place" else 0.3 if value == "organisation" else None
        case "who" if value == "organisation":
            return 0.0 if any(token.word in ("for", "with", "at", "employer", "employs") for token in tokens) else None
        case "who":
            return 0.5 if value == "person" else None
        case "what":
            if kind is not None:
                return 0.5 if value == kind else None
            return 0.2 if value in (None, "thing") else 0.0
        case "when" if value == "time":
            return 0.3  # "when was she born?" wants the date of birth, not the time of a fact about the place
        case _:
            return 0.0


def _of_kind(
    values: Sequence[ValidValue], wanted: str | None, group: RelationFacts, knowledge: KnownFacts
) -> Sequence[ValidValue]:
    """Return the values whose own words name the wanted kind; all of them where the noun is not narrower."""
    kinds = _KIND_STEMS.get(stem(wanted.removesuffix("s"))) if wanted else None
    if not kinds:
        return values
    # "Beth is my sister" names the kind of the tail: from Beth's side, it does not say what Ann is.
    names_kind = group.forward or not relations().get(group.relation).symmetric
    matching = []
    for value in values:
        quotes = [place.quote for said in value.assertions if names_kind and (place := knowledge.source(said))]
        others = [one.value.casefold() for one in values if one.value != value.value]
        own = (quote for quote in quotes if not any(other in quote.casefold() for other in others))
        if not {token.stem for token in query_tokens(" ".join([value.value, *own]))}.isdisjoint(kinds):
            matching.append(value)
    return matching
