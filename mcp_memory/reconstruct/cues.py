"""The cues of a sentence: its words and short phrases by which it is found again (MRAgent eq. 6, §D; DESIGN 6).

The paper has a language model list 2 to 30 keywords of a sentence, verbatim and without inference, and always adds the
speaker. Here the cues follow from spelling alone: the speaker, the names (``language/names.py``), and the other content
words, in that order and at most 30. How rare a cue is, is computed only when it is needed (``graph.py``).

Two cues are the same if they have the same *key*: without case, articles, titles of persons and English stop words, and
with each word in its plain form, so that "the paintings" and "painting" are one.

**Departures.** A document has no speaker, so its title takes the speaker's place: the pronouns of its sentences mean
it. It is the only cue beside the speaker that need not stand in the sentence (DESIGN I37). Numbers alone are no cues:
times are found on the timeline.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.turns import Turn
from mcp_memory.language.names import mentions, names
from mcp_memory.language.tokens import STOP_WORDS, stem, words

MOST = 30
"""Cues of one sentence (the paper's prompt for keywords, 2 to 30)."""
JOINT = 0.6
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


@lru_cache(maxsize=16_384)
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


def similarity(wanted: str, known: str) -> float:
    """Return how well a known cue matches a wanted one, both as keys: in [`JOINT`, 1], or 0 where it does not.

    They match where they are equal, where the known one contains all wanted words ("lee" and "ann lee"), or where their
    Jaccard index is at least `JOINT`.
    """
    if wanted == known:
        return 1.0
    wanted_words, own = set(wanted.split()), set(known.split())
    index = len(wanted_words & own) / len(wanted_words | own) if wanted_words else 0.0
    if index >= JOINT:
        return index
    return JOINT if wanted_words and wanted_words <= own else 0.0


def _read(text: str, subjects: tuple[str, ...], named: tuple[str, ...]) -> Iterator[Cue]:
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
            if len(keys) == MOST:
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
        if len(keys) == MOST:
            return


def _plain(name: str) -> bool:
    """Return whether a word has no capital but its first letter, so that it may be any word that begins a sentence."""
    return " " not in name and name[1:].islower()


def _token(text: str, word: str) -> str:
    """Return the part of a text, verbatim, that a word was folded from: "ＴＥＡ" for "tea"."""
    return next((token for token in text.split() if word in words(token)), text)
