"""What a sentence names: the entities of GAM-RAG's index, by spelling alone.

The paper has spaCy's names (§3.1.1). Here they are the capitalised and quoted names of the sentence itself, and what
the whole text is about or comes from, since that is what its pronouns mean: the head of a document, the speaker of a
message.
"""

from __future__ import annotations

from functools import lru_cache

from mcp_memory.domain.turns import Turn
from mcp_memory.language.names import head, names


def mentions(turn: Turn, sentence: str) -> tuple[str, ...]:
    """Return the names of what a sentence of a turn is about, as written, each once."""
    return tuple(dict.fromkeys(name for name in (_about(turn), *names(sentence)) if name))


def _about(turn: Turn) -> str:
    if turn.kind == "document":
        return _head(turn.title, turn.text)
    return turn.speaker or turn.role or ""


@lru_cache(maxsize=1)  # the sentences of a document come one after another
def _head(title: str | None, text: str) -> str:
    return " ".join(head(title, text))
