"""The closed word classes of English, from ``resources/closed.toml``: ``closed.PREPOSITIONS``, ``closed.ARTICLES``."""

from __future__ import annotations

import tomllib

from mcp_memory.language.vocabulary import word_set
from mcp_memory.texts import resource

_TABLE = tomllib.loads(resource("closed.toml"))
OWNERS: dict[str, str] = _TABLE.pop("owners")
"""The pronoun of each possessive, "my": "i"."""
ADVERBIAL_PHRASES: list[str] = _TABLE.pop("adverbial_phrases").replace("\n", " ").split(", ")
globals().update({name.upper(): word_set(words) for name, words in _TABLE.items()})
AUXILIARIES = word_set(" ".join(_TABLE[name] for name in ("be", "have", "do", "modals")))


def __getattr__(name: str) -> frozenset[str]:  # tells mypy what the names of the table are; all of them are there
    raise AttributeError(name)
