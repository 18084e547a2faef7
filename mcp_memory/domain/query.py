"""The query: what a caller asks for, taken apart once and then passed unchanged through every room of the read path.

`language.questions.understand` makes one from the caller's words. A language model may add what they mean beside that
(``reasoning/understanding.py``); without one, the words alone decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, Literal

from mcp_memory.domain.access import DEFAULT_SPACE
from mcp_memory.domain.facts import Intent
from mcp_memory.domain.times import BEGINNING, FOREVER, MINUTE, Grain, Millis, offset_at
from mcp_memory.domain.turns import Role, Turn

if TYPE_CHECKING:  # numpy is too heavy to be imported before the first reply
    from mcp_memory.vectors import Vector

_NOT_YET: Any = None  # the vector is always set before the query is searched

Order = Literal["within", "before", "after", "now", "unknown"]
"""How a time constraint applies: inside an interval, on one side of it; ``unknown`` if that rests on other facts."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """The time constraint of a question: "in May 2019", "currently", "before she moved", "first".

    Attributes:
        order: how it applies. "between", "since" and "until" are ``within``, "now" is the moment of asking.
        since: first instant; ``BEGINNING`` if the question gives none.
        until: first instant after it; ``FOREVER`` likewise.
        grain: precision of the question; None without an interval.
    """

    order: Order
    since: Millis = BEGINNING
    until: Millis = FOREVER
    grain: Grain | None = None

    @property
    def dated(self) -> bool:
        """Whether it has a start or an end."""
        return self.since > BEGINNING or self.until < FOREVER


AnswerType = Literal["who", "when", "where", "how_many", "how_long", "how", "why", "what", "yes_no", "other"]
"""The kind of answer that is wanted; "other" for keywords and for questions that are not English."""
Breadth = Literal["best", "all", "overview"]
"""How broad a recall is: what answers best, all that bears on the question, or an even overview of its course."""
Mode = Literal["auto", "best", "all", "overview"]
"""How a caller chooses the breadth; ``auto`` leaves it to the question's shape."""
Detail = Literal["brief", "full"]
"""How much a reply says of a recall; ``full`` adds where it started, which paths it found, and what to try next."""


Length = Literal["short", "full"]
"""How much an answer says: the answer alone, or a paragraph or list with a citation for each statement."""


@dataclass(frozen=True, slots=True)
class Window:
    """The times of what is recalled.

    Attributes:
        since: the first one. A day begins where each text was said, on its own clock (`Turn.local_time`).
        until: the first one after them.
        since_instant: whether ``since`` is an instant, the same everywhere.
        until_instant: whether ``until`` is one.
    """

    since: Millis = -FOREVER
    until: Millis = FOREVER
    since_instant: bool = False
    until_instant: bool = False

    def holds(self, turn: Turn) -> bool:
        """Return whether a text was said within."""
        began = self.since <= (turn.time if self.since_instant else turn.local_time)
        return began and (turn.time if self.until_instant else turn.local_time) < self.until


ANY_TIME = Window()
"""The window that restricts nothing."""
QUERY_CHARS = 2_000
"""Characters of a query that are searched for; nobody types as many."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question or a handful of keywords, with everything that finding an answer to it needs.

    A caller gives the text and what follows it; `language.questions.understand` parses the words, recall adds the
    vectors. Each step extends the query with `dataclasses.replace`.

    Attributes:
        text: in the caller's words; empty asks for the newest items.
        space: the space to search; one that nothing was written to is empty.
        limit: at most so many items of evidence.
        window: restricts the time at which something was said, or of which it tells.
        as_of: the instant whose facts are wanted; it hides nothing that was said later. None leaves it to the words.
        entities: names from which navigation starts, beside those in the text.
        role: only what speakers of this role said; None for what anybody said, documents with it.
        include_uncertain: whether facts that nothing has confirmed count as well.
        mode: how broad the evidence shall be; what ``auto`` comes to stands in the result.
        lines: the limit where the recall is broad; 0 for the usual number.
        skip: how many items of the evidence earlier pages have shown; with ``all`` only.
        max_turns: turns that the loop may take where the first look is not enough; None for the usual number.
        length: the length of an answer; ``full`` is a paragraph or a list, and needs a language model.
        learn: whether the memory may learn from its own judgement of an answer.
        now: the moment of asking.
        offset: the minutes by which the clocks of the server's zone are ahead of UTC then.
        stems: the stems of the content words, in order, each once.
        content_words: as written, each with its stems, all of them among ``stems`` (several for a run of a script
            without spaces).
        answer_type: the kind of answer it wants.
        speakers: the speakers it names, spelt as the space spells them.
        names: the names in it, as written.
        askers: the people whom "I" in it may mean, if it names no speaker and several people speak; otherwise empty.
        time: its time constraint, or None.
        extra_names: further entities that it is about, by a model's guess.
        relations: the relations that it asks for according to a model, by names of the registry; its words may ask for
            more.
        intent: the intent of the answer according to a model; None leaves it to the words.
        parts: what is searched for beside it: other ways in which the answer may have been said, by the caller's model,
            and intermediate facts, by ours, as short questions or as likely words of the text that answers them.
        vector: its vector, shape ``(d,)``, of length 1; None until it is embedded.
        time_vector: the vector of the words that say a time, shape ``(d,)``; None for a query without one.
        topic_vector: the vector of its topic (`language.shapes.topic_of`), shape ``(d,)``; None if not needed.
        user_words: what it counts for it that a message is the user's, times what it counts as a rule.
        speaker_words: likewise, that a message is by the speaker whom it names (``search/channels.py``).
    """

    text: str
    space: str = DEFAULT_SPACE
    limit: int = 12
    window: Window = ANY_TIME
    as_of: Millis | None = None
    entities: tuple[str, ...] = ()
    role: Role | None = None
    include_uncertain: bool = False
    mode: Mode = "best"
    lines: int = 0
    skip: int = 0
    max_turns: int | None = None
    length: Length = "short"
    learn: bool = True
    now: Millis = 0
    offset: int = 0
    stems: tuple[str, ...] = ()
    content_words: tuple[tuple[str, tuple[str, ...]], ...] = ()
    answer_type: AnswerType = "other"
    speakers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    askers: tuple[str, ...] = ()
    time: Constraint | None = None
    extra_names: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    intent: Intent | None = None
    parts: tuple[Query, ...] = ()
    vector: Vector = field(default=_NOT_YET, compare=False, repr=False)
    time_vector: Vector | None = field(default=None, compare=False, repr=False)
    topic_vector: Vector | None = field(default=None, compare=False, repr=False)
    user_words: float = 1.0
    speaker_words: float = 1.0

    @property
    def local_now(self) -> Millis:
        """The moment of asking as the clock shows it in the server's zone, as if that were UTC."""
        return self.now + self.offset * MINUTE

    @property
    def moment(self) -> Millis:
        """The instant whose facts are wanted. A day that has begun here has begun, though not in UTC."""
        return max(self.now, self.local_now) if self.as_of is None else self.as_of

    def asked(self, now: Millis, mask: Callable[[str], str], zone: tzinfo | None) -> Query:
        """Return the query as it is asked at a moment in a zone, without the secrets that ``mask`` masks."""

        def begun(text: str) -> str:  # a secret that begins within may end behind it
            return mask((text if len(text) <= QUERY_CHARS else text.strip())[: 2 * QUERY_CHARS])[:QUERY_CHARS]

        parts = tuple(replace(part, text=begun(part.text)) for part in self.parts)
        entities, offset = tuple(map(mask, self.entities)), offset_at(now, zone)
        return replace(self, text=begun(self.text), parts=parts, entities=entities, now=now, offset=offset)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is said to the caller of a text that is longer than what of it is searched."""
        if len(self.text) <= QUERY_CHARS:
            return ()
        return (f"Of the query's {len(self.text):,} characters the first {QUERY_CHARS:,} were searched for.",)
