"""Choose what is to be forgotten: from a caller's words to the ids of texts, facts, points and episodes.

A fact, and a sentence or segment that a recall showed, stand for the messages that say them. They never stand for a
document, which says much else: that has to be named itself, or previewed. What an entity is in goes as far as nobody
else is in it; the rest is listed, for the caller to name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from mcp_memory.domain.facts import Version
from mcp_memory.domain.forgetting import ForgetRequest, ForgetTargets
from mcp_memory.domain.turns import Segment, Sentence, Turn
from mcp_memory.errors import InvalidInput
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.space import NONE, Space
from mcp_memory.visible import as_name

SHOWN_CHARS = 120
"""Characters of a text that a line shows."""
_ALL_OR_NOTHING = "Nothing was forgotten."


@dataclass
class Chosen:
    """What a call chooses.

    Attributes:
        targets: by ids.
        staying: in words, what has to do with it and stays.
        implied: documents that go although the call does not name them themselves.
        near: in words, what a search finds too, with a word of it or none; it stays.
        facts: the facts that the call names; the texts that say them go as a whole.
        why: in words, why a query chooses a text, by its id, the nearest first.
    """

    targets: ForgetTargets
    staying: list[str] = field(default_factory=list)
    implied: list[Turn] = field(default_factory=list)
    near: list[str] = field(default_factory=list)
    facts: list[Version] = field(default_factory=list)
    why: dict[str, str] = field(default_factory=dict)


def choose(space: Space, request: ForgetRequest) -> Chosen:
    """Return what a request chooses, other than by a query.

    Raises:
        InvalidInput: an id, the session or the entity is not known in the space, or an id names several things.
    """
    if request.ids:
        return _by_ids(space, request)
    if request.session is not None:
        turns = [turn.id for turn in space.turns.values() if turn.session == request.session]
        if not turns:
            raise _unknown("session", request.session, space)
        return Chosen(ForgetTargets(space.name, turns=frozenset(turns)))
    if request.entity is not None:
        return _by_entity(space, request.entity)
    if request.window is not None:
        turns = [turn.id for turn in space.turns.values() if request.window.holds(turn)]
        return Chosen(ForgetTargets(space.name, turns=frozenset(turns)))
    return Chosen(ForgetTargets(space.name, everything=bool(space.turns or space.hypergraph or space.facts.rows)))


def label(turn: Turn) -> str:
    """Return how a text is called: its kind, id, speaker or title."""
    who = turn.speaker or turn.role or turn.title
    session = "" if turn.session == "default" else f" of session {turn.session!r}"
    return f"{turn.kind} {turn.ref!r}{session}" + (f" ({as_name(who)})" if who else "")


def short(text: str) -> str:
    """Return the beginning of a text on one line."""
    words = " ".join(text.split())
    return words if len(words) <= SHOWN_CHARS else f"{words[: SHOWN_CHARS - 1]}…"


def _unknown(argument: str, name: str, space: Space) -> InvalidInput:
    problem = f"{name[:60]!r} is not known in space {space.name!r}: it is gone already, or of another space"
    remedy = "Look it up with memory_reconstruct (`mcp-memory search`), name its space, or choose by query for words."
    return InvalidInput(argument, problem, f"{remedy} {_ALL_OR_NOTHING}")


# By ids


def _by_ids(space: Space, request: ForgetRequest) -> Chosen:
    turns: dict[str, None] = {}
    points: set[str] = set()
    episodes: set[str] = set()
    implied: dict[str, Turn] = {}
    facts: list[Version] = []
    for place, name in enumerate(request.ids):
        argument = f"ids[{place}]"
        if named := _texts_named(space, name, request.session, argument):
            turns |= dict.fromkeys(named)
        elif (said := _texts_saying(space, name)) is not None:
            turns |= dict.fromkeys(turn.id for turn in said)
            implied |= {turn.id: turn for turn in said if turn.kind == "document"}
            version = space.facts.version(name)
            facts += [version] if version is not None and any(turn.kind != "statement" for turn in said) else []
        elif space.hypergraph.get(name) is not None:
            points.add(name)
        elif space.beliefs.lessons(name):
            episodes.add(name)
        else:
            raise _unknown(argument, name, space)
    for name in list(turns):  # a document goes with all its revisions
        turn = space.turns[name]
        turns |= dict.fromkeys(one.id for one in space.revisions(turn.session, turn.ref))
    named_refs = {name for name in request.ids if name not in implied}
    unnamed = [turn for turn in implied.values() if turn.ref not in named_refs and turn.id not in named_refs]
    targets = ForgetTargets(space.name, turns=frozenset(turns), points=frozenset(points), episodes=frozenset(episodes))
    return Chosen(targets, implied=unnamed, facts=facts)


def _texts_named(space: Space, name: str, session: str | None, argument: str) -> list[str]:
    """Return the texts that an id names: the caller's own, within a session, or the memory's."""
    if name in space.turns:
        return [name]
    sessions = [session] if session is not None else list(space.sessions)
    found = [one for one in sessions if space.revisions(one, name)]
    if len(found) > 1:
        listed = ", ".join(repr(one) for one in found[:5])
        raise InvalidInput(
            argument, f"{name[:60]!r} is in several sessions: {listed}", f"Name the session. {_ALL_OR_NOTHING}"
        )
    return [turn.id for one in found for turn in space.revisions(one, name)]


def _texts_saying(space: Space, name: str) -> list[Turn] | None:
    """Return the texts that say what an evidence id names: a sentence, a segment, a fact or a statement; else None."""
    piece: Sentence | Segment | None = space.sentence(name)
    if piece is None and (row := space.segment_row(name)) != NONE:
        piece = space.segments[row]
    if piece is not None:
        return [space.turns[piece.turn_id]]
    version = space.facts.version(name)
    assertion = space.facts.assertion(name)
    stated = version.assertions if version is not None else (assertion,) if assertion is not None else None
    if stated is None:
        return None
    return [space.turns[one] for one in dict.fromkeys(row.turn_id for row in stated) if one in space.turns]


# By an entity


def _by_entity(space: Space, name: str) -> Chosen:
    """Choose what somebody said, what callers stated of it, and the messages that name nobody and nothing else.

    A text in which only the letters of the name are found is listed and stays: of a text in another language than
    English nobody has read who else is in it, and "May" is a month, too.
    """
    facts = space.facts
    entity = facts.key(name)
    index = space.index(EntityIndex)
    spelt = _spelt((name, *facts.names(entity)))
    turns: set[str] = set()
    staying: list[str] = []
    for turn in space.turns.values():
        who = turn.speaker or turn.role
        if who is not None and facts.key(who) == entity:
            turns.add(turn.id)
            continue
        named = {
            facts.known_entity(index.key(number)) or index.key(number)
            for row in space.sentences_of(turn.id)
            for number in index.entities(row)
        }
        named |= {facts.key(end) for row in facts.assertions_in(turn.id) for end in (row.head, row.tail)}
        if entity not in named:
            if spelt is not None and spelt.search(turn.text):
                staying.append(f"{label(turn)} has this name: {short(turn.text)}")
            continue
        others = named - {entity, *([facts.key(who)] if who else [])}
        if turn.kind == "statement" or (turn.kind == "message" and not others & _somebody(space, others)):
            turns.add(turn.id)
        else:
            staying.append(f"{label(turn)} names others too: {short(turn.text)}")
    stated = frozenset(
        row.id
        for row in facts.rows
        if row.extractor != "embedded"
        and row.turn_id not in turns
        and entity in (facts.key(row.head), facts.key(row.tail))
    )
    points = frozenset(
        point.id
        for point in space.hypergraph.active()
        if entity in {facts.key(one) for one in point.entities} and not (point.sentences or point.facts)
    )
    if not (turns or staying or stated or points):
        raise _unknown("entity", name, space)
    return Chosen(ForgetTargets(space.name, turns=frozenset(turns), assertions=stated, points=points), staying)


def _spelt(names: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern of names as they are written; None if none has a capital ("user"), as any word could be it."""
    written = "|".join(re.escape(name) for name in dict.fromkeys(names) if name.strip() and not name.islower())
    return re.compile(rf"(?<!\w)(?:{written})(?!\w)") if written else None


def _somebody(space: Space, keys: Iterable[str]) -> set[str]:
    """Return the entities that may be somebody: people, speakers, and names whose kind nothing shows."""
    return {key for key in keys if space.facts.kind(key) in (None, "person")}
