"""Participles that hang on a phrase: "a firm based in Oslo", "a film directed by X", "a railway linking A and B".

They tell of the phrase before them; behind "is" they tell of the subject, which is that phrase.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.noun import Noun
from mcp_memory.rules.facts.verbgroup import Verb
from mcp_memory.rules.facts.verbs import known, reading
from mcp_memory.rules.facts.words import Word

_BEHIND = frozenset(("by", "in", "at", "from", "on", "to", "with", "as", "near", "for", "of"))


def antecedent(previous: Clause, *, comma: bool = False) -> tuple[Noun, ...]:
    """Return what is told on behind a clause: its subject where it said what that is, else its last phrase."""
    if not previous.slots or (comma and previous.verb.passive):
        return previous.subject[-1:]
    first, last = previous.slots[0], previous.slots[-1].nouns[-1:]
    said = previous.verb.lemma == "be" and not previous.verb.passive and not first.preposition
    if said and len(previous.subject) == 1 and first.nouns[0].determiner in ("a", "an", "the", ""):
        return previous.subject if not previous.subject[0].pronoun or first.nouns[0].determiner != "" else last
    return last


def reduced(words: Sequence[Word], place: int, previous: Clause) -> Verb | None:
    """Return the participle at ``place`` as a verb that tells of the clause before it, or None."""
    start = place
    while start < len(words) and words[start].low in ("first", "originally", "now", "formerly", "best", "mainly"):
        start += 1
    if start + 1 >= len(words) or words[start].kind != "word" or words[start].capital:
        return None
    word, following = words[start], words[start + 1]
    verb = reading(word.low)
    if verb is None or verb.lemma == "be":
        return None
    if "participle" in verb.forms and (following.low in _BEHIND or following.kind == "time"):
        return Verb(verb.lemma, start + 1, word.start, word.end, "past", passive=True, written=word.low)
    about = previous.verb.lemma == "be" and previous.slots and not previous.slots[0].preposition
    if verb.forms == {"ing"} and known(word.low) and about and not grammar.is_adverb(words, start):
        return Verb(verb.lemma, start + 1, word.start, word.end, previous.verb.tense)
    return None
