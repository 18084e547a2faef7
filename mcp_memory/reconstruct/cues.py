"""The cues of a sentence: words and short phrases of it by which it is found again (MRAgent eq. 6, §D; DESIGN 6).

The paper has a language model list 2 to 30 keywords of a sentence, verbatim and without inference, and always adds the
speaker. Here they are, by spelling alone: the speaker, the names (``language/mentions.py``), and the other words that
say something, in that order and at most 30. Which of them tell much is not decided here: how rare a cue is, is known
only when it is asked for (``graph.py``).

Two cues are the same if they have the same *key*: no case, articles, titles or English stop words, and each word in its
plain form, so that "the paintings" and "painting" are one.

**Departures.** A document has nobody who says it, so what it is about (its head) takes the speaker's place: it is what
the pronouns of its sentences mean. It is the only cue beside the speaker that need not stand in the sentence (DESIGN
I37). Numbers alone are no cues: times are found on the timeline.
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
        written: verbatim, but that words which are no names are in lower case.
        name: whether it is the speaker, or written like a name. What opens a sentence is capitalised whatever it is, so
            a single word there is none by itself.
        follows: whether it is a word right behind the cue before it, so that the two are a phrase.
    """

    key: str
    written: str
    name: bool = False
    follows: bool = False


@lru_cache(maxsize=16_384)
def key_of(written: str) -> str:
    """Return what all spellings of a cue or tag share, its words joined by spaces.

    What consists of stop words alone keeps them ("The Who"); what has neither letter nor digit has the key "".
    """
    plain = words(entity_key(written))
    return " ".join(stem(word) for word in plain if word not in STOP_WORDS) or " ".join(plain)


def cues_of(turn: Turn, sentence: str) -> tuple[Cue, ...]:
    """Return the cues of a sentence of a turn in their order: speaker or head, names, words. Words may come again."""
    return tuple(_read(sentence, mentions(turn, ""), names(sentence)))


def query_cues(text: str) -> tuple[Cue, ...]:
    """Return the cues of a question, which has no speaker."""
    return tuple(_read(text, (), names(text)))


def likeness(asked: str, known: str) -> float:
    """Return how well a cue matches the one that is asked for, both as keys: in [`JOINT`, 1], or 0 where it does not.

    It does where they are equal, where all words that are asked for are among its own ("lee" and "ann lee"), or where
    their Jaccard index is at least `JOINT`.
    """
    if asked == known:
        return 1.0
    wanted, own = set(asked.split()), set(known.split())
    index = len(wanted & own) / len(wanted | own) if wanted else 0.0
    if index >= JOINT:
        return index
    return JOINT if wanted and wanted <= own else 0.0


def _read(text: str, about: tuple[str, ...], named: tuple[str, ...]) -> Iterator[Cue]:
    low = text.casefold()
    seen: set[str] = set()
    inside: set[str] = set()  # words that stand in a name
    opening = text.lstrip()
    for name in (*about, *(name for name in named if not (opening.startswith(name) and _plain(name)))):
        key = key_of(name)
        if key and key not in seen:
            seen.add(key)
            inside.update(key.split())
            yield Cue(key, name, name=True)
            if len(seen) == MOST:
                return
    before = ""
    for word in words(text):
        said = word not in STOP_WORDS and not word.isdecimal()
        key = stem(word) if said else ""
        if not said or key in inside:
            before = ""
            continue
        if key not in seen:
            seen.add(key)
        written = word if word in low else _token(text, word)
        yield Cue(key, written, follows=bool(before) and (f"{before} {word}" in low or f"{before}-{word}" in low))
        before = word
        if len(seen) == MOST:
            return


def _plain(name: str) -> bool:
    """Return whether a word has no capital but its first letter, so that it may be any that opens a sentence."""
    return " " not in name and name[1:].islower()


def _token(text: str, word: str) -> str:
    """Return the part of a text, verbatim, that a word was folded from: "ＴＥＡ" for "tea"."""
    return next((token for token in text.split() if word in words(token)), text)
