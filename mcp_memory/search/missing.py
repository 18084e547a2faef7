"""What evidence lacks of a question's words, as a reply says it.

Recall counts every content word of a question that no candidate contains. Some of these are nothing that evidence could
say: words that only ask ("list", "how far"), and verbs of which another form stands there ("buy" and "bought").
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from mcp_memory.domain.verbs import irregular_verbs
from mcp_memory.language.tokens import stems
from mcp_memory.search.words import WordIndex
from mcp_memory.view.space import Space

ASKING = frozenset((
    "list", "enumerate", "name", "tell", "show", "give", "describe", "remind", "everything", "anything", "something",
    "far", "long", "often", "much", "many", "ever", "all", "every", "each", "exactly", "total", "different", "specific",
    "mention", "mentioned", "say", "said", "walk", "suggest", "recommend", "happened", "together", "besides", "course",
    "across", "throughout", "conversation", "conversations", "sessions", "discussions", "aspects", "various", "several",
    "days", "day", "weeks", "week", "months", "month", "years", "year", "hours", "passed", "elapsed", "lie", "lies",
))  # fmt: skip
"""Words that only ask."""


def lacking(space: Space, rows: Sequence[int], uncovered: Sequence[str]) -> list[str]:
    """Return the words that evidence could have said and does not.

    Args:
        space: of the evidence.
        rows: of its segments.
        uncovered: words of the question that none of them contains.
    """
    index, found = space.index(WordIndex), np.array(rows, dtype=np.intp)

    def said(word: str) -> bool:
        forms = _verb_forms().get(word.casefold(), ())
        return any(bool(index.contains(found, stem).any()) for form in forms for stem in stems(form))

    return [word for word in uncovered if word.casefold() not in ASKING and not said(word)]


@cache
def _verb_forms() -> dict[str, tuple[str, ...]]:
    """Return the forms of each irregular verb, by each of them."""
    return {form: forms for forms in irregular_verbs() for form in forms}
