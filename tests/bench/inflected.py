"""Verbs in their forms, to say questions and rows in other words."""

from __future__ import annotations

from functools import cache

from mcp_memory.domain.relations import third_person, verbs
from mcp_memory.rules.facts.grammar import Form, _ing, _past


@cache
def _irregular() -> dict[str, tuple[str, str]]:
    return {plain: (past, participle) for plain, past, participle in verbs().irregular}


def inflect(lemma: str, form: Form) -> str:
    """Return a verb in one of its forms; a verb that no list has is inflected regularly."""
    if form == "plain":
        return lemma
    if form == "third":
        return third_person(lemma)
    if form == "ing":
        return _ing(lemma)
    past, participle = _irregular().get(lemma, (_past(lemma)[0],) * 2)
    return past if form == "past" else participle
