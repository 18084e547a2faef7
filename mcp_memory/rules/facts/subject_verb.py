"""Subject and verb: what may stand between them, whether they agree, and verbs that have no subject at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.complements import complement
from mcp_memory.rules.facts.lists import nouns
from mcp_memory.rules.facts.noun import Noun
from mcp_memory.rules.facts.verbgroup import Verb
from mcp_memory.rules.facts.verbs import reading
from mcp_memory.rules.facts.words import Word


def agrees(words: Sequence[Word], subject: tuple[Noun, ...], verb: Verb) -> bool:
    """Return whether a verb in its plain form has a subject that takes one: "Caucus chair" is no clause."""
    word = words[verb.place - 1]
    known = reading(word.low)
    if known is None or known.forms != frozenset(("plain",)) or verb.tense != "present" or verb.unreal or verb.phase:
        return True
    if word.start != verb.start or len(subject) > 1 or subject[0].pronoun in ("i", "we", "you", "they"):
        return True
    # "documents like references": between nouns, "like" is a verb only where people do it
    return subject[0].plural and (verb.lemma != "like" or subject[0].head in grammar.KIN_WORDS)


def modified(
    words: Sequence[Word], subject: tuple[Noun, ...], place: int
) -> tuple[tuple[Noun, ...], int, Clause | None]:
    """Return the subject with what stands between it and its verb ("in Grauen"), and the place of the verb.

    What such an insertion tells by itself comes third: ", coached by Ada Rensen since July,".
    """
    between = None
    while place + 1 < len(words) and words[place].low in ("in", "at", "from", "as", "with", "on", "to") and subject:
        found, after = nouns(words, place + 1, subject=True)
        if not found or after >= len(words) or len(found) > 1:
            break
        inner = replace(subject[-1], within=(*subject[-1].within, (words[place].low, found[0])))
        if not grammar.is_finite(words, grammar.skipped(words, after)) and words[after].low not in (
            "in",
            "at",
            "as",
        ):
            break
        subject, place = (*subject[:-1], inner), after
    comma = place < len(words) and words[place].text == ","
    start = place + comma
    verb = reading(words[start].low) if start < len(words) and words[start].kind == "word" else None
    reduced = verb and "participle" in verb.forms and start + 1 < len(words) and not words[start].capital and (
        words[start + 1].low in ("by", "in", "from", "at") or words[start + 1].kind == "time"
    )  # fmt: skip
    if verb and reduced and (comma or words[start + 1].low == "by"):
        group = Verb(verb.lemma, start + 1, words[start].start, words[start].end, "past", passive=True,
                     written=words[start].low)  # fmt: skip
        told = complement(words, group)
        closing = told.place < len(words) and words[told.place].text == ","
        if closing or grammar.is_finite(words, told.place, frozenset(("past", "third"))):
            between = Clause(
                subject=subject[-1:],
                verb=group,
                particles=told.particles,
                slots=told.slots,
                times=told.times,
                adverbs=told.adverbs,
                confidence=1.0,
                start=subject[-1].start,
                end=max(told.end, group.end),
            )
            place = told.place + closing
    return subject, place, between


def is_command(words: Sequence[Word], first: int) -> bool:
    """Return whether a sentence begins at ``first`` with a verb in its plain form: "Go see a doctor"."""
    if any(not (w.mark or grammar.is_adverb(words, n)) for n, w in enumerate(words[:first])):
        return False
    verb = reading(words[first].low)
    if words[first].kind != "word" or verb is None or verb.forms & {"past"}:
        return False
    if "ing" in verb.forms:  # "Seeing them grow …"
        return (
            words[first].capital
            and first + 1 < len(words)
            and not grammar.breaks(words, first + 1) | words[first + 1].capital
        )
    if (
        "third" in verb.forms
        and first + 1 < len(words)
        and words[first + 1].low in ("like", "good", "great", "so", "as")
    ):
        return True  # "Sounds like a plan"
    return not grammar.is_finite(words, grammar.skipped(words, first + 1), frozenset(("past", "third"))) and not (
        first + 1 < len(words) and words[first + 1].capital
    )
