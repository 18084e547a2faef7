"""Which entities a question mentions, and how surely it names them.

Spelling tells a name from a common noun. In a question that is written with capitals a name is a *run* of capitalised
words ("Bank of England"), or what stands in quotation marks; what stands in brackets behind one only tells it from
others of that name, "Dream (Ann Lee song)". Entities are looked for by their words, the longest first, and no word is
used twice, so that "New York City" is not also "York". Each is mentioned in one of three ways:

- *named*: its name is a whole run, or all of one but what leads up to it, "President Marie Patel";
- *partly*: it is less than that. Who asks for Madeleine of Savoy does not ask for anybody else of Savoy whom a text
  happens to mention; but where nothing better is found, she may be known as Madeleine;
- *common*: it stands there in small letters, "the director", or as a number.

Where a question has no capitals at all, in scripts without them or in haste, what is written like a name in the texts
that the facts are from is named, and the rest is common.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from mcp_memory.domain.entities import TITLES, entity_key
from mcp_memory.language.tokens import MARKS, STOP_WORDS
from mcp_memory.language.tokens import words as pieces
from mcp_memory.view.facts import Facts

_WORD = re.compile(rf"[\w{MARKS}+#]+(?:['’][\w{MARKS}]+)*")
_POSSESSIVE = re.compile(r"['’](?:s$|(?!\w))")
_BRACKETS = re.compile(r"[(（\[][^()（）\[\]]{0,200}[)）\]]")
_JOINED = re.compile(r"[\s:.&-]*")  # what may stand between two words of one name
_SENTENCE_END = re.compile(r"[.!?。？！]\s*$")
_LONGEST = 8  # words of a name
_LONGEST_RUN = 10  # characters of a name in a script without spaces
_READ = 100  # words of a question in which names are looked for
_LETTERS = 4_000  # characters of one, likewise
_NAMED = frozenset(("person", "organisation", "place"))

_Way = Literal["named", "partly", "common"]


@dataclass(frozen=True, slots=True)
class Mentions:
    """What a question mentions; nothing twice.

    Attributes:
        named: keys of entities, the longest names first.
        unknown: names as written that no fact bears; they may be another spelling of one that is borne.
        partly: keys of entities that bear a part of one, or what stands in brackets behind it.
        common: keys of entities that stand there as common nouns, the longest first.
    """

    named: tuple[str, ...]
    unknown: tuple[str, ...]
    partly: tuple[str, ...]
    common: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int

    @property
    def capital(self) -> bool:
        return self.text[0].isupper()

    @property
    def small(self) -> bool:
        return self.text[0].islower()

    @property
    def says_little(self) -> bool:
        plain = self.text.casefold()
        return plain in STOP_WORDS or plain in TITLES


def mentions(facts: Facts, question: str, names: Sequence[str]) -> Mentions:
    """Return the entities that a question mentions, of all that some fact is about.

    Args:
        facts: of the space.
        question: its text.
        names: that `language.names.names` finds in it.
    """
    text = unicodedata.normalize("NFKC", question[:_LETTERS]).strip()
    names = [unicodedata.normalize("NFKC", name) for name in names[:_READ] if len(name) < _LETTERS]
    plain = _BRACKETS.sub(lambda found: (" " * len(found[0])) if found.start() else found[0], text)
    words = [_Word(found[0], found.start(), found.end()) for found in _WORD.finditer(plain)][:_READ]
    runs = _runs(plain, words, names)
    ways: dict[_Way, dict[str, None]] = {"named": {}, "partly": {}, "common": {}}
    borne: set[range] = set()
    for span, key in _borne(facts, words):
        way, run = _way(facts, key, words, span, runs)
        if way != "partly" or _own(facts, key, " ".join(words[place].text for place in span)):
            ways[way][key] = None
        if way == "named" and run:
            borne.add(run)
    for word in words:
        if not word.text.isascii() and len(pieces(word.text)) > 1 and not facts.resolve(word.text):
            ways["named"].update(dict.fromkeys(_without_spaces(facts, word.text.casefold()[:_READ])))
    for name in names:
        inner = None if name in plain else facts.resolve(name)  # it stands in brackets
        if inner is not None and facts.degree(inner) and _own(facts, inner, name):
            ways["partly"][inner] = None
    unknown = [plain[words[run.start].start : words[run.stop - 1].end] for run in runs if run not in borne]
    named, partly, common = (tuple(ways[way]) for way in ("named", "partly", "common"))
    return Mentions(named, tuple(dict.fromkeys(unknown)), partly, common)


def _borne(facts: Facts, words: Sequence[_Word]) -> Iterator[tuple[range, str]]:
    """Yield the spans of words that are the name of an entity, and its key; longest first, none that share a word."""
    plain = [word.text.casefold().replace("’", "'") for word in words]  # as `entity_key` has them
    last = [word.removesuffix("'s") or word for word in plain]
    little = [word.says_little for word in words]
    used = [  # or in no name at all
        not facts.is_name_word(inner) and not facts.is_name_word(ending)
        for inner, ending in zip(plain, last, strict=True)
    ]
    for length in range(min(_LONGEST, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            stop = start + length
            if True in used[start:stop] or all(little[start:stop]):
                continue
            key = facts.known_entity(" ".join((*plain[start : stop - 1], last[stop - 1])))
            if key is not None and facts.degree(key):
                used[start:stop] = [True] * length
                yield range(start, stop), key


def _runs(text: str, words: Sequence[_Word], names: Sequence[str]) -> list[range]:
    """Return the runs of words that are names by their spelling."""
    inside = [False] * len(words)
    starts = {word.start: place for place, word in enumerate(words)}
    for name in names:  # capitals with what joins them, "of", "de la"; and what is quoted
        found = text.find(name)
        while found >= 0:
            place, found_end = starts.get(found, len(words)), found + len(name)
            while place < len(words) and words[place].start < found_end:
                inside[place] = True
                place += 1
            found = text.find(name, found_end)
    runs: list[range] = []
    for place, word in enumerate(words):
        opens = not place or _SENTENCE_END.search(text, words[place - 1].end, word.start)
        if not inside[place] and (not word.capital or word.text == "I" or (opens and word.says_little)):
            continue
        before = words[place - 1] if runs and runs[-1].stop == place else None
        if before and _JOINED.fullmatch(text, before.end, word.start) and not _POSSESSIVE.search(before.text):
            runs[-1] = range(runs[-1].start, place + 1)
        else:
            runs.append(range(place, place + 1))
    return runs


def _way(
    facts: Facts, key: str, words: Sequence[_Word], span: range, runs: Sequence[range]
) -> tuple[_Way, range | None]:
    """Return how a span mentions an entity, and the run that it stands in, if it is of one."""
    if all(words[place].text.isdecimal() for place in span):
        return "common", None
    said = [words[place] for place in span if not words[place].says_little]
    if not runs and not any(word.capital for word in words[1:]):
        return ("named" if is_name(facts, key) else "common"), None
    run = next((run for run in runs if run.start < span.stop and span.start < run.stop), None)
    if run is None:
        return ("common" if any(word.small for word in said) else "named"), None
    whole = sum(not words[place].says_little for place in run)
    rest = [place for place in run if place not in span and not words[place].says_little]
    if not rest:
        return "named", run
    # The end of a run is a name of its own, led up to by what a sentence opens with or by what somebody is.
    ends = span.stop >= run.stop and (len(said) > 1 or (run.start == 0 and whole == 2))
    return ("named" if ends else "partly"), run


def is_name(facts: Facts, key: str) -> bool:
    """Return whether an entity is one of a kind: by its relations, or since it does not begin or end in small letters.

    "King of Zhou" is, "Korean drama" is not; in scripts without capitals everything is.
    """
    if facts.kind(key) in _NAMED:
        return True
    written = [part for part in facts.name(key).split() if part.casefold() not in STOP_WORDS]
    return bool(written) and not (written[0][0].islower() or written[-1][0].islower())


def _own(facts: Facts, key: str, name: str) -> bool:
    """Return whether an entity that is named at all bears all of a name, not one that stands for it."""
    return key == entity_key(name) and is_name(facts, key)


def _without_spaces(facts: Facts, run: str) -> Iterator[str]:
    """Yield the entities that a run of a script without spaces names, from its start, the longest first."""
    start = 0
    while start < len(run) - 1:
        ends = range(min(len(run), start + _LONGEST_RUN), start + 1, -1)
        names = ((end, facts.resolve(run[start:end])) for end in ends)
        end, key = next(((end, key) for end, key in names if key and facts.degree(key)), (start + 1, None))
        if key:
            yield key
        start = end
