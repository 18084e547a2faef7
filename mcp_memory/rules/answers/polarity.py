"""Yes or no, only where one clause holds all that the question says and leaves no doubt of its sign.

That the words occur does not make it true: wishes, conditions and words of the opposite ("quit", "hate") leave the
question open, and so does a question that compares, supposes or denies. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcp_memory.language.sentences import QUESTION_MARKS
from mcp_memory.rules.answers.asking import Asking
from mcp_memory.rules.answers.spans import Span, clauses
from mcp_memory.rules.answers.support import Reading

_OPEN_QUESTION = re.compile(
    r"\b(?:would|could|should|might|may|will|can|or|both|same|more|less|than|if|ever|still|anymore|not|never)\b|n['’]t\b",
    re.I,
)
_OPEN = re.compile(
    r"\b(?:if|might|may|maybe|perhaps|wish|would|could|should|hop(?:e|ing)|want(?:s|ed)?|plan(?:s|ning|ned)?"
    r"|going to|gonna|try(?:ing)?|tried|used to|almost|nearly|instead|unless|someday|think(?:ing)?|thought"
    r"|hate[sd]?|dislike[sd]?|quit|stop(?:ped|s)?|fail(?:ed|s)?|refuse[sd]?|avoid(?:ed|s)?|lost|without|hardly|barely|rather)\b",
    re.I,
)
_NEGATED = re.compile(r"\b(?:not|never|no longer|nobody|none|no)\b|n['’]t\b", re.I)
_LIKING = re.compile(r"\b(?:like|love|enjoy|adore)(?:s|d)?\b", re.I)
LEAST_WORDS = 2
"""Of the question's content words: with one alone, "does she like olives" would be answered by any olive."""


def polar(question: Asking, reading: Reading) -> Iterator[Span]:
    """Return a yes or a no for the clause that holds all of the question's words, or nothing."""
    if (
        _OPEN_QUESTION.search(question.question.text)
        or reading.own < 1
        or reading.text.rstrip().endswith(QUESTION_MARKS)
    ):
        return
    if len(question.stems - reading.title) < LEAST_WORDS:
        return
    wanted = question.stems - reading.title if reading.is_document else question.stems
    for start, end in clauses(reading.text):
        clause = reading.text[start:end]
        inside = {stem for word in reading.words if start <= word.start < end for stem in word.stems}
        if not wanted <= inside or _OPEN.search(clause):
            continue
        if _LIKING.search(question.question.text) and not _LIKING.search(clause):
            continue
        yield Span(start, end, 0.0, "No" if _NEGATED.search(clause) else "Yes")
