"""Drop what the rules read where its own words speak against it, and tell deeds of a task from those worth keeping.

Dropped are ages of a past time, values cut within a number ("3" of "3:42"), heads and tails that are clauses, and
things in use that are a single common word.

**Deeds of a task at hand** are told from those worth keeping, in talk with an assistant (`is_momentary`). "I've tested
the endpoint" and "I solved 5 problems" mean something while the assistant helps, and nothing afterwards: what "the
endpoint" is stands in no fact. A name, a name of code or an owner ("my weather app") makes such a deed lasting, and so
does what people keep: a house, a book, a course, a report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import USERS, Turn
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.software import is_tool
from mcp_memory.rules.facts.tables import nouns
from mcp_memory.rules.facts.verbs import inflection

_CLAUSE_WORDS = frozenset(("is", "are", "was", "were", "gets", "get", "talks", "goes", "has", "have", "does", "do"))
_GIVEN_UP = frozenset(("drop", "remove", "ditch", "abandon"))
"""Verbs that a cut tail begins with: "the service uses … dropped Redis"."""
_NO_HEADS = re.compile(r"(?:everything|nothing|something|anything|everybody|nobody)\b", re.IGNORECASE)
_JOINED_BEFORE = re.compile(r"(?:\d[.,:/–-]|(?<![\w)])[-−–])$")
_JOINED_BEHIND = re.compile(r"[.,:/–-]\d|[%€$£k]")


def doubt(turn: Turn, assertions: Iterable[Assertion]) -> Iterator[Assertion]:
    """Yield assertions, without those that their own words speak against.

    Args:
        turn: the turn that states them.
        assertions: the assertions of the rules.
    """
    for item in assertions:
        past_age = item.relation == "age" and (item.until < FOREVER or item.since <= BEGINNING)
        if past_age or _is_cut(turn.text, item) or _is_clause(item):
            continue
        if item.relation == "uses" and turn.kind == "message" and _is_scrap(turn.text, item):
            continue
        yield item


def _is_cut(text: str, item: Assertion) -> bool:
    """Return whether a value is a part of a longer number wherever it stands: 3 of "3:42", 18 of "-18"."""
    if not item.tail[:1].isdigit() and not item.tail[-1:].isdigit():
        return False
    said = text[item.start : item.end + len(item.tail) + 4]
    places = [found.start() for found in re.finditer(re.escape(item.tail), said)]
    return bool(places) and all(
        _JOINED_BEFORE.search(text, max(0, item.start + place - 2), item.start + place)
        or (item.tail[-1].isdigit() and _JOINED_BEHIND.match(text, item.start + place + len(item.tail)))
        for place in places
    )


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
