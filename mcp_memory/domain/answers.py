"""What an answer is made from and what is proposed: sentences that recall found, and a span of one of them.

A judge of answers (``ports.Answerer``) sees candidates and gives back a proposal with its confidence; the service
decides whether that is enough to say it.
"""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.domain.evidence import Citation, Source
from mcp_memory.domain.times import StatedTime


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of the evidence that an answer may stand in.

    Attributes:
        evidence_id: of the item of evidence that it belongs to.
        source: its turn, and where it stands there.
        times: the times that it states, in characters from the start of the turn's text.
        score: of the item of evidence, in [0, 1].
        cosine: of its vector to the question's, or None where the view holds no vectors.
    """

    evidence_id: str
    source: Source
    times: tuple[StatedTime, ...]
    score: float
    cosine: float | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """The best that can be said, and how sure that is.

    Attributes:
        text: at most 25 words.
        confidence: roughly the share of such proposals that are right, in [0, 1].
        hedged: whether it rests on something uncertain, and should be said so.
        citations: what it rests on, never empty.
    """

    text: str
    confidence: float
    hedged: bool
    citations: tuple[Citation, ...]
