"""Which article a sentence of a document is of, and which article the evidence is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from mcp_memory.domain.answers import EvidenceSentence


def article_of(sentence: EvidenceSentence) -> str:
    """Return the title without the section behind it, "Dunmore FC" of "Dunmore FC: Managers"; empty for a message."""
    return (sentence.source.turn.title or "").partition(":")[0] if sentence.source.turn.kind == "document" else ""


BEST_ITEMS = 5
LEAST_LEADING = 4


def leading_article(sentences: Sequence[EvidenceSentence]) -> str | None:
    """Return the title of the article of at least 4 of the 5 best items, None without one: it is what is asked about.

    So it is found without its name: "the midfielder born in Holm in 1978".
    """
    items = {one.evidence_id: one for one in sorted(sentences, key=lambda one: one.score)}
    best = sorted(items.values(), key=lambda one: -one.score)[:BEST_ITEMS]
    titles = Counter(article_of(one) for one in best if article_of(one))
    title, count = titles.most_common(1)[0] if titles else ("", 0)
    return title if count >= LEAST_LEADING else None


LEAST_INITIALS = 3
"""Least letters of an abbreviation."""


def initials_of(article: str) -> str:
    """Return the abbreviation of a title, "DPA" of "Dunmore Press Association"; empty for one of two words."""
    initials = "".join(re.findall(r"\b[A-Z]", article))
    return initials if len(initials) >= LEAST_INITIALS else ""
