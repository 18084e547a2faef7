"""A clause, as the rules and the parser both give it to those who say what it means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp_memory.language.vocabulary import RELATIVES
from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.complements import Slot, complement
from mcp_memory.rules.facts.coordination import read_phrases
from mcp_memory.rules.facts.modality import under
from mcp_memory.rules.facts.noun_phrases import Noun
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.verb_groups import Verb, verb_at
from mcp_memory.rules.facts.verbs import known, reading
from mcp_memory.rules.facts.words import Word


@dataclass(frozen=True, slots=True)
class Clause:
    """A subject, its verb, and what depends on it.

    Attributes:
        subject: one phrase or several; empty where it is left out at the start ("Just got back from Malta").
        verb: with all that stands around it.
        particles: words that belong to the verb ("up", "back in").
        slots: objects (under "") and prepositions with their phrases, in order.
        times: those that say when.
        adverbs: of the clause, in lower case.
        confidence: in [0, 1]; 0 for what is not asserted, 1 for what is said plainly.
        start: first character.
        end: first character after it.
        said_by: whoever is quoted as saying it.
        parsed: whether a parser read it, beside what the rules read.
    """

    subject: tuple[Noun, ...]
    verb: Verb
    particles: tuple[str, ...]
    slots: tuple[Slot, ...]
    times: tuple[Word, ...]
    adverbs: frozenset[str]
    confidence: float
    start: int
    end: int
    said_by: tuple[Noun, ...] = ()
    parsed: bool = False


_STILL = frozenset(("still", "currently", "now"))


def without_subject(
    words: Sequence[Word], first: int, last: Verb | None, adverbs: frozenset[str], *, shared: bool, talk: bool
) -> Verb | None:
    """Return the verb at ``first`` of a clause that shares the subject before it, or that has left out its "I".

    Args:
        words: of the sentence.
        first: place of the first word of the clause.
        last: the verb of the clause before it.
        adverbs: read before the clause.
        shared: whether it is joined to that clause, so that it may share its subject.
        talk: whether somebody speaks.
    """
    verb = verb_at(words, first)
    if verb is None:
        return _going_on(words, first, adverbs) if talk and last is None else None
    word = words[first]
    if word.capital and first and not grammar.is_adverb(words, first):
        return None
    if last is not None and shared:
        fits = verb.tense != "present" or last.tense != "past" or bool({"now", "still"} & verb.adverbs)
        return verb if fits or word.low in closed.AUXILIARIES else None
    main = reading(words[verb.place - 1].low)
    opens = (
        last is None
        and talk
        and all(before.mark or grammar.is_adverb(words, n) for n, before in enumerate(words[:first]))
    )
    if opens and not verb.passive and verb.tense == "past" and main and word.low not in closed.AUXILIARIES:
        return verb
    return None


def _going_on(words: Sequence[Word], first: int, adverbs: frozenset[str]) -> Verb | None:
    """Return the verb of "Still driving the bus" and "Currently reading …", told of who speaks."""
    word = words[first]
    main = reading(word.low) if word.kind == "word" and not word.capital else None
    if main is None or main.forms != {"ing"} or not adverbs & _STILL:
        return None
    return Verb(main.lemma, first + 1, word.start, word.end, progressive=True, adverbs=frozenset(("still",)))


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
        object_, after = read_phrases(words, place, verb_seen=True)
        if object_ and len(object_) == 1:
            place = after
    if verb.lemma in ("hear", "read") and place < len(words) and words[place].low == "from":
        place = read_phrases(words, place + 1, verb_seen=True)[1]
    if place >= len(words):
        return None
    if words[place].low == "that":
        return (confidence, place + 1)
    if words[place].low in closed.WH | closed.CONDITIONS and verb.lemma not in ("say", "tell"):
        return 0.0, place + 1
    if words[place].kind == "speech":
        return confidence, place + 1
    subject, after = read_phrases(words, place, subject=True)
    if subject and after < len(words) and (after := grammar.skipped(words, after)) < len(words):
        inner = verb_at(words, after)
        if inner:
            return confidence, place
    return None


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


def agrees(words: Sequence[Word], subject: tuple[Noun, ...], verb: Verb) -> bool:
    """Return whether a verb in its plain form has a subject that takes one: "Caucus chair" is no clause."""
    word = words[verb.place - 1]
    known = reading(word.low)
    if known is None or known.forms != frozenset(("plain",)) or verb.tense != "present" or verb.unreal or verb.phase:
        return True
    if word.start != verb.start or len(subject) > 1 or subject[0].pronoun in ("i", "we", "you", "they"):
        return True
    # "documents like references": between nouns, "like" is a verb only where people do it
    return subject[0].plural and (verb.lemma != "like" or subject[0].head in RELATIVES)


def modified(
    words: Sequence[Word], subject: tuple[Noun, ...], place: int
) -> tuple[tuple[Noun, ...], int, Clause | None]:
    """Return the subject with what stands between it and its verb ("in Grauen"), and the place of the verb.

    What such an insertion tells by itself comes third: ", coached by Ada Rensen since July,".
    """
    between = None
    while place + 1 < len(words) and words[place].low in ("in", "at", "from", "as", "with", "on", "to") and subject:
        found, after = read_phrases(words, place + 1, subject=True)
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
