"""Relations that depend on the kind of the tail: to join a team, a company and a choir are three relations."""

from __future__ import annotations

from mcp_memory.language.vocabulary import RELATIVES, kinship_words, word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.tables import nouns
from mcp_memory.rules.facts.verb_groups import VerbGroup
from mcp_memory.rules.facts.verbs import Effect

Choice = tuple[str, Effect]
_CHILDREN = kinship_words("parent_of") - word_set("stepdaughter stepson baby toddler")
_SIBLINGS = kinship_words("sibling_of") - word_set("stepsister half-sister stepbrother half-brother bro")


def relations_for_tail(relation: str, effect: Effect, noun: NounPhrase, verb: VerbGroup, *, past: bool) -> list[Choice]:
    """Return the relations and effects of a line of the verb table with this tail; usually its own.

    Args:
        relation: as the table has it.
        effect: as the table has it.
        noun: the tail.
        verb: of the clause.
        past: whether the clause is in the past.
    """
    match relation:
        case "joined":
            return [(_join_relation(noun), effect)]
        case "signed":
            return [("works_at" if kinds.is_company(noun) else "plays_for", effect)]
        case "left":
            return _leave_relations(noun)
        case "seeing":
            return [("dating", "state")] if verb.progressive and " " not in noun.name else []
        case "being_with":
            return [("dating", "state")] if verb.negated else []
        case "likes" if verb.negated and not verb.adverbs & {"anymore", "any more", "no longer"}:
            return [("dislikes", effect)]
        case "switched":
            return [("works_at", effect)] if kinds.is_company(noun) else []
        case "enrolled":
            return [("studies_at" if kinds.is_school(noun) else "studies", effect)]
        case "attends":
            return [("studies_at", "state")] if kinds.is_school(noun) else _attend_relations(noun, past)
        case "make":
            return _make_relations(noun, verb)
        case "runs":
            return _run_relations(noun)
        case "learns":
            if past and kinds.fits(noun, "language"):
                return [("speaks", "lasting")]
            return [] if noun.determiner or noun.owner else [("studies", "state")]
        case "started_up":
            return _start_relations(noun)
        case "got":
            return _get_relations(noun)
        case "has":
            return _have_relations(noun) or (_attend_relations(noun, past) if noun.determiner in ("a", "an") else [])
        case "sold":
            return [("sold", "event"), ("owns", "end")]
        case "belongs":
            if kinds.is_club(noun):
                return [("member_of", "state")]
            return [("owned_by", "state")] if kinds.fits(noun, "person") else []
        case "went":
            if "back" in verb.adverbs:
                return []
            attended = _attend_relations(noun, past) or ([("attended", effect)] if past and kinds.is_club(noun) else [])
            venue = kinds.last_word(noun) in nouns.VENUES and noun.determiner in ("a", "an", "the")
            place = kinds.fits(noun, "name") and noun.head not in nouns.EVENTS
            return attended or ([("visited", effect)] if venue or place else [])
    return [(relation, effect)]


def _join_relation(noun: NounPhrase) -> str:
    if kinds.is_team(noun):
        return "plays_for"
    if kinds.is_club(noun):
        return "member_of"
    return "works_at" if not kinds.is_school(noun) else "studies_at"


def _leave_relations(noun: NounPhrase) -> list[Choice]:
    if noun.owner or noun.head in nouns.JOBS:
        return []
    if kinds.is_team(noun):
        return [("plays_for", "end")]
    if kinds.is_school(noun):
        return [("studies_at", "end")] if not noun.named else [("works_at", "end")]
    if kinds.is_company(noun) and noun.named:
        return [("works_at", "end")]
    if kinds.is_club(noun):
        return [("member_of", "end")]
    if kinds.fits(noun, "place") and noun.determiner in ("", "the"):
        return [("lives_in", "end")] if not kinds.is_company(noun) else []
    return []


def _attend_relations(noun: NounPhrase, past: bool) -> list[Choice]:
    is_event = kinds.last_word(noun) in nouns.EVENTS or noun.head in nouns.EVENTS
    return [("attended", "past")] if past and is_event else []


def _make_relations(noun: NounPhrase, verb: VerbGroup) -> list[Choice]:
    """Return a trade for the present ("makes church organs"), otherwise something made by hand."""
    bare = not (noun.determiner or noun.owner)
    if verb.tense == "present" and not verb.progressive and bare and noun.plural and noun.head not in nouns.VAGUE:
        return [("make", "state")]
    return [("made", "event")] if noun.head in nouns.CRAFTS and noun.determiner != "the" else []


def _run_relations(noun: NounPhrase) -> list[Choice]:
    has_full_name = noun.named and " " in noun.name and not noun.quoted and noun.head not in nouns.EVENTS
    if kinds.is_company(noun) or kinds.is_club(noun) or has_full_name:
        return [("leads", "state")]
    return [("run", "state")] if noun.head in ("marathon", "marathons", "half-marathons", "ultramarathons") else []


def _start_relations(noun: NounPhrase) -> list[Choice]:
    if noun.head in nouns.JOBS:
        return []
    is_organisation = noun.head in nouns.COMPANIES | nouns.CLUBS or kinds.last_word(noun) in nouns.COMPANIES
    if (noun.determiner or noun.named) and noun.owner is None and is_organisation:
        return [("founded", "event")]
    if noun.head in nouns.OWNABLE and noun.head in ("business", "brewery", "blog"):
        return [("founded", "event")]
    bare = not (noun.determiner or noun.owner or noun.named)
    is_activity = noun.head in nouns.PLAYED | nouns.ACTIVITIES or noun.head.endswith("ing")
    return [("started", "event")] if bare and is_activity and noun.head not in nouns.VAGUE else []


def _get_relations(noun: NounPhrase) -> list[Choice]:
    if noun.head in nouns.PETS:
        return [("has_pet", "begin")]
    if noun.head in nouns.OWNABLE or (noun.text.startswith("own ") and noun.head == "place"):
        return [("owns", "begin")]
    if noun.head in nouns.CONDITIONS:
        return [("has_condition", "begin")]
    return [("won", "event")] if noun.head in nouns.AWARDS and noun.named else []


def _have_relations(noun: NounPhrase) -> list[Choice]:
    if noun.head in _CHILDREN and not noun.owner:
        return [("parent_of", "state")]
    if noun.head in _SIBLINGS and not noun.owner:
        return [("sibling_of", "state")]
    if noun.head in nouns.PETS:
        return [("has_pet", "state")]
    if noun.head in nouns.CONDITIONS or noun.text.lower() in nouns.CONDITIONS:
        return [("has_condition", "state")]
    if noun.head in nouns.OWNABLE:
        return [("owns", "state")]
    if noun.head in RELATIVES and RELATIVES[noun.head][0] in ("dating", "married_to") and noun.name:
        return [(RELATIVES[noun.head][0], "state")]
    return []
