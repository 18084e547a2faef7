"""What stands behind a verb: its objects, its prepositions with theirs, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp_memory.reasoning.embedded.extraction import grammar
from mcp_memory.reasoning.embedded.extraction.frames import by_verb
from mcp_memory.reasoning.embedded.extraction.lists import nouns
from mcp_memory.reasoning.embedded.extraction.noun import Noun
from mcp_memory.reasoning.embedded.extraction.tables import small_words as small
from mcp_memory.reasoning.embedded.extraction.tables import word_set
from mcp_memory.reasoning.embedded.extraction.tables.kinds import ROLES
from mcp_memory.reasoning.embedded.extraction.verbgroup import Verb
from mcp_memory.reasoning.embedded.extraction.verbs import reading
from mcp_memory.reasoning.embedded.extraction.words import Word

MOST = 12
"""Slots of one clause."""
_TASTES = word_set("like love enjoy hate dislike adore prefer detest loathe can't_stand can't_bear")
_WAYS = word_set("up down out over across around along off on through in")
_CLAUSES = word_set(
    "because when while although though whereas that who which where why how whose whom what so if unless whether cause"
    " whenever once"
)


@dataclass(frozen=True, slots=True)
class Slot:
    """An object, or a preposition with its phrases.

    Attributes:
        preposition: in lower case; "" for an object.
        nouns: the phrases, one or several.
        end: first character after it.
    """

    preposition: str
    nouns: tuple[Noun, ...]
    end: int


@dataclass(frozen=True, slots=True)
class Complement:
    """All that stands behind a verb in its clause.

    Attributes:
        particles: the words that belong to the verb.
        slots: in order.
        times: that say when.
        adverbs: in lower case.
        end: first character after it.
        place: of the first word after it.
    """

    particles: tuple[str, ...]
    slots: tuple[Slot, ...]
    times: tuple[Word, ...]
    adverbs: frozenset[str]
    end: int
    place: int


def complement(words: Sequence[Word], verb: Verb) -> Complement:
    """Return what stands behind a verb, up to the end of its clause."""
    particles, place = particles_of(words, verb)
    end = words[place - 1].end
    slots: list[Slot] = []
    times: list[Word] = []
    adverbs: set[str] = set()
    while place < len(words) and len(slots) < MOST:
        word = words[place]
        if word.kind == "time":
            times.append(word)
            end = word.end
            place += 1
        elif grammar.is_adverb(words, place):
            adverbs.add(word.low)
            place += 1
        elif word.mark:
            if word.text == "(" and (close := _closing(words, place)):
                times += [inside for inside in words[place:close] if inside.kind == "time"]
                place = close + 1
            elif word.text == "," and _goes_on(words, place + 1):
                place += 1
            elif slots and (listed := _including(words, place)):
                found, after = nouns(words, listed, verb_seen=True)
                if not found:
                    break
                slots[-1] = replace(slots[-1], nouns=(*slots[-1].nouns, *found), end=found[-1].end)
                end, place = found[-1].end, after
            else:
                break
        elif word.low in small.CONJUNCTIONS and word.kind == "word":
            if grammar.opens_clause(words, place + 1) or word.low not in ("and", "&"):
                break
            place += 1
        elif (word.low == "to" and _is_infinitive(words, place + 1)) or (word.low in _CLAUSES and not word.capital):
            break
        elif word.low in small.PREPOSITIONS and not word.capital:
            if word.low in (
                "as",
                "like",
                "than",
                "after",
                "before",
                "since",
                "until",
                "for",
                "till",
            ) and _subject_follows(words, place + 1):
                break
            if word.low in ("before", "after") and _is_gerund(words, place + 1):
                break
            if (
                word.low in ("about", "over", "around", "under")
                and words[place + 1 : place + 2]
                and (words[place + 1].kind == "number")
            ):  # "about 1,200 people"
                place += 1
                continue
            found, after = nouns(words, place + 1, verb_seen=True)
            if found:
                slots.append(Slot(word.low, found, found[-1].end))
                end = found[-1].end
                place = after
            elif place + 1 < len(words) and (words[place + 1].kind == "time" or grammar.is_adverb(words, place + 1)):
                place += 1
            elif place + 2 < len(words) and words[place + 1].low in small.ARTICLES and words[place + 2].kind == "time":
                place += 2
            elif place + 1 < len(words) and words[place + 1].low in small.PREPOSITIONS and word.low in _WAYS:
                place += 1  # "hiked up to the hut"
            else:
                break
        elif verb.lemma in _TASTES and not slots and (gerund := _gerund(words, place)):
            slots.append(gerund[0])
            end, place = gerund[0].end, gerund[1]
        elif slots and verb.lemma == "be" and not slots[-1].preposition and _is_gerund(words, place):
            break  # "a duo consisting of"
        elif word.low in small.AUXILIARIES or word.low == "'s" or word.kind == "speech":
            break
        else:
            found, after = nouns(words, place, verb_seen=True)
            if not found:
                break
            if after < len(words) and words[after].low in small.NOMINATIVE and words[after].low != "you":
                found = tuple(replace(noun, uncertain=True) for noun in found)  # "the freedom it brings"
            slots.append(Slot("", found, found[-1].end))
            end = found[-1].end
            place = after
    return Complement(particles, tuple(slots), tuple(times), frozenset(adverbs), end, place)


def particles_of(words: Sequence[Word], verb: Verb) -> tuple[tuple[str, ...], int]:
    """Return the words behind a verb that belong to it by the table, and the place after them."""
    for passive in dict.fromkeys((verb.passive, False)):
        for frame in by_verb().get((passive, verb.lemma), ()):
            place = verb.place
            while (
                place < len(words)
                and grammar.is_adverb(words, place)
                and frame.particles
                and words[place].low not in frame.particles
                and words[place].kind != "time"
            ):
                place += 1
            last = place + len(frame.particles)
            if not frame.particles or last > len(words):
                continue
            if tuple(word.low for word in words[place:last]) != frame.particles:
                continue
            if frame.particles[-1] in ("in", "on", "to") and not (
                last < len(words) and words[last].low in small.PREPOSITIONS and not words[last].capital
            ):
                continue
            return frame.particles, last
    return (), verb.place


def _including(words: Sequence[Word], place: int) -> int:
    """Return where a list begins behind ", including", ", such as" or ", among them"; 0 where none does."""
    lows = [word.low for word in words[place + 1 : place + 3]]
    if lows[:1] == ["including"]:
        return place + 2
    return place + 3 if lows in (["such", "as"], ["among", "them"]) else 0


def _is_gerund(words: Sequence[Word], place: int) -> bool:
    verb = reading(words[place].low) if place < len(words) else None
    return verb is not None and verb.forms == {"ing"}


def _closing(words: Sequence[Word], place: int) -> int:
    return next((n for n in range(place + 1, min(place + 16, len(words))) if words[n].text == ")"), 0)


def _goes_on(words: Sequence[Word], place: int) -> bool:
    """Return whether a comma is followed by a time or a preposition of the same clause."""
    if place >= len(words):
        return False
    word = words[place]
    if word.kind == "time":
        return not grammar.opens_clause(words, place)
    if word.low in ("in", "at", "on", "since", "as", "around") and word.kind == "word" and place + 1 < len(words):
        if words[place + 1].kind == "time" or grammar.is_adverb(words, place + 1):
            return not grammar.opens_clause(words, place + 1)
        found, after = nouns(words, place + 1, verb_seen=True)
        return bool(found) and (
            after >= len(words) or words[after].text in (".", "!", ";") or words[after].kind == "time"
        )
    return False


def _is_infinitive(words: Sequence[Word], place: int) -> bool:
    if place >= len(words) or words[place].capital:
        return False
    verb = reading(words[place].low)
    if place + 1 < len(words) and words[place + 1].low in ROLES:
        return False  # "promoted to head chef"
    return words[place].low in ("be", "have", "do") or (
        verb is not None and "plain" in verb.forms and "ing" not in verb.forms
    )


def _subject_follows(words: Sequence[Word], place: int) -> bool:
    return place < len(words) and (words[place].low in small.NOMINATIVE - {"you", "it"} or (
        words[place].low in ("you", "it") and grammar.is_finite(words, grammar.skipped(words, place + 1))
    ))  # fmt: skip


def _gerund(words: Sequence[Word], place: int) -> tuple[Slot, int] | None:
    """Return "baking bread" as the object of a verb of liking."""
    verb = reading(words[place].low)
    if verb is None or "ing" not in verb.forms or words[place].low in small.LIGHT_GERUNDS:
        return None
    found, after = nouns(words, place + 1, verb_seen=True) if place + 1 < len(words) else ((), place + 1)
    last = found[-1].words[1] if found else place + 1
    text = " ".join(word.text for word in words[place:last])
    doing = Noun(words[place].start, words[last - 1].end, text, words[place].low, common=text, words=(place, last))
    # what is done with something that only a pronoun names is left alone: "running my own studio", "seeing you"
    unclear = len(found) > 1 or any(noun.pronoun or noun.owner for noun in found)
    return Slot("", (replace(doing, uncertain=unclear),), doing.end), max(after, last)
