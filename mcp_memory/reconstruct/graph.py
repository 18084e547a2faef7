"""Cue, tag and content: the associative memory graph of MRAgent (§3.1, eqs. 5 and 9), derived from the sentences.

M = (C, V, R) with R ⊆ C×G×V: a sentence v (the paper's episode) is found by its cues c, and a *tag* g of at most two
words, an attribute of their relation, says how the two belong together. Forward, a cue leads to its tags, φ(c), and a
cue and a tag to sentences, φ(c, g); in reverse, a sentence leads to its (c, g). Both directions read the same rows by
the same rule, so that they cannot disagree (DESIGN I36).

**Cues** (eq. 6, §D; DESIGN 6) are the speaker, the names and the other content words of a sentence, and phrases: two
words side by side in at least two sentences. Two cues are the same if they have the same *key*: without case, articles,
titles of persons and stop words, each word in its plain form, so that "the paintings" and "painting" are one.

**Tags.** Where a fact was read from the sentence, or a caller stated one for it, the relation is the tag of both ends:
(Ann, lives in, "I moved to Lisbon"). Elsewhere it is a word of the sentence: of the informative ones the most common in
this space, "trip" rather than "suitcase", since a tag has to be shared to be a bridge. The frequency of words changes,
so tags are computed when they are needed. The rest is built in the background when a server starts, else at the first
call of an operator, and saved with the view (``storage/saved_view.py``).

**Departures.** The paper has a language model name the tags, and 2 to 30 keywords of a sentence, verbatim and without
inference. Here both follow from the words alone; no cue is its own tag where there is another word, and numbers alone
are no cues, since times are found on the timeline. Pronouns stay as they are: sentences are verbatim, not rewritten.
A document has no speaker, so its title, which the pronouns of its sentences mean, takes the speaker's place; it is the
only cue beside the speaker that need not stand in the sentence (DESIGN I37). The semantic layer, cues and aspects of
persons, are the facts themselves (``operators.py``), so they are not stored a second time.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import log

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.facts import WHOLE
from mcp_memory.domain.relations import relations
from mcp_memory.domain.turns import Sentence, Turn
from mcp_memory.heap import text_cache
from mcp_memory.language.tokens import STOP_WORDS, mentions, names, stem, words
from mcp_memory.view.space import NONE, Space

MOST_CUES = 30
"""Cues of one sentence (the paper's prompt for keywords, 2 to 30)."""
SAME_CUE_OVERLAP = 0.6
"""The Jaccard index from which on two cues match (DESIGN 6, DESIGN W16)."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue as it stands in a sentence.

    Attributes:
        key: what it shares with other spellings of it (`key_of`).
        written: verbatim, except that words which are no names are in lower case.
        name: whether it is the speaker, or written like a name. Any word is capitalised at the beginning of a
            sentence, so a single word there is no name by itself.
        follows: whether it is a word directly after the cue before it, so that the two are a phrase.
    """

    key: str
    written: str
    name: bool = False
    follows: bool = False


@text_cache(16_384)
def key_of(written: str) -> str:
    """Return the key that all spellings of a cue or tag share, its words joined by spaces.

    A cue of stop words alone keeps them ("The Who"); one without letters and digits has the key "".
    """
    plain = words(entity_key(written))
    return " ".join(stem(word) for word in plain if word not in STOP_WORDS) or " ".join(plain)


def cues_of(turn: Turn, sentence: str) -> tuple[Cue, ...]:
    """Return the cues of a sentence of a turn in their order: speaker or title, names, words. Words may repeat."""
    return tuple(_read(sentence, mentions(turn, ""), names(sentence)))


def query_cues(text: str) -> tuple[Cue, ...]:
    """Return the cues of a question, which has no speaker."""
    return tuple(_read(text, (), names(text)))


def cue_similarity(wanted: str, known: str) -> float:
    """Return how well a known cue matches a wanted one, as keys: in [`SAME_CUE_OVERLAP`, 1], or 0 where it does not.

    They match where they are equal, where the known one contains all wanted words ("lee" and "ann lee"), or where their
    Jaccard index is at least `SAME_CUE_OVERLAP`.
    """
    if wanted == known:
        return 1.0
    wanted_words, own = set(wanted.split()), set(known.split())
    index = len(wanted_words & own) / len(wanted_words | own) if wanted_words else 0.0
    if index >= SAME_CUE_OVERLAP:
        return index
    return SAME_CUE_OVERLAP if wanted_words and wanted_words <= own else 0.0


def _read(text: str, subjects: tuple[str, ...], named: tuple[str, ...]) -> Iterator[Cue]:
    """Yield the cues of a sentence: first names, then content words outside these; at most `MOST_CUES`."""
    low = text.casefold()
    keys: set[str] = set()
    in_names: set[str] = set()
    opening = text.lstrip()
    for name in (*subjects, *(name for name in named if not (opening.startswith(name) and _plain(name)))):
        key = key_of(name)
        if key and key not in keys:
            keys.add(key)
            in_names.update(key.split())
            yield Cue(key, name, name=True)
            if len(keys) == MOST_CUES:
                return
    before = ""
    for word in words(text):
        content = word not in STOP_WORDS and not word.isdecimal()
        key = stem(word) if content else ""
        if not content or key in in_names:
            before = ""
            continue
        keys.add(key)
        written = word if word in low else _token(text, word)
        yield Cue(key, written, follows=bool(before) and (f"{before} {word}" in low or f"{before}-{word}" in low))
        before = word
        if len(keys) == MOST_CUES:
            return


def _plain(name: str) -> bool:
    """Return whether a word has no capital but its first letter, so that it may be any word that begins a sentence."""
    return " " not in name and name[1:].islower()


def _token(text: str, word: str) -> str:
    """Return the part of a text, verbatim, that a word was folded from: "ＴＥＡ" for "tea"."""
    return next((token for token in text.split() if word in words(token)), text)


INFORMATIVE = 50
"""A word in more than one sentence of so many is too common for a tag, but never one in `FEW` sentences or fewer."""
FEW = 5
MOST_MATCHES = 8
"""Cues that one name may match."""
TAG_WORDS = 2
"""The most words of a tag (DESIGN 6)."""


class CueGraph:
    """The cues of a space by number, the sentences of each, and the tags between them."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._keys: list[str] = []
        self._written: list[str] = []  # as first met
        self._rows: list[array[int]] = []  # of each cue, ascending
        self._containing: dict[str, list[int]] = {}  # cues of several words, by each of them
        self._once: dict[int, int] = {}  # phrases in one sentence so far: the row, by their two numbers
        self._as_name: array[int] = array("i")  # in how many sentences each cue is written like a name
        self._codes: array[int] = array("i")  # the cues of all sentences: twice the number, + 1 if it follows the last
        self._starts: array[int] = array("i", [0])
        self._tags: dict[int, tuple[int, ...]] = {}  # of sentences, the words that may be their tag, best first

    def __len__(self) -> int:
        return len(self._keys)

    @classmethod
    def of(cls, space: Space) -> CueGraph:
        """Return the graph of a space, with all of its sentences; its view must have been made with a `CueGraph`.

        Sentences that arrived since the last call are read now, so the first call may take seconds in a large space.
        """
        graph = space.index(cls)
        graph.catch_up(space)
        return graph

    def add_segments(self, space: Space, since: int) -> None:
        """Leave it: `of` adds what arrived when it is needed."""

    def catch_up(self, space: Space, most: int | None = None) -> bool:
        """Read the sentences that arrived since the last time, at most so many; return whether none is left."""
        begun = len(self._starts) - 1
        until = len(space.sentences) if most is None else min(begun + most, len(space.sentences))
        if begun < until:
            self._tags.clear()
        for row in range(begun, until):
            sentence = space.sentences[row]
            self._add(row, cues_of(space.turns[sentence.turn_id], space.text(sentence)))
            self._starts.append(len(self._codes))
        return until == len(space.sentences)

    # Cues

    def find(self, name: str, most: int = MOST_MATCHES) -> list[tuple[int, float]]:
        """Return the cues that a name matches, and how well (`cue_similarity`), best first, of ties the common."""
        wanted = key_of(name)
        number = self._numbers.get(wanted)
        parts = wanted.split()
        near = dict.fromkeys(other for part in parts for other in self._containing.get(part, ()))
        found = [(cue, match) for cue in near if cue != number and (match := cue_similarity(wanted, self._keys[cue]))]
        found.sort(key=lambda one: (-one[1], -len(self._rows[one[0]]), self._keys[one[0]]))
        return ([] if number is None else [(number, 1.0)]) + found[:most]

    def number(self, name: str) -> int | None:
        """Return the cue that a name is, in any spelling, or None."""
        return self._numbers.get(key_of(name))

    def key(self, cue: int) -> str:
        """Return the key of a cue by its number."""
        return self._keys[cue]

    def written(self, cue: int) -> str:
        """Return how a cue is written where it was first met."""
        return self._written[cue]

    def degree(self, cue: int) -> int:
        """Return how many sentences a cue is in."""
        return len(self._rows[cue])

    def rarity(self, cue: int) -> float:
        """Return the idf of a cue, above 0."""
        return log(1 + (len(self._starts) - 1) / max(1, len(self._rows[cue])))

    def rows(self, cue: int) -> list[int]:
        """Return the rows of the sentences of a cue, ascending."""
        return self._rows[cue].tolist()

    def cues(self, row: int) -> list[int]:
        """Return the cues of a sentence, each once: speaker, names, words, phrases."""
        return list(dict.fromkeys(self._with_phrases(row)))

    def names(self, row: int) -> set[int]:
        """Return the cues of a sentence that are names in most of their sentences; mostly its speaker among them."""
        return {code >> 1 for code in self._codes_of(row) if self._is_name(code >> 1)}

    # The three maps

    def tags(self, space: Space, cue: int) -> Counter[str]:
        """Return φ(c), the tags that a cue has and in how many sentences, the most common first."""
        found: Counter[str] = Counter()
        for row in self._rows[cue]:
            found.update(self._tags_between(space, cue, row))
        return Counter(dict(sorted(found.items(), key=lambda one: (-one[1], one[0]))))

    def contents(self, space: Space, cue: int, tag: str) -> list[int]:
        """Return φ(c, g), the rows of the sentences that a cue with a tag, as `tags` has it, leads to, ascending."""
        return [row for row in self._rows[cue] if tag in self._tags_between(space, cue, row)]

    def reverse(self, space: Space, row: int) -> list[tuple[int, str]]:
        """Return the cues of a sentence, each with its tags there (eq. 9)."""
        return [(cue, tag) for cue in self.cues(row) for tag in self._tags_between(space, cue, row)]

    def label(self, tag: str) -> str:
        """Return how a tag is written: as the relation that it is, or as its word was first met."""
        number = self._numbers.get(tag)
        return tag if number is None else self._written[number]

    # Building

    def _add(self, row: int, cues: Iterable[Cue]) -> None:
        before = NONE
        for cue in cues:
            number = self._number(cue.key, cue.written)
            self._add_row(number, row)
            follows = cue.follows and before != NONE
            if follows:
                self._add_phrase(before, number, row)
            self._codes.append(number << 1 | follows)
            if cue.name:
                self._as_name[number] += 1
            before = NONE if cue.name else number

    def _add_phrase(self, first: int, second: int, row: int) -> None:
        """Count a phrase; from its second sentence on it is a cue."""
        key = f"{self._keys[first]} {self._keys[second]}"
        pair = first << 32 | second
        if key in self._numbers:
            self._add_row(self._numbers[key], row)
        elif self._once.setdefault(pair, row) != row:
            self._add_row(self._number(key, f"{self._written[first]} {self._written[second]}"), row)

    def _add_row(self, cue: int, row: int) -> None:
        rows = self._rows[cue]
        if not rows or rows[-1] != row:
            rows.append(row)

    def _number(self, key: str, written: str) -> int:
        """Return the number of a cue, a new one for a cue that was not read before."""
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._keys)
            self._keys.append(key)
            self._written.append(written)
            self._rows.append(array("i"))
            self._as_name.append(0)
            parts = key.split()
            if len(parts) > 1:
                for part in dict.fromkeys(parts):
                    self._containing.setdefault(part, []).append(number)
            if len(parts) == 2 and parts[0] in self._numbers and parts[1] in self._numbers:
                first = self._once.pop(self._numbers[parts[0]] << 32 | self._numbers[parts[1]], None)
                if first is not None:
                    self._rows[number].append(first)
        return number

    def _codes_of(self, row: int) -> array[int]:
        if not 0 <= row < len(self._starts) - 1:
            return array("i")
        return self._codes[self._starts[row] : self._starts[row + 1]]

    def _with_phrases(self, row: int) -> Iterator[int]:
        codes = self._codes_of(row)
        yield from (code >> 1 for code in codes)
        for place, code in enumerate(codes):
            if code & 1:
                phrase = self._numbers.get(f"{self._keys[codes[place - 1] >> 1]} {self._keys[code >> 1]}")
                if phrase is not None:
                    yield phrase

    def _tags_between(self, space: Space, cue: int, row: int) -> tuple[str, ...]:
        """Return the tags of a cue in a sentence: the relations of facts that it is an end of there, else a word."""
        sentence, key = space.sentences[row], self._keys[cue]
        stated = tuple(dict.fromkeys(tag for end, tag in _cues_of_facts(space, sentence) if end == key))
        if stated:
            return stated
        if row not in self._tags:
            self._tags[row] = self._tag_words(row)
        parts = key.split()
        tag = next((self._keys[word] for word in self._tags[row] if self._keys[word] not in parts), key)
        return (" ".join(tag.split()[:TAG_WORDS]),)

    def _tag_words(self, row: int) -> tuple[int, ...]:
        """Return the words of a sentence, the best tag first: informative common ones, then rare ones, then names."""
        most = max(FEW, (len(self._starts) - 1) // INFORMATIVE)
        cues = dict.fromkeys(code >> 1 for code in self._codes_of(row))
        degrees = {cue: len(self._rows[cue]) for cue in cues if not self._is_name(cue)}
        order = sorted(degrees, key=lambda word: (degrees[word] > most, abs(degrees[word] - most)))
        return (*order[: TAG_WORDS + 1], *(cue for cue in cues if cue not in degrees))

    def _is_name(self, cue: int) -> bool:
        return 2 * self._as_name[cue] > len(self._rows[cue])


@text_cache(4096)
def relation_tag(relation: str) -> str:
    """Return the tag of a relation: the content words of its label, at most two."""
    label = relations().get(relation).label.split()
    if len(label) > TAG_WORDS:
        label = [word for word in label if not STOP_WORDS.issuperset(words(word))] or label
    return " ".join(label[:TAG_WORDS])


def _cues_of_facts(space: Space, sentence: Sentence) -> Iterator[tuple[str, str]]:
    """Yield the head and the tail of each fact that a sentence states, as keys of cues, each with its tag."""
    alone = len(space.sentences.of_turn(sentence.turn_id)) == 1
    for assertion in space.facts.assertions_in(sentence.turn_id):
        if assertion.sentence == sentence.index or (assertion.sentence == WHOLE and alone):
            tag = relation_tag(assertion.relation)
            yield key_of(assertion.head), tag
            yield key_of(assertion.tail), tag
