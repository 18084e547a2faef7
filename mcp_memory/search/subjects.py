"""Whether what was found tells of the one asked about, where that is nobody who speaks: "John", "my brother", "I".

A question that gives one person what memory says of another finds it all the same: "Where did John move?" finds "James
moved to Lima." `told_of` (``sufficiency.py``) compares speakers; here the subject of the question is a name, a relative
or somebody else who is described ("my brother", "the caretaker"), or the user beside those. Each sentence of the best
messages is told of its own subject: whom it begins with, "My sister is a vet". If it mentions the one asked about it is
of that one, and if it begins with a pronoun and a sentence shortly before mentions that one, too.

Its support is the cosine with the question in which "somebody" stands for the subject, plus .3 of the share of the
question's other content that it contains. Where the best sentence of another has more support than any that may be of
the one asked about, the evidence may be told of another, which is a reason for doubt. It is said only where nothing
that was found mentions the one asked about: of 700 questions by authors who had not seen this, 50 were doubted, and 34
of these could be answered.

Names of persons and things are treated alike. A thing that two words describe ("the mobile app") is mentioned by both
words; a sentence of a message that does not mention it is told of something else, unless it begins with a pronoun and a
sentence shortly before mentions the thing, or has hardly a word. The rules are English.

**Measured.** 40 invented questions that give somebody what memory says of another, each in a space of some 18
messages: 18 were called sufficient without this, 1 with it, and 31 of the 40 right questions with and without it; these
cases were looked at while building. Of 42 harder ones, half of them about things, 13 were, 4 after they were looked at
(of 35 right ones 30 and 29); of 20 written after it 7 were, and 3 with it (of 12 right ones 10 and 10). On long
dialogues 1 of 196 complete recalls is no longer called sufficient by the rule for things, 2 by the others, with an
assistant none of 21.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import COMMON, FURTHER, irregular_verbs
from mcp_memory.domain.turns import USER, USERS, by_assistant
from mcp_memory.language.expressions import MONTH_WORDS
from mcp_memory.language.tokens import names, stems, words
from mcp_memory.language.vocabulary import EVERYDAY_KINSHIP
from mcp_memory.search.told_of import Another, is_small_talk, words_of_names

if TYPE_CHECKING:
    from mcp_memory.search.candidates import Candidate
    from mcp_memory.view.space import Space

CONTAINED = 0.3
"""Weight of the share of the question's content in the support of a sentence, beside the cosine."""
UNKNOWN = 0.9
"""Certainty that a sentence whose subject is not known may be of the one asked about."""
LEAST = 0.3
"""Support from which a sentence of another says what was asked; below it nothing does."""
ELLIPTIC = 4
"""Words up to which a sentence may be told of anything: "By June."."""
BEFORE = 3
"""Sentences before one that begins with a pronoun in which whom it means is looked for."""
_PERSON = (
    "(?:mother|father|sister|brother|son|daughter)-in-law|mother|mum|mom|father|dad|parents|sister|brother|son"
    "|daughter|child|kids|wife|husband|partner|girlfriend|boyfriend"
    "|grandmother|grandma|grandfather|grandpa|grandson|granddaughter|aunt|uncle|cousin|niece|nephew|stepmother"
    "|stepfather|stepson|stepdaughter|fiancée|fiancé|fiance"
    "|boss|manager|colleague|coworker|teammate|neighbour|neighbor|landlord|landlady|tenant|flatmate|roommate|friend"
    "|caretaker|teacher|tutor|coach|doctor|dentist|nurse|therapist|lawyer|accountant|plumber|electrician|mechanic"
    "|hairdresser|client|customer|supplier|dog|cat|horse|parrot|rabbit"
)
_DESCRIBED = rf"(?:my|our|the)\s+(?:(?!\b(?:{_PERSON})\b)\w+\s+)?(?P<who>{_PERSON})"
_ASKED = re.compile(rf"\b{_DESCRIBED}\b(?!['’]s\s+(?:{_PERSON})\b)", re.IGNORECASE)
_AUXILIARY = r"(?:did|does|do|is|was|were|are|has|had|have|will|would|can|could|should|must|might)"
_AUXILIARY_BEFORE = re.compile(rf"\b{_AUXILIARY}\s+(?:the\s+)?$")
_THE_BEFORE = re.compile(r"(?<!\w)the\s+$")
_LETTER = re.compile(r"\w")
_POSSESSIVE = re.compile(r"['’]s(?!\w)")
_ASKED_I = re.compile(rf"\b{_AUXILIARY}\s+I\b")
_FILLER = (
    r"^\W*(?:(?:and|but|so|well|oh|yes|no|also|then|today|yesterday|now|btw|always|never|please|usually|often|sometimes)\b"
    r"[,:]?\s+)*"
)
_BEGINS = re.compile(rf"{_FILLER}{_DESCRIBED}\b", re.IGNORECASE)
_BEGINS_I = re.compile(rf"{_FILLER}(?:I|we|my|our)\b", re.IGNORECASE)
_BEGINS_PRONOUN = re.compile(rf"{_FILLER}(?:he|she|they|it|his|her|their|its|this|that)\b", re.IGNORECASE)
_START = re.compile(_FILLER, re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:the|my|our)\s+", re.IGNORECASE)
_NO_VERB = re.compile(r"\s*[,.:;!?–—]|\s+(?:to|about|with|for|that|of|in|at|on|by)\b", re.IGNORECASE)
"""Follows a name that is no subject: that of a listener ("Ann, come"), or a word that only opens ("Decision: …")."""
_COMMON = re.compile(r"New|Old|First|Second|Next|Last|Final|Big|Small|Good|Bad|Right|Same|Current|[A-Z][a-z]{3,}ed")
"""Common words that open a sentence, unless a fact is about somebody of that name."""
_PLAIN_VERBS = frozenset((*COMMON.split(), *FURTHER.split(), *(plain for plain, *_ in irregular_verbs())))
_IN_LAW = re.compile(r"\b(\w+)-in-law\b", re.IGNORECASE)
_MINE = re.compile(rf"\b(?:I|me|myself|mine|we|us)\b|\b(?:my|our)\b(?!\s+(?:\w+\s+)?(?:{_PERSON})\b)", re.IGNORECASE)
_PAIR = r"(?P<pair>[^\W\d_A-Z][\w-]+\s+(?!(?:of|for|in|on|at|to|with)\b)[^\W\d_][\w-]+)\b"
_THINGS = (
    re.compile(rf"\b{_AUXILIARY}\s+(?:the|our|my|your)\s+{_PAIR}"),
    re.compile(rf"\b(?:of|for|on|in|at|about|with|up)\s+(?:(?:the|our|my|your)\s+)?{_PAIR}(?!.*\b(?:of|for|with)\b)"),
    re.compile(rf"^\W*(?:who|what|which)\s+\w+\s+(?:the|our|my|your)\s+{_PAIR}", re.IGNORECASE),
)
"""A thing that two words describe, "the mobile app": the subject of the question, or else its last part or object."""
_I = "the user"
ELSE = "something else"
"""Of what the evidence is told where a thing is asked about."""


CONTENT = 0.6
"""Share of the question's content that a sentence contains of which it is said that another than the user is meant."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom or what a question asks about.

    Attributes:
        shown: in words.
        words: by one of which a text mentions it, of a thing by all of them; empty for the user.
        masked: the question with "somebody" in its place, or "it".
        thing: whether it is a thing that two words describe.
    """

    shown: str
    words: frozenset[str]
    masked: str
    thing: bool = False


def subject_of(query: Query, speakers: Iterable[str]) -> Subject | None:
    """Return whom a question asks about, if that is no speaker whom it names; None if there is none, or several."""
    text = query.text
    described = list(_ASKED.finditer(text))
    if described:
        if len({found["who"].lower() for found in described}) > 1:
            return None
        word = described[0]["who"].lower()
        return Subject(described[0][0], frozenset((word.replace("-in-law", "inlaw"),)), _ASKED.sub("somebody", text))
    spoken = words_of_names((*speakers, *query.speakers))
    named = []
    for name in query.names:
        subject = _as_subject(name, text)
        if subject is not None and any(word in spoken for word in words(text[:subject])):
            continue  # a speaker is its subject: "Would Ann have Nowak prints?"
        called = any(word.startswith(part) for word in spoken for part in words(name))  # "Mel" of Melanie
        if subject is not None and not called and MONTH_WORDS.isdisjoint(words(name)):
            named.append(name)
    if len(named) == 1:
        return Subject(named[0], frozenset(words(named[0])[-1:]), text.replace(named[0], "somebody"))
    if not named and _ASKED_I.search(text):
        return Subject(_I, frozenset(), text)
    for pattern in _THINGS if not named and not query.speakers else ():
        if (found := pattern.search(text)) is not None and len(both := stems(found["pair"])) == 2:
            if found["pair"].split()[0].lower() == USER:
                return Subject(_I, frozenset(), text)  # "What does the user want?"
            return Subject(found["pair"], frozenset(both), text.replace(found["pair"], "it", 1), thing=True)
    return None


def _as_subject(name: str, text: str) -> int | None:
    """Return where the words begin that make a name the subject, "did Nowak" or "Nowak's"; None if it is none.

    They are looked for around the name: compiling a pattern for each name would take longer than all the rest.
    """
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        auxiliary = _AUXILIARY_BEFORE.search(text, 0, at)
        if auxiliary and not _LETTER.match(text, end):
            return auxiliary.start()
        if _POSSESSIVE.match(text, end) and not (at and _LETTER.match(text, at - 1)):
            article = _THE_BEFORE.search(text, 0, at)
            return article.start() if article else at
        at = text.find(name, at + 1)
    return None


def told_of_another(
    space: Space, query: Query, candidates: Sequence[Candidate], weights: Mapping[str, float]
) -> Another | None:
    """Return of whom the best evidence is told in place of whom the query asks about.

    Args:
        space: of the candidates, which holds vectors; else None is returned.
        query: understood and embedded.
        candidates: those that count, best first.
        weights: the weights of the stems of the query's content.

    Returns:
        None if the evidence may tell of the one asked about.
    """
    subject = subject_of(query, space.speakers)
    if subject is None or query.vectors is None or space.sentence_vectors is None:
        return None
    asked = query.vectors[0] if query.subject_vector is None else query.subject_vector
    rows = [
        row
        for candidate in candidates
        if space.talk[candidate.row]
        for row in space.sentences_within(space.segments[candidate.row])
    ]
    if not rows:
        return None
    aliases = _aliases(space, subject)
    aside = {stem for word in aliases for stem in stems(word)}
    cosines = (space.sentence_vectors.take(np.array(rows, dtype=np.intp)) @ asked).tolist()
    if subject.thing and not any(subject.words <= set(stems(space.text(space.sentences[row]))) for row in rows):
        return None  # nothing tells of it, or the two words describe nothing
    spoken = {word for speaker in space.speakers for word in words(speaker)}
    own, other, whom, place, content, mentioned = 0.0, LEAST, "", -1, 0.0, False
    whole = sum(weight for stem, weight in weights.items() if stem not in aside) or 1.0
    for row, cosine in zip(rows, cosines, strict=True):
        text = space.text(space.sentences[row])
        contained = set(stems(text))
        share = sum(w for stem, w in weights.items() if stem in contained and stem not in aside)
        support = cosine + CONTAINED * share
        mentioned = mentioned or not aliases.isdisjoint(words(text))
        advice = not subject.words and by_assistant(space.turns[space.sentences[row].turn_id])
        none = advice or is_small_talk(text, spoken)  # of nobody: what an assistant says of things, "Wow, Ann!"
        if subject.thing:
            teller = _of_thing(space, row, text, subject)
        else:
            teller = "" if none else _teller(space, row, text, subject, aliases, query.text)
        if teller is None or not teller:
            own = max(own, support * (1.0 if teller is None else UNKNOWN))
        elif support > other:
            other, whom, place, content = support, teller, row, share / whole
    if place < 0 or other <= own:
        return None
    certain = not subject.thing and (not mentioned if subject.words else content >= CONTENT)
    return Another(whom, subject.shown, place, certain)


def _of_thing(space: Space, row: int, text: str, subject: Subject) -> str | None:
    """Return `ELSE` if a sentence is told of another thing; None if it or what it goes on from mentions the subject."""
    piece = space.sentences[row]
    turn = space.turns[piece.turn_id]
    if subject.words <= set(stems(turn.text)) or len(words(text)) <= ELLIPTIC:
        return None
    first = max(0, row - BEFORE) if _BEGINS_PRONOUN.search(text) else row
    before = (space.sentences[one] for one in range(first, row))
    same = (one for one in before if space.turns[one.turn_id].session == turn.session)
    return None if any(subject.words <= set(stems(space.text(one))) for one in same) else ELSE


def _aliases(space: Space, subject: Subject) -> frozenset[str]:
    """Return the words by which a text mentions a subject: its own, and those of its other names."""
    described = (f"{USER}'s {word}" for word in subject.words)
    keys = [space.facts.resolve(name) for name in (subject.shown, *described)] if subject.words else []
    others = [name for key in keys if key for name in space.facts.names(key)]
    kin = (alike for alike in EVERYDAY_KINSHIP.values() if not subject.words.isdisjoint(alike))
    return subject.words.union(*kin, (words(name)[-1] for name in others if words(name)))


def _teller(space: Space, row: int, text: str, subject: Subject, aliases: frozenset[str], question: str) -> str | None:
    """Return of whom a sentence is told: None of the subject, empty if it is not known, else of another in words."""
    said = set(words(_IN_LAW.sub(r"\1inlaw", text)))
    if aliases and not aliases.isdisjoint(said):
        return None
    if (not subject.words or USER in aliases) and _MINE.search(text):
        return None  # the user, or who is the user by another name
    if _BEGINS_PRONOUN.search(text):
        return None if _mentioned_before(space, row, aliases) else _named_before(space, row)
    if (begins := _BEGINS.search(text)) is not None:
        return _START.sub("", begins[0]).strip().lower()
    rest = _ARTICLE.sub("", _START.sub("", text))
    asked = set(words(question))
    for name in names(rest):
        opening = name.split()[0]
        common = _COMMON.fullmatch(opening) or opening.lower() in (_PLAIN_VERBS if opening == name else ())
        if common and space.facts.resolve(name) is None:
            continue  # "Keep a diary", "Tried the Node upgrade"
        if rest.startswith(name) and words(name)[-1] not in asked | MONTH_WORDS and not _NO_VERB.match(rest, len(name)):
            return name
    if subject.words and _BEGINS_I.search(text):
        speaker = space.turns[space.sentences[row].turn_id].speaker
        return speaker if speaker and speaker.casefold() not in USERS else _I
    return ""


def _mentioned_before(space: Space, row: int, aliases: frozenset[str]) -> bool:
    """Return whether a sentence shortly before one mentions the subject."""
    for before in range(max(0, row - BEFORE), row):
        piece = space.sentences[before]
        same = space.turns[piece.turn_id].session == space.turns[space.sentences[row].turn_id].session
        if same and (not aliases or not aliases.isdisjoint(words(space.text(piece)))):
            return True
    return False


def _named_before(space: Space, row: int) -> str:
    """Return the last name, of nobody who speaks, in the sentences shortly before one; empty if there is none."""
    session = space.turns[space.sentences[row].turn_id].session
    spoken = {word for speaker in space.speakers for word in words(speaker)}
    for before in range(row - 1, max(0, row - BEFORE) - 1, -1):
        piece = space.sentences[before]
        if space.turns[piece.turn_id].session == session:
            text = space.text(piece)
            for name in reversed(names(text)):
                if not text.startswith(name) and spoken.isdisjoint(words(name)) and MONTH_WORDS.isdisjoint(words(name)):
                    return name
    return ""
