"""Read short notes by their form: "remember that …", "new phone number for Ann: 555 0142", "blood type: O".

They have no verb, or an imperative; the text behind the imperative is read as a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import FOREVER, StatedTime
from mcp_memory.domain.turns import Turn
from mcp_memory.rules.facts.claims import make_assertion
from mcp_memory.rules.facts.discourse import Discourse
from mcp_memory.rules.facts.modality import PLAIN
from mcp_memory.rules.facts.validity import Validity, from_utterance

_LEAD_IN = re.compile(
    r"\s*(?:(?:please|pls|so|and|also|ok|okay|hey)[, ]{1,2})?(?:(?:(?:do not|don['’]t|never) forget|remember"
    r"|keep in mind|bear in mind|(?:make|take) a note|note to self|just so you know|fyi|for the record|nota bene"
    r"|note|reminder|save this|to remember|guess what)(?:\s*[:,–—]\s*|\s+that\s+(?=\S)))",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"\s*(?:my\s|our\s|the\s|new\s|(?P<owner>[A-Z][\w.-]{1,30}(?:\s[A-Z][\w.-]{1,30})?)['’]s\s){0,3}"
    r"(?P<what>[a-z][a-z-]{1,20}(?:\s[a-z][a-z-]{1,20}){0,2}?)"
    r"(?:\s(?:for|of)\s(?P<who>[A-Z][\w.-]{1,30}(?:\s[A-Z][\w.-]{1,30})?))?\s?:\s(?P<value>[^\s:;,][^:;,]{0,50}?)[.!]?\s*$"
)
_NO_ITEM = re.compile(
    r"^(?:update|news|question|ps|note|reminder|remember|edit|fact|tip|warning|verdict|result|conclusion|plan|todo|thing"
    r"|\w+ed|(?:\w+\s)*my|funny|true|spoiler|thought|problem|answer|one|here|this|that|it|so|and|but|only|last thing"
    r"|next|first)\b"
)
_STATEMENT = re.compile(r"(?:i|we|you|he|she|it|they|there)\b|[a-z]+ing\b", re.IGNORECASE)
"""What begins a statement rather than a value: "storage: starting with MariaDB", "my thing: I've left the choir"."""
_VALUE = re.compile(r"[\d@]|^[A-Z]")
_RELATIONS = {"phone number": "phone", "phone": "phone", "number": "phone", "mobile": "phone", "mail": "email",
              "email": "email", "e-mail": "email", "email address": "email", "birthday": "born_on"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Note:
    """A line that gives the value of an item.

    Attributes:
        owner: the name of its owner; "" for the speaker.
        relation: the item, as the name of a relation.
        value: as written.
        start: first character within the text.
        end: first character after it.
    """

    owner: str
    relation: str
    value: str
    start: int
    end: int


def skip_lead_in(text: str, start: int, end: int) -> int:
    """Return the start of the statement: behind "remember that", or the start of the sentence."""
    match = _LEAD_IN.match(text, start, end)
    return match.end() if match and match.end() < end else start


def read_note(text: str, start: int, end: int) -> Note | None:
    """Return the item and the value of a line that has nothing else, or None."""
    match = _NOTE.match(text, start, min(end, start + 160))
    if match is None or match.end() != end or _NO_ITEM.match(match["what"]) or not _VALUE.search(match["value"]):
        return None
    if re.search(r"->|→|=>", match["value"]) or _STATEMENT.match(match["value"]):
        return None  # "queue: RabbitMQ -> SQS" tells a change
    what = match["what"].lower()
    owner = match["owner"] or match["who"] or ""
    relation = _RELATIONS.get(what, what.replace(" ", "_").replace("-", "_"))
    return Note(owner, relation, match["value"], match.start("what"), match.end("value"))


def note_assertions(
    turn: Turn, discourse: Discourse, index: int, note: Note, times: Sequence[StatedTime]
) -> Iterator[Assertion]:
    """Yield the assertion of a note."""
    head = note.owner or discourse.speaker
    if head is None:
        return
    validity = from_utterance(turn.local_time)
    times = [time for time in times if time.start < note.end and note.start < time.end]
    if times and times[-1].since <= turn.local_time and times[-1].until < FOREVER:
        validity = Validity(times[-1].since, FOREVER, True)
    yield make_assertion(
        turn, index, (note.start, note.end), (head, note.relation, note.value), validity, "FACT", PLAIN
    )
