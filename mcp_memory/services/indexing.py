"""Indexing: make the vectors and read the facts of texts that are stored already, between and beside calls.

A write returns when its words are in the log; until the rest follows, a text is cut in memory and found by its words
(`Space.unindexed`). One step makes what is missing of some texts and commits it (`index_some`). What is missing follows
from the log alone, so any process can go on where another one ended: whoever holds the lease of the store indexes.

Talk comes before documents, and of both the newest (`choose`): the session that was last written to, from its oldest
text that is not indexed on; then other sessions; then documents, part by part. Of a long text the last part comes
first, so the first piece of a text is there only if all the others are (`Space.add`); its facts come with it.

All rows are derived from a text alone (`index_parts`), and a rebuild derives them again in the same way (`deriver`), so
a rebuilt memory equals the one that was indexed.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from itertools import chain
from typing import Literal

import anyio
import numpy as np
from anyio import to_thread

from mcp_memory.configurable import WriteSettings
from mcp_memory.domain.access import look_again
from mcp_memory.domain.batch import KEEP, Batch, Masking, masked_turn
from mcp_memory.domain.facts import Assertion, at_no_time
from mcp_memory.domain.turns import Segment, Sentence, Talkers, Turn, is_undated_import, shares_vectors
from mcp_memory.language.segments import outline
from mcp_memory.ports import Embedder, Extractor, Progress, Store
from mcp_memory.search.words import embedded_text
from mcp_memory.services.background import Background
from mcp_memory.vectors import Matrix
from mcp_memory.view.pieces import cut_turn
from mcp_memory.view.space import Space, View

_log = logging.getLogger(__name__)

STEP_TEXTS = 64
"""Texts of talk that one step indexes at most."""
STEP_CHARS = 16_000
"""Characters that one step indexes at most, unless a single segment is longer: a second or two. News is indexed after
it, so it bounds how long a message waits while a book is indexed."""
ENOUGH_CHARS = 2_000
"""Characters from which on a step indexes no further session or document: the newest message does not wait for them."""
YIELD_S = 0.01
"""Pause after each step, in which another process, or a call that waits, can take the lease."""
POLL_S = 0.002
"""Between two attempts of a call that waits to take the lease."""

BUSY_S = 0.25
"""Pause while another process is indexing."""
LOOK_S = 0.02
"""Between two looks of a recall that waits; one takes half a millisecond."""

Step = Literal["done", "more", "busy"]
"""Nothing is left to index; something was indexed, or is left; another process is indexing."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The tools that read texts; the same for writing and for rebuilding.

    Without an extractor no facts are read. Times that say no offset are of the zone; None for that of this machine.
    """

    embedder: Embedder
    extractor: Extractor | None
    masking: Masking = KEEP
    zone: tzinfo | None = UTC


async def index_some(store: Store, reading: Reading, only: Collection[str] | None = None) -> Step:
    """Index some texts; ``only`` those of some turns, if their ids are given.

    Raises:
        StoreError: it could not be recorded.
        EmbedderError: the model cannot be loaded.
    """
    async with store.lease("index") as ours:
        if not ours:
            return "busy"
        async with store.reading() as view:
            parts = choose(view, only)
            generation = view.generation
        if not parts:
            return "done"
        batch = await index_parts(reading, parts)
        async with store.writing() as transaction:
            if transaction.view.generation == generation:  # else it was rebuilt, or some of it was forgotten
                await transaction.commit(batch)
    return "more"


async def index_all(store: Store, reading: Reading, turns: Collection[str], progress: Progress) -> None:
    """Index these texts, or wait until another process has.

    Raises:
        StoreError: it could not be recorded; what is left is indexed later.
        EmbedderError: the model cannot be loaded; likewise.
    """
    total = 0
    while True:
        async with store.reading() as view:
            spaces = view.spaces.values()
            left = {name: len(one.unindexed[name]) for one in spaces for name in one.unindexed.keys() & turns}
        if not left:
            return
        pieces = sum(left.values())
        total = max(pieces, total)
        await progress(total - pieces, total, "indexing")
        busy = await index_some(store, reading, left) == "busy"
        await anyio.sleep(POLL_S if busy else YIELD_S)  # in which another call that waits can take its turn
        look_again()


class Indexer:
    """Indexes what any process has stored, while this one has nothing better to do.

    The process that wrote a text indexes it. What one left that died the next one takes up: when it starts, writes or
    recalls.
    """

    def __init__(self, store: Store, reading: Reading, background: Background) -> None:
        self._store, self._reading, self._background = store, reading, background

    def later(self) -> None:
        """Queue the indexing of all that is left."""
        self._background.put("index", self._index, urgent=True)

    def begin_later(self) -> None:
        """Queue the loading of the embedder, so that a first recall waits less, and what a dead process has left."""
        self._background.put("begin", self._warm_up_and_resume, durable=False)

    async def _warm_up_and_resume(self) -> None:
        await self._reading.embedder.embed(["ready"])
        async with self._store.reading() as view:
            left = any(space.unindexed for space in view.spaces.values())
        if left:
            self.later()

    async def _index(self) -> bool:
        """Index some texts, and return whether some may be left."""
        step = await index_some(self._store, self._reading)
        if step != "done":
            await anyio.sleep(BUSY_S if step == "busy" else YIELD_S)
        return step != "done"

    async def await_texts(self, space: str, settings: WriteSettings) -> tuple[str, ...]:
        """Wait a little for messages of a space that are just being indexed; return what a recall says of what is left.

        A process that does not run its background work waits for nothing.
        """
        limit = anyio.current_time() + settings.recall_wait_s
        while True:
            async with self._store.reading() as view:
                found = view.space(space)
                talk = any(found.turns[name].kind != "document" for name in found.unindexed)
                left = len(found.unindexed)
            if not left:
                return ()
            self.later()
            if not talk or not self._background.working or anyio.current_time() >= limit:
                what = "1 text of this space is" if left == 1 else f"{left:,} texts of this space are"
                return (f"{what} being indexed: until then found by the words only.",)
            await anyio.sleep(LOOK_S)
            look_again()


def choose(view: View, only: Collection[str] | None = None) -> list[TextPart]:
    """Return what to index next of a whole view, or of ``only`` some turns, in the order of need; nothing if all is."""
    groups: dict[tuple[bool, str, str], list[Turn]] = defaultdict(list)
    for space in view.spaces.values():
        for name in space.unindexed:
            if only is None or name in only:
                turn = space.turns[name]
                # The texts of a session are indexed as they came; of documents, each for itself.
                document = turn.kind == "document"
                groups[document, space.name, turn.id if document else turn.session].append(turn)
    order = sorted(groups.items(), key=lambda group: (group[0][0], -group[1][-1].written_at, group[1][-1].place))
    parts: list[TextPart] = []
    room = STEP_CHARS
    for (document, name, _), turns in order:
        enough = ENOUGH_CHARS if only is None else STEP_CHARS  # who waits for these texts waits for all of them
        if STEP_CHARS - room > enough or (parts and document and parts[0].turn.kind != "document"):
            break
        space = view.space(name)
        talkers = talkers_before(space, turns)
        for turn in turns:
            part = _part(space, turn, talkers.get(turn.id, Talkers()), room)
            if parts and (_length(part) > room or len(parts) == STEP_TEXTS):
                return parts
            parts.append(part)
            room -= _length(part)
    return parts


def _length(part: TextPart) -> int:
    return part.segments[-1].end - part.segments[0].start


def _part(space: Space, turn: Turn, talkers: Talkers, room: int) -> TextPart:
    """Return the last segments of a turn without vectors that fit into some characters; at least one."""
    missing = space.unindexed[turn.id]
    chosen: list[Segment] = []
    for row in reversed(space.segments.of_turn(turn.id)[: max(missing) + 1]):
        segment = space.segments[row]
        if segment.index not in missing:
            continue
        if chosen and (chosen[-1].end - segment.start > room or chosen[0].index != segment.index + 1):
            break
        chosen.insert(0, segment)
    return TextPart(turn, talkers, tuple(chosen), tuple(_beginning_in(space, turn, chosen)))


def _beginning_in(space: Space, turn: Turn, segments: list[Segment]) -> Iterator[Sentence]:
    """Yield the sentences of some segments; a segment begins with the last sentence of the one before."""
    first = segments[0].first
    if any(space.segments[row].index < segments[0].index for row in space.segments_with(turn.id, first)):
        first += 1
    for row in space.sentences.between(turn.id, first, segments[-1].last):
        yield space.sentences[row]


def talkers_before(space: Space, turns: Sequence[Turn]) -> dict[str, Talkers]:
    """Return who spoke before each of these turns of one session, by the id of the turn."""
    talking, wanted, found = Talkers(), {turn.id for turn in turns}, dict[str, Talkers]()
    for turn in (space.turns[name] for name in space.sessions[turns[0].session]):
        if turn.id in wanted:
            found[turn.id] = talking
        talking = talking.after(turn)
    return found


SHORT_CHARS = 500
"""Characters of a message up to which its sentences are embedded with it: see `_sentence_texts`."""
SLICE_TEXTS = 64
"""Texts embedded between two reports of progress, and so between two chances to cancel."""
_Text = str | tuple[str, int, int] | None
"""What is embedded: a text, or a part of one, as the text with the first and the last character (exclusive).

None for a sentence that has no vector of its own."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """Consecutive segments of a turn; mostly all of them.

    Attributes:
        turn: the text.
        talkers: who spoke before it (``domain/turns.py``).
        segments: in order. The facts of a turn are read with its first one.
        sentences: those that begin in these segments, in order.
    """

    turn: Turn
    talkers: Talkers
    segments: Sequence[Segment]
    sentences: Sequence[Sentence]


def deriver(reading: Reading, *, progress: Progress) -> Callable[[list[Turn]], Awaitable[Batch]]:
    """Return a function that derives the rows of turns again as indexing did; it gets every turn once, in order.

    Cutting is plain computation, yet five megabytes of it take a second: it runs in a thread, so that the server
    answers other calls meanwhile.
    """
    talking: dict[tuple[str, str], Talkers] = defaultdict(Talkers)

    async def derive_again(turns: list[Turn]) -> Batch:
        turns = await to_thread.run_sync(lambda: [masked_turn(turn, reading.masking) for turn in turns])
        parts = []
        for turn in turns:
            place = turn.space, turn.session
            parts.append(TextPart(turn, talking[place], *await to_thread.run_sync(cut_turn, turn)))
            talking[place] = talking[place].after(turn)
        return replace(await index_parts(reading, parts, progress), turns=tuple(turns))

    return derive_again


async def silent(_done: float, _total: float, _what: str) -> None:
    """Ignore a report of progress."""


async def index_parts(reading: Reading, parts: Sequence[TextPart], progress: Progress = silent) -> Batch:
    """Return the pieces of parts of texts with their vectors, and the facts of the texts that begin in them."""
    facts: list[Assertion] = []
    for part in parts:
        if part.segments and part.segments[0].index == 0:
            facts += await to_thread.run_sync(_facts_of, reading, part)
    of_segments: list[str] = []
    of_sentences: list[_Text] = []
    for part in parts:
        turn, shape = part.turn, outline(part.turn.text)
        of_part = [embedded_text(turn, turn.text[one.start : one.end], shape.path(one.start)) for one in part.segments]
        of_segments += of_part
        of_sentences += _sentence_texts(part, of_part)
    vectors, row = await _vectors_of(reading, [*of_segments, *of_sentences], progress)
    return Batch(
        segments=tuple(segment for part in parts for segment in part.segments),
        sentences=tuple(sentence for part in parts for sentence in part.sentences),
        segment_vectors=vectors[[row[text] for text in of_segments]],
        sentence_vectors=vectors[[row[text] for text in of_sentences]],
        assertions=tuple(facts),
    )


def _sentence_texts(part: TextPart, of_segments: list[str]) -> list[_Text]:
    """Return what is embedded of each sentence of a part.

    In a long text it has no vector but that of its segment (`shares_vectors`). The segment's text is embedded if the
    sentence is all of a message's segment; in a short message its part of the segment, which is made with the segment's
    own; and otherwise its own words.
    """
    turn, lasts = part.turn, [segment.last for segment in part.segments]
    places = [bisect_left(lasts, one.index) for one in part.sentences]
    if shares_vectors(turn):
        return [None] * len(places)
    held = Counter(places)
    found: list[_Text] = []
    for place, one in zip(places, part.sentences, strict=True):
        whole = of_segments[place]
        before = len(whole) - part.segments[place].end  # speaker and headings, less what comes before the segment
        if turn.kind == "message" and held[place] == 1:
            found.append(whole)
        elif turn.kind == "message" and len(turn.text) <= SHORT_CHARS:
            found.append((whole, one.start + before, one.end + before))
        else:
            found.append(turn.text[one.start : one.end])
    return found


async def _vectors_of(reading: Reading, wanted: Sequence[_Text], progress: Progress) -> tuple[Matrix, dict[_Text, int]]:
    """Return the vectors of texts and parts, zeros for None, and in which row each is."""
    parts: dict[str, list[tuple[str, int, int]]] = {}
    for one in dict.fromkeys(wanted):
        if isinstance(one, str):
            parts.setdefault(one, [])
        elif one is not None:
            parts.setdefault(one[0], []).append(one)
    order = sorted(parts, key=len)
    row: dict[_Text, int] = {None: 0}
    made: list[Matrix] = [np.zeros((1, reading.embedder.dimension), dtype=np.float32)]
    for start in range(0, len(order), SLICE_TEXTS):
        await progress(start, len(order), "embedding")
        texts = order[start : start + SLICE_TEXTS]
        spans = [[(first, last) for _, first, last in parts[text]] for text in texts]
        made += await reading.embedder.embed_parts(texts, spans)
        row |= {text: len(row) + place for place, text in enumerate(texts)}
        row |= {part: len(row) + place for place, part in enumerate(chain.from_iterable(parts[text] for text in texts))}
    return np.concatenate(made), row


def _facts_of(reading: Reading, part: TextPart) -> list[Assertion]:
    """Return the facts of the text that begins in a part."""
    turn, talkers, sentences = part.turn, part.talkers, part.sentences
    if reading.extractor is None or turn.kind == "statement" or not sentences:  # a statement is a fact already
        return []
    if turn.text[sentences[-1].end :].strip():  # it goes on in other parts
        _, sentences = cut_turn(turn)
    spans, times = [(one.start, one.end) for one in sentences], [one.times for one in sentences]
    try:
        facts = reading.extractor.extract(turn, talkers.partner(turn), spans, times)
    except Exception:  # a fault of the rules: the text is found without its facts, and what follows it, too
        _log.exception(
            "No facts were read out of %s of session %r, which is found as text alone", turn.id, turn.session
        )
        return []
    return [at_no_time(fact) for fact in facts] if is_undated_import(turn) else list(facts)
