"""The embedded judge of support: which sentences speak for an answer, told by their words alone (GAM-RAG §3.3).

The paper asks a language model for the sentences that state the answer or are a necessary bridge to it. Here a sentence
supports the answer if the answer stands in it word for word and it is about something that the question names, or that
lies on the path to the answer; or if it states a fact of that path (DESIGN 2.6). Such a judge sees only what recall
found, so its errors are those of recall: its word counts with doubled noise.

**Departures.** "Yes", "no" and a bare number stand in many sentences by chance: they are no answer that a sentence
could hold, and only the path speaks for those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Engine
from mcp_memory.domain.query import Query
from mcp_memory.language.tokens import STOP_WORDS, words
from mcp_memory.ports import SupportCandidate


@dataclass(frozen=True, slots=True)
class EmbeddedJudge:
    """Judges by words and paths; fulfils `ports.SupportJudge`."""

    engine: Engine = "embedded"

    async def supporting(
        self, question: Query, answer: str, names: Sequence[str], witnesses: Sequence[SupportCandidate]
    ) -> list[str]:
        """See `ports.SupportJudge`. A few microseconds for each sentence, so it does not go to a thread."""
        span = words(answer)
        telling = not all(word in STOP_WORDS or word in _BARE or word.isdecimal() for word in span)
        wanted = {key for name in (*names, *question.speakers, *question.names) if (key := entity_key(name))}
        return [
            witness.sentence_id
            for witness in witnesses
            if witness.on_path or (telling and _holds(words(witness.text), span) and _about(witness, wanted))
        ]


_BARE = frozenset(("yes", "no", "true", "false"))


def _holds(text: Sequence[str], span: Sequence[str]) -> bool:
    """Return whether words stand in a text one after the other."""
    return any(text[start : start + len(span)] == span for start in range(len(text) - len(span) + 1))


def _about(witness: SupportCandidate, wanted: set[str]) -> bool:
    """Return whether a sentence is about one of the entities; where none is known, every sentence may be."""
    if not wanted:
        return True
    if any(entity_key(name) in wanted for name in witness.names):
        return True
    text = words(witness.text)
    return any(_holds(text, key.split()) for key in wanted)
