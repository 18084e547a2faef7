"""Turns, and the segments and sentences that are spans of their text.

A turn is a message, a document or a caller's statement, stored verbatim. A segment (QRMeM's static memory, §2.1) is a
run of sentences of about 200 tokens; a sentence is MRAgent's episode and GAM-RAG's memory unit. Both are spans of the
turn's text, so nothing is stored twice and every quote is verbatim.

"I" in a message means its speaker, and "you" the other person who spoke last in the session. This depends on the log
alone, so a rebuild extracts the same facts. Ids are digests of a row's content (``domain/ids.py``), so a repeated write
yields the same ids.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from mcp_memory.codec import NOT_STORED, Bounds, Count
from mcp_memory.domain.ids import UNKEYED, digest
from mcp_memory.domain.times import MINUTE, Millis, StatedTime

Role = Literal["user", "assistant"]
"""Who of a talk with an assistant said something."""
Kind = Literal["message", "document", "statement"]
"""A statement is a fact that a caller passed without a source, put into words; it counts as talk."""


Minutes = Annotated[int, Bounds("no whole number that can be right", least=-1_440)]
READ_CHARS = 250_000
"""Characters of one message that are read for facts, a book's quarter; it is kept and found as a whole."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A message, one revision of a document, or a caller's statement.

    Attributes:
        id: ``t_…``, derived from space, session, ref and, for a later revision of a document, its text.
        session: the caller's name for its conversation or collection.
        ref: the caller's id, or a derived one; unique in (space, session) except for revisions.
        role: the role of the speaker ("user", "assistant"), if given.
        said_at: when it was said, if given.
        revision: 0, then 1, 2, … for a document rewritten under the same ref.
        place: position in the call that wrote it; with the transaction it orders a session.
        offset: the minutes by which the clock was ahead of UTC where it was said: of its time, else of the server's
            zone when it was stored; None in a store that did not keep it, for 0.
        original: text and title as the log keeps them, where the ones above are masked (``domain/batch.py``).
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
    revision: Count
    place: int
    offset: Minutes | None = None
    original: tuple[str, str | None] | None = field(default=None, repr=False, metadata=NOT_STORED)

    @property
    def said(self) -> str:
        """The text as it was said, which says whether two texts are the same; never shown."""
        return self.original[0] if self.original else self.text

    @property
    def time(self) -> Millis:
        """When it was said if known, otherwise when it was written."""
        return self.written_at if self.said_at is None else self.said_at

    @property
    def told_order(self) -> Millis:
        """Its time, and its place in its call in milliseconds: of messages of one time the later has more."""
        return self.time + self.place

    @property
    def local_time(self) -> Millis:
        """Its time as the clock showed it where it was said, as if that were UTC: its days and words count from it."""
        return self.time + (self.offset or 0) * MINUTE

    @property
    def local_said_at(self) -> Millis | None:
        """`local_time`, or None if it is not known when it was said."""
        return None if self.said_at is None else self.local_time


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Consecutive sentences of one text.

    Attributes:
        partner: the addressee of a message, if known: "you".
        sentences: spans of all sentences of the text, in characters.
        first: index of the first sentence of the excerpt.
        stop: index of the first one after it.
    """

    turn: Turn
    partner: str | None
    sentences: Sequence[tuple[int, int]]
    first: int
    stop: int


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of sentences of one turn, about 200 tokens: the passage that recall ranks.

    Attributes:
        id: ``g_…``.
        index: 0, 1, … within the turn.
        start: first character within the turn's text; ``end``: first one after it.
        first: index of its first sentence within the turn.
        last: index of its last sentence (inclusive); the next segment starts with this sentence again.
    """

    id: str
    space: str
    turn_id: str
    index: Count
    start: Count
    end: Count
    first: Count
    last: Count


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a turn.

    Attributes:
        id: ``s_…``.
        index: 0, 1, … within the turn.
        start: first character within the turn's text; ``end``: first one after it.
        times: stated in it, resolved against the time of the utterance.
    """

    id: str
    space: str
    turn_id: str
    index: Count
    start: Count
    end: Count
    times: tuple[StatedTime, ...]


IMPORTED = frozenset(("chatgpt", "claude", "official", "mem0", "zep", "basic-memory", "notes", "csv"))
"""What the ids of imported texts begin with, before a colon: the program that they are from."""


def is_undated_import(turn: Turn) -> bool:
    """Return whether nobody knows when a text was said: another program had it without a time."""
    return turn.said_at is None and turn.ref.partition(":")[0] in IMPORTED


LONG_CHARS = 2_000
"""Characters of a text above which its sentences have no vectors of their own: see `shares_vectors`."""


def shares_vectors(turn: Turn) -> bool:
    """Whether each sentence of a turn has the vector of its segment, the first that holds it, instead of its own.

    A reply of an assistant, with lists and code, falls into some 35 sentences, most of them a line; vectors for these
    cost nearly as much as those of the segments. **Measured**: on long chats with an assistant recall is no worse with
    the vectors of the segments (R@10 +.9 ± 1.3). On dialogues, where a message has a few sentences, it is a point lower
    (−1.0 ± .9), so short texts keep vectors of their own. It depends on the text alone, and the view applies it to
    whatever is stored, so stores that hold other vectors for these sentences rank like those that do not.
    """
    return len(turn.text) > LONG_CHARS


USER = "user"
"""The speaker of a message without one."""
USERS = frozenset((USER, "me", "i", "human", "myself"))
"""Names of the user, in lower case: as speakers, as heads, and in questions they are one person."""


def label(turn: Turn) -> str | None:
    """Return who said a turn: by name, or by role without a name; `USER` for each name of the user."""
    who = turn.speaker or turn.role
    return USER if who and who.strip().casefold() in USERS else who


def speaker(turn: Turn) -> str | None:
    """Return the person that "I" means in a turn; None in a document, and for a nameless speaker but the user."""
    if turn.kind == "document":
        return None
    return label(turn) if turn.speaker else USER if turn.role in (None, USER) else None


_ASSISTANTS = frozenset(
    ("assistant", "ai", "ai assistant", "bot", "chatbot", "agent", "model", "system", "tool", "claude", "chatgpt",
     "gpt", "gemini", "copilot", "llm")
)  # fmt: skip


def is_assistant(name: str | None) -> bool:
    """Return whether a speaker's name or role is that of a program that assists: "assistant", "ChatGPT"."""
    return name is not None and name.strip().casefold() in _ASSISTANTS


def by_assistant(turn: Turn) -> bool:
    """Return whether a message is an assistant's: by its role if it has one, otherwise by its speaker's name."""
    return turn.kind == "message" and is_assistant(turn.role or turn.speaker)


def by_user(turn: Turn) -> bool:
    """Return whether a message is the user's: by its role if it has one, otherwise by its speaker's name, if any."""
    who = turn.role or turn.speaker or USER
    return turn.kind == "message" and who.strip().casefold() in USERS


class Speakers(dict[str, int]):
    """The speakers of a space, by name as written or by role without a name, with the number of their turns.

    Attributes:
        find: returns the speaker who is called by another name as well, or None.
    """

    def __init__(self, find: Callable[[str], str | None] = lambda _name: None) -> None:
        super().__init__()
        self.find = find
        self._roles: dict[str, str | None] = {}

    def __getstate__(self) -> dict[str, object]:
        return {"_roles": self._roles}

    def add(self, turn: Turn) -> str | None:
        """Count a turn, and return its speaker; None if it has none."""
        who = label(turn)
        if who:
            self[who] = self.get(who, 0) + 1
            self._roles[who] = turn.role or self._roles.get(who)
        return who

    @property
    def people(self) -> list[str]:
        """The speakers who are no assistants."""
        return [who for who in self if not is_assistant(self._roles.get(who) or who)]

    @property
    def assistants(self) -> list[str]:
        """The speakers who are assistants."""
        return [who for who in self if is_assistant(self._roles.get(who) or who)]

    @property
    def asker(self) -> str | None:
        """The speaker that "I" in a question means: the user, or the only one of that role; None if unclear."""
        if USER in self:
            return USER
        people = [who for who in self if self._roles.get(who) == USER and not is_assistant(who)]
        return people[0] if len(people) == 1 else None


FEEDBACK = "feedback"
"""The session in which corrections and confirmations of callers are stored."""
WISHES = "wishes"
"""The session of which each message of the user is a standing wish, in whatever words, because a caller judged so."""


@dataclass(frozen=True, slots=True)
class Talkers:
    """The last two speakers of a session.

    Attributes:
        last: the last speaker, by name, or by role without a name; None at the start.
        other: the last different speaker before them.
    """

    last: str | None = None
    other: str | None = None

    def after(self, turn: Turn) -> Talkers:
        """Return the speakers after a turn; documents, statements and corrections of callers change nothing."""
        if turn.kind != "message" or turn.session == FEEDBACK:
            return self
        who = label(turn)
        return self if who is None or who == self.last else Talkers(who, self.last)

    def partner(self, turn: Turn) -> str | None:
        """Return the addressee of a turn that follows, or None."""
        if turn.kind != "message":
            return None
        return self.other if label(turn) == self.last else self.last


@dataclass(frozen=True, slots=True)
class PooledQuestion:
    """A question of the pool, which a segment answers; entities are keys (`Facts.key`) of both ends of its fact."""

    space: str
    text: str
    segment_id: str
    entities: frozenset[str]


def shared_segment(turn: Turn | None, sentence: Sentence, rows: Sequence[int], segments: Sequence[Segment]) -> int:
    """Return the row of the segment whose vector a sentence has, or -1 if it has one of its own.

    ``rows`` are those of the turn's segments, in order, among all ``segments`` of the space.
    """
    if turn is None or not shares_vectors(turn):
        return -1
    place = bisect_left(rows, sentence.index, key=lambda row: segments[row].last)
    held = place < len(rows) and segments[rows[place]].first <= sentence.index  # else a bad row was left out
    return rows[place] if held else -1


def segment_id(turn: str, index: int, text: str) -> str:
    """Return the id of a segment of a turn."""
    return "g_" + digest(turn, str(index), text)


def sentence_id(turn: str, index: int, text: str) -> str:
    """Return the id of a sentence of a turn."""
    return "s_" + digest(turn, str(index), text)


def derived_ref(speaker: str | None, role: str | None, time: str | None, title: str | None, text: str, nth: int) -> str:
    """Return the ref of an item without one, which is not keyed yet (`Ids.ref`).

    The time is the caller's, in milliseconds, never that of writing, so that a repeated call yields the same ref;
    ``nth`` is the number of equal items before it in the same call.
    """
    return UNKEYED + digest(speaker or "", role or "", time or "", title or "", text, str(nth))


def assertion_id(turn: str, start: int, end: int, head: str, relation: str, tail: str, *rest: str) -> str:
    """Return the id of an assertion; ``rest`` distinguishes assertions of one span: polarity, times, extractor."""
    return "x_" + digest(turn, str(start), str(end), head, relation, tail, *rest)


def version_id(assertion: str) -> str:
    """Return the id of the version whose earliest recorded assertion is this one."""
    return "f_" + assertion.removeprefix("x_")
