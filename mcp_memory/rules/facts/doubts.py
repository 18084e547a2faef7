"""Doubt what the rules read where its own words speak against it, at the end of reading a text.

A blind reading of 138 facts of talk that the rules had not been built on found these classes wrong or incomplete more
often than others: ages of a past time or taken from a price, heads and tails that are clauses, reasons without the
decision that they are given for, and things in use that are a single common word. The first two are dropped. What
stays has the share right of its class as confidence (`certainty`).

**Confidence** of what a message states plainly: how often facts of its class are right. A class is a group of relations
and whether the fact is *whole*: its tail names something or says it in several words, and its head is a person, a name
or more than one word. "Attended the regional pottery fair" is right and complete more often than "attended event", "API
time-out is set to 30 s" more often than "TTL is set to 300". What is hedged or reported has at most the confidence of
its hedge. Texts that are no messages keep the confidence of their form.

`SHARES` was counted by ``tests/extraction/calibrate.py`` on facts that readers had judged or labelled and that the
rules had not been built on: of n facts of a class r are right, (r + 8·p) / (n + 8) with p the same share of its group,
which is shrunk towards the share of all alike. No class is finer, so that none is fitted to single facts.

**Deeds of a task at hand** are told from those worth keeping, in talk with an assistant (`is_momentary`). "I've tested
the endpoint" and "I solved 5 problems" mean something while the assistant helps, and nothing afterwards: what "the
endpoint" is stands in no fact. A name, a name of code or an owner ("my weather app") makes such a deed lasting, and so
does what people keep: a house, a book, a course, a report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from mcp_memory.domain.facts import STABLE, Assertion
from mcp_memory.domain.relations import DID, relations
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import USERS, Turn
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.tables import nouns
from mcp_memory.rules.facts.verbs import inflection
from mcp_memory.rules.facts.work_values import is_tool

_GROUPS = {
    "outing": word_set("attended visited volunteers_at"),
    "taste": word_set("likes dislikes prefers eats interested_in has_goal"),
    "body": word_set("age takes has_condition"),
    "job": word_set("works_at works_as studies studies_at has_boss colleague_of leads coaches teaches"),
    "date": word_set("scheduled_for due_on starts_on ends_on"),
    "tool": word_set("uses"),
    "setting": word_set(
        "set_to located_at has_command has_branch has_version replaced_by owned_by decided decided_against chose"
        " part_of depends_on"
    ),
    "reason": word_set("because"),
}
"""Relations by their class of confidence; one that is not listed here is of the class "event" or "life"."""
_THINGS = frozenset(("date", "setting", "tool", "reason"))
"""Groups whose heads are mostly things, which one word names badly."""
SHARES = {
    ("body", False): 0.63, ("body", True): 0.80, ("date", False): 0.60, ("date", True): 0.72,
    ("did", False): 0.76, ("did", True): 0.86, ("event", False): 0.85, ("event", True): 0.88,
    ("job", False): 0.76, ("job", True): 0.89, ("life", False): 0.95, ("life", True): 0.95,
    ("outing", False): 0.89, ("outing", True): 0.89, ("own", False): 0.85, ("own", True): 0.85,
    ("reason", False): 0.45, ("reason", True): 0.45, ("setting", False): 0.68, ("setting", True): 0.73,
    ("taste", False): 0.89, ("taste", True): 0.89, ("tool", False): 0.70, ("tool", True): 0.97,
}  # fmt: skip
"""The share right of each class, by group and wholeness; at most .89 where fewer than 30 facts were counted."""
DOUBTFUL = 0.6
"""A class with a lower share stays below the stable line, however plainly it is stated."""
_LINKS = word_set("for of to about with from at in on into as that by")
_SIGNS = frozenset('`"“/')


def group_of(relation: str) -> str:
    """Return the group of a relation: "did", one of those above, "event" by its kind, "life", or "own" if unlisted."""
    if relation == DID or relation.startswith("favourite_"):
        return "did" if relation == DID else "taste"
    if named := next((name for name, members in _GROUPS.items() if relation in members), ""):
        return named
    if relation not in _listed():
        return "own"
    return "event" if relations().get(relation).event else "life"


@cache
def _listed() -> frozenset[str]:
    return frozenset(relation.name for relation in relations())


def is_whole(head: str, relation: str, tail: str) -> bool:
    """Return whether the head and the tail of a fact say enough to be understood without the text."""
    words, heads, group = tail.split(), head.split(), group_of(relation)
    if group == "did":
        return len(words) > 4 or not _LINKS.isdisjoint(words[2:])
    if len(heads) < 2 and head != "user" and not (head[:1].isupper() and not (group in _THINGS and head.isupper())):
        return False
    return len(words) > 2 or any(char.isupper() or char.isdigit() or char in _SIGNS for char in tail)


def certainty(fact: Assertion) -> float:
    """Return the confidence in (0, 1] of a fact that a message states plainly.

    What is right more often than not stays at the stable line at least: it was said, and only its wording is in doubt.
    """
    share = SHARES[group_of(fact.relation), is_whole(fact.head, fact.relation, fact.tail)]
    return share if share < DOUBTFUL else max(share, STABLE)


_CLAUSE_WORDS = frozenset(("is", "are", "was", "were", "gets", "get", "talks", "goes", "has", "have", "does", "do"))
_GIVEN_UP = frozenset(("drop", "remove", "ditch", "abandon"))
"""Verbs that a cut tail begins with: "the service uses … dropped Redis"."""
_NO_HEADS = re.compile(r"(?:everything|nothing|something|anything|everybody|nobody)\b", re.IGNORECASE)
_CUT = re.compile(
    r"[a-z]{2,}ing\s(?!(?:and|or|but|so|because|since|when|while|if|as|too|also|in|on|at|with|for|to|by|from|of|about|like"
    r"|than|after|before|during|around|up|out|off|down|now|again|more|most|lately|recently|a\slot|very|these|this|every|all"
    r"|together|alone|there|here|is|was|it|I|we|which|that|who|just|really|though|especially|\w+ly)\b)[a-z]"
)
"""An activity without the object that stands behind it: "deferring" of "deferring unused components"."""
_NOT = re.compile(r"\b(?:not|never|isn['’]t|wasn['’]t|until|till|when)\b[^.;!?]{0,24}$", re.IGNORECASE)


def doubt(turn: Turn, assertions: Iterable[Assertion]) -> Iterator[Assertion]:
    """Yield assertions, without those that their own words speak against, with the confidence of their class.

    Args:
        turn: the turn that states them.
        assertions: the assertions of the rules.
    """
    for item in assertions:
        if (item.relation == "age" and _is_no_age(turn.text, item)) or _is_clause(item) or _is_no_value(item):
            continue
        if item.relation in ("likes", "interested_in") and " " not in item.tail and _is_cut(turn.text, item):
            continue
        if item.relation == "uses" and turn.kind == "message" and _is_scrap(turn.text, item):
            continue
        plain = certainty(item) if turn.kind == "message" else 1.0
        yield replace(item, confidence=min(item.confidence, plain)) if plain < item.confidence else item


def _is_cut(text: str, item: Assertion) -> bool:
    place = text.find(item.tail, item.start)
    return place >= 0 and _CUT.match(text, place) is not None


def _is_no_age(text: str, item: Assertion) -> bool:
    """Return whether an age is one of a past time ("until he was 12"), a denied one, or a part of a larger number."""
    if item.until < FOREVER or item.since <= BEGINNING:
        return True
    place = text.find(item.tail, item.start, max(item.end, item.start) + len(item.tail) + 4)
    if place < 0:
        return False
    behind = text[place + len(item.tail) : place + len(item.tail) + 2]
    return bool(re.match(r"[.,–-]\d|[%€$£k]", behind) or _NOT.search(text, max(0, place - 40), place))


def _is_no_value(item: Assertion) -> bool:
    """Return whether a tail only repeats its relation: "allergic to kiwis, badly allergic"."""
    return item.relation == "allergic_to" and item.tail.split()[-1].lower() == "allergic"


def _is_clause(item: Assertion) -> bool:
    """Return whether the head or the tail of a relation is a clause, a question, or stands for anything at all."""
    if item.relation == "did":
        return False
    head = item.head.split()
    if _NO_HEADS.match(item.head) or (len(head) > 1 and not _CLAUSE_WORDS.isdisjoint(head)):
        return True
    if item.tail.endswith("?"):
        return True
    form = inflection(item.tail.split()[0]) if item.relation == "uses" and " " in item.tail else None
    return form is not None and form.lemma in _GIVEN_UP and "past" in form.forms


_PROTOCOLS = word_set("api sdk cli ui url gui db ide json xml html css http https")
_OWNED = re.compile(r"\b(?:a|an|my|our|his|her|their)\s$", re.IGNORECASE)


def _is_scrap(text: str, item: Assertion) -> bool:
    """Return whether what is in use names nothing: "the API", "the complement method", "tree diagrams".

    Only one thing of somebody's own is kept without a name, "a wheelchair".
    """
    if item.tail.casefold() in _PROTOCOLS:
        return True
    if item.tail != item.tail.lower() or any(char.isdigit() for char in item.tail) or is_tool(item.tail):
        return False
    place = text.find(item.tail, item.start)
    quoted = place > 0 and text[place - 1] in "`\"'"
    return place >= 0 and not quoted and not _OWNED.search(text, max(0, place - 8), place)


_STEPS = word_set(
    "calculate compute measure return print compile debug rerun substitute simplify verify multiply divide subtract"
    " paste log import mess receive define optimize optimise configure tweak adjust"
)
"""Verbs of single steps of a task."""
_TASKS = word_set(
    "problem question exercise example case test error line step attempt item value point side angle number task"
    " function method file issue bug component route endpoint unit topic concept"
)
"""Nouns, in the singular, of which a bare number or kind says nothing."""
_LASTING = (
    nouns.OWNABLE | nouns.WORKS | nouns.EVENTS | nouns.CRAFTS | nouns.AWARDS | nouns.PLACES
) | word_set("project app report thesis essay manuscript chapter website prototype contract house room report proposal"
             " exam application course module curriculum budget migration release")  # fmt: skip
_PROTOCOL = word_set("get post put delete patch http https html css json xml api url sql csv ok id ui")
"""Words in capitals that name nothing of somebody's own."""
_POINTING = word_set("this that these those such same")
_OF_THE_MOMENT = word_set(
    "new old initial first second last next same correct right wrong above following other remaining main basic"
    " original final current given different entire whole full"
)


def with_assistant(turn: Turn, assisted: bool) -> bool:
    """Return whether a message is said to an assistant.

    Args:
        turn: the message.
        assisted: whether its addressee is known to be an assistant.
    """
    return assisted or turn.role == "user" or (turn.speaker or "").casefold() in USERS


def is_momentary(clause: Clause, phrase: str) -> bool:
    """Return whether what a clause tells as done belongs to the task at hand.

    Args:
        clause: the clause that tells it, in a message to an assistant.
        phrase: the deed, as it would be kept.
    """
    if not clause.slots:
        return False
    phrases = [noun for slot in clause.slots for noun in slot.nouns]
    if "`" in phrase or any(_is_anchored(noun) for noun in phrases if noun.text in phrase):
        return False
    if clause.verb.lemma in _STEPS or any(noun.determiner in _POINTING for noun in phrases):
        return True
    first = clause.slots[0].nouns
    return any(_is_of_the_moment(noun) for noun in first)


def _is_anchored(noun: NounPhrase) -> bool:
    """Return whether a phrase has a name or an owner, so that it means the same tomorrow."""
    if noun.owner is not None or noun.quoted:
        return True
    named = [word for word in noun.text.split() if word[0].isupper() or any(char in word for char in "._/@0123456789")]
    named = [word for word in named if word.lower().rstrip("0123456789.") not in _PROTOCOL and not word.isdecimal()]
    return (noun.named and bool(named)) or (noun.of is not None and _is_anchored(noun.of))


def _is_of_the_moment(noun: NounPhrase) -> bool:
    words = [word for word in noun.text.split() if word.lower() not in _OF_THE_MOMENT | nouns.JUDGING]
    if noun.head in _LASTING or kinds.is_human(noun):
        return False
    if noun.determiner in ("the", "both", "all"):
        return len(words) < 3
    counted = words[0][:1].isdigit() if words else True
    return noun.head.removesuffix("s") in _TASKS and len(words) <= 1 + counted
