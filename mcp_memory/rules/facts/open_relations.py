"""What a clause tells that no table names: the verb itself is the relation, "I passed my driving test".

Open information extraction in the manner of ReVerb (Fader, Soderland & Etzioni 2011, §3): a relation is a verb, or a
verb with its preposition, and its tail the phrase right behind. What keeps it honest is what is left out: verbs that
carry no meaning of their own or tell of thoughts, tails that say nothing by themselves, whatever is only wished, and
subjects that are nobody.
"""

from __future__ import annotations

from collections.abc import Iterator

from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.complements import Slot
from mcp_memory.rules.facts.frames import Effect
from mcp_memory.rules.facts.noun import Noun
from mcp_memory.rules.facts.tables import kinds as table
from mcp_memory.rules.facts.tables import small_words as small
from mcp_memory.rules.facts.tables.kin import PETS
from mcp_memory.rules.facts.tables.open_verbs import (
    ABSTRACT,
    ABSTRACT_ENDINGS,
    GOVERNING,
    HABITS,
    PARTICLES,
    SILENT,
)
from mcp_memory.rules.facts.told import Told
from mcp_memory.rules.facts.verbs import reading


def open_relation(clause: Clause) -> Iterator[Told]:
    """Yield what a clause tells with its own verb as the relation.

    Args:
        clause: whose verb no table knows with these slots.
    """
    verb = clause.verb
    if verb.unreal or verb.lemma in SILENT or verb.phase == "end" or len(verb.lemma) < 3 or not clause.slots:
        return
    subjects = [subject for subject in clause.subject if _acts(subject)]
    if not subjects or (verb.negated and not _habit(clause)):
        return
    if verb.passive:
        yield from _undergone(clause, subjects)
        return
    effect: Effect = "event" if verb.tense != "present" else "state"
    for relation, noun, slot in _tails(clause):
        for subject in subjects:
            yield Told(subject, relation, noun, effect, noun.times or None, slot.end)


def _acts(subject: Noun) -> bool:
    """Return whether somebody or something is meant that has a name here."""
    if subject.uncertain or subject.pronoun in small.SECOND | {"that", "this", "there", "one"}:
        return False
    named = bool(subject.pronoun or subject.named or subject.name)
    known = subject.owner is not None and (kinds.is_kin(subject) or subject.head in PETS | table.ROLES)
    return (named or known or subject.determiner == "the") and subject.head not in small.EMPTY | table.VAGUE


def _habit(clause: Clause) -> bool:
    """Return whether what is denied is a habit: "doesn't eat pork"."""
    verb = clause.verb
    if verb.lemma not in HABITS or verb.tense != "present" or verb.progressive or clause.slots[0].preposition:
        return False
    return not clause.slots[0].nouns[0].determiner


def _tails(clause: Clause) -> Iterator[tuple[str, Noun, Slot]]:
    verb, slot = clause.verb, clause.slots[0]
    particle = "".join(f"_{word}" for word in clause.particles)
    if not slot.preposition:
        if verb.lemma in GOVERNING or (len(clause.slots) > 1 and not clause.slots[1].preposition):
            return  # "paid me two pounds": which of the two is the tail is not clear
        for noun in slot.nouns:
            if _says_something(noun, clause):
                yield verb.lemma + particle, noun, slot
        return
    for noun in slot.nouns:
        fits = kinds.fits(noun, "name") or (slot.preposition in PARTICLES and _says_something(noun, clause))
        if fits and noun.determiner not in ("this", "that", "these", "those"):
            yield f"{verb.lemma}{particle}_{slot.preposition}", noun, slot


def _undergone(clause: Clause, subjects: list[Noun]) -> Iterator[Told]:
    """Yield what was done to somebody or something: "operated by the university", "twinned with Altona"."""
    for slot in sorted(clause.slots, key=lambda slot: slot.preposition != "by"):
        by = slot.preposition == "by" and all(_says_something(noun, clause) for noun in slot.nouns)
        if slot.preposition and slot.preposition not in ("by", "with", "for", "to", "after", "under", "in", "at"):
            continue
        opening = reading(slot.nouns[0].text.split()[0])
        if slot.preposition == "to" and opening and "plain" in opening.forms:
            continue  # "founded to strengthen …"
        if not by and not (slot.preposition and all(kinds.fits(noun, "name") for noun in slot.nouns)):
            continue
        effect: Effect = "state" if clause.verb.tense == "present" else "event"
        relation = f"{clause.verb.written or clause.verb.lemma}_{slot.preposition}"
        for noun in slot.nouns if by else slot.nouns[:1]:
            for subject in subjects:
                yield Told(subject, relation, noun, effect, None, slot.end)
        return


def _says_something(noun: Noun, clause: Clause) -> bool:
    """Return whether a phrase tells by itself what it means."""
    if not kinds.fits(noun, "thing") or noun.head in ABSTRACT or noun.text.endswith("ing"):
        return False
    if noun.head.endswith(ABSTRACT_ENDINGS) and not noun.named:
        return False
    first = noun.text.split()[0]
    if " " not in noun.text and noun.text.endswith(("ly", "th")) and noun.text.islower() and noun.text != "cloth":
        return False  # "followed closely", "finished sixth"
    if noun.owner and (noun.owner.pronoun in ("you", "they", "it") or noun.owner.uncertain):
        return False
    if first.endswith("ing") and " " in noun.text and not noun.determiner and not noun.owner:
        return False  # "… and looking for investors": a second verb
    if noun.owner and noun.owner.owner and first.endswith("ing"):
        return False
    if noun.named or noun.quoted:
        return True
    if clause.verb.tense == "present" and not clause.verb.progressive:
        return noun.determiner not in ("a", "an", "this", "that", "any", "some")
    return True
