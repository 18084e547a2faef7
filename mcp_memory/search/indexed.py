"""What of a segment is embedded, and what of it is indexed for its words.

To an embedder a name outweighs all else, so who said a thing and when stay out of what is embedded of talk, and come
back as channels of their own. For words they stay in, the day written out as questions write it ("8 May 2023"). A
document's title belongs to each of its segments on both sides: it often alone says what "it" or "she" is. Measured on
titled passages, R@5 rises by 2 to 9 points with the title in the embedded text.
"""

from __future__ import annotations

from mcp_memory.domain.turns import Turn
from mcp_memory.language.dates import day_in_words


def meaning_text(turn: Turn, text: str) -> str:
    """Return what is embedded of a segment of ``turn`` that says ``text``."""
    return f"{turn.title}. {text}" if turn.kind == "document" and turn.title else text


def words_text(turn: Turn, text: str) -> str:
    """Return what is indexed for its words of a segment of ``turn`` that says ``text``."""
    if turn.kind == "document":
        return f"{turn.title}. {text}" if turn.title else text
    who = turn.speaker or turn.role
    return f"({day_in_words(turn.time)}) {who}: {text}" if who else f"({day_in_words(turn.time)}) {text}"
