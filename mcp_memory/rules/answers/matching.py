"""Match a query to the one relation of one entity that it asks for, or to nothing (DESIGN 4 step 5).

A query has to name the entity (or describe it by facts that a path follows, "Ann's sister"), hold a word of the
relation, want the type of its values, and say no more: a content word that none of these explain asks for something
more specific than the fact states. Of two relations that match, the better one has to lead by a margin. English only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mcp_memory.domain.answers import KnownFacts, RelationFacts
from mcp_memory.domain.entities import PROJECT, entity_key
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import EntityType, Relation, is_told_of_things, relations
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
    words_beside,
)
from mcp_memory.rules.answers.values import ValidValue, doses, planned_values, valid_values
from mcp_memory.rules.facts.tables.nouns import LANGUAGES, PETS, PLAYED
from mcp_memory.rules.facts.tables.tools import KINDS, is_of_kind

_COUNTED = re.compile(r"\bhow many\s+(?:(?:different|other|more)\s+)?([\w'’-]+)", re.I)
_ASKS_PLAN = re.compile(r"\b(?:will|going\s+to|plan(?:s|ned|ning)?|about\s+to|intend(?:s|ed|ing)?)\b", re.I)
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
_MAKING_VERBS = ("paint", "cook", "bake", "build", "design", "compose", "invent", "develop")
_KIND_WORDS = (
    *EVERYDAY_KINSHIP.values(), ("son",), ("daughter",), ("brother",), ("sister",), ("twin",),
    ("grandson",), ("granddaughter",), ("uncle",), ("niece",), ("nephew",),
    ("dog", "puppy"), ("cat", "kitten"), ("car",), ("book", "novel"), ("movie", "film"), ("song",), ("award", "medal"),
    ("instrument",), ("sport",), ("hobby",), ("game",),
    ("party",), ("band",), ("school",), ("university", "college"), ("degree", "major"),
    *((doing,) for doing in _MAKING_VERBS),
)  # fmt: skip
"""Words that are narrower than their relation: a fact counts only where its own words name the kind too."""
_KNOWN_KINDS: dict[str, frozenset[str]] = {
    "language": LANGUAGES, "instrument": PLAYED, "sport": PLAYED, "game": PLAYED, "pet": PETS, "animal": PETS,
}  # fmt: skip
"""Words of the values that are surely of a kind."""
_KIND_STEMS = {stem(word): tuple(stem(same) for same in words) for words in _KIND_WORDS for word in words}
_OPPOSITE = {
    stem(word): stem(other)
    for pair in (
        *(("mother", "father"), ("son", "daughter"), ("brother", "sister"), ("aunt", "uncle"), ("niece", "nephew")),
        *(("grandmother", "grandfather"), ("grandson", "granddaughter")),
    )
    for one, opposite in (pair, pair[::-1])
    for words, other in ((next(kind for kind in _KIND_WORDS if one in kind), opposite),)
    for word in words
}
"""For each kinship word the one that excludes it: a sister is no brother."""
_CHANGES_OF = {
    stem(verb): frozenset(changed)
    for verbs, changed in (
        (("marry", "divorce", "separate", "separated", "split"), ("married_to", "engaged_to", "dating", "set_to")),
        (("adopt",), ("has_pet", "owns", "parent_of", "child_of", "did", "uses", "chose")),
        (("resign", "retire"), ("works_as", "works_at", "member_of", "plays_for", "leads", "uses", "set_to")),
    )
    for verb in verbs
}
"""Relations of which these verbs tell a beginning or an end; other such verbs may be of any."""
_SETTLEMENTS = frozenset(("city", "town", "village", "capital"))
_PLACE_SIZES = frozenset(stem(word) for word in ("country", "state", "street", "county", "region", "continent"))
"""Sizes of places that facts do not record."""


@dataclass(frozen=True, slots=True)
class RelationMatch:
    """Facts that a query may ask for.

    Attributes:
        group: the facts about the relation.
        values: those that fit the query, by start.
        named_values: of these, the ones that the query names.
        certain: whether the values are known to be of the kind that the query's noun names.
        score: how clearly the query asks for the relation.
    """

    group: RelationFacts
    values: tuple[ValidValue, ...]
    named_values: tuple[ValidValue, ...]
    certain: bool
    score: float


def match_relation(query: Query, knowledge: KnownFacts, margin: float) -> RelationMatch | None:
    """Return the one match of the query, or None where there is none or more than one."""
    asked = query_tokens(query.text, query.time)
    matches = [match for group in knowledge.groups if (match := _match_group(query, asked, group, knowledge))]
    matches.sort(key=lambda match: -match.score)
    if not matches:
        return None
    best = matches[0]
    rivals = [match for match in matches[1:] if match.score > best.score - margin]
    same = (_version_ids(rival) == _version_ids(best) or _value_keys(rival) == _value_keys(best) for rival in rivals)
    return best if all(same) else None


_SOFTWARE = re.compile(
    rf"\b(?:which|what)\s(?:[\w-]+\s){{0,2}}?({'|'.join(KINDS)})\s(?:do|does|did|are|is|have)\b", re.I
)
_OF_PROVIDERS = frozenset(("payment", "programming", "web", "message", "text", "code"))
"""Words before the name of a kind of software that say no more than it."""


def _software_kind(query: Query, group: RelationFacts) -> str:
    """Return the kind of software that a question wants ("Which database do we use?"), or ""."""
    if group.relation not in ("uses", "chose") or not group.forward or query.answer_type != "what":
        return ""
    found = _SOFTWARE.search(query.text)
    return found[1].lower() if found else ""


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
    values = (planned_values(group) if _ASKS_PLAN.search(query.text) else []) or valid_values(group, knowledge)
    entity = _entity_positions(tokens, group, query)
    if entity is None or not (values or group.denials):
        return None
    beside = words_beside(tokens, group, entity, query, knowledge)
    if beside is None:
        return None
    named = [one for one in values if not name_positions(tokens, (one.value,)) <= entity]
    changes = change_positions(tokens)
    mention = asked_mention(query, tokens, relation, changes if named else frozenset())
    if mention is None or not _wants_side(group, mention, tokens) or _is_of_another(query, tokens, relation, changes):
        return None
    kind, kind_noun = asked_type(query.text)
    fit = _type_fit(query, kind, relation.tail if group.forward else relation.head, tokens)
    steps = _step_positions(tokens, group)
    if fit is None or steps is None:
        return None
    explained = entity | beside | mention.positions | changes | steps
    if query.answer_type in ("yes_no", "when", "how_long"):
        for value in (*(one.value for one in named), *(group.value(denied) for denied in group.denials)):
            explained |= name_positions(tokens, (value,))
    else:
        named = []
    software = _software_kind(query, group)
    said = {kind_noun} if kind and kind_noun else set()
    if software:
        values = [value for value in values if is_of_kind(value.value, software)]
        said |= {software, *_OF_PROVIDERS}
    explained |= {place for place, token in enumerate(tokens) if token.word in said}
    of_kind = _values_of_kind(values, kind_noun or mention.noun, group, knowledge)
    if (software and not values) or (values and of_kind == []):
        return None  # her only sibling is a sister, and no brother
    if of_kind is None and not (len(values) == 1 and _may_be_meant(query, kind_noun or mention.noun)):
        return None
    amounts = relation.name == "set_to" or doses(values)
    if query.answer_type == "how_many" and not (amounts or _counts_values(query, tokens, mention, kind_noun)):
        return None
    left = [one.word for place, one in enumerate(tokens) if one.content and place not in explained and one.word != "s"]
    meant: Sequence[ValidValue] = values if of_kind is None else of_kind
    if left and not (meant := _with_rest(query, meant, left, knowledge)):
        return None  # it asks for something more specific
    matching = tuple(one for one in named if one in meant)
    return RelationMatch(group, tuple(meant), matching, of_kind is not None, mention.strength + fit)


def _is_of_another(query: Query, tokens: tuple[QueryToken, ...], relation: Relation, changes: frozenset[int]) -> bool:
    """Return whether a query that mentions a relation asks for something else by its other words."""
    if DOES_WHAT.search(query.text) and relation.name not in _DOINGS:
        return True  # "What does my brother do for a living?" asks for more than his name, and not for where he lives
    if relation.name == "visited" and _LEAVES_FOR.search(query.text):
        return True  # "When did I leave for Rome?" does not ask for the end of the stay
    if asked_type(query.text)[1] in _SETTLEMENTS and "organisation" in (relation.tail, relation.head):
        return True  # the town of an employer is not the employer
    return not all(_is_change_of(tokens[place], relation.name) for place in changes)  # "Who will my brother marry?"


def _step_positions(tokens: tuple[QueryToken, ...], group: RelationFacts) -> frozenset[int] | None:
    """Return the positions of the words for the steps to the entity; None if one of them is not asked for."""
    mentions = [find_mention(tokens, relations().get(step.version.relation)) for step in group.through]
    return frozenset().union(*(one.positions for one in mentions if one)) if all(mentions) else None


def _with_rest(
    query: Query, values: Sequence[ValidValue], left: Sequence[str], knowledge: KnownFacts
) -> Sequence[ValidValue]:
    """Return the values of which what is left of the question is told."""
    told = doses(values, left)
    if not told and query.answer_type != "yes_no":
        told = [one for one in values if _tells(one, left, knowledge)]
    if not told and _wants_kind(query, left):
        told = [one for one in values if _is_named_kind(one.value, left[0])]
    return told


def _is_change_of(token: QueryToken, relation: str) -> bool:
    """Return whether a verb of a beginning or an end may be that of a relation: nobody marries a brother's name."""
    changed = _CHANGES_OF.get(token.stem)
    return changed is None or relation in changed


_DOINGS = frozenset(("works_as", "works_at", "studies", "studies_at", "leads", "owns", "volunteers_at"))
"""Relations of which one may tell what somebody does."""
_LEAVES_FOR = re.compile(
    r"\b(?:leave|left|leaving|depart\w*|set\s+off|set\s+out|head(?:ed)?(?:\s+off)?)\s+(?:for|to)\b", re.I
)
_CUT = re.compile(r"[,;:.!?]|\s[–—-]\s|\b(?:and|but|because|so|which|who)\b", re.I)
_BEFORE = re.compile(r"^\W*(?:for|in|at|on|with)\s[^,;:.!?]{1,40}?(?=,|\b(?:we|i)\b)", re.I)
"""What a clause begins with before its subject, "For search we use …"."""
_REST = 100
"""Characters behind a value in which its clause is looked for."""


def _tells(value: ValidValue, left: Sequence[str], knowledge: KnownFacts) -> bool:
    """Return whether a clause that states a value says the rest of the question with it: "Stripe *for payments*"."""
    wanted = {stem(word) for word in left}
    for said in value.assertions:
        source = knowledge.source(said)
        text = source.turn.text[source.start : source.end + _REST] if source else ""
        place = text.casefold().find(said.tail.casefold())
        if place < 0:
            continue
        rest = _CUT.split(text[place + len(said.tail) :], maxsplit=1)[0]
        before = _BEFORE.match(text)
        told = f"{said.tail} {rest} {before[0] if before else ''}"
        if wanted <= {stem(word) for word in words(told)}:
            return True
    return False


def _wants_kind(query: Query, left: Sequence[str]) -> bool:
    """Return whether the rest of a question is the kind of thing that it wants: "Which *language* …"."""
    found = re.search(r"\b(?:which|what)\s+([\w'’-]+)", query.text, re.I)
    return len(left) == 1 and query.answer_type == "what" and found is not None and found[1].casefold() == left[0]


def _is_named_kind(value: str, kind: str) -> bool:
    """Return whether a value is known to be of a kind: "Greek" is a language."""
    known = _KNOWN_KINDS.get(kind.removesuffix("s"), frozenset())
    return not known.isdisjoint(word.removesuffix("s") for word in words(value)) or not known.isdisjoint(words(value))


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
        start = first.version.head if first.forward else first.version.tail
        names: tuple[str, ...] = (start,)
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


def _counts_values(query: Query, tokens: Sequence[QueryToken], mention: RelationMention, kind_noun: str | None) -> bool:
    """Return whether the query counts the values: "how many pets", not "how much" or "how many times"."""
    counted = _COUNTED.search(query.text)
    if counted is None:
        return False
    return counted[1].lower() == kind_noun or any(
        tokens[place].word == counted[1].lower() for place in mention.positions
    )


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


def _may_be_meant(query: Query, wanted: str | None) -> bool:
    """Return whether the only value may be of a kind that no text names: her only sibling may be the sister.

    It may not for sizes or ways of making.
    """
    unnamed = _PLACE_SIZES | frozenset(map(stem, _MAKING_VERBS))
    known = wanted is not None and stem(wanted.removesuffix("s")) not in unnamed
    return known and query.answer_type in ("who", "what")


def _values_of_kind(
    values: Sequence[ValidValue], wanted: str | None, group: RelationFacts, knowledge: KnownFacts
) -> list[ValidValue] | None:
    """Return the values whose own words name the wanted kind; None where that cannot be decided."""
    kind_noun = stem(wanted.removesuffix("s")) if wanted else ""
    if kind_noun in _PLACE_SIZES and group.relation not in ("nationality", "comes_from"):
        return None
    kinds = _KIND_STEMS.get(kind_noun)
    if not kinds:
        return list(values)
    # "Beth is my sister" names the kind of the tail: from Beth's side, it does not say what Ann is.
    names_kind = group.forward or not relations().get(group.relation).symmetric
    matching, other = [], []
    for value in values:
        quotes = (place.quote for said in value.assertions if names_kind and (place := knowledge.source(said)))
        spoken = {token.stem for token in query_tokens(" ".join([value.value, *quotes]))}
        if not spoken.isdisjoint(kinds):
            matching.append(value)
        elif not spoken.isdisjoint(_KIND_STEMS.get(_OPPOSITE.get(kind_noun, ""), ())):
            other.append(value)
    return matching or ([] if values and len(other) == len(values) else None)
