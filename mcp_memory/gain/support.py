"""Find by rules which sentences support an answer, so that the memory learns from its own answers (GAM-RAG §3.3).

**Departures.** The paper asks a language model for the sentences that state the answer or are a necessary bridge to it.
Here a sentence supports the answer if it holds the answer word for word and is about something that the query names or
that lies on the path to the answer; or if it states a fact of that path (DESIGN 2.6). This rule sees only what recall
found and shares recall's errors, so its labels count with doubled noise. "Yes", "no" and a bare number occur in many
sentences by chance: no sentence supports them by its words, only by the path. An abstention teaches nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Source
from mcp_memory.domain.query import Query
from mcp_memory.language.tokens import STOP_WORDS, mentions, words

_BARE = frozenset(("yes", "no", "true", "false"))


def supporting_sentences(
    query: Query, answer: str, names: Sequence[str], witnesses: Mapping[str, Source], on_path: Collection[str]
) -> list[str]:
    """Return the ids of the sentences that support an answer, by words and paths.

    Args:
        query: understood.
        answer: its text.
        names: of the roots of navigation, and of the entities on the path to the answer.
        witnesses: the sentences that were activated or are cited, by id.
        on_path: ids of those that state a fact of a path that led to the answer.
    """
    answer_words = words(answer)
    is_specific = not all(word in STOP_WORDS or word in _BARE or word.isdecimal() for word in answer_words)
    keys = {key for name in (*names, *query.speakers, *query.names) if (key := entity_key(name))}
    return [
        sentence_id
        for sentence_id, witness in witnesses.items()
        if sentence_id in on_path
        or (is_specific and _contains_words(words(witness.quote), answer_words) and _is_about(witness, keys))
    ]


def _contains_words(text: Sequence[str], answer_words: Sequence[str]) -> bool:
    """Return whether a text holds the words one after the other."""
    return any(
        text[start : start + len(answer_words)] == answer_words for start in range(len(text) - len(answer_words) + 1)
    )


def _is_about(witness: Source, keys: set[str]) -> bool:
    """Return whether a sentence is about one of the entities; true of every sentence where none is known."""
    if not keys:
        return True
    if any(entity_key(name) in keys for name in mentions(witness.turn, witness.quote)):
        return True
    text = words(witness.quote)
    return any(_contains_words(text, key.split()) for key in keys)
