"""Forget: choose what goes, say what would go, and with the token of that preview, or with ids alone, let it go.

**What a call chooses.** A fact, and a sentence or segment that a recall showed, stand for the messages that say them.
They never stand for a document, which says much else: that has to be named itself, or previewed. What an entity is in
goes as far as nobody else is in it; the rest is listed, for the caller to name.

**The token** of a preview is a digest of what it chose. The call that does it chooses again, under the lock that
writers take. If it chooses something else by then, the token is another one, and nothing goes. So a token is good for
one deed, in any process, and none is stored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from mcp_memory.domain.facts import Version
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import ForgetRequest, ForgetResult, ForgetTargets
from mcp_memory.domain.times import BEGINNING, Millis
from mcp_memory.domain.turns import Segment, Sentence, Turn
from mcp_memory.errors import InvalidInput
from mcp_memory.language import iso
from mcp_memory.language.questions import understand
from mcp_memory.language.tokens import stem, stems, words
from mcp_memory.language.vocabulary import ASKING
from mcp_memory.ports import Embedder, Store
from mcp_memory.search.words import WordIndex
from mcp_memory.services.answer import reconstruct
from mcp_memory.services.learn.episodes import Episodes
from mcp_memory.services.recall.loop import RecallSettings
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.erasure import Erasure, counts_of, erasure_of, words_in
from mcp_memory.view.space import NONE, Space, View
from mcp_memory.visible import as_name

SHOWN_CHARS = 120
"""Characters of a text that a line shows."""
LISTED_LINES = 12
"""Lines of one sort that a reply lists."""
MOST_MATCHES = 24
"""Items that a query finds at most."""
ABOUT_SHARE = 0.6
"""Share of what the best message has of a query's words that a message has if it is about it."""
NEAR_TEXTS = 3
"""Texts that a query finds without a word of it which a reply shows; they stay."""
ELSEWHERE = (
    "Copies elsewhere remain: exports, backups and pages that you have written before, what clients keep of their "
    "conversations, what a shell or a browser remembers, and what you copied yourself."
)
_ALL_OR_NOTHING = "Nothing was forgotten."
_FORGETTING = frozenset("forget forgets forgotten delete erase remove please anymore told".split())  # noqa: SIM905 - words
"""Words that only ask to forget."""


@dataclass
class Chosen:
    """What a call chooses.

    Attributes:
        staying: in words, what has to do with it and stays.
        implied: documents that go although the call does not name them themselves.
        near: in words, what a search finds too, with a word of it or none; it stays.
        facts: the facts that the call names; the texts that say them go as a whole.
        shared: the words of a query for which it chooses a text, by its id, the nearest first.
    """

    targets: ForgetTargets
    staying: list[str] = field(default_factory=list)
    implied: list[Turn] = field(default_factory=list)
    near: list[str] = field(default_factory=list)
    facts: list[Version] = field(default_factory=list)
    shared: dict[str, tuple[str, ...]] = field(default_factory=dict)


async def forget(
    store: Store,
    embedder: Embedder,
    request: ForgetRequest,
    *,
    settings: RecallSettings,
    episodes: Episodes,
    now: Millis,
) -> ForgetResult:
    """Preview, or forget; nothing is changed unless ``request.dry_run`` is false.

    Raises:
        InvalidInput: something is unknown, or the token is missing or not that of this choice. Nothing is changed.
        StoreError: nothing is changed, or the next call finishes it; the text says which.
    """
    matches = await _matches(store, embedder, request, settings, now) if request.query is not None else None
    if request.dry_run:
        async with store.reading() as view:
            space = view.space(request.space)
            chosen = _choose(space, request, matches)
            erasure = erasure_of(space, chosen.targets)
            lines = (*_lines(space, chosen, erasure), *(f"stays: {line}" for line in chosen.near))
            counts, token = counts_of(space, erasure), _token(space, chosen.targets)
        to_add = ("To forget a text that stays, give its id and session.",) if chosen.staying or chosen.near else ()
        warnings = (*map(_only_wrong, chosen.facts[:LISTED_LINES]), *to_add)
        return ForgetResult(counts, lines, dry_run=True, token=token if counts else None, warnings=warnings)
    done: list[tuple[dict[str, int], tuple[str, ...]]] = []

    def decide(view: View) -> Erasure:
        space = view.space(request.space)
        chosen = _choose(space, request, matches)
        _check_token(request, chosen, _token(space, chosen.targets))
        erasure = erasure_of(space, chosen.targets)
        done.append((counts_of(space, erasure), _lines(space, chosen, erasure)))
        return erasure

    erasure = await store.forget(decide)
    episodes.drop(request.space, erasure.ids, everything=request.everything)
    counts, lines = done[-1]
    notes = (await store.about()).notes
    return ForgetResult(counts, lines, dry_run=False, warnings=(*notes, ELSEWHERE))


def _choose(space: Space, request: ForgetRequest, matches: Chosen | None) -> Chosen:
    """Return what a request chooses; of what its query matches, what is still there.

    Raises:
        InvalidInput: an id, the session or the entity is not known in the space, or an id names several things.
    """
    if matches is not None:
        return replace(matches, targets=replace(matches.targets, turns=matches.targets.turns & space.turns.keys()))
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


def _token(space: Space, targets: ForgetTargets) -> str:
    """Return the token of a choice."""
    ids = (*sorted(targets.turns), *sorted(targets.assertions), *sorted(targets.points), *sorted(targets.episodes))
    whole = sorted((*space.turns, *(point.id for point in space.hypergraph.all()))) if targets.everything else ()
    return space.ids.of("forget", space.name, str(targets.everything), *ids, *whole)[:12]


def _check_token(request: ForgetRequest, chosen: Chosen, token: str) -> None:
    """Check that the caller has seen what goes: by the token of the preview, or since they named it all."""
    if request.token is None and request.ids and not chosen.implied:
        return
    if request.token is None and request.ids:
        listed = ", ".join(_label(turn) for turn in chosen.implied[:3])
        problem = f"what the ids name is said in {listed}, which would go as a whole"
        remedy = "Name the document itself, or preview it and give the preview's token. Nothing was forgotten."
        raise InvalidInput("ids", problem, remedy)
    if request.token is None:
        remedy = "Preview it first, look at what would go, and give the preview's token. Nothing was forgotten."
        raise InvalidInput("token", "is missing", remedy)
    if request.token != token or chosen.targets.empty:
        problem = (
            f"{request.token[:40]!r} is not the token of what would go now: it was used, or something changed since"
        )
        raise InvalidInput("token", problem, "Preview it again, without a token. Nothing was forgotten.")


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
    if piece is None and (row := space.segments.row(name)) != NONE:
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
            for row in space.sentences.of_turn(turn.id)
            for number in index.entities(row)
        }
        named |= {facts.key(end) for row in facts.assertions_in(turn.id) for end in (row.head, row.tail)}
        if entity not in named:
            if spelt is not None and spelt.search(turn.text):
                staying.append(f"{_label(turn)} has this name: {_short(turn.text)}")
            continue
        others = named - {entity, *([facts.key(who)] if who else [])}
        # Whose kind nothing shows may be somebody, too.
        alone = not any(facts.kind(key) in (None, "person") for key in others)
        if turn.kind == "statement" or (turn.kind == "message" and alone):
            turns.add(turn.id)
        else:
            staying.append(f"{_label(turn)} names others too: {_short(turn.text)}")
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


# By a query


async def _matches(
    store: Store, embedder: Embedder, request: ForgetRequest, settings: RecallSettings, now: Millis
) -> Chosen:
    """Return the messages that a query finds and that are about it, the nearest first.

    A message is about it if it has more than half of the words that the best message has of it, and `ABOUT_SHARE` of
    them by rarity: "mum's PIN" is not every message about mum. The others that have one stay, and are listed with it,
    so that they can be named; so do documents.
    """
    query = Query(request.query or "", request.space, MOST_MATCHES, now=now)
    found = await reconstruct(store, embedder, query, settings=settings, episodes=Episodes())
    async with store.reading() as view:
        space = view.space(request.space)
        asked = _wanted_words(space, request.query or "", now)
        index = space.index(WordIndex)
        rarity = {word: max(map(index.rarity, stems(word)), default=0.0) for word in asked}
        texts: dict[str, list[str]] = {}
        for item in found.evidence:
            if item.inferred is None and item.kind != "point":
                turns = [source.turn for source in item.sources]
                for turn in turns if item.kind == "fact" else turns[:1]:  # of a fact all that it shows
                    said = texts.setdefault(turn.id, [turn.text, turn.speaker or ""])
                    said += [item.text] if item.kind == "fact" else []
        shared: dict[str, tuple[str, ...]] = {}
        for name, said in texts.items():
            if name in space.turns:
                told = {stem(word) for text in said for word in words(text)}
                shared[name] = tuple(word for word in asked if stem(word) in told)
        return _divided(space, shared, rarity)


def _divided(space: Space, shared: dict[str, tuple[str, ...]], rarity: dict[str, float]) -> Chosen:
    """Return what is about a query, what only shares words with it, and what a search finds without one.

    ``shared`` has the words of the query that each text has, by its id, the nearest text first.
    """
    share = {name: sum(rarity[word] for word in said) for name, said in shared.items()}
    messages = [name for name in shared if space.turns[name].kind != "document"]
    best = max(messages, key=lambda name: share[name], default="")
    about = [
        name
        for name in messages
        if 2 * len(shared[name]) > len(shared[best]) and share[name] >= ABOUT_SHARE * share[best] and shared[name]
    ]
    chosen = {name: shared[name] for name in sorted(about, key=lambda name: -share[name])}
    staying, near, others = [], [], []
    for name in sorted(shared.keys() - chosen.keys(), key=lambda name: (-share[name], list(shared).index(name))):
        turn, said = space.turns[name], ", ".join(shared[name])
        if not said:
            others.append(f"{_label(turn)} has none of these words: {_short(turn.text)}")
        elif turn.kind == "document":
            staying.append(f"{_label(turn)} has {said}; to forget it, give its id")
        else:
            near.append(f"{_label(turn)} has only {said}: {_around(turn.text, shared[name])}")
    near = _first(near, "more have only some of these words")
    if len(others) > NEAR_TEXTS:
        others[NEAR_TEXTS:] = [f"{len(others) - NEAR_TEXTS} further texts, found by a search, without these words"]
    return Chosen(ForgetTargets(space.name, turns=frozenset(chosen)), staying, near=[*near, *others], shared=chosen)


def _wanted_words(space: Space, text: str, now: Millis) -> list[str]:
    """Return the words of a query that tell what it is about; all of them if none does."""
    asked = understand(text, space.speakers, now)
    content = [word for written, _ in asked.content_words for word in words(written)]
    telling = [word for word in content if word not in ASKING and word not in _FORGETTING]
    return list(dict.fromkeys(telling or content or sorted(words_in(text))))


# In words


def _only_wrong(fact: Version) -> str:
    """Return how to take back a fact that is wrong, without the texts that say it."""
    since = fact.since if fact.since > BEGINNING else max(one.said_at for one in fact.assertions)
    denial = json.dumps(
        {"head": fact.head, "relation": fact.relation, "tail": fact.tail, "valid_from": iso.show(since)}
        | {"negated": True},
        ensure_ascii=False,
    )
    return (
        f"What says {_short(fact.text)!r} goes as a whole. If only this fact is wrong, keep the text: give "
        f"memory_write the fact {denial}."
    )


def _lines(space: Space, chosen: Chosen, erasure: Erasure) -> tuple[str, ...]:
    """Return what goes, what loses a source or is made again, and what stays, in words."""
    shared = chosen.shared
    others = (turn.id for turn in space.turns.values() if turn.id in erasure.turns and turn.id not in shared)
    goes = [_going(space.turns[name], shared.get(name, ())) for name in (*shared, *others) if name in erasure.turns]
    lines = _first(goes, "more texts go")
    facts = dict.fromkeys(_fact_lines(space, erasure))
    lines += _first(list(facts), "more facts lose a source")
    anew = [f"a memory point is made anew without it: {_short(point.description)}" for point in erasure.remade]
    lines += _first(anew, "more points are made anew")
    points = [one for one in space.hypergraph.all() if erasure.point(one) != one]
    change = [f"goes: {_short(one.description)}" for one in points if one.id in erasure.points]
    change += [f"loses its goal: {_short(one.description)}" for one in points if one.id not in erasure.points]
    lines += _first([f"a memory point {one}" for one in change], "more memory points change")
    asked = [one.text for one in space.questions.rows if not erasure.keeps_question(one.segment_id, one.text)]
    lines += _first([f"a question goes: {_short(text)}" for text in dict.fromkeys(asked)], "more questions go")
    lines += _first([f"stays: {line}" for line in chosen.staying], "more stay")
    return tuple(lines)


def _fact_lines(space: Space, erasure: Erasure) -> list[str]:
    """Return the facts that lose a source and have another."""
    if erasure.targets.everything:
        return []
    versions = {}
    for turn in erasure.turns:
        for row in space.facts.assertions_in(turn):
            version = space.facts.version("f_" + row.id.removeprefix("x_"))
            if version is not None:
                versions[version.id] = version
    lines = []
    for version in versions.values():
        left = sum(one.id not in erasure.assertions for one in version.assertions)
        if left:
            lines.append(f"keeps {left} of {len(version.assertions)} sources: {_short(version.text)}")
    return lines


def _first(lines: Sequence[str], more: str) -> list[str]:
    rest = len(lines) - LISTED_LINES
    return [*lines[:LISTED_LINES], *([f"{rest} {more}."] if rest > 0 else [])]


def _going(turn: Turn, said: Sequence[str]) -> str:
    """Return in words that a text goes, with the words of a query for which it does."""
    has = f" has {', '.join(said)}" if said else ""
    return f"{_label(turn)}{has}: {_around(turn.text, said)}"


def _label(turn: Turn) -> str:
    """Return how a text is called: its kind, id, speaker or title."""
    who = turn.speaker or turn.role or turn.title
    session = "" if turn.session == "default" else f" of session {turn.session!r}"
    return f"{turn.kind} {turn.ref!r}{session}" + (f" ({as_name(who)})" if who else "")


def _short(text: str) -> str:
    """Return the beginning of a text on one line."""
    words = " ".join(text.split())
    return words if len(words) <= SHOWN_CHARS else f"{words[: SHOWN_CHARS - 1]}…"


def _around(text: str, said: Sequence[str]) -> str:
    """Return the words of a text from its beginning, or from shortly before the first of some words."""
    whole = " ".join(text.split())
    places = [place for word in said if (place := whole.casefold().find(word)) >= 0]
    first = min(places, default=0)
    if first < SHOWN_CHARS // 2:
        return _short(whole)
    return f"… {_short(whole[whole.rfind(' ', 0, first - SHOWN_CHARS // 4) + 1 :])}"
