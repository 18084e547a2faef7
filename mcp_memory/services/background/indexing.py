"""Indexing: make the vectors and read the facts of texts that are stored already, between and beside calls.

A write returns when its words are in the log; until the rest follows, a text is cut in memory and found by its words
(`Space.unindexed`). One step makes what is missing of some texts and commits it. What is missing follows from the log
alone, so any process can go on where another one ended, and nothing records who does it: whoever holds the lease of the
store indexes, one process at a time. The lease ends with its process: it is a lock of the operating system, or
an object of a bucket that is renewed.

Talk comes before documents, and of both the newest: the session that was last written to, from its oldest text that is
not indexed on; then other sessions; then documents, part by part. Of a long text the last part comes first, so the
first piece of a text is there only if all the others are (`Space.add`); its facts come with it.

`index_some` makes a step; `Indexer` says when a process takes steps, and lets a recall wait for them a little.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Literal

import anyio

from mcp_memory.configurable import WriteSettings
from mcp_memory.domain.access import look_again
from mcp_memory.domain.turns import Segment, Sentence, Talkers, Turn
from mcp_memory.ports import Progress, Store
from mcp_memory.services.background.queue import Background
from mcp_memory.services.ingest import Reading, TextPart, index_parts
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

TEXTS = 64
"""Texts of talk that one step indexes at most."""
ROOM = 16_000
"""Characters that one step indexes at most, unless a single segment is longer: a second or two. News is indexed after
it, so it bounds how long a message waits while a book is indexed."""
ENOUGH = 2_000
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

    async def note(self, space: str, settings: WriteSettings) -> tuple[str, ...]:
        """Wait a little for messages that are just being indexed, and return what a recall says of what is left."""
        texts = await self.wait_until_indexed(space, settings.recall_wait_s)
        if not texts:
            return ()
        what = "1 text of this space is" if texts == 1 else f"{texts:,} texts of this space are"
        return (f"{what} being indexed: until then found by the words only.",)

    async def wait_until_indexed(self, space: str, seconds: float) -> int:
        """Wait for the messages of a space that are just being indexed; return how many of its texts are not then.

        Args:
            space: the space that is to be recalled from.
            seconds: the seconds to wait at most; none if this process does not run its background work.
        """
        limit = anyio.current_time() + seconds
        while True:
            async with self._store.reading() as view:
                found = view.space(space)
                talk = any(found.turns[name].kind != "document" for name in found.unindexed)
                left = len(found.unindexed)
            if left:
                self.later()
            if not talk or not self._background.working or anyio.current_time() >= limit:
                return left
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
    room = ROOM
    for (document, name, _), turns in order:
        enough = ENOUGH if only is None else ROOM  # who waits for these texts waits for all of them
        if ROOM - room > enough or (parts and document and parts[0].turn.kind != "document"):
            break
        space = view.space(name)
        talkers = talkers_before(space, turns)
        for turn in turns:
            part = _part(space, turn, talkers.get(turn.id, Talkers()), room)
            if parts and (_length(part) > room or len(parts) == TEXTS):
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
    for row in reversed(space.segments_with(turn.id, -1)[: max(missing) + 1]):
        segment = space.segments[row]
        if segment.index not in missing:
            continue
        if chosen and (chosen[-1].end - segment.start > room or chosen[0].index != segment.index + 1):
            break
        chosen.insert(0, segment)
    return TextPart(turn, talkers, tuple(chosen), tuple(_beginning_in(space, turn, chosen)))


def _beginning_in(space: Space, turn: Turn, segments: list[Segment]) -> Iterator[Sentence]:
    """Yield the sentences of some segments; a segment begins with the last sentence of the one before."""
    first = segments[0].first + (segments[0].index > 0 and _shares(space, turn, segments[0]))
    for row in space.sentences.between(turn.id, first, segments[-1].last):
        yield space.sentences[row]


def _shares(space: Space, turn: Turn, segment: Segment) -> bool:
    rows = space.segments_with(turn.id, segment.first)
    return any(space.segments[row].index < segment.index for row in rows)


def talkers_before(space: Space, turns: Sequence[Turn]) -> dict[str, Talkers]:
    """Return who spoke before each of these turns of one session, by the id of the turn."""
    talking, wanted, found = Talkers(), {turn.id for turn in turns}, dict[str, Talkers]()
    for turn in (space.turns[name] for name in space.sessions[turns[0].session]):
        if turn.id in wanted:
            found[turn.id] = talking
        talking = talking.after(turn)
    return found
