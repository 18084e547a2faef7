"""Records: a value of the log as a line of an export, and a line as a value.

A text is named by space, session, the caller's own id and its revision, as in the tools; facts and readings name it in
the same way. Ids that follow from the content (of texts, in ``domain/turns.py``) are not in the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from mcp_memory.domain.access import SPACE_NAME
from mcp_memory.domain.batch import KEEP, Masking, masked_assertion, masked_turn
from mcp_memory.domain.entities import Alias, entity_key
from mcp_memory.domain.episodes import Lesson, Target
from mcp_memory.domain.facts import WHOLE, Assertion, Engine, FactKind, Intent, Precision
from mcp_memory.domain.language_model import Job, State
from mcp_memory.domain.points import MIN_ENTITIES, Point, Status
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import Kind, PooledQuestion, Turn
from mcp_memory.services.transfer.format import BadLine, Fields, stamp
from mcp_memory.services.transfer.renaming import Leaving, Renaming, replaced
from mcp_memory.visible import with_masks

PlacedQuestion = tuple[str, PooledQuestion]
"""The space of a question, and the question."""
Value = Turn | Assertion | Lesson | Point | Alias | PlacedQuestion | Job
"""What a line holds."""
KINDS: tuple[Kind, ...] = get_args(Kind)
_ENDINGS: tuple[State, ...] = ("waiting", "done", "failed")


def record_of(value: Value, turns: Mapping[str, Turn], leaving: Leaving | None = None) -> dict[str, object] | None:
    """Return a value as a record; None if it belongs to a text that is not there.

    Args:
        value: the value of the log.
        turns: every text of the log, by its id.
        leaving: the ids of its space in the export; None for those of the store.
    """
    match value:
        case Turn():
            return _text_record(_left(value, leaving))
        case Assertion() | Job():
            turn = turns.get(value.turn_id)
            if turn is None:
                return None
            place = _left(turn, leaving)
            if isinstance(value, Job):
                return _reading_record(value, place)
            return _fact_record(value if leaving is None else replace(value, id=leaving.fact(value)), place)
        case Lesson():
            return _lesson_record(value, leaving)
        case Point():
            return _point_record(value if leaving is None else leaving.point(value))
        case Alias():
            names = {"name": value.name, "alias": value.alias, "reason": value.reason}
            return {"record": "alias", "space": value.space, **names, "by": value.source, "recorded": stamp(value.at)}
        case (space, question):
            segment = question.segment_id if leaving is None else leaving.id(question.segment_id)
            row = {"text": question.text, "segment": segment, "entities": sorted(question.entities)}
            return {"record": "question", "space": space, **row}


def _left(turn: Turn, leaving: Leaving | None) -> Turn:
    return turn if leaving is None else replace(turn, ref=leaving.ref(turn))


def _place(turn: Turn) -> dict[str, object]:
    revision = turn.revision or None
    return {"space": turn.space, "session": turn.session, "id": turn.ref, "revision": revision}


def _text_record(turn: Turn) -> dict[str, object]:
    said = None if turn.said_at is None else stamp(turn.said_at)
    who = {"speaker": turn.speaker, "role": turn.role, "title": turn.title}
    times = {"time": said, "offset": turn.offset or None, "written": stamp(turn.written_at)}
    return {"record": turn.kind, **_place(turn), **who, **times, "text": turn.text}


def _fact_record(fact: Assertion, turn: Turn) -> dict[str, object]:
    return {
        "record": "fact",
        **_place(turn),
        "fact": fact.id,
        "by": fact.extractor,
        "head": fact.head,
        "relation": fact.relation,
        "tail": fact.tail,
        "negated": fact.negated or None,
        "since": stamp(fact.since),
        "until": stamp(fact.until),
        "stated": fact.stated,
        "kind": fact.kind,
        "precision": fact.precision,
        "confidence": fact.confidence,
        "intent": fact.intent,
        "change": fact.change or None,
        "sentence": None if fact.sentence == WHOLE else fact.sentence,
        "start": len(with_masks(turn.text[: fact.start])),
        "end": len(with_masks(turn.text[: fact.end])),
        "said": stamp(fact.said_at),
        "recorded": stamp(fact.recorded_at),
    }


def _reading_record(job: Job, turn: Turn) -> dict[str, object]:
    state = "waiting" if job.state == "leased" else job.state  # a lease means nothing elsewhere
    until = stamp(job.until) if job.until and job.state != "leased" else None
    progress = {"state": state, "parts": job.parts, "tries": job.tries, "until": until}
    return {"record": "reading", **_place(turn), **progress, "recorded": stamp(job.at)}


def _lesson_record(lesson: Lesson, leaving: Leaving | None) -> dict[str, object]:
    text = lesson.trace.decode()
    try:
        trace = json.loads(text)
    except (ValueError, RecursionError):
        trace = None
    whole = isinstance(trace, dict) and trace_text(trace) == text  # else it is damaged, and kept as it is
    labels: Mapping[str, int] = lesson.labels
    if leaving is not None:
        labels, trace = replaced(dict(labels), leaving.id), replaced(trace, leaving.id)
    return {
        "record": "lesson",
        "space": lesson.space,
        "episode": lesson.episode_id,
        "query": lesson.query,
        "asked": stamp(lesson.asked_at),
        "by": lesson.source,
        "recorded": stamp(lesson.at),
        "labels": dict(labels),
        "trace": trace if whole else None,
        "trace_text": None if whole else text,
    }


def trace_text(trace: Mapping[str, object]) -> str:
    """Return the trace of an episode as a lesson keeps it."""
    return json.dumps(trace, ensure_ascii=False, separators=(",", ":"))


def _point_record(point: Point) -> dict[str, object]:
    return {
        "record": "point",
        "space": point.space,
        "point": point.id,
        "revision": point.revision or None,
        "entities": list(point.entities),
        "description": point.description,
        "goal": point.scope or None,
        "status": point.status,
        "parents": list(point.parents) or None,
        "merged_into": point.merged_into,
        "sentences": list(point.sentences) or None,
        "facts": list(point.facts) or None,
        "by": point.source,
        "recorded": stamp(point.at),
    }


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
            "reading": self._reading,
            "lesson": self._lesson,
            "point": self._point,
            "alias": self._alias,
            "question": self._question,
        }

    def read(self, fields: Fields, line: int) -> Value:
        """Return the value of a line; ids in lessons, points and questions are still those of the file.

        Raises:
            BadLine: it is no record, repeats another one, or names a text that no line before it holds.
        """
        record = fields.choice("record", (*KINDS, *self._read))
        space = fields.text("space")
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
        session, ref, said = fields.text("session"), fields.text("id"), fields.text("text")
        text = self._masking.mask(said)
        revision = fields.integer("revision", 0, least=0)
        place = space, session, ref, revision
        if revision and (kind != "document" or (space, session, ref, revision - 1) not in self._texts):
            raise BadLine(f"is revision {revision} of {ref[:80]!r}, and no line before it has the one before")
        if place in self._texts:
            raise BadLine(f"has the id of line {self._texts[place].line}", "Give one of them another id.")
        into = self._renaming.space(space)
        turn = Turn(
            "", into, session, ref, kind, said,
            fields.optional_text("speaker"), fields.optional_text("role"), fields.optional_text("title"),
            fields.optional_moment("time"), fields.moment("written"), revision, place=0,
            offset=fields.integer("offset", 0, least=-1_440),
        )  # fmt: skip
        turn = masked_turn(turn, self._masking)
        if self._masking.refuses and turn.original is not None:
            kinds = ", ".join(self._masking.kinds(said)) or "in its title"
            raise BadLine(f"holds a secret ({kinds}), and privacy.secrets is 'refuse'", "Take the secret out.")
        turn = self._renaming.turn(turn, space)
        self._texts[place] = _Known(turn.id, len(text), line, self._masking.keeps(turn))
        return turn

    def _referenced_text(self, fields: Fields, space: str) -> _Known:
        """Return the text that a record refers to by its session, id and revision."""
        place = space, fields.text("session"), fields.text("id"), fields.integer("revision", 0, least=0)
        known = self._texts.get(place)
        if known is None:
            raise BadLine(f"names {place[2][:80]!r} of session {place[1][:80]!r}, which no line before it holds")
        return known

    def _fact(self, fields: Fields, space: str) -> Assertion:
        text = self._referenced_text(fields, space)
        by = fields.choice("by", ("caller", "anthropic"))
        precision = fields.optional_text("precision")
        if precision is not None and precision not in get_args(Precision):
            raise BadLine(f"has {precision[:40]!r} in 'precision'")
        extractor: Any = by
        exact: Any = precision
        fact = Assertion(
            id=fields.text("fact"),
            space=self._renaming.space(space),
            turn_id=text.id,
            sentence=fields.integer("sentence", WHOLE, least=0) if "sentence" in fields else WHOLE,
            start=fields.integer("start", least=0),
            end=fields.integer("end", least=0),
            head=fields.text("head"),
            relation=fields.text("relation"),
            tail=fields.text("tail"),
            negated=fields.flag("negated"),
            since=fields.boundary("since", BEGINNING),
            until=fields.boundary("until", FOREVER),
            stated=fields.flag("stated"),
            confidence=fields.share("confidence"),
            intent=fields.choice("intent", get_args(Intent)),
            change=fields.flag("change"),
            extractor=extractor,
            said_at=fields.moment("said"),
            recorded_at=fields.moment("recorded"),
            kind=fields.choice("kind", get_args(FactKind)),
            precision=exact,
        )
        if not fact.start <= fact.end <= text.length:
            raise BadLine("is stated by words outside of its text")
        if fact.since >= fact.until:
            raise BadLine("ends before it begins", "Mend 'since' or 'until'.")
        if not (fact.head.strip() and fact.relation.strip() and fact.tail.strip()):
            raise BadLine("has an empty head, relation or tail")
        fact = fact if text.kept else masked_assertion(fact, self._masking)
        if self._masking.refuses and fact.original is not None:
            raise BadLine("holds a secret, and privacy.secrets is 'refuse'", "Take the secret out.")
        return self._renaming.fact(fact)

    def _reading(self, fields: Fields, space: str) -> Job:
        text = self._referenced_text(fields, space)
        return Job(
            self._renaming.space(space),
            text.id,
            fields.choice("state", _ENDINGS),
            fields.integer("parts", least=0),
            fields.integer("tries", least=0),
            fields.moment("until", 0),
            "",
            fields.moment("recorded"),
        )

    def _lesson(self, fields: Fields, space: str) -> Lesson:
        labels = fields.object("labels")
        if not all(type(label) is int and label in get_args(Target) for label in labels.values()):
            raise BadLine("has a label that is none of -1, 0 and 1")
        trace = fields.optional_text("trace_text")
        if trace is None:
            trace = trace_text(fields.object("trace"))
        return Lesson(
            fields.text("episode"),
            self._renaming.space(space),
            fields.text("query"),
            fields.moment("asked"),
            fields.choice("by", get_args(Engine)),
            fields.moment("recorded"),
            labels,
            trace.encode(),
        )

    def _point(self, fields: Fields, space: str) -> Point:
        point = Point(
            fields.text("point"),
            self._renaming.space(space),
            fields.texts("entities"),
            fields.text("description"),
            fields.text("goal", ""),
            fields.integer("revision", 0, least=0),
            fields.choice("status", get_args(Status)),
            fields.texts("parents"),
            fields.optional_text("merged_into"),
            fields.texts("sentences"),
            fields.texts("facts"),
            fields.choice("by", get_args(Engine)),
            fields.moment("recorded"),
        )
        if len({entity_key(name) for name in point.entities}) < MIN_ENTITIES:
            raise BadLine(f"joins fewer than {MIN_ENTITIES} entities")
        if (point.status == "merged") != (point.merged_into is not None):
            both = f"has the status {point.status!r}, but 'merged_into' is {point.merged_into!r}"
            raise BadLine(f"{both}: a point has the status 'merged' if and only if it names one")
        return self._renaming.point(point)

    def _alias(self, fields: Fields, space: str) -> Alias:
        names = fields.text("name"), fields.text("alias"), fields.text("reason")
        return Alias(
            self._renaming.space(space), *names, fields.choice("by", get_args(Engine)), fields.moment("recorded")
        )

    def _question(self, fields: Fields, space: str) -> PlacedQuestion:
        question = PooledQuestion(fields.text("text"), fields.text("segment"), frozenset(fields.texts("entities")))
        return self._renaming.space(space), question


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
