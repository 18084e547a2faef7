"""Whether two words are forms of one: "quizzes" and "quiz", "decision" and "decided", "colour" and "color".

The stemmer by which texts are found (``tokens.py``) removes the endings of regular forms and leaves much: plurals that
change the word, nouns made of verbs, the spelling of another country. Where a reply *says* that a word stands nowhere,
that would be wrong of a word whose other form stands there. These rules are wider than the stemmer's, and nothing is
found or ranked by them. They are English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from mcp_memory.domain.relations import verbs
from mcp_memory.language.tokens import words

_KIN = """
child children|man men|woman women|person people|foot feet|tooth teeth|goose geese|mouse mice|louse lice|ox oxen
|die dice|penny pence|fly flight flights|give gift gifts|choose choice choices|die death deaths|bear birth births
|lose loss losses|sell sale sales|think thought thoughts|speak speech speeches|sing song songs|see sight sights
|live life lives|believe belief beliefs|prove proof proofs|high height|wide width|long length|deep depth|strong strength
|grow growth|weigh weight|advise advice|practise practice|young youth|warm warmth|well health|serve service services
|move removal|own owner owners|win winner winners|bake baker bakers|rent rental rentals|big bigger biggest
|sit seat seats|eat food|mum mom mother mothers|dad father fathers|grey gray|tyre tire tyres tires
|mobile cell|plough plow|kerb curb|cheque check cheques checks|programme program programmes programs
"""
_ENDINGS: dict[int, tuple[str, ...]] = {
    3: (
        "izations", "ization", "ications", "ication", "ations", "ation", "itions", "ition", "ments", "ment", "sions",
        "sion", "tions", "tion", "ings", "ing", "ists", "ist", "ness", "able", "ible", "ies", "ied", "ier", "iest",
        "ous", "ful", "ed", "es", "s",
    ),
    4: ("ances", "ance", "ences", "ence", "ity", "ety", "est", "is", "ly", "ty"),
    5: ("ages", "age", "ical", "als", "al", "ers", "er", "ors", "or", "ic"),
    6: ("y",),
}  # fmt: skip
"""Endings of inflected and of derived words by the least letters before them: "party" is no form of "part"."""
_SPELLINGS = (
    (re.compile(r"(?<=\w\w)our"), "or"),
    (re.compile(r"(?<=\w\w)is(?=e|ing|ation)"), "iz"),
    (re.compile(r"ys(?=e|i)"), "yz"),
)
"""British spellings, and the American ones."""
_SHORT_VOWEL = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")
"""A syllable whose last letter doubles before an ending ("quiz"), or which ended in "e" if it did not ("bak")."""


def bases(word: str) -> frozenset[str]:
    """Return what a word in lower case may be a form of, itself among it."""
    return frozenset(base for form in (word, *_kin().get(word, ())) for base in _bases(form))


def _bases(word: str) -> Iterator[str]:
    for pattern, spelling in _SPELLINGS:
        word = pattern.sub(spelling, word)
    yield word
    if word.endswith("ves"):
        yield from (f"{word[:-3]}f", f"{word[:-3]}fe")
    for least, ending in ((least, ending) for least, endings in _ENDINGS.items() for ending in endings):
        base = word.removesuffix(ending)
        if base == word or len(base) < least:
            continue
        if ending.startswith("sion"):
            yield from (f"{base}d", f"{base}de")
        if base[-1] == base[-2]:
            yield base[:-1]
        if base[-1] == "i":
            yield f"{base[:-1]}y"
        if ending != "es" and _SHORT_VOWEL.fullmatch(base) and not ending.startswith(("s", "ment")):
            yield f"{base}e"
        else:
            yield from (base, f"{base}e", f"{base}y")


@cache
def _kin() -> dict[str, frozenset[str]]:
    """Return the other forms of words whose forms have no base in common."""
    found: dict[str, set[str]] = {}
    for line in (*(entry.split() for entry in _KIN.split("|")), *verbs().irregular):
        for word in line:
            found.setdefault(word, set()).update(line)
    return {word: frozenset(others) for word, others in found.items()}


def without_other_forms(missing: Sequence[str], texts: Iterable[str]) -> list[str]:
    """Return the words of which no text has another form: not "quizzes" where one tells of a quiz."""
    if not missing:
        return []
    said: dict[str, set[str]] = {}
    for word in {word for text in texts for word in words(text)}:
        said.setdefault(word[0], set()).add(word)

    def stands(word: str) -> bool:
        found = bases(word)
        near = (other for letter in {form[0] for form in found} for other in said.get(letter, ()))
        return any(other[:2] in {form[:2] for form in found} and not found.isdisjoint(bases(other)) for other in near)

    return [word for word in missing if not (known := words(word)) or not all(map(stands, known))]
