"""What happened to somebody, or to a thing of theirs: "got accepted for the exchange", "had my gallbladder removed"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcp_memory.domain.relations import DID
from mcp_memory.language.expressions import MONTH, WEEKDAY
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.claims import Claim
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.noun_phrases import OMITTED
from mcp_memory.rules.facts.tables.nouns import PETS

CONFIDENCE = 0.9
"""Confidence of an event that a clause tells plainly."""
OWN = {"my": "their", "our": "their", "myself": "themselves", "ourselves": "themselves"}
"""The speaker's own, as it is told of them."""
_UNDERGONE = re.compile(
    r"\s*(?:(?:have|has|['’]ve|['’]s)\s(?=been))?(?:(?:just|finally|also)\s)?(?P<what>(?:[Gg]ot|was|were|been)\s(?:accepted|admitted|promoted|laid\soff|made\sredundant"
    r"|rejected|robbed|mugged|injured|vaccinated|elected|offered\s(?:a|the)\s(?:job|place|contract|post)|shortlisted|nominated|discharged|stung|stitched\sup|evicted|burgled"
    r"|stolen|towed|flooded|vandalised|broken\sinto|divorced|married|engaged|hospitalised|arrested|operated\son|baptised|christened)"
    rf"(?:\s(?:to|into|for|by|from|at|as|on|in)\s(?!{MONTH}|{WEEKDAY}|last\b|next\b|the\s\d)(?:(?:a|an|the)\s)?[^\W\d][\w'’-]*(?:\s(?:[A-Z][\w'’-]*|[a-z]+(?=\s*(?:$|[.,;!?])))){{0,3}})?(?:\s(?:in|at)\s(?!{MONTH})[A-Z]\w+)?)"
    r"(?=\s*(?:$|[.,;!?()…]|\s(?:and|but|so|on|in|last|this|yesterday|today|because|when|after|at)\b))",
)
_HAD_DONE = re.compile(
    r"\s*(?:(?:just|finally|also)\s)?(?P<what>(?:had|[Gg]ot)\s(?:my|our|his|her|the|an?|both|two)\s(?:[a-z][\w'’-]*\s){1,4}?(?:removed|done|fitted|towed|rewired|restored"
    r"|taken\sout|(?<!day\s)(?<!night\s)(?<!evening\s)out|repaired|replaced|fixed|installed|put\sin|serviced|extracted|operated\son|neutered|spayed|renovated"
    r"|insulated|stolen|diagnosed|delivered|confirmed|accepted|approved|published))\b"
)
"""What somebody had done: "had my gallbladder removed"."""
_STATES = re.compile(r"\b(?:engaged|married|divorced)\b")
_LOSSES = word_set("steal tow flood vandalise burgle")

_ALONE = {
    "die": "died", "retire": "retired", "graduate": "graduated", "resign": "resigned", "pass away": "passed away",
    "propose": "proposed",
}  # fmt: skip
"""Verbs that need no complement, with their particles."""
ALONE_WITH_A_DATE = {
    "leave": "left", "get married": "got married", "move": "moved", "move in": "moved in", "move out": "moved out",
    "move house": "moved house", "fall": "fell", "faint": "fainted",
}  # fmt: skip
"""Those that tell an event where its time is said: "Joel moved in on Tuesday"."""


_GIVEN = word_set("job raise promotion scholarship grant loan mortgage visa contract permit award role place")


def _given(clause: Clause) -> Iterator[Claim]:
    """Yield what somebody got: "they gave me the job"."""
    verb, slots = clause.verb, clause.slots
    done = verb.tense in ("past", "perfect") and not (verb.negated or verb.unreal or verb.passive)
    if not done or verb.lemma not in ("give", "grant", "award") or clause.confidence < 1 or len(slots) != 2:
        return
    who, what = slots[0].nouns[0], slots[1].nouns[0]
    plain = not (slots[0].preposition or slots[1].preposition or what.uncertain) and len(slots[1].nouns) == 1
    if plain and who.pronoun in ("me", "us", "him", "her") and what.head in _GIVEN and what.determiner:
        yield Claim(who, DID, f"got {what.determiner} {what.text}", "event", None, clause.end, False, CONFIDENCE)


def undergone_claims(clause: Clause, text: str) -> Iterator[Claim]:
    """Yield what happened to somebody, or to a thing of theirs: "got accepted for the exchange", "my bike was stolen".

    Only a closed list of participles is read: "got worried" and "was surprised" tell no event.
    """
    verb = clause.verb
    if clause.adverbs & {"nearly", "almost"}:
        return
    yield from _given(clause)
    is_past = (
        (verb.passive and verb.tense == "perfect")
        or ((verb.passive or verb.lemma in ("get", "be")) and verb.tense == "past")
    ) and not (verb.negated or verb.unreal)
    match = _UNDERGONE.match(text, verb.start) if is_past and clause.confidence >= 1 else None
    if (
        verb.lemma in ("have", "get")
        and not match
        and verb.tense == "past"
        and clause.confidence >= 1
        and not verb.negated
    ):
        match = _HAD_DONE.match(text, verb.start)
    if match and verb.lemma != "get" and _STATES.search(match["what"]):
        return  # "was engaged in a project"
    for subject in clause.subject if match else ():
        theirs = subject.owner is not None and verb.lemma in _LOSSES
        if match and (theirs or kinds.is_human(subject)):
            what = match["what"][:1].lower() + match["what"][1:]
            what = re.sub("^been", "was", what)
            what = " ".join(OWN.get(word, word) for word in what.split())
            yield Claim(subject, DID, what, "event", None, clause.end, False, CONFIDENCE)


_ENDED = re.compile(
    r"\s*(?:(?:also|just|finally|already|even)\s)*(?P<what>(?:stopped|quit|gave\sup)\s(?:smoking|drinking|vaping|gambling|eating|driving|dancing|swimming|running"
    r"|cycling|climbing|riding|training|wearing|biting|colouring|dyeing))\b"
)


def habits_ended(clause: Clause, text: str) -> Iterator[Claim]:
    """Yield "gave up smoking" and "stopped drinking coffee": the end of what is no event itself."""
    match = _ENDED.match(text, clause.verb.start)
    slots = clause.slots
    if match is None or len(slots) > 1 or not all(kinds.is_human(subject) for subject in clause.subject):
        return
    what = match["what"]
    if slots:
        noun = slots[0].nouns[0]
        if slots[0].preposition or noun.pronoun or noun.owner or noun.determiner or len(slots[0].nouns) > 1:
            return
        what = f"{what} {noun.text}"
    for subject in clause.subject:
        yield Claim(subject, DID, what, "event", None, clause.end, False, CONFIDENCE)


def deeds_alone(clause: Clause) -> Iterator[Claim]:
    """Yield the event of a verb that says enough by itself: "my boss retired in May"."""
    said = " ".join((clause.verb.lemma, *clause.particles))
    deed = _ALONE.get(said) or (ALONE_WITH_A_DATE.get(said) if clause.times else "")
    if said in ("leave", "move") and not clause.verb.future:
        return  # of a party, mostly; or a seat
    for subject in clause.subject if deed else ():
        told = subject.common != OMITTED and not clause.slots
        somebody = bool(told and (subject.pronoun or subject.owner)) if said == "move" else kinds.is_human(subject)
        if somebody or (subject.head in PETS and said != "move"):
            yield Claim(subject, DID, deed or "", "event", None, clause.end, False, CONFIDENCE)


_COMING = re.compile(r"(?:will|['’]ll|going\sto|gonna)\b", re.IGNORECASE)


def is_announced(clause: Clause, text: str) -> bool:
    """Return whether a clause announces a deed with its date, "I'll ring the vet tomorrow": it is planned."""
    verb = clause.verb
    moving = " ".join((verb.lemma, *clause.particles)) in ALONE_WITH_A_DATE
    said = moving or verb.progressive or _COMING.search(text, verb.start, verb.end)
    if any(slot.preposition in ("before", "after") for slot in clause.slots):
        return False  # "I'm cleaning up the site before the launch on 3 May": the date of the launch
    return bool(said and clause.times and verb.tense == "present" and verb.future and not verb.phase)
