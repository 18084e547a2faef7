"""A fake memory for the tests of the server: real rows in a real view, facts stored as given, recall by shared words.

It replaces ``memory.Memory``, so that these tests are about the protocol alone. Run as a program it is a server process
over stdio that opens its memory after the first reply, as the real one does. ``--print`` uses a memory whose libraries
print, ``--stuck`` one whose library call blocks.
"""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio

from mcp_memory.domain.evidence import AnswerResult, Citation, Evidence, RecallResult, Source
from mcp_memory.domain.requests import WriteResult, Written, WrittenFact
from mcp_memory.domain.status import SpaceStatus, Status, StoreStatus
from mcp_memory.domain.times import StatedTime
from mcp_memory.domain.turns import Sentence, Turn
from mcp_memory.errors import InvalidInput

NOW = 1_700_000_000_000


class WordMemory:
    """A memory in which each turn is one sentence; the turns of a call become visible together, at its end."""

    damage = ()

    def __init__(self):
        from mcp_memory.services.learn.episodes import Episodes
        from mcp_memory.view.view import View

        self.view = View()
        self.episodes = Episodes()
        self.store = self
        self.closed = False
        self.pause = anyio.lowlevel.checkpoint

    @asynccontextmanager
    async def reading(self, whole=True):
        yield self.view

    async def forgotten(self):
        return ()

    async def write(self, request, progress):
        import numpy as np

        from mcp_memory.domain.batch import Batch
        from mcp_memory.domain.turns import sentence_id, turn_id

        turns, sentences, items = [], [], []
        space = self.view.space(request.space)
        for place, item in enumerate(request.items):
            await progress(place, len(request.items), "embedding")
            await self.pause()
            ref = item.ref or f"{place}-{item.text[:40]}"
            known = space.current(request.session, ref)
            if known and known.text != item.text:
                raise InvalidInput(f"{request.kind}s[{place}].id", f"{ref!r} is taken", "Give another.")
            items.append(Written(ref, request.session, known is None))
            if known:
                continue
            name = turn_id(request.space, request.session, ref, item.text, 0)
            details = (item.speaker, item.role, item.title, item.said_at, NOW, 0, place)
            turns.append(Turn(name, request.space, request.session, ref, request.kind, item.text, *details))
            times = (StatedTime(0, 1, 0, 86_400_000, "day", False),)
            mark = sentence_id(name, 0, item.text)
            sentences.append(Sentence(mark, request.space, name, 0, 0, len(item.text), times))
        from mcp_memory.temporal.assertions import caller_assertion, statement

        assertions = []
        for place, fact in enumerate(request.facts):
            here = {turn.ref: turn for turn in turns}
            turn = here.get(fact.source) or space.current(request.session, fact.source or "")
            if turn is None:
                text = statement(fact)
                ref, place = text, place + len(request.items)
                name = turn_id(request.space, request.session, ref, text, 0)
                details = (None, None, None, None, NOW, 0, place)
                turn = Turn(name, request.space, request.session, ref, "statement", text, *details)
                turns.append(turn)
            assertions.append(caller_assertion(fact, turn, NOW))
        none = np.empty((0, 1), dtype=np.float32)
        vectors = np.ones((len(sentences), 1), dtype=np.float32)
        batch = Batch(tuple(turns), (), tuple(sentences), none, vectors, tuple(assertions))
        self.view.add(batch, self.view.tx + bool(turns))
        known = self.view.space(request.space).facts
        versions = [known.version_of(assertion) for assertion in assertions if not assertion.negated]
        facts = tuple(WrittenFact(version.id, version.text, "added") for version in versions)
        names = tuple(dict.fromkeys(version.head for version in versions))
        return WriteResult(tuple(items), 0, len(sentences), (), facts=facts, entities=names)

    async def explore(self, request):
        from mcp_memory.operators import operators
        from mcp_memory.services.explore import explore
        from mcp_memory.settings import Settings

        return await explore(self, None, operators(Settings()), request, now=NOW)

    async def reconstruct(self, request):
        space = self.view.space(request.space)
        words = set(request.text.casefold().split())
        found = []
        for sentence in reversed(space.sentences):
            turn = space.turns[sentence.turn_id]
            share = len(words & set(turn.text.casefold().split())) / len(words) if words else 1.0
            if share and request.window.since <= turn.time < request.window.until:
                source = Source(turn, sentence.start, sentence.end)
                found.append(Evidence(sentence.id, "sentence", source.quote, share, ("words",), (source,)))
        found.sort(key=lambda item: -item.score)
        best = found[0].score if found else 0.0
        from mcp_memory.services.learn.episodes import new_episode, new_episode_id

        missing = () if best > 0.5 else tuple(sorted(words))
        recall = RecallResult(tuple(found[: request.limit]), best, best > 0.5, missing, episode=new_episode_id())
        self.episodes.keep(new_episode(space, replace(request, now=NOW), recall))
        return recall

    async def evolve(self, request, progress):
        import numpy as np

        from mcp_memory.domain.batch import Batch
        from mcp_memory.domain.episodes import Belief, Lesson
        from mcp_memory.domain.requests import EvolveResult, Improved, Skipped

        await progress(0, 2, "learning")
        episode = self.episodes.get(request.space, request.episode)
        if episode is None:
            raise InvalidInput("episode", f"{request.episode!r} is not known", "Recall again.")
        if self.view.space(request.space).beliefs.lesson(episode.id, "caller"):
            return EvolveResult((), (Skipped("feedback", "A judge is heard once."),))
        labels = dict.fromkeys(request.feedback.supports, 1)
        up = np.ones(1, dtype=np.float32)
        beliefs = tuple(Belief(name, request.space, up, 0.2, supported=1) for name in labels)
        self.view.add(Batch(lessons=(Lesson.of(episode, "caller", labels, NOW),), beliefs=beliefs), self.view.tx + 1)
        await progress(2, 2, "done")
        changed = [Improved("feedback", "sentence", name, "words", "doubt 1.000", "supports") for name in labels]
        return EvolveResult(tuple(changed))

    async def answer(self, request):
        if request.text == "break":
            raise RuntimeError("a secret of the inside")
        from mcp_memory.domain.query import Query

        recall = await self.reconstruct(Query(request.text, request.space, request.limit))
        if request.text.startswith("Who"):  # it answers nothing that asks
            return AnswerResult(None, None, False, (), recall)
        best = recall.evidence[0]
        return AnswerResult(best.text, best.score, False, (Citation(best.id, best.sources[0]),), recall)

    async def status(self):
        spaces = tuple(
            SpaceStatus(name, len(space.turns), 0, len(space.sessions), 0, len(space.sentences))
            for name, space in sorted(self.view.spaces.items())
        )
        about = StoreStatus(
            uri="memory",
            bytes=None,
            tx=self.view.tx,
            generation=0,
            format=3,
            embedder=None,
            holders=(1,),
            queue=0,
            problems=(),
        )
        return Status(spaces, "none", about, uptime_s=1.0, version="0")

    async def work(self):
        """Do nothing: there is no background work."""

    def reread_later(self):
        """Do nothing: no table of it can break."""

    async def aclose(self):
        self.closed = True


class PrintingMemory(WordMemory):
    """A memory whose libraries print: through Python, below Python, and from a buffer when the process ends."""

    async def status(self):
        import atexit
        import os
        import warnings

        print("a print from a library")  # noqa: T201 - that is what is tested
        os.write(1, b"a write to descriptor 1\n")
        print("a print that stays in its buffer", end="", file=sys.__stdout__)
        atexit.register(print, "a print at exit")
        warnings.warn("a warning from a library", stacklevel=1)
        return await super().status()


class StuckMemory(WordMemory):
    """A memory whose status call blocks in a library for a minute and cannot be interrupted."""

    async def status(self):
        import time

        await anyio.to_thread.run_sync(time.sleep, 60)


KINDS = {"--print": PrintingMemory, "--stuck": StuckMemory}

if __name__ == "__main__":
    from mcp_memory.server.process import serve
    from mcp_memory.settings import load

    async def opened():
        return KINDS.get(sys.argv[-1], WordMemory)()

    serve(load(environment={}), opened)
