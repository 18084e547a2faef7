"""Clauses that hang on a verb: "I think that …", "Tom told me …", "it's not that …"."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.lists import nouns
from mcp_memory.rules.facts.modality import under
from mcp_memory.rules.facts.tables import small_words as small
from mcp_memory.rules.facts.verbgroup import Verb, verb_at
from mcp_memory.rules.facts.words import Word


def hanging(words: Sequence[Word], verb: Verb) -> tuple[float, int] | None:
    """Return the confidence of the clause that hangs on a verb, and its place; None where none hangs on it."""
    place = grammar.skipped(words, verb.place)
    adjective = words[place].low if verb.lemma == "be" and place < len(words) else ""
    if verb.lemma == "be" and verb.negated and adjective == "that":
        return 0.0, place + 1
    confidence = under(verb, adjective) if verb.lemma != "want" else None
    if confidence is None:
        return None
    place += verb.lemma == "be"
    if verb.lemma in ("tell", "promise", "remind") and place < len(words):
        object_, after = nouns(words, place, verb_seen=True)
        if object_ and len(object_) == 1:
            place = after
    if verb.lemma in ("hear", "read") and place < len(words) and words[place].low == "from":
        place = nouns(words, place + 1, verb_seen=True)[1]
    if place >= len(words):
        return None
    if words[place].low == "that":
        return (confidence, place + 1)
    if words[place].low in small.WH | small.CONDITIONS and verb.lemma not in ("say", "tell"):
        return 0.0, place + 1
    if words[place].kind == "speech":
        return confidence, place + 1
    subject, after = nouns(words, place, subject=True)
    if subject and after < len(words) and (after := grammar.skipped(words, after)) < len(words):
        inner = verb_at(words, after)
        if inner:
            return confidence, place
    return None
