"""The kinds of nouns and names by their last word, from ``resources/nouns.toml``: ``nouns.PLACES``, ``nouns.ROLES``.

English puts the kind last ("Halden Clinic", "shipping company"), so the last word of a phrase decides.
"""

from __future__ import annotations

import tomllib

from mcp_memory.language.vocabulary import COMMON_DEMONYMS, word_set
from mcp_memory.texts import resource

_WORDS = {name.upper(): word_set(words) for name, words in tomllib.loads(resource("nouns.toml")).items()}
globals().update(_WORDS)
OWNABLE = _WORDS["OWNABLE"] | _WORDS["VEHICLES"]
STATES = _WORDS["STATES"] | _WORDS["CONDITIONED"]
NATIONALITIES = COMMON_DEMONYMS
ROLE_ENDINGS = ("ologist", "ician", "grapher", "smith", "maker", "keeper", "worker", "driver", "teacher", "writer")
"""Endings of further nouns for roles."""


def __getattr__(name: str) -> frozenset[str]:  # tells mypy what the names above are; all of them are there
    raise AttributeError(name)
