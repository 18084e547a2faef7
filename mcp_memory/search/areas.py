"""How much each text tells of the areas of life and work that a question asks for (``language/areas.py``).

A text tells of an area the more, the more of its words it has and the rarer they are in the space.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from mcp_memory.domain.turns import by_user
from mcp_memory.language.areas import areas_asked
from mcp_memory.search.words import WordIndex
from mcp_memory.vectors import Scores
from mcp_memory.view.space import Space

FULL = 1.5
"""Sum of the rarities of its words, each in [0, 1], at which a text tells of an area as much as any."""
OF_ANOTHER = 0.6
"""Share that what another person says has, where the question names one who speaks in the space."""


def area_scores(space: Space, topic: str, speakers: Collection[str] = ()) -> Scores:
    """Return how much each segment tells of the areas for which a topic asks.

    Args:
        space: its view keeps a `WordIndex`.
        topic: the topic of a question, without the words that ask for a list or a summary.
        speakers: the speakers of the space whom the question names.

    Returns:
        Shape ``(len(space.segments),)``, in [0, 1]; all 0 where it asks for no area.
    """
    index = space.index(WordIndex)
    every = np.arange(len(space.segments))
    scores = np.zeros(len(every), dtype=np.float32)
    rarest = index.rarity("")
    for stem in sorted(frozenset[str]().union(*(area.told for area in areas_asked(topic)))):
        scores[index.contains(every, stem)] += index.rarity(stem) / rarest
    if speakers:
        for row in np.flatnonzero(scores).tolist():
            turn = space.segment_turn[row]
            if turn.speaker not in (None, *speakers) and not by_user(turn):  # the user may be whom it names
                scores[row] *= OF_ANOTHER
    share: Scores = np.minimum(scores / np.float32(FULL), 1)
    return share
