"""Kill processes at random moments, many times over one store, and look what the next process finds.

``python tests/crash/rounds.py KIND --rounds 30 --seed 0``; the suite runs a few rounds of each kind:

- ``writes``: every acknowledged transaction is stored, each completely or not at all, and every lesson learnt once.
- ``forgets``: what was forgotten is in no file, decoded or raw; the text at which the process died is wholly there or
  wholly gone, with its pieces, facts, lesson and point; every other text is there.
- ``indexing``: every acknowledged text is stored, nothing twice, and all of it is indexed without anybody asking.
- ``server``: everything as a user has it, with the real model, over stdio, four calls in flight: every acknowledged
  message is in its session and found by its own words, and no call is stored in part.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent))

from batches import batch, belief, lesson, point, pointed
from crash.worker import PRAISED, open_memory, opened, word
from rows_checked import row_problems
from stdio_client import Gone, StdioClient, serving
from store_contents import holding

from mcp_memory.domain.batch import Batch
from mcp_memory.storage.store import LanceStore

WORKER = [sys.executable, str(Path(__file__).with_name("worker.py"))]
TEXTS = 400
"""That there are to forget."""
STALL_S = 120.0
"""Within which one more text is indexed, on a machine that is very busy."""
BATCH, IN_FLIGHT = 20, 4
SYLLABLES = ("ba", "do", "fi", "gu", "ke", "lo", "mi", "nu", "pa", "ro", "su", "ti", "vo", "we", "xa", "zu")


@dataclass
class Outcome:
    """What came of the rounds."""

    acknowledged: int = 0  # transactions, forgets, texts or messages that the killed processes had acknowledged
    interrupted: int = 0  # processes that died in the middle of a forget, and texts that were left to index
    # what is lost, doubled or half stored, is found although it was forgotten, or is wrong with the store
    faults: list[str] = field(default_factory=list)

    def fault(self, what: str, *names: str) -> None:
        """Note a fault, if there is any name of it."""
        if names:
            self.faults.append(f"{what}: {', '.join(sorted(names))}")


def killed(arguments: list[str], after: int, then_s: float) -> list[str]:
    """Start a worker, kill it a moment after it has said so many lines, and return all whole lines that it said."""
    with subprocess.Popen([*WORKER, *arguments], stdout=subprocess.PIPE, text=True) as process:
        said = [process.stdout.readline() for _ in range(after)]
        killer = threading.Timer(then_s, process.kill)
        killer.start()
        said += process.stdout.readlines()  # until it is dead
        killer.join()
    return [line.strip() for line in said if line.endswith("\n")]


async def _check(store: LanceStore, found: Outcome, *, but: str = "nothing") -> None:
    found.faults += [one for one in await row_problems(store) if not one.startswith(but)]
    await store.aclose()


def writes(folder: Path, rounds: int, seed: int, writers: int = 1) -> Outcome:
    """Let writers write and learn at once, and kill them."""
    dice, found, acknowledged = random.Random(seed), Outcome(), set[str]()
    for number in range(rounds):
        names = [f"r{number}w{writer}" for writer in range(writers)]
        moments = [(dice.randrange(12), dice.uniform(0, 0.04)) for _ in names]
        with ThreadPoolExecutor(writers) as threads:
            said = threads.map(lambda name, when: killed(["write", str(folder), name], *when), names, moments)
            acknowledged |= {f"{name}-{line}" for name, lines in zip(names, said, strict=True) for line in lines}
        anyio.run(_look_at_writes, folder, acknowledged, found)
    found.acknowledged = len(acknowledged)
    return found


async def _look_at_writes(folder: Path, acknowledged: set[str], found: Outcome) -> None:
    store = opened(folder)
    async with store.reading() as view:
        refs = [turn.ref for turn in view.space("default").turns.values()]
        beliefs = view.space("default").beliefs
        learnt = [one.episode_id.removeprefix("ep_") for one in beliefs.lessons()]
        counts = {held.supported for name in PRAISED if (held := beliefs.get(name))}
    sizes = Counter(ref.rpartition("-")[0] for ref in refs)
    found.fault("lost", *acknowledged - sizes.keys())
    found.fault("unlearnt", *acknowledged - set(learnt))
    found.fault("half stored", *(ref for ref in refs if sizes[ref.rpartition("-")[0]] != int(ref.rpartition("of")[2])))
    if counts - {len(learnt)} or len(set(learnt)) < len(learnt):
        found.fault(f"{counts} lessons are believed of", str(len(learnt)))
    await _check(store, found, but="beliefs: of no stored sentence")  # the sentences are made up


def forgets(folder: Path, rounds: int, seed: int) -> Outcome:
    """Fill a store, let a process forget, and kill it."""
    dice, found, first = random.Random(seed), Outcome(), 0
    anyio.run(_fill, folder)
    every = {word(number) for number in range(TEXTS)}
    found.fault("the search shows nothing, since it misses", *every - holding(folder, every))
    for _ in range(rounds):
        said = killed(["forget", str(folder), str(first)], 2 * dice.randrange(3) + 1, dice.uniform(0, 0.5))
        begun, done = ([int(line.split()[1]) for line in said if line.startswith(kind)] for kind in ("begin", "done"))
        found.interrupted += len(begun) > len(done)
        first = anyio.run(_look_at_forgets, folder, max(done, default=first - 1) + 1, begun, found)
    found.acknowledged = first
    return found


async def _fill(folder: Path) -> None:
    store, refs = opened(folder), [word(number) for number in range(TEXTS)]
    sentences = {ref: batch(ref).sentences[0].id for ref in refs}
    lessons = tuple(lesson(ref, {name: 1}) for ref, name in sentences.items())
    points = [replace(point(ref), sentences=(name,), description=f"Of {ref}.") for ref, name in sentences.items()]
    for rows in (
        batch(*refs),
        Batch(lessons=lessons, beliefs=tuple(map(belief, sentences.values()))),
        pointed(*points),
    ):
        async with store.writing() as transaction:
            await transaction.commit(rows)
    await store.aclose()


async def _look_at_forgets(folder: Path, before: int, begun: list[int], found: Outcome) -> int:
    """Return the number of the first text that is left; ``before`` is that of the first that nobody acknowledged."""
    store = opened(folder)
    async with store.reading() as view:
        space = view.space("default")
        names = {one.id: one.ref for one in space.turns.values()}
        parts = [{names.get(one.turn_id, one.turn_id) for one in rows} for rows in (space.sentences, space.facts.rows)]
        parts.append({one.episode_id.removeprefix("ep_") for one in space.beliefs.lessons()})
        parts.append({one.id.removeprefix("h_") for one in space.hypergraph.all()})
    there = set(names.values())
    first = before + (before in begun and word(before) not in there)
    found.fault("lost", *{word(number) for number in range(first, TEXTS)} - there)
    found.fault("half forgotten", *{name for part in parts for name in part ^ there})
    found.fault("forgotten and found", *holding(folder, map(word, range(first))))
    await _check(store, found)
    return first


def indexing(folder: Path, rounds: int, seed: int) -> Outcome:
    """Let two processes write and index, and kill them; then let one index what is left."""
    dice, found, acknowledged = random.Random(seed), Outcome(), set[str]()
    for number in range(rounds):
        with ThreadPoolExecutor(2) as threads:
            works = [["index", str(folder), f"r{number}{letter}"] for letter in "ab"]
            moments = [dice.uniform(0, 1.5) for _ in works]
            for lines in threads.map(lambda work, then_s: killed(work, 1, then_s), works, moments):
                acknowledged |= set(lines)
    found.acknowledged = len(acknowledged)
    anyio.run(_look_at_index, folder, acknowledged, found)
    return found


async def _look_at_index(folder: Path, acknowledged: set[str], found: Outcome) -> None:
    memory = open_memory(folder)
    store = memory.store

    async def unindexed() -> int:
        async with store.reading() as view:
            return sum(len(space.unindexed) for space in view.spaces.values())

    found.interrupted = left = await unindexed()
    with anyio.fail_after(STALL_S) as stall:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(memory.work)
            while left:
                await anyio.sleep(0.05)
                before, left = left, await unindexed()
                if left < before:
                    stall.deadline = anyio.current_time() + STALL_S
            tasks.cancel_scope.cancel()
    async with store.reading() as view:
        space = view.space("default")
        found.fault("lost", *acknowledged - {turn.ref for turn in space.turns.values()})
        ids = [one.id for one in space.segments] + [one.id for one in space.sentences]
    tables = store._tables
    for name in tables.names():
        if name.startswith(("segments", "sentences", "assertions")):
            ids += [f"{name} {one}" for one in tables.rows(name, None, ["id"])["id"].to_pylist()]
    found.fault("twice", *(name for name, count in Counter(ids).items() if count > 1))
    await _check(store, found)
    await memory.aclose()


def server(store: Path, rounds: int, seed: int) -> Outcome:
    """Start a server, look at what the one before stored, let it write, and kill it."""
    dice, found = random.Random(seed), Outcome()
    said: dict[str, str] = {}
    for number in range(rounds + 1):
        with serving(store) as client:
            _look_at_messages(client, f"r{number - 1}", said, found)
            if number < rounds:
                said = _write_and_kill(client, f"r{number}", dice, found)
                found.acknowledged += len(said)
                continue
            status = client.structured("memory_status")
            found.fault("status", *(() if status["healthy"] else status["warnings"]))
            if status["counts"]["messages"] < found.acknowledged:
                found.fault("lost", f"{found.acknowledged - status['counts']['messages']} messages")
    return found


def _write_and_kill(client: StdioClient, session: str, dice: random.Random, found: Outcome) -> dict[str, str]:
    """Return the words of each message that was acknowledged before the server was killed, by its id."""
    until, then_s = dice.randrange(10), dice.uniform(0, 0.08)  # after so many acknowledged calls it is killed
    under_way: dict[int, dict[str, str]] = {}
    said: dict[str, str] = {}

    def acknowledged() -> None:
        number = next(iter(under_way))
        texts = under_way.pop(number)
        result = client.reply(number)["result"]
        if result.get("isError"):
            found.fault("refused", result["content"][0]["text"])
        else:
            said.update(texts)

    for call in range(until + IN_FLIGHT):
        if len(under_way) == IN_FLIGHT:
            acknowledged()
        size = BATCH if dice.random() < 0.4 else 1
        words = [" ".join("".join(dice.choices(SYLLABLES, k=4)) for _ in range(2)) for _ in range(size)]
        texts = {f"{session}-{call}-{place}of{size}": one for place, one in enumerate(words)}
        messages = [{"id": name, "speaker": "Ann", "text": f"I saw {one} today."} for name, one in texts.items()]
        under_way[client.begin("memory_write", session=session, messages=messages)] = texts
    time.sleep(then_s)
    client.process.kill()
    while under_way:  # replies sent before its end count
        with suppress(Gone):
            acknowledged()
    return said


def _look_at_messages(client: StdioClient, session: str, said: dict[str, str], found: Outcome) -> None:
    there = {turn["id"]: turn["text"] for turn in client.turns(session)}
    sizes = Counter(name.rpartition("-")[0] for name in there)
    found.fault("half stored", *(one for one in there if sizes[one.rpartition("-")[0]] != int(one.rpartition("of")[2])))
    found.fault("lost", *(name for name, words in said.items() if words not in there.get(name, "")))
    for name, words in said.items():
        evidence = client.structured("memory_reconstruct", query=words, limit=5)["evidence"]
        if name not in {source["id"] for item in evidence for source in item["sources"]}:
            found.fault("not found", name)


def run(kinds: dict[str, Callable[..., Outcome]], description: str | None) -> None:
    """Run rounds as the arguments say, print what came of them, and exit with 1 if there is a fault."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=kinds)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = kinds[options.kind](Path(folder) / "store", options.rounds, options.seed)
    sys.stdout.write(f"{options}: {found}\n")
    sys.exit(bool(found.faults))


if __name__ == "__main__":
    run({"writes": writes, "forgets": forgets, "indexing": indexing, "server": server}, __doc__)
