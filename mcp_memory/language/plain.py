"""The plain form of a word, as the registry writes the words of relations: "spoke" is "speak".

A stemmer takes endings off; what English changes within, and what else is another form of one word ("wedding", "kids"),
is listed here. Both sides of a comparison have to be brought to it, the words of a question and those of the registry.
"""

from __future__ import annotations

from functools import lru_cache

from mcp_memory.language.tokens import stems

_IRREGULAR = {
    "spoke": "speak", "spoken": "speak", "drove": "drive", "driven": "drive", "owned": "own", "owns": "own",
    "taught": "teach", "left": "leave", "began": "begin", "begun": "begin", "became": "become", "sold": "sell",
    "bought": "buy", "wrote": "write", "written": "write", "won": "win", "built": "build", "held": "hold",
    "met": "meet",
    "led": "lead", "ran": "run", "wed": "marry", "wedding": "marry", "died": "die", "dead": "die", "quitting": "quit",
    "favorite": "favourite", "favorites": "favourite", "favourites": "favourite", "color": "colour", "wives": "wife",
    "colors": "colour", "neighbor": "neighbour", "neighbors": "neighbour", "kids": "kid", "children": "child",
    "went": "go", "gone": "go", "saw": "see", "seen": "see", "made": "make", "took": "take", "taken": "take",
}  # fmt: skip


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """Return the stem of the plain form of a word, "spoke" as "speak"; a stop word is its own."""
    plain = _IRREGULAR.get(word, word)
    return next(iter(stems(plain)), plain)
