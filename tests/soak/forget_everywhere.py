"""Forget thing after thing of a store that was restored and exported, and look everywhere for it.

Run as ``python tests/soak/forget_everywhere.py --things 240 --forgets 200``. A thing is a message with a word and a
name of one or two letters that nothing else has, and what was made of it in other words: a memory point with a goal, a
taught question, a correction, a pooled question, an alias, a caller's fact and a caller's point. Half of them rest on a
message that stays, too. The store lies behind a link, and is restored elsewhere every few rounds.

After every forget everything below the folder is searched for all words of that thing: bytes in several encodings, and
decoded out of tables (`holding_anywhere`). Before it, the same search has found them all. What stays must
stay: the messages, and the points, lessons and questions of other things.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent))

from fakes import FakeEmbedder
from rows_checked import row_problems
from store_contents import holding_anywhere

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.forgetting import ForgetRequest
from mcp_memory.domain.points import Point, point_id
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, Feedback, NewFact, NewItem, PointEdits, PointInsert, WriteRequest
from mcp_memory.domain.turns import PooledQuestion
from mcp_memory.memory import Memory
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.settings import load
from mcp_memory.storage.backups import back_up
from mcp_memory.storage.restore import restore
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables
from mcp_memory.wiring import open_store

LAID = 10
"""Rounds after which the store is restored elsewhere."""
LATIN, HAN = ("BCDFGHJKLMNPQRSTVWXZ", "gjqvwz"), ("赵钱孙李周吴郑王冯陈", "明华强伟芳娜敏静丽军磊洋")
"""First and second letters of names; no two names side by side, as rows stand in a file, contain another one."""


@dataclass
class Outcome:
    """What the rounds found.

    Attributes:
        left: words of a thing that were still somewhere after its forget, by its number.
        unseen: words that the search had not found before, so that it shows nothing.
        lost: what went along that had nothing to do with it.
    """

    left: dict[int, list[str]] = field(default_factory=dict)
    unseen: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def mark(number: int) -> str:
    """Return a word that only one text has."""
    letters = []
    for _ in range(5):
        number, rest = divmod(number, 20)
        letters.append("bcdfghjklmnpqrstvwxz"[rest])
    return "zy" + "a".join(letters)


def short_name(number: int) -> str:
    """Return a name of two letters, Latin or Chinese, that only one thing has."""
    firsts, seconds = HAN if number % 2 else LATIN
    first, second = divmod(number // 2, len(seconds))
    return firsts[first] + seconds[second]


def words_of(number: int) -> dict[str, str]:
    """Return the words by which a thing is found: its own, and those of each thing made of it."""
    sorts = ("text", "point", "goal", "question", "correction", "pooled", "stated")
    return {sort: mark(number * len(sorts) + place) for place, sort in enumerate(sorts)}


def open_memory(folder: Path) -> Memory:
    """Return a memory on a store in a folder."""
    (configured := folder.parent / "config.toml").touch()
    places = {"MCP_MEMORY_STORAGE_URI": str(folder)}
    settings, embedder, extractor = load(configured, places), FakeEmbedder(), RuleExtractor()
    return Memory(settings, open_store(settings, embedder, extractor), embedder, extractor)


async def fill(memory: Memory, things: int) -> None:
    """Write the things, one message that stays beside each, and what is made of them."""
    items = []
    for number in range(things):
        said = f"{short_name(number)} told me of {words_of(number)['text']} in the garden."
        items += [NewItem(said, f"m{number}", "Ines"), NewItem("The kitchen was painted again.", f"k{number}", "Ines")]
    await memory.write(WriteRequest("default", "talk", "message", tuple(items), wait=True))
    facts = [NewFact("Ines", "knows", words_of(one)["stated"], source=f"m{one}") for one in range(0, things, 3)]
    await memory.write(WriteRequest("default", "talk", "statement", (), tuple(facts), wait=True))
    async with memory.store.reading() as view:
        space = view.space("default")
        turns = {turn.ref: turn.id for turn in space.turns.values()}
        pieces = {ref: space.sentences[space.sentences_of(name)[0]].id for ref, name in turns.items()}
        segments = {ref: space.segments[space.segments_with(name, -1)[0]].id for ref, name in turns.items()}
    points, asked, aliases = [], [], []
    for number in range(things):
        words, kept = words_of(number), (pieces[f"k{number}"],) if number % 2 else ()
        told, goal = f"Something about {words['point']}.", f"What is it with {words['goal']}?"
        names = ("Ines", "garden")
        name = point_id("default", goal, names, told)
        rests = (pieces[f"m{number}"], *kept)
        points.append(
            Point(name, "default", names, told, goal, 0, "active", (), None, rests, (), "anthropic", memory.clock())
        )
        if number % 2:  # of the same goal, and resting on what stays
            other = replace(points[-1], id=f"{name}b", description="The kitchen is new.", sentences=kept)
            points.append(other)
        asked += [
            ("default", PooledQuestion(f"Who knows {words['pooled']}?", segments[ref], frozenset()))
            for ref in (f"m{number}", f"k{number}")[: 1 + number % 2]
        ]
        aliases.append(Alias("default", "Ines", short_name(number), "alike", "embedded", memory.clock()))
    vectors = await memory.embedder.embed([one.description for one in points])
    questions = await memory.embedder.embed([one.text for _, one in asked])
    async with memory.store.writing() as transaction:
        await transaction.commit(
            Batch(
                points=tuple(points), point_vectors=vectors, questions=tuple(asked), question_vectors=questions,
                aliases=tuple(aliases),
            )
        )  # fmt: skip
    for number in range(things):
        words = words_of(number)
        recall = await memory.reconstruct(Query(f"Who told of {words['text']} then?", "default", 3))
        shown = next(item for item in recall.evidence if words["text"] in item.text)
        episode = memory.episodes.get("default", recall.episode)
        assert episode is not None
        memory.episodes.keep(replace(episode, query=f"What did {words['question']} mean?"))
        correction = f"It was {words['correction']}." if number % 4 == 0 else None
        feedback = Feedback(supports=(shown.id,), correction=correction)
        await memory.evolve(EvolveRequest("default", episode=recall.episode, feedback=feedback))
    edits = PointEdits(tuple(PointInsert((short_name(n), "garden"), "They meet.") for n in range(0, things, 5)))
    await memory.evolve(EvolveRequest("default", points=edits))


async def lay(root: Path) -> Memory:
    """Restore the store in another place, remove the first, and return a memory on it."""
    store, now = (root / "link").resolve(), time.time_ns() // 1_000_000
    new = root / f"laid {now}"
    await back_up(Tables(str(store)), 30.0, root / "file", now)
    await restore(root / "file", str(new))
    (root / "link").unlink()
    (root / "link").symlink_to(new)
    shutil.rmtree(store)
    (root / "file").unlink()
    return open_memory(root / "link")


async def rounds(root: Path, things: int, forgets: int) -> Outcome:
    """Fill a store and forget, looking after each."""
    outcome, some = Outcome(), random.Random(1)
    (root / "first").mkdir()
    (root / "link").symlink_to(root / "first")
    memory = open_memory(root / "link")
    await fill(memory, things)
    every = {number: {*words_of(number).values(), short_name(number)} for number in range(things)}
    for number in range(things):
        gone = {"stated": number % 3, "correction": number % 4}
        every[number] -= {words_of(number)[sort] for sort, rest in gone.items() if rest}
    order = some.sample(range(things), forgets)
    for place, number in enumerate(order):
        if place % LAID == 0:
            await memory.aclose()
            memory = await lay(root)
            there = holding_anywhere(root, set().union(*every.values()))
            outcome.unseen += sorted(set().union(*(every[one] for one in order[place:])) - there)
        request = ForgetRequest("default", ids=(f"m{number}",), session="talk")
        if place % 5 == 4:
            request = ForgetRequest("default", query=words_of(number)["text"])
        preview = await memory.forget(request)
        await memory.forget(replace(request, dry_run=False, token=preview.token))
        if left := sorted(holding_anywhere(root, every[number])):
            outcome.left[number] = left
        if place % LAID == LAID - 1 or place == forgets - 1:
            outcome.lost += await lost(memory, things, set(order[: place + 1]))
            sys.stderr.write(f"{place + 1} forgets, {outcome.left} {outcome.lost[:3]}\n")
    assert isinstance(memory.store, LanceStore)
    outcome.lost += await row_problems(memory.store)
    await memory.aclose()
    return outcome


async def lost(memory: Memory, things: int, gone: set[int]) -> list[str]:
    """Return what should have stayed and did not."""
    async with memory.store.reading() as view:
        space = view.space("default")
        refs = {turn.ref for turn in space.turns.values()}
        wanted = {f"k{number}" for number in range(things)} | {f"m{one}" for one in range(things) if one not in gone}
        queries = " ".join(one.query for one in space.beliefs.lessons())
        points = " ".join(f"{one.description} {one.scope}" for one in space.hypergraph.all())
        pooled = " ".join(one.text for one in space.questions.rows)
        kept = [words_of(number) for number in range(things) if number not in gone]
    missing = sorted(wanted - refs)
    missing += [words["question"] for words in kept if words["question"] not in queries]
    missing += [words[sort] for words in kept for sort in ("point", "goal") if words[sort] not in points]
    return missing + [words["pooled"] for words in kept if words["pooled"] not in pooled]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--things", type=int, default=240)
    parser.add_argument("--forgets", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = anyio.run(rounds, Path(folder).resolve(), options.things, options.forgets)
    sys.stdout.write(f"{found}\n")
    sys.exit(bool(found.left or found.unseen or found.lost))
