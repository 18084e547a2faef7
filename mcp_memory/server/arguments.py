"""Arguments checked once, at the rim, and refused in our own words: which argument, what is wrong, what would be right.

Two steps. ``read`` lets pydantic check types, ranges and names of fields, and says its complaints anew. Then
``write_request`` and its siblings check what a schema cannot say (``checks.py``, value by value), and hand over
requests in the words of ``domain``. Whatever is refused is refused before the memory is touched.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar, get_args

from pydantic import ValidationError

from mcp_memory.config import Limits
from mcp_memory.domain.facts import Intent
from mcp_memory.domain.query import Detail as HowMuch
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import relations
from mcp_memory.domain.requests import (
    EvolveRequest,
    EvolveStep,
    ExploreRequest,
    NewDescription,
    NewFact,
    NewItem,
    NewMerge,
    NewPoint,
    PointEdits,
    WriteRequest,
)
from mcp_memory.domain.requests import Feedback as Said
from mcp_memory.errors import InvalidInput
from mcp_memory.server import checks
from mcp_memory.server.schemas import (
    LIMIT,
    MAX_TOKENS,
    MAX_TURNS,
    AnswerArguments,
    Arguments,
    Document,
    EvolveArguments,
    ExploreArguments,
    Fact,
    Feedback,
    Message,
    Operator,
    Point,
    PointMerge,
    Points,
    PointUpdate,
    ReconstructArguments,
    WriteArguments,
)

QUERY_BYTES = 20_000
"""Of a query or question in UTF-8: beyond that it is a text to remember, not a question."""
ENTITIES = 16
"""Names that a recall may start from; each costs a search of its own."""
JUDGED = 200
"""Pieces of evidence that a caller may name at once: as many as a recall returns."""

POINTS = 100
"""Memory points that a call may insert, update or merge."""
POINT_BYTES = 4_000
"""Of a point's description in UTF-8: beyond that it is a text to remember, not what joins a few things."""

ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)
_LISTS = ("messages", "documents", "facts", "entities", "steps", "ids")
_OBJECTS = {"feedback": ("supports", "not_supports"), "points": ("insert", "update", "merge")}
"""Arguments that are objects, and the lists in them."""
_EXPECTED = {
    "string": "a text",
    "int": "a whole number",
    "bool": "true or false",
    "list": "a list",
    "model": "an object",
    "dict": "an object",
}
_WANTED = {
    "limit": "a whole number from {} to {}".format(*LIMIT),
    "max_tokens": "a whole number from {} to {}".format(*MAX_TOKENS),
    "max_turns": "a whole number from {} to {}".format(*MAX_TURNS),
    "confidence": "a number above 0 and at most 1",
    "intent": f"one of {', '.join(get_args(Intent))}",
    "detail": f"one of {', '.join(get_args(HowMuch))}",
    "operator": f"one of {', '.join(get_args(Operator))}",
    "steps": f"a list with any of {', '.join(get_args(EvolveStep))}",
}
"""What a field takes of which not every value of its type will do."""


def read(model: type[ArgumentsT], raw: Mapping[str, Any]) -> ArgumentsT:
    """Return the arguments of a call.

    An argument that is null or an empty list counts as left out: some models fill in every field. A list or an object
    that came as its JSON text is read as what it is, since some clients send it so; no other text is ever turned into
    anything else.

    Raises:
        InvalidInput: an argument is missing, unknown or of another type, or a number is out of range.
    """
    given = _filled(raw, [name for name in _LISTS if name in model.model_fields])
    for name, lists in _OBJECTS.items():
        if name in model.model_fields and isinstance(said := _parsed(given.get(name), dict), dict):
            given[name] = _filled(said, lists)
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise _refusal(model, error.errors(include_url=False, include_context=False)[0]) from None


def write_request(args: WriteArguments, limits: Limits) -> WriteRequest:
    """Return what a call of memory_write asks to remember.

    Raises:
        InvalidInput: naming the argument.
    """
    given = [name for name in ("messages", "documents", "text") if getattr(args, name) is not None]
    if len(given) > 1:
        raise InvalidInput("messages, documents, text", f"{' and '.join(given)} came together", "Give exactly one.")
    if not given and args.facts is None:
        remedy = "Give exactly one of the three, or facts, or one of the three and facts."
        raise InvalidInput("messages, documents, text", "none of them was given", remedy)
    space, session = checks.space(args.space), checks.name("session", args.session, limits)
    facts: tuple[NewFact, ...] = ()
    if args.facts is not None:
        checks.number(args.facts, "facts", limits.items, "limits.items")
        facts = tuple(_fact(f"facts[{place}]", fact, limits) for place, fact in enumerate(args.facts))
    if args.text is not None:
        text = checks.text("text", args.text, limits.message_bytes, "limits.message_bytes")
        return WriteRequest(space, session, "message", (NewItem(text),), facts)
    if args.messages is not None:
        checks.number(args.messages, "messages", limits.items, "limits.items")
        talk = tuple(_message(f"messages[{place}]", item, limits) for place, item in enumerate(args.messages))
        return WriteRequest(space, session, "message", talk, facts)
    if args.documents is not None:
        checks.number(args.documents, "documents", limits.items, "limits.items")
        texts = tuple(_document(f"documents[{place}]", item, limits) for place, item in enumerate(args.documents))
        return WriteRequest(space, session, "document", texts, facts)
    return WriteRequest(space, session, "statement", (), facts)


def recall_request(args: ReconstructArguments, limits: Limits) -> Query:
    """Return what a call of memory_reconstruct asks for.

    Raises:
        InvalidInput: naming the argument.
    """
    text = args.query or ""
    if args.query is not None:
        text = checks.text("query", text, QUERY_BYTES, None, "Give a question, or leave it out for the newest.")
    return Query(
        text,
        checks.space(args.space),
        args.limit,
        checks.window(args.since, args.until),
        as_of=checks.moment("as_of", args.as_of),
        entities=_names("entities", args.entities, ENTITIES, limits),
        include_uncertain=args.include_uncertain,
        detail=args.detail,
        max_turns=args.max_turns,
    )


def answer_request(args: AnswerArguments) -> Query:
    """Return what a call of memory_answer asks.

    Raises:
        InvalidInput: naming the argument.
    """
    question = checks.text("question", args.question, QUERY_BYTES, None, "Give a whole question.")
    as_of = checks.moment("as_of", args.as_of)
    return Query(
        question,
        checks.space(args.space),
        args.limit,
        as_of=as_of,
        detail=args.detail,
        learn=args.learn,
    )


def evolve_request(args: EvolveArguments, limits: Limits) -> EvolveRequest:
    """Return what a call of memory_evolve asks for; whether it knows the episode is told later.

    Raises:
        InvalidInput: naming the argument.
    """
    feedback = None if args.feedback is None else _feedback(args.feedback, limits)
    if feedback is not None and args.episode is None:
        raise InvalidInput("episode", "is missing", "Give the episode that the reply of a recall or answer named.")
    goal = args.goal
    if goal is not None:
        goal = checks.text("goal", goal, QUERY_BYTES, None, "Give a question or topic, or leave it out.")
    points = None if args.points is None else _points(args.points, limits)
    steps = tuple(dict.fromkeys(args.steps or ()))
    episode = checks.name("episode", args.episode, limits)
    return EvolveRequest(checks.space(args.space), episode, feedback, goal, points, steps)


def explore_request(args: ExploreArguments, limits: Limits) -> ExploreRequest:
    """Return which step a call of memory_explore asks for; whether it has all that the step needs is told later.

    Raises:
        InvalidInput: naming the argument.
    """
    query = args.query
    if query is not None:
        query = checks.text("query", query, QUERY_BYTES, None, "Say what you are after, or leave it out.")
    if args.operator == "propagate" and args.entity is None and query is None:
        remedy = "The operator propagate begins at an entity, or at what a query names. Give one of them."
        raise InvalidInput("entity", "is missing", remedy)
    return ExploreRequest(
        checks.space(args.space),
        args.operator,
        checks.name("entity", args.entity, limits),
        _relation("relation", args.relation, limits),
        query,
        checks.window(args.since, args.until),
        args.limit,
        checks.name("tag", args.tag, limits),
        checks.name("topic", args.topic, limits),
        _names("ids", args.ids, JUDGED, limits),
        checks.name("episode", args.episode, limits),
    )


def _feedback(given: Feedback, limits: Limits) -> Said:
    correction = given.correction
    if correction is not None:
        correction = checks.text("feedback.correction", correction, limits.message_bytes, "limits.message_bytes")
    return Said(
        _names("feedback.supports", given.supports, JUDGED, limits),
        _names("feedback.not_supports", given.not_supports, JUDGED, limits),
        given.answer_correct,
        correction,
    )


def _points(given: Points, limits: Limits) -> PointEdits:
    brought = {name: items for name in Points.model_fields if (items := getattr(given, name)) is not None}
    if not brought:
        raise InvalidInput("points", "says nothing", f"Give at least one of {', '.join(Points.model_fields)}.")
    for name, items in brought.items():
        checks.number(items, f"points.{name}", POINTS, None)

    def said(argument: str, description: str) -> str:
        return checks.text(f"{argument}.description", description, POINT_BYTES, None)

    insert, update, merge = [], [], []
    for place, new in enumerate(given.insert or ()):
        argument = f"points.insert[{place}]"
        entities = _names(f"{argument}.entities", new.entities, ENTITIES, limits)
        insert.append(NewPoint(entities, said(argument, new.description)))
    for place, changed in enumerate(given.update or ()):
        argument = f"points.update[{place}]"
        point = checks.name(f"{argument}.id", changed.id, limits)
        update.append(NewDescription(point, said(argument, changed.description)))
    for place, joined in enumerate(given.merge or ()):
        argument = f"points.merge[{place}]"
        ids = _names(f"{argument}.ids", joined.ids, ENTITIES, limits)
        if len(ids) < 2:
            raise InvalidInput(f"{argument}.ids", "names one point", "Give at least two.")
        merge.append(NewMerge(ids, said(argument, joined.description)))
    return PointEdits(tuple(insert), tuple(update), tuple(merge))


def _message(argument: str, item: Message, limits: Limits) -> NewItem:
    return NewItem(
        text=checks.text(f"{argument}.text", item.text, limits.message_bytes, "limits.message_bytes"),
        ref=checks.name(f"{argument}.id", item.id, limits),
        speaker=checks.name(f"{argument}.speaker", item.speaker, limits),
        role=checks.name(f"{argument}.role", item.role, limits),
        said_at=checks.start(f"{argument}.time", item.time),
    )


def _document(argument: str, item: Document, limits: Limits) -> NewItem:
    return NewItem(
        text=checks.text(f"{argument}.text", item.text, limits.document_bytes, "limits.document_bytes"),
        ref=checks.name(f"{argument}.id", item.id, limits),
        title=checks.name(f"{argument}.title", item.title, limits),
        said_at=checks.start(f"{argument}.time", item.time),
    )


def _fact(argument: str, fact: Fact, limits: Limits) -> NewFact:
    since = checks.start(f"{argument}.valid_from", fact.valid_from)
    until = checks.start(f"{argument}.valid_to", fact.valid_to)
    if until is not None and fact.negated:
        remedy = "Leave it out, and give in valid_from when the fact ceased to hold."
        raise InvalidInput(f"{argument}.valid_to", "a negated fact has no end", remedy)
    if since is not None and until is not None and until <= since:
        problem = f"{checks.shown(fact.valid_to)} is not after valid_from, {checks.shown(fact.valid_from)}"
        remedy = "Give the first date or time at which the fact no longer holds."
        raise InvalidInput(f"{argument}.valid_to", problem, remedy)
    return NewFact(
        head=checks.name(f"{argument}.head", fact.head, limits),
        relation=_relation(f"{argument}.relation", fact.relation, limits),
        tail=checks.name(f"{argument}.tail", fact.tail, limits),
        valid_from=since,
        valid_to=until,
        confidence=fact.confidence,
        intent=fact.intent,
        source=checks.name(f"{argument}.source", fact.source, limits),
        negated=fact.negated,
    )


RelationT = TypeVar("RelationT", str, str | None)


def _relation(argument: str, given: RelationT, limits: Limits) -> RelationT:
    """Return the name of a relation as it is, or None for none."""
    if checks.name(argument, given, limits) is not None and not relations().name(given or ""):
        problem = f"{checks.shown(given)} has neither letter nor digit"
        raise InvalidInput(argument, problem, "Give a verb phrase such as lives_in or works_at.")
    return given


def _names(argument: str, given: Sequence[str] | None, most: int, limits: Limits) -> tuple[str, ...]:
    if given is None:
        return ()
    checks.number(given, argument, most, None)
    return tuple(checks.name(f"{argument}[{place}]", one, limits) for place, one in enumerate(given))


def _filled(raw: Mapping[str, Any], lists: Collection[str]) -> dict[str, Any]:
    """Return the arguments that say something; of those that are to be lists, each read as one, and none empty."""
    given = {name: _list(value) if name in lists else value for name, value in raw.items() if value is not None}
    return {name: value for name, value in given.items() if name not in lists or value != []}


def _list(value: object) -> object:
    """Return a list whose items have no nulls; from the text of a JSON list, that list; anything else as it is."""
    value = _parsed(value, list)
    if not isinstance(value, list):
        return value
    return [{k: v for k, v in item.items() if v is not None} if isinstance(item, dict) else item for item in value]


def _parsed(value: object, kind: type[list[Any]] | type[dict[str, Any]]) -> object:
    """Return what the JSON text of a list or an object says, if it is of that kind; anything else as it is."""
    if isinstance(value, str):
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return parsed if isinstance(parsed, kind) else value
    return value


def _refusal(model: type[Arguments], error: Mapping[str, Any]) -> InvalidInput:
    """Return one complaint of pydantic in our words."""
    place, kind, value = error["loc"], error["type"], error["input"]
    argument = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")
    if kind == "extra_forbidden":
        known = ", ".join(_model_at(model, place[:-1]).model_fields) or "none"
        return InvalidInput(checks.shown(argument, 80).strip("'"), "there is no such argument", f"Known here: {known}.")
    if kind == "missing":
        wanted = _WANTED.get(str(place[-1]))
        return InvalidInput(argument, "is missing", f"Give {wanted}." if wanted else "It cannot be left out.")
    field = next(part for part in reversed(place) if isinstance(part, str))  # of "steps[0]" it is "steps"
    if wanted := _WANTED.get(field):
        return InvalidInput(argument, f"{checks.shown(value)} will not do", f"Give {wanted}.")
    expected = _EXPECTED.get(kind.split("_")[0], "another type")
    return InvalidInput(argument, f"{checks.shown(value)} is not {expected}", f"Give {expected}.")


def _model_at(model: type[Arguments], place: Sequence[int | str]) -> type[Arguments]:
    """Return the model whose fields are meant at a place: of the arguments, or of one item of a list of them."""
    parts: dict[str, type[Arguments]] = {
        "messages": Message,
        "documents": Document,
        "facts": Fact,
        "feedback": Feedback,
        "points": Points,
    }
    edits: dict[str, type[Arguments]] = {"insert": Point, "update": PointUpdate, "merge": PointMerge}
    if len(place) > 1 and place[0] == "points":
        return edits.get(str(place[1]), Points)
    return parts.get(str(place[0]), model) if place else model
