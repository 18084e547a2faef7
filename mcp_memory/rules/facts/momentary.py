"""Tell the deeds of a task at hand from those worth keeping, in talk with an assistant.

"I've tested the endpoint" and "I solved 5 problems" mean something while the assistant helps, and nothing afterwards:
what "the endpoint" is stands in no fact. A name, a name of code or an owner ("my weather app") makes such a deed
lasting, and so does what people keep: a house, a book, a course, a report.
"""

from __future__ import annotations

from mcp_memory.domain.turns import USERS, Turn
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.tables import nouns

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
        clause: that tells it, in a message to an assistant.
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
