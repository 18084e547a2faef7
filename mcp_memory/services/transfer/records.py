"""Records: a value of the log as a line of an export, and a line as a value.

A text is named by space, session, the caller's own id and its revision, as in the tools; facts and readings name it in
the same way. Ids that follow from the content (of texts, in ``domain/turns.py``) are not in the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from mcp_memory.domain.access import SPACE_NAME
from mcp_memory.domain.batch import KEEP, Masking, masked_assertion, masked_turn
from mcp_memory.domain.entities import Alias, entity_key
from mcp_memory.domain.episodes import Lesson, encode_trace
from mcp_memory.domain.facts import WHOLE, Assertion
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.points import MIN_ENTITIES, Point
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import Kind, PooledQuestion, Turn
from mcp_memory.services.transfer.format import BadLine, Fields, columns_of, record_fields
from mcp_memory.services.transfer.renaming import Leaving, Renaming, replaced
from mcp_memory.visible import with_masks

PlacedQuestion = tuple[str, PooledQuestion]
"""The space of a question, and the question."""
Value = Turn | Assertion | Lesson | Point | Alias | PlacedQuestion | Job
"""What a line holds."""
KINDS: tuple[Kind, ...] = get_args(Kind)

# The fields of each sort of record, in their order: as they are called there, and in the value.
_PLACE = columns_of(Turn, "session id=ref revision", revision=0)
_TEXT = columns_of(Turn, "speaker role title time=said_at offset written=written_at text", offset=0)
_FACT = columns_of(
    Assertion,
    "fact=id by=extractor head relation tail negated since until stated kind precision confidence intent change"
    " sentence start end said=said_at recorded=recorded_at",
    {"by": Literal["caller", "anthropic"]},
    negated=False, since=BEGINNING, until=FOREVER, stated=False, change=False, sentence=WHOLE,
)  # fmt: skip
_READING = columns_of(
    Job, "state parts tries until recorded=at", {"state": Literal["waiting", "done", "failed"]}, until=0
)
_LESSON = columns_of(Lesson, "episode=episode_id query asked=asked_at by=source recorded=at labels")
_POINT = columns_of(
    Point,
    "point=id revision entities description goal=scope status parents merged_into sentences facts"
    " by=source recorded=at",
    revision=0, goal="", parents=(), sentences=(), facts=(),
)  # fmt: skip
_ALIAS = columns_of(Alias, "name alias reason by=source recorded=at")
_QUESTION = columns_of(PooledQuestion, "text segment=segment_id entities", entities=frozenset())


def space_of(value: Value) -> str:
    """Return the space of a value."""
    return value[0] if isinstance(value, tuple) else value.space


def record_of(value: Value, turns: Mapping[str, Turn], leaving: Leaving | None = None) -> dict[str, object] | None:
    """Return a value as a record; None if it belongs to a text that is not there.

    Args:
        value: the value of the log.
        turns: every text of the log, by its id.
        leaving: the ids of its space in the export; None for those of the store.
    """
    match value:
        case Turn():
            turn = _left(value, leaving)
            return {"record": turn.kind, **_place(turn), **record_fields(_TEXT, turn)}
        case Assertion() | Job():
            if (text := turns.get(value.turn_id)) is None:
                return None
            place = _place(_left(text, leaving))
            if isinstance(value, Job):
                if value.state == "leased":  # a lease means nothing elsewhere
                    value = replace(value, state="waiting", until=0)
                return {"record": "reading", **place, **record_fields(_READING, value)}
            spans = {"start": len(with_masks(text.text[: value.start])), "end": len(with_masks(text.text[: value.end]))}
            name = {} if leaving is None else {"fact": leaving.fact(value)}
            return {"record": "fact", **place, **record_fields(_FACT, value), **name, **spans}
        case Lesson():
            return {"record": "lesson", "space": value.space, **_lesson_fields(value, leaving)}
        case Point():
            point = value if leaving is None else leaving.point(value)
            return {"record": "point", "space": value.space, **record_fields(_POINT, point)}
        case Alias():
            return {"record": "alias", "space": value.space, **record_fields(_ALIAS, value)}
        case (space, question):
            segment = question.segment_id if leaving is None else leaving.id(question.segment_id)
            row = {"text": question.text, "segment": segment, "entities": sorted(question.entities)}
            return {"record": "question", "space": space, **row}


def _left(turn: Turn, leaving: Leaving | None) -> Turn:
    return turn if leaving is None else replace(turn, ref=leaving.ref(turn))


def _place(turn: Turn) -> dict[str, object]:
    return {"space": turn.space, **record_fields(_PLACE, turn)}


def _lesson_fields(lesson: Lesson, leaving: Leaving | None) -> dict[str, object]:
    record, text = record_fields(_LESSON, lesson), lesson.trace.decode()
    try:
        trace = json.loads(text)
    except (ValueError, RecursionError):
        trace = None
    whole = isinstance(trace, dict) and encode_trace(trace).decode() == text  # else it is damaged, and kept as it is
    if leaving is not None:
        record["labels"], trace = replaced(dict(lesson.labels), leaving.id), replaced(trace, leaving.id)
    return record | ({"trace": trace} if whole else {"trace_text": text})


@dataclass(frozen=True, slots=True)
class _Known:
    """What other records need of a text: its id in the store, its length, its line, and whether it stays readable."""

    id: str
    length: int
    line: int
    kept: bool


class Reader:
    """Reads the records of one file, in order.

    Args:
        renaming: where they go; it gets the ids of texts and of logged facts.
        masking: the masking of secrets in what is read; the log keeps them.

    Attributes:
        counts: how many records of each sort were read.
    """

    def __init__(self, renaming: Renaming, masking: Masking = KEEP) -> None:
        self._masking = masking
        self.counts: dict[str, int] = {}
        self._renaming = renaming
        self._texts: dict[tuple[str, str, str, int], _Known] = {}
        self._lines: dict[tuple[object, ...], int] = {}
        self._read: dict[str, Callable[[Fields, str], Value]] = {
            "fact": self._fact,
            "reading": lambda fields, space: Job(
                renaming.space(space),
                self._referenced_text(fields, space).id,
                holder="",
                **fields.take_all(_READING),
            ),
            "lesson": self._lesson,
            "point": self._point,
            "alias": lambda fields, space: Alias(renaming.space(space), **fields.take_all(_ALIAS)),
            "question": lambda fields, space: (
                self._renaming.space(space),
                PooledQuestion(**fields.take_all(_QUESTION)),
            ),
        }

    def read(self, fields: Fields, line: int) -> Value:
        """Return the value of a line; ids in lessons, points and questions are still those of the file.

        Raises:
            BadLine: it is no record, repeats another one, or names a text that no line before it holds.
        """
        record = fields.take("record", Literal[(*KINDS, *self._read)])
        space = fields.take("space", str)
        if not SPACE_NAME.fullmatch(space):
            raise BadLine(f"names a space {space[:80]!r}", "Give the name of a space.")
        value = self._text(record, fields, space, line) if record in KINDS else self._read[record](fields, space)
        fields.finish()
        key = _identity(value)
        if key in self._lines:
            raise BadLine(f"repeats line {self._lines[key]}", "Take one of them out.")
        self._lines[key] = line
        self.counts[record] = self.counts.get(record, 0) + 1
        return value

    def _text(self, kind: Any, fields: Fields, space: str, line: int) -> Turn:
        into = self._renaming.space(space)
        turn = Turn("", into, kind=kind, place=0, **fields.take_all(_PLACE), **fields.take_all(_TEXT))
        said, revision, place = turn.text, turn.revision, (space, turn.session, turn.ref, turn.revision)
        if revision and (kind != "document" or (*place[:3], revision - 1) not in self._texts):
            raise BadLine(f"is revision {revision} of {turn.ref[:80]!r}, and no line before it has the one before")
        if place in self._texts:
            raise BadLine(f"has the id of line {self._texts[place].line}", "Give one of them another id.")
        text = self._masking.mask(said)
        turn = masked_turn(turn, self._masking)
        if self._masking.refuses and turn.original is not None:
            kinds = ", ".join(self._masking.kinds(said)) or "in its title"
            raise BadLine(f"holds a secret ({kinds}), and privacy.secrets is 'refuse'", "Take the secret out.")
        turn = self._renaming.turn(turn, space)
        self._texts[place] = _Known(turn.id, len(text), line, self._masking.keeps(turn))
        return turn

    def _referenced_text(self, fields: Fields, space: str) -> _Known:
        """Return the text that a record refers to by its session, id and revision."""
        named = fields.take_all(_PLACE)
        known = self._texts.get((space, named["session"], named["ref"], named["revision"]))
        if known is None:
            text = f"{named['ref'][:80]!r} of session {named['session'][:80]!r}"
            raise BadLine(f"names {text}, which no line before it holds")
        return known

    def _fact(self, fields: Fields, space: str) -> Assertion:
        text = self._referenced_text(fields, space)
        fact = Assertion(space=self._renaming.space(space), turn_id=text.id, **fields.take_all(_FACT))
        if not 0 <= fact.start <= fact.end <= text.length:
            raise BadLine("is stated by words outside of its text")
        if fact.since >= fact.until:
            raise BadLine("ends before it begins", "Mend 'since' or 'until'.")
        if not (fact.head.strip() and fact.relation.strip() and fact.tail.strip()):
            raise BadLine("has an empty head, relation or tail")
        fact = fact if text.kept else masked_assertion(fact, self._masking)
        if self._masking.refuses and fact.original is not None:
            raise BadLine("holds a secret, and privacy.secrets is 'refuse'", "Take the secret out.")
        return self._renaming.fact(fact)

    def _lesson(self, fields: Fields, space: str) -> Lesson:
        text = fields.take("trace_text", str, None)
        trace = encode_trace(fields.take("trace", dict)) if text is None else text.encode()
        return Lesson(space=self._renaming.space(space), trace=trace, **fields.take_all(_LESSON))

    def _point(self, fields: Fields, space: str) -> Point:
        point = Point(space=self._renaming.space(space), **fields.take_all(_POINT))
        if len({entity_key(name) for name in point.entities}) < MIN_ENTITIES:
            raise BadLine(f"joins fewer than {MIN_ENTITIES} entities")
        if (point.status == "merged") != (point.merged_into is not None):
            both = f"has the status {point.status!r}, but 'merged_into' is {point.merged_into!r}"
            raise BadLine(f"{both}: a point has the status 'merged' if and only if it names one")
        return self._renaming.point(point)


def _identity(value: Value) -> tuple[object, ...]:
    """Return what no two records share."""
    match value:
        case Turn() | Assertion():
            return type(value).__name__, value.space, value.id
        case Lesson():
            return "lesson", value.space, *value.key
        case Point():
            return "point", value.space, value.id, value.revision
        case Job():
            return "reading", value.space, value.turn_id
        case Alias():
            return "alias", value
        case (space, question):
            return "question", space, question
