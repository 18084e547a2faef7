"""Whom "she" means in a message, by the messages before.

**Whom "she" means** at the start of a message: the one person of that sex whom the messages before it tell of, only
where that is certain: no person stands before the pronoun in its own message, and the last two messages tell of nobody
else to whom it could refer. Then "How is your sister?" and "She moved to Lyon" tell where the sister lives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mcp_memory.domain.turns import Turn, is_assistant, speaker
from mcp_memory.language.segments import split
from mcp_memory.language.stated import stated_times
from mcp_memory.language.vocabulary import RELATIVES
from mcp_memory.rules.facts.clause_reader import read_clauses
from mcp_memory.rules.facts.discourse import Discourse, open_discourse
from mcp_memory.rules.facts.noun_phrases import NounPhrase, read_phrase
from mcp_memory.rules.facts.tables import closed, nouns
from mcp_memory.rules.facts.words import Word, split_words

READ_BEFORE = 500
"""Characters at the end of each message before that are read for the people in it."""
_PRONOUN = re.compile(r"\b(?:he|she|his|her|him)\b", re.IGNORECASE)
_FIRST = 200
"""Characters within which a message has its first "she", if it means somebody of the messages before."""
_PEOPLE = RELATIVES.keys() | nouns.PERSONISH
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")


def recall_people(discourse: Discourse, turn: Turn, before: Sequence[Turn]) -> None:
    """Let "he" and "she" of a message mean the people of the messages before it, where that is certain.

    Args:
        discourse: the discourse of the message, at its start; people are added to it.
        turn: the message.
        before: the last messages before it, in order.
    """
    first = _PRONOUN.search(turn.text[:_FIRST]) if before else None
    if first is None or _names_people(turn.text[: first.start()]):
        return
    known = {name.casefold() for name in (discourse.speaker, discourse.partner) if name}
    found: dict[str, set[str]] = {"he": set(), "she": set()}
    for message in before:
        for pronoun, name in _people(message, turn, discourse):
            if name.casefold() not in known and not any(name.casefold() in one.split() for one in known):
                found[pronoun].add(name)
    for pronoun, names in found.items():
        if len(names) == 1:
            discourse.recall(pronoun, *names)


_QUESTION = re.compile(r"\?\W*\Z|^\W*(?:and\s|so\s)?(?:what|where|when|why|how|who)\b", re.I)
_OF_ANOTHER = re.compile(r"\b(?:he|she|it|they|him|her|them)\b", re.I)


def asked_of_another(turn: Turn, before: Sequence[Turn]) -> bool:
    """Return whether the message before asks about somebody else, "what's she in for": "flew into a pane" is of her."""
    if not before or (before[-1].speaker or before[-1].role) == (turn.speaker or turn.role):
        return False
    text = before[-1].text[-READ_BEFORE:]
    start, end = split(text)[-1] if text.strip() else (0, 0)
    asked = text[start:end]
    return bool(_QUESTION.search(asked) and _OF_ANOTHER.search(asked)) and "you" not in asked.lower()


def _names_people(text: str) -> bool:
    return bool(_NAME.search(text)) or not _PEOPLE.isdisjoint(re.findall(r"[a-z]+", text.lower()))


def _people(message: Turn, turn: Turn, discourse: Discourse) -> Iterator[tuple[str, str]]:
    """Yield the people of a message before, each with the pronoun that may mean them."""
    same = (message.speaker or message.role) == (turn.speaker or turn.role)
    told = open_discourse(message, discourse.partner if same else discourse.speaker)
    if told.speaker is None:
        told.speaker = "assistant" if is_assistant(message.role) else speaker(message)
    text = message.text[-READ_BEFORE:]
    for start, end in split(text):
        words = split_words(text, start, end, stated_times(text, message.local_said_at, start, end))
        for noun in (*_relatives(words), *(one for clause in read_clauses(words, talk=True) for one in clause.subject)):
            told.mention(noun)
            if (name := told.entity(noun)) and noun.pronoun not in closed.FIRST | closed.SECOND:
                yield from ((pronoun, name) for pronoun in ("he", "she") if told.means(pronoun) == name)


def _relatives(words: Sequence[Word]) -> Iterator[NounPhrase]:
    """Yield the relatives whom a sentence names by their owner: "your sister", "my brother Tom"."""
    for index, word in enumerate(words[:-1]):
        kin = next((at for at in (index + 1, index + 2) if at < len(words) and words[at].low in RELATIVES), 0)
        if word.low in closed.OWNERS and kin:
            stop = kin + 1
            while stop < len(words) and words[stop].capital and words[stop].kind == "word":
                stop += 1
            found = read_phrase(words[:stop], index, verb_seen=True)
            if found and found[0].head in RELATIVES and not found[0].plural:
                yield found[0]
