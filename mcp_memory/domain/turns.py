"""What was said, whole and in pieces: turns, and the segments and sentences that point into them.

A turn is a message, a document or a statement of the caller, kept to the letter. A segment (QRMeM's static memory,
§3.1) is a run of its sentences of about 200 tokens; a sentence is the episode of MRAgent and the memory of GAM-RAG.
Segments and sentences hold no text of their own: they are spans of the turn's, so nothing is stored twice and every
quote is verbatim. Their vectors travel beside them in a matrix, one row each (``domain/batch.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mcp_memory.domain.times import Millis, StatedTime

Kind = Literal["message", "document", "statement"]
"""A statement is a fact that a caller told without naming where it was said, put into words; it counts as talk."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A message, one revision of a document, or a fact told by itself, as the caller gave it.

    Attributes:
        id: ``t_…``, made of space, session, ref and, for a later revision of a document, its text.
        space: the wall it lives behind.
        session: the caller's name for the talk or collection it belongs to.
        ref: the caller's own id, or the one derived for it; unique in (space, session) but for revisions.
        kind: what it is.
        text: verbatim.
        speaker: who said it, if the caller told.
        role: the caller's role for the speaker ("user", "assistant"), if told.
        title: of a document, if told.
        said_at: when it was said, as the caller told; None if the caller did not.
        written_at: when it was stored.
        revision: 0, then 1, 2, … for a document written again under the same ref with another text.
        place: its position in the call that wrote it; with the transaction it orders a session.
    """

    id: str
    space: str
    session: str
    ref: str
    kind: Kind
    text: str
    speaker: str | None
    role: str | None
    title: str | None
    said_at: Millis | None
    written_at: Millis
    revision: int
    place: int

    @property
    def time(self) -> Millis:
        """When it was said as far as is known: the caller's word, else the moment of writing."""
        return self.written_at if self.said_at is None else self.said_at


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of sentences of one turn, about 200 tokens: the passage that recall ranks.

    Attributes:
        id: ``g_…``.
        space: of its turn.
        turn_id: the turn it is a piece of.
        index: 0, 1, … within the turn.
        start: first character within the turn's text.
        end: first character after it.
        first: index of its first sentence within the turn.
        last: index of its last sentence (inclusive); the next segment begins with this sentence again.
    """

    id: str
    space: str
    turn_id: str
    index: int
    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a turn.

    Attributes:
        id: ``s_…``.
        space: of its turn.
        turn_id: the turn it stands in.
        index: 0, 1, … within the turn.
        start: first character within the turn's text.
        end: first character after it.
        times: the times it states, resolved against when it was said.
    """

    id: str
    space: str
    turn_id: str
    index: int
    start: int
    end: int
    times: tuple[StatedTime, ...]
