"""How much it counts for a query who said something: learnt, from the vector of the query.

A question about the past ("where do I live?") is mostly answered by what its user said, and one about Ann by what Ann
said. A prompt in a running project ("done with week one, what's next?") needs the plan, and an assistant wrote that. No
word tells the one from the other in all languages and moods, but the embedder does. So the channels ``user`` and
``speaker`` (``search/channels.py``) count for a query twice the logistic function of a linear function of its vector
and of its form (`form_of`): between not at all and twice, and once where nothing speaks for either.

The 778 numbers were fitted by ``training/whose_words.py`` on invented worlds alone, and hold for the embedder that they
were fitted with; with another one both count once.

**Measured** where nothing was fitted, R@10: prompts of kept worlds 70 → 83, of people at their projects with an
assistant 25 → 51; questions of any kind within a point. For documents it changes nothing.
"""

from __future__ import annotations

import json
import re
from functools import cache

import numpy as np

from mcp_memory.texts import resource
from mcp_memory.vectors import Matrix, Vector

FILE = "whose_words.json"


SENTENCE = re.compile(r"(?<=[.!?])\s+")
SHARE = 0.3
"""How much the form of a query counts beside its vector, whose numbers are small."""
LONG, MANY = 60, 5
"""Words and sentences from which on a query is as long as can be."""


def form_of(text: str) -> Vector:
    """Return the form of a query, shape ``(4,)``: its words, its sentences, the questions among them, and if it is one.

    A question is one sentence with a question mark; a prompt tells first, then asks or orders.
    """
    sentences = [one for one in SENTENCE.split(text.strip()) if one]
    asked = sum(one.endswith("?") for one in sentences) / max(1, len(sentences))
    words, many = min(len(text.split()), LONG) / LONG, min(len(sentences), MANY) / MANY
    form = (2 * words - 0.5, 2.5 * many - 0.7, asked - 0.5, float(len(sentences) == 1 and asked == 1) - 0.5)
    return np.array(form, dtype=np.float32) * np.float32(SHARE)


def whose_words(text: str, vector: Vector, embedder: str) -> tuple[float, float]:
    """Return what it counts that a message is the user's, and that it is the named speaker's, each in (0, 2).

    Args:
        text: a query.
        vector: its vector, shape ``(d,)``, of length 1.
        embedder: the name of the embedder that made it.
    """
    learnt_with, weights, biases = _learnt()
    if embedder != learnt_with:
        return 1.0, 1.0
    user, speaker = 2 / (1 + np.exp(-(weights @ np.concatenate([vector, form_of(text)]) + biases)))
    return float(user), float(speaker)


@cache
def _learnt() -> tuple[str, Matrix, Vector]:
    """Return the embedder's name, weights of shape ``(2, d + 4)``, and biases of shape ``(2,)``."""
    found = json.loads(resource(FILE))
    rows = [found["user"], found["speaker"]]
    weights = np.array([row["weights"] for row in rows], dtype=np.float32)
    return found["embedder"], weights, np.array([row["bias"] for row in rows], dtype=np.float32)
