"""Read corrections inside a message as two clauses: one that denies the old value, and one that states the new one.

Covered are "X, not Y", "not X but Y", "X instead of Y", "isn't X any more, it's Y now", and a slip that is mended at
once ("… is Hale. Sorry, I meant Lind"). What verbs say about a change ("switched from A to B", "replaced", "decided
against") is in the tables of the verbs. A correction that does not say of what ("No, the 17th") is not read: what it
corrects stands in another message, and a message is read alone (DESIGN 1).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from mcp_memory.language.iso import MONTHS
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.complements import Slot
from mcp_memory.rules.facts.coordination import opens_clause, read_phrases
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.verb_groups import low_at
from mcp_memory.rules.facts.verbs import inflection
from mcp_memory.rules.facts.words import Word

_LIKING = word_set("like love enjoy hate dislike adore prefer")
_POINTING = word_set("it that this they he she")
_OVER = frozenset(("any more",))
_NO_LONGER = frozenset(("any more", "anymore", "no longer"))
_CONTRASTS = (("instead", "of"), ("rather", "than"))
_SLIP = re.compile(
    r"\W*(?:(?:oh|ah|uh|um|no|nope|sorry|oops|whoops|wait|correction|edit|actually|argh|damn|hang\son|my\sbad|hm+)\W{1,4}){0,4}"
    r"(?:(?:i|what\si)\s(?:meant?|should\shave\s(?:said|written))(?:\sto\s(?:say|write))?:?|make\sthat|it\sshould\sbe)\s(?=\S)",
    re.IGNORECASE,
)
MOST = 12
"""Words of a mended value; a longer sentence says more than a value."""


@dataclass(slots=True)
class Carried:
    """What the sentences of a message hand on to the next, by the index of the sentence.

    Attributes:
        last: the last clause of a sentence.
        mending: the clause that a sentence mends, as mended.
    """

    last: dict[int, Clause] = field(default_factory=dict)
    mending: dict[int, Clause] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Value:
    """A phrase that replaces, or is replaced, with its preposition if it has one, and the index after it."""

    preposition: str
    nouns: tuple[NounPhrase, ...]
    after: int


def with_corrections(words: Sequence[Word], clauses: Sequence[Clause], before: Clause | None = None) -> list[Clause]:
    """Return the clauses of a sentence with those that its corrections state.

    Args:
        words: the words of the sentence.
        clauses: read of it, in order.
        before: the last clause of the sentence before it.
    """
    starts = [word.start for word in words]
    corrected: list[Clause] = []
    for index, clause in enumerate(clauses):
        previous = clauses[index - 1] if index else before
        clause = _with_denied_before(clause, previous)
        if index + 1 < len(clauses):
            clause = _with_mended_tense(clause, clauses[index + 1])
        clause, denial = _contrast(clause)
        following = bisect_left(starts, clause.end)
        if clause.confidence <= 0 or following >= len(words):
            corrected.append(clause)
        elif clause.verb.negated:
            corrected += [clause, *_but(words, clause, following)]
        else:
            corrected += [clause, *(_not(words, clause, following) or _meant(words, clause, following))]
        if denial is not None:
            corrected.append(denial)
        if len(corrected) > 1 and _is_slip(corrected[-1], corrected[-2]):
            corrected[-2] = _denied(corrected[-2])
    return corrected


def _with_denied_before(clause: Clause, previous: Clause | None) -> Clause:
    """Return "it's Y now" behind a denial as a statement of what was denied.

    "The door isn't green any more, it's orange" is about the door, and "I don't use Kate any more, it's Nano now" about
    what I use.
    """
    if previous is None or not previous.verb.negated or clause.verb.lemma != "be" or clause.verb.negated:
        return clause
    pointing = len(clause.subject) == 1 and clause.subject[0].pronoun in _POINTING
    if not pointing or not clause.slots or clause.slots[0].preposition or clause.confidence <= 0:
        return clause
    adverbs = clause.adverbs | {"now"}
    subject = previous.subject[0] if len(previous.subject) == 1 else None
    of_thing = previous.verb.lemma == "be" and previous.slots and not previous.slots[-1].preposition
    if of_thing and not previous.verb.passive and subject and not subject.pronoun:
        person = clause.subject[0].pronoun in ("he", "she") and subject.head in ("name", "number", "address")
        return clause if person else replace(clause, subject=previous.subject, adverbs=adverbs)
    it = clause.subject[0].pronoun in ("it", "that", "this")
    if not it or not previous.adverbs & _NO_LONGER or clause.slots[0].nouns[0].determiner:
        return clause
    stated = _with_value(previous, _Value("", clause.slots[0].nouns, 0))
    if stated is None:
        return clause
    verb = replace(previous.verb, negated=False, never=False, tense="present")
    return replace(stated, verb=verb, times=clause.times, adverbs=adverbs, start=clause.start, end=clause.end)


def _contrast(clause: Clause) -> tuple[Clause, Clause | None]:
    """Return a clause without its "instead of Y", and the clause that denies Y."""
    for place, slot in enumerate(clause.slots):
        for adverb, preposition in _CONTRASTS:
            if place and slot.preposition == preposition and adverb in clause.adverbs:
                rest = (*clause.slots[:place], *clause.slots[place + 1 :])
                kept = replace(clause, slots=rest)
                value = _Value("", slot.nouns, 0)
                denial = None if clause.verb.negated else _denial(replace(clause, slots=clause.slots[:place]), value)
                return kept, denial
    return clause, None


def _not(words: Sequence[Word], clause: Clause, index: int) -> list[Clause]:
    """Return the clause that ", not Y" or "and not Y" behind a clause denies."""
    if words[index].mark and words[index].text in (",", "—", "–", "-", "("):
        index += 1
    if low_at(words, index) == "and":
        index += 1
    if low_at(words, index) not in ("not", "n't"):
        return []
    value = _value(words, index + 1)
    denial = _denial(clause, value) if value else None
    return [denial] if denial else []


def _but(words: Sequence[Word], clause: Clause, index: int) -> list[Clause]:
    """Return the clause that "but Y" states behind a denial, "not X but Y"."""
    if words[index].text == ",":
        index += 1
    if low_at(words, index) != "but" or opens_clause(words, index + 1):
        return []
    value = _value(words, index + 1)
    stated = _with_value(clause, value) if value else None
    if stated is None:
        return []
    return [replace(stated, verb=replace(stated.verb, negated=False, never=False), adverbs=stated.adverbs - _OVER)]


def _meant(words: Sequence[Word], clause: Clause, index: int) -> list[Clause]:
    """Return the clause with the value that mends a slip in the same sentence: "is Hale, sorry, I mean Lind"."""
    index, sure = _behind_mending(words, index)
    value = _value(words, index) if index else None
    stated = _with_value(clause, value) if value else None
    if stated is None or value is None:
        return []
    mended_slot = clause.slots[len(stated.slots) - 1]
    if not (sure or value.preposition or _alike(stated.slots[-1].nouns[-1], mended_slot.nouns[-1])):
        return []
    # "I said that it was Hale, I meant …" is about now
    verb = replace(stated.verb, tense="present") if stated.verb.lemma == "be" else stated.verb
    return [replace(stated, verb=verb, adverbs=stated.adverbs | {"i mean"})]


_SURELY = (
    ("i", "mean"), ("i", "meant"), ("no", "wait"), ("wait", "no"), ("scratch", "that"), ("strike", "that"),
    ("make", "that"), ("or", "rather"), ("no", "sorry"), ("sorry", "no"),
)  # fmt: skip
"""Words that mend a slip whatever follows; after "sorry" alone a name may be that of whoever is spoken to."""


def _behind_mending(words: Sequence[Word], index: int) -> tuple[int, bool]:
    """Return the index behind ", no wait," and the like, 0 for none, and whether it surely mends."""
    if index >= len(words) or not words[index].mark:
        return 0, False
    first = index
    while index < min(len(words), first + _MOST_FILLERS) and (words[index].mark or words[index].low in _MENDS):
        index += 1
    said = [word.low for word in words[first:index] if not word.mark]
    sure = "correction" in said or any(pair in _SURELY for pair in pairwise(said))
    weakly = words[index - 1].mark and not {"sorry", "oops", "no", "wait"}.isdisjoint(said)
    return (index, sure) if sure or weakly else (0, False)


def _alike(value: NounPhrase, other: NounPhrase) -> bool:
    """Return whether two phrases have the same article, or are numbers."""
    numbers = value.text[:1].isdigit() and other.text[:1].isdigit()
    return value.determiner == other.determiner and bool(value.determiner or numbers)


def _with_mended_tense(clause: Clause, following: Clause) -> Clause:
    """Return "I work at Orla, well, worked" as told of the past."""
    verb, later = clause.verb, following.verb
    alone = not (following.slots or following.particles or following.times) and following.subject == clause.subject
    mends = alone and later.lemma == verb.lemma and later.tense == "past" and verb.tense == "present"
    return replace(clause, verb=replace(verb, tense="past")) if mends and clause.slots else clause


def mends_tense(words: Sequence[Word], clause: Clause) -> bool:
    """Return whether a sentence only says that the clause before it is over: "Had, I should say", "Or lived, …"."""
    start = next((n for n, word in enumerate(words) if not word.mark), 0)
    led = low_at(words, start) in ("or", "well")
    start += led
    start += led and start < len(words) and words[start].mark
    form = inflection(low_at(words, start))
    if form is None or form.lemma != clause.verb.lemma or "past" not in form.forms or clause.verb.tense != "present":
        return False
    rest = [word.low for word in words[start + 1 :] if not word.mark]
    return led or rest[-2:] == ["i", "mean"] or rest[-3:] == ["i", "should", "say"]


def _is_slip(last: Clause, before: Clause) -> bool:
    return "i mean" in last.adverbs and "i mean" not in before.adverbs and last.verb.lemma == before.verb.lemma


def _value(words: Sequence[Word], index: int) -> _Value | None:
    """Return the phrase at an index that ends there, before a mark, an adverb, a time or a conjunction."""
    preposition = ""
    if low_at(words, index) in closed.PREPOSITIONS and not words[index].capital:
        preposition = words[index].low
        index += 1
    if index >= len(words) or words[index].kind in ("time", "speech"):
        return None
    nouns, after = read_phrases(words, index, verb_seen=True)
    if not nouns:
        return None
    following = grammar.skip_adverbials(words, after)
    ends = following >= len(words) or words[following].mark or words[following].low in ("and", "but", "because", "who")
    return _Value(preposition, nouns, after) if ends else None


def _with_value(clause: Clause, value: _Value) -> Clause | None:
    """Return a clause with another value in the slot that it fits: that of its preposition, otherwise the last."""
    if not clause.slots or any(noun.pronoun for noun in value.nouns):
        return None
    place = len(clause.slots) - 1
    if value.preposition:
        fitting = [n for n, slot in enumerate(clause.slots) if slot.preposition == value.preposition]
        if not fitting:
            return None
        place = fitting[-1]
    slot = Slot(clause.slots[place].preposition, value.nouns, value.nouns[-1].end)
    return replace(clause, slots=(*clause.slots[:place], slot), end=max(clause.end, slot.end))


def _denial(clause: Clause, value: _Value) -> Clause | None:
    """Return the clause that denies a value of another clause, or its subject: "Dana runs the shop, not Dennis"."""
    if clause.verb.lemma in _LIKING or clause.verb.unreal or not clause.slots:
        return None
    denied: Clause | None
    last, other = clause.slots[-1].nouns[-1], value.nouns[-1]
    of_subject = bool(other.name) and not last.name and bool(clause.subject) and bool(clause.subject[-1].name)
    if of_subject and not value.preposition:
        denied = replace(clause, subject=value.nouns, end=max(clause.end, value.nouns[-1].end))
    else:
        denied = _with_value(clause, value)
    return _denied(denied) if denied is not None else None


def _denied(clause: Clause) -> Clause:
    return replace(
        clause, verb=replace(clause.verb, negated=True), adverbs=(clause.adverbs - {"i mean", "now"}) | _OVER
    )


def mends_slip(text: str, start: int, end: int) -> int:
    """Return where the value begins in a sentence that only mends the last one ("Sorry, I meant Lind"), 0 for none."""
    match = _SLIP.match(text, start, end)
    return match.end() if match and match.end() < end and text.count(" ", match.end(), end) < MOST else 0


def mended(words: Sequence[Word], clause: Clause, index: int = 0) -> tuple[Clause, Clause] | None:
    """Return a clause of the last sentence as denied, and as mended by the value that this sentence begins with.

    Args:
        words: the words of the sentence that mends it, from its value on.
        clause: the last of the sentence before.
        index: the index of the first word of the value.
    """
    value = _value(words, index)
    stated = _with_value(clause, value) if value and not clause.verb.negated and clause.confidence > 0 else None
    if stated is None or value is None:
        return None
    first, last = words[index], words[max(value.after - 1, index)]
    return _denied(clause), replace(stated, start=first.start, end=last.end)


_FILLERS = word_set("no wait sorry oops actually rather or i mean meant make that correction on in at by the")
_MENDING = word_set("no wait sorry oops rather mean meant correction")
_BEFORE_TIMES = word_set("on in at by the")
_MOST_FILLERS = 7
_MENDS = word_set("no wait sorry oops actually rather or i mean meant make scratch strike that correction")


def with_mended_times(words: Sequence[Word]) -> list[Word]:
    """Return the words of a sentence without the times that it takes back: "on the 28th, no wait, the 21st".

    Taken back are the first of two times with words of mending between them, and a time behind "not" beside another one
    ("on the 17th, not the 12th", "not tomorrow but Thursday").
    """
    if sum(word.kind == "time" or word.text in MONTHS for word in words) < 2:
        return list(words)
    kept: list[Word] = []
    index = 0
    while index < len(words):
        after = _behind_mended(words, index) or _behind_denied(words, index, kept)
        if after:
            index = after
        else:
            kept.append(words[index])
            index += 1
    return kept


def _behind_mended(words: Sequence[Word], index: int) -> int:
    """Return the index of the time that mends the one at ``index``, 0 for none."""
    if words[index].kind != "time":
        return 0
    mends, last = False, min(len(words), index + 2 + _MOST_FILLERS)
    for following in range(index + 1, last):
        word = words[following]
        if word.kind == "time" or (mends and word.text in MONTHS):
            return following if mends else 0
        if not (word.mark or word.low in _FILLERS) or word.text in (".", "!", "?", ";"):
            return 0
        mends = mends or word.low in _MENDING
    return 0


def _behind_denied(words: Sequence[Word], index: int, kept: Sequence[Word]) -> int:
    """Return the index behind ", not the 12th", or that of the time behind "not tomorrow but"; 0 for neither."""
    start = index + (words[index].mark and words[index].text in (",", "(", "—", "–", "-"))
    if low_at(words, start) != "not":
        return 0
    denied = _time_behind(words, start + 1)
    if not denied:
        return 0
    if low_at(words, denied + 1) == "but" and (stated := _time_behind(words, denied + 2)):
        return stated
    return denied + 1 if kept and kept[-1].kind == "time" else 0


def _time_behind(words: Sequence[Word], index: int) -> int:
    """Return the index of the time that begins at ``index``, behind its preposition and article; 0 for none."""
    while index < len(words) and words[index].low in _BEFORE_TIMES and words[index].kind == "word":
        index += 1
    return index if index < len(words) and words[index].kind == "time" else 0
