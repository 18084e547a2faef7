"""Tell whether a question asks for what an assistant said, or merely asks an assistant to do something.

In talk with an assistant most words are the assistant's. "What did you suggest?" wants these; "can you tell me where I
parked?" and "which port do we use?" want what the person said. The rules are English.
"""

from __future__ import annotations

import re

_TOLD = (
    "advised|answered|claimed|called|came up with|described|drafted|explained|found|gave|listed|made|mentioned|named|"
    "offered|outlined|pointed out|promised|proposed|provided|recommended|replied|said|sent|showed|shown|suggested|"
    "summari[sz]ed|taught|told|translated|used|warned|wrote|given|written"
)
_OWN = (
    "advice|answer|code|draft|example|explanation|instruction|list|opinion|outline|plan|proposal|recommendation|reply|"
    "replies|response|script|solution|suggestion|summary|summaries|table|template|tip|translation|version|words"
)
_ADVERB = r"(?:\w+ly\s+|just\s+|once\s+|first\s+|ever\s+)?"
_BEFORE = r"(?:\w+\s+){0,2}?"
_ADVICE = re.compile(
    r"\b(?:did|had|were|have|has)\s+(?:you|the assistant)\b"
    rf"|\b(?:you|the assistant)(?:['’]ve|['’]d|\s+have|\s+had)?\s+{_ADVERB}(?:{_TOLD})\b"
    rf"|\b(?:your|the assistant['’]s)\s+{_BEFORE}(?:{_OWN})s?\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(r"\b(?:can|could|would|will|do|should)\s+you\b", re.IGNORECASE)


def asks_for_advice(question: str) -> bool:
    """Return whether a question wants what the assistant said or wrote: "what did you suggest", "your last draft"."""
    return _ADVICE.search(question) is not None


def is_request(question: str) -> bool:
    """Return whether "you" in a question is merely whom it asks: "can you show me …"."""
    return _REQUEST.search(question) is not None
