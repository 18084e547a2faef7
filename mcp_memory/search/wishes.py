"""The standing wishes of a space's user, and those that apply to a query.

A wish stands in the log, in the words of the user; `WishIndex` derives it from these words, so a rebuild finds it
again, a forget takes it with its source, and an older store has it as soon as it is opened. Only messages of the user
state wishes (`is_of_user`): no document, nobody else, and no fact that a program states of the user.

What a caller put into the session for wishes stands until the same is said there again or taken back there, or it is
forgotten: near words may wish two things ("never suggest pork", "… shellfish"), and what is said elsewhere may be
somebody else's. One that was found elsewhere is hidden by what denies or ends its words; what else the user says later
with a word of it, or of another value of its matter, stands beside it, since it may change it; of that only what is in
words of their own, as a wish is heeded.

A later wish takes the place of an earlier one that says nearly the same words (`SAME_WISH_SHARE`), "never use emojis"
of "use emojis", or gives another value to the same matter, "answer in Danish" of "answer in Finnish" (`matters_of`);
and "you can use emojis again" ends one. What else may differ nobody judges: both stand with their days, and so does a
permission that ends nothing. A wish without a scope ("keep your answers short") applies to every query, one with a
scope ("… when I ask about hikes") where the query is about it, by their vectors, and asks for something to be done, not
for what was.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from mcp_memory.domain.evidence import Source, Wish
from mcp_memory.domain.query import Query
from mcp_memory.domain.turns import USER, WISHES, Turn, by_user, is_assistant, label
from mcp_memory.language.own_words import own_sentences
from mcp_memory.language.questions import looks_back
from mcp_memory.language.tokens import indexed_forms, stem, stems, words
from mcp_memory.language.wishes import ENDING, VALUES, WISH_CHARS, WishSpan, matters_of, wishes_of
from mcp_memory.ports import Embedder
from mcp_memory.search.words import WordIndex
from mcp_memory.vectors import Vector
from mcp_memory.view.space import Space

SAME_WISH_SHARE = 0.6
"""Share of the words of two wishes that are the same from which the later supersedes the earlier."""
SCOPE_COSINE = 0.3
"""Cosine of its scope with a query from which a wish with a scope applies. Of ten questions to chats with an assistant
that a wish was meant for, nine are as near; of 290 pairs of another question and wish, 97."""
SCOPE_SHARE = 0.8
"""The same as a share of that of the nearest wish."""
MOST_SCOPED = 4
"""Most wishes with a scope that a recall shows."""
SCOPED_FIRST = 2
"""Wishes with a scope that stand before those for all answers."""
SHOWN_WISHES = 20
"""Most wishes that a recall shows, if its reply has room."""
LATER_READ = 400
"""Later messages with a word of a wish that are read for one that takes it back, those stored last first."""
_MARKS = frozenset(
    stems(
        "always never prefer please use used using keep answers answer replies don't do not stop any more again from"
        " now on you can may want would like make sure ever every time ask when whenever are is fine ok okay alright"
        " welcome by me it's feel free need to have after all units measurements"
    )
)


class WishIndex:
    """The wishes in the messages of a space, of whomever, in order of arrival."""

    def __init__(self) -> None:
        self.found: list[tuple[int, WishSpan]] = []  # row of the sentence
        self._read: set[str] = set()
        self.scopes: dict[str, Vector] = {}  # vectors of scopes that were embedded

    def add_segments(self, space: Space, since: int) -> None:
        """Add the segments of ``space`` from row ``since`` on."""
        for row in range(since, len(space.segments)):
            turn = space.segment_turn[row]
            if turn.id in self._read or turn.kind != "message":
                continue
            self._read.add(turn.id)
            rows = space.sentences.of_turn(turn.id)
            spans = [(space.sentences[one].start, space.sentences[one].end) for one in rows]
            self.found += [(rows[wish.sentence], wish) for wish in wishes_of(turn, spans)]


def standing_wishes(space: Space) -> list[Wish]:
    """Return the wishes of the user that no later one superseded and nothing else takes back, in the order of time.

    The user is who "I" in a question means; where that is unclear, nobody's wishes count.
    """
    said: list[Wish] = []
    for row, span in space.index(WishIndex).found:
        sentence = space.sentences[row]
        turn = space.turns[sentence.turn_id]
        if is_of_user(space, turn) and space.frames.stands(turn):
            source, segment = Source(turn, span.start, span.end), space.segments_with(turn.id, sentence.index)[0]
            said.append(Wish(sentence.id, source.quote, span.kind, span.scope, turn.time, source, segment))
    standing: list[Wish] = []
    for wish in sorted(said, key=lambda wish: wish.said_at):
        left = [one for one in standing if not _takes_the_place(wish, one)]
        ends = wish.kind == "withdrawn" and len(left) < len(standing)
        standing = left if ends else [*left, wish]
    stating = {space.sentences[row].turn_id for row, _ in space.index(WishIndex).found}
    found = []
    for wish in standing:
        later = [] if wish.source.turn.session == WISHES else _later_rows(space, wish, stating)
        if not any(_takes_back(space, row, _content(wish.text)) for row in later):
            found.append(replace(wish, later=next(filter(None, (_own_words(space, row) for row in later)), None)))
    return found


def _later_rows(space: Space, wish: Wish, stating: Container[str]) -> list[int]:
    """Return the rows of later sentences of the user that may change a wish, those stored last first.

    Messages that state wishes are left out: these end others by themselves.
    """
    meant = _content(wish.text).union(*(VALUES.get(matter, ()) for matter in matters_of(wish.text)[0]))
    forms = {form for one in meant for form in indexed_forms(one)}
    index = space.index(WordIndex)
    rows = sorted({row for form in forms for row in index.rows_with(form)}, reverse=True)
    turns = dict.fromkeys(space.segment_turn[row].id for row in rows[:LATER_READ])
    return [
        row
        for turn in map(space.turns.__getitem__, turns)
        if turn.told_order > wish.said_at and turn.id not in stating and is_of_user(space, turn)
        for row in space.sentences.of_turn(turn.id)
        if not meant.isdisjoint(stems(space.text(space.sentences[row])))
    ]


def _own_words(space: Space, row: int) -> Source | None:
    """Return a sentence of the user, cut where it is long; None if it may be somebody else's."""
    sentence = space.sentences[row]
    turn = space.turns[sentence.turn_id]
    spans = [(one.start, one.end) for one in map(space.sentences.__getitem__, space.sentences.of_turn(turn.id))]
    if sentence.index >= own_sentences(turn.text, spans):
        return None
    return Source(turn, sentence.start, min(sentence.end, sentence.start + WISH_CHARS))


def _takes_back(space: Space, row: int, content: frozenset[str]) -> bool:
    """Return whether a sentence with a content word of a wish ends or denies something."""
    said = words(space.text(space.sentences[row]))
    ends = not ENDING.isdisjoint(map(stem, said)) or any(word.endswith("n't") for word in said)
    return ends and not content.isdisjoint(map(stem, said))


def is_of_user(space: Space, turn: Turn) -> bool:
    """Return whether a message is the user's, under whichever name; no speaker without that role or name is guessed."""
    who = label(turn) or USER
    known = who in (USER, space.speakers.asker) or space.facts.key(who) == space.facts.key(USER)
    return known and by_user(turn) and not is_assistant(turn.speaker)


def _takes_the_place(later: Wish, earlier: Wish) -> bool:
    """Return whether a wish supersedes or ends another: by near words, or all the same but for the value of a matter.

    One that a caller put into the session for wishes gives way only there, to the same words or a withdrawal.
    """
    new, old = _content(later.text), _content(earlier.text)
    alike = len(new & old) / len(new | old) if new and old else 0.0
    if earlier.source.turn.session == WISHES:
        there = later.source.turn.session == WISHES
        return there and alike >= (SAME_WISH_SHARE if later.kind == "withdrawn" else 1)
    if alike >= SAME_WISH_SHARE:
        return True
    (ours, our_rest), (theirs, their_rest) = matters_of(later.text), matters_of(earlier.text)
    return bool(ours) and ours == theirs and our_rest - _MARKS == their_rest - _MARKS


def _content(text: str) -> frozenset[str]:
    return frozenset(stems(text)) - _MARKS


def fitting_wishes(wishes: Sequence[Wish], vectors: Sequence[Vector], query: Query) -> list[Wish]:
    """Return the wishes that apply to a query: the nearest, those for all answers, the newest first, then further ones.

    Args:
        wishes: standing.
        vectors: the vectors of the scope of each that has one, in this order, each of shape ``(d,)`` and length 1.
        query: understood and embedded.
    """
    left = iter(vectors)
    near = [float(query.vector @ next(left)) if wish.scope else 0.0 for wish in wishes]
    least = max(SCOPE_COSINE, SCOPE_SHARE * max(near, default=0.0))
    scoped = [(score, wish) for wish, score in zip(wishes, near, strict=True) if wish.scope and score >= least]
    if looks_back(query.text):
        scoped = []  # a wish says how something is to be done, not what was
    nearest = [wish for _, wish in sorted(scoped, key=lambda found: -found[0])][:MOST_SCOPED]
    general = [wish for wish in wishes if not wish.scope]
    general = general[: -(SHOWN_WISHES - len(nearest)) - 1 : -1]
    return [*nearest[:SCOPED_FIRST], *general, *nearest[SCOPED_FIRST:]]  # a short reply leaves out the last


def newest_wishes(space: Space) -> tuple[Wish, ...]:
    """Return the newest standing wishes, the newest first, where nothing is asked that they could apply to."""
    return tuple(standing_wishes(space)[: -SHOWN_WISHES - 1 : -1])


async def wishes_for(space: Space, query: Query, embedder: Embedder) -> tuple[list[Wish], int]:
    """Return the standing wishes that apply to a query, the nearest first, and how many texts were embedded for it."""
    wishes = standing_wishes(space)
    known = space.index(WishIndex).scopes
    scopes = [wish.scope for wish in wishes if wish.scope]
    if new := [scope for scope in dict.fromkeys(scopes) if scope not in known]:
        known.update(zip(new, await embedder.embed(new), strict=True))
    return fitting_wishes(wishes, [known[scope] for scope in scopes], query), len(new)
