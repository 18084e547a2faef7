"""Forget many things of a store in use, in every way there is, and look for them in all of its files.

Run as ``python tests/soak/forget_rounds.py --messages 5000 --forgets 200``. Two other processes recall meanwhile. What
must hold: what went is found nowhere, in raw bytes and decoded, and was found before (the positive control); nothing
else went; every process lets go of it within seconds; the evidence of questions of another space is as it was, and so
is that of questions of the same space of which nothing went.

For these a fifth of the messages tells of other people and things, five of each thing, and nothing of it is forgotten.
Which of its messages bear on a question cannot change. Their order may, where two are nearly alike: the rarity of words
and the background of cosines are those of the whole space. So lists that hold the same in another order are counted
apart, and a second memory tells whether the statistics are their only cause: what is left is exported and imported into
an empty store, which never had what went, and answers every question of both spaces alike, in the same order with the
same scores.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent))

from crash.pending_writer import open_memory
from rows_checked import row_problems
from store_contents import holding
from unit.services.exported_store import exported, imported

from mcp_memory.domain.forgetting import ForgetRequest
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, Feedback, NewFact, NewItem, PointEdits, PointInsert, WriteRequest
from mcp_memory.errors import StoreBusy
from mcp_memory.memory import Memory
from mcp_memory.storage.store import LanceStore

PEOPLE = [
    f"{first}{last}" for first in ("Al", "Be", "Ca", "Do", "El", "Fa", "Go", "Hu") for last in ("nor", "vik", "dra")
]
PLACES = ("Lisbon", "Oslo", "Turku", "Bergen", "Porto", "Leeds", "Ghent", "Parma")
THINGS = ("lamp", "boat", "kettle", "ladder", "violin", "tractor", "ledger", "compass")
KEEPERS = [f"{first}{last}" for first in ("Ro", "Si", "Ti", "Um", "Wi") for last in ("bert", "lda", "mond")]
"""Who speaks and is spoken of in what is never forgotten."""
FLOWERS = ("tulip", "fern", "willow", "clover", "thistle", "lilac", "juniper", "poppy")
BUILDINGS = ("chapel", "windmill", "quarry", "lighthouse", "bakery", "orchard", "stable", "cottage")
KEPT = (
    "{other} planted the {thing} {mark} behind the {place}.",
    "The {mark} needs water twice a week, {other} told me.",
    "A storm broke the {mark} beside the {place}.",
    "{other} won a prize with the {mark}.",
    "We moved the {mark} from the {place} into a pot.",
)
"""What is said of each thing that is not forgotten."""
QUESTIONS = 200
"""In each of the two spaces."""
TALK = 40
"""Messages of a session."""
SECONDS = 30.0
"""Within which every process has to let go, on a machine that is busy."""


def mark(number: int) -> str:
    """Return a word that only one message has."""
    letters = []
    for _ in range(5):
        number, rest = divmod(number, 20)
        letters.append("bcdfghjklmnpqrstvwxz"[rest])
    return "zy" + "a".join(letters)


@dataclass
class Found:
    """What the rounds found.

    Attributes:
        forgets: by their kind.
        texts: that went.
        left: words that a file still held.
        unseen: words that the search had not found before, so that it shows nothing.
        wrong: forgets by which something else went, or not all of it.
        late: rounds after which a process still had what went.
        elsewhere: questions of another space whose evidence changed.
        asked: how many were asked of the same space.
        touched: of these, lists of evidence that held something that went.
        reordered: of the others, lists with another order.
        changed: and those that hold something else; with what went and what came.
        unlike: questions that a memory answers otherwise which never had what went.
        faults: of the check of both stores.
        seconds: of each forget.
    """

    forgets: Counter[str] = field(default_factory=Counter)
    texts: int = 0
    left: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    late: int = 0
    elsewhere: int = 0
    asked: int = 0
    touched: int = 0
    reordered: int = 0
    changed: list[tuple[str, list[str], list[str]]] = field(default_factory=list)
    unlike: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


async def fill(memory: Memory, messages: int) -> None:
    """Write messages in two spaces, every fifth with a fact, and teach and note some of them.

    The fourth fifth of them is of the same space, and is never forgotten.
    """
    some = random.Random(1)
    for start in range(0, messages, TALK):
        space = "main" if start < messages * 4 // 5 else "other"
        kept = space == "main" and start >= messages * 3 // 5
        items, facts = [], []
        for number in range(start, min(start + TALK, messages)):
            people, things, places = (KEEPERS, FLOWERS, BUILDINGS) if kept else (PEOPLE, THINGS, PLACES)
            who, other, thing, place = (some.choice(names) for names in (people, people, things, places))
            text = f"{other} brought the {thing} {mark(number)} to {place}."
            if kept:
                first = mark(number - number % len(KEPT))
                text = KEPT[number % len(KEPT)].format(other=other, thing=thing, mark=first, place=place)
            items.append(NewItem(text, f"m{number}", who))
            if number % 5 == 0:
                facts.append(NewFact(who, "owns", f"{thing} {mark(number)}", source=f"m{number}"))
        await memory.write(WriteRequest(space, f"s{start // TALK}", "message", tuple(items), tuple(facts)))
    taught = some.sample(range(messages * 3 // 5), 60)
    for number in (*taught, *some.sample(range(messages * 3 // 5, messages * 4 // 5, len(KEPT)), 20)):
        recall = await memory.reconstruct(Query(f"Who has {mark(number)}?", "main", 5))
        feedback = Feedback(supports=(recall.evidence[0].id,))
        await memory.evolve(EvolveRequest("main", episode=recall.episode, feedback=feedback))
        named = (PEOPLE, PLACES) if number < messages * 3 // 5 else (KEEPERS, BUILDINGS)
        ends = some.choice(named[0]), some.choice(named[1])
        point = PointInsert(ends, f"Somebody saw {mark(number)}.")
        await memory.evolve(EvolveRequest("main", points=PointEdits((point,))))


async def evidence(memory: Memory, questions: list[str], space: str, limit: int) -> dict[str, dict[str, float]]:
    """Return the evidence of each question: the score of each id with its text, best first."""
    found = {}
    for text in questions:
        recall = await memory.reconstruct(Query(text, space, limit))
        found[text] = {f"{one.id} {one.text}": round(one.score, 4) for one in recall.evidence}
    return found


async def faults(memory: Memory) -> list[str]:
    """Return in words what the check of a store finds."""
    assert isinstance(memory.store, LanceStore)
    return await row_problems(memory.store)


async def unlike(memory: Memory, folder: Path, asked: list[tuple[str, str, int]]) -> tuple[list[str], list[str]]:
    """Return the questions that a store made from the export of a memory answers otherwise, and its faults.

    Args:
        memory: the memory.
        folder: for that store.
        asked: each question with its space and the items wanted.
    """
    other = open_memory(folder)
    await imported(other, await exported(memory))
    found = []
    for text, space, limit in asked:
        here, there = await evidence(memory, [text], space, limit), await evidence(other, [text], space, limit)
        if list(here[text].items()) != list(there[text].items()):
            found.append(text)
    unsound = await faults(other)
    await other.aclose()
    return found, unsound


async def texts(memory: Memory) -> dict[str, str]:
    """Return the texts of the space that is forgotten in, by id."""
    async with memory.store.reading() as view:
        return {turn.id: turn.text for turn in view.space("main").turns.values()}


async def choose(memory: Memory, kind: str, some: random.Random, spared: set[str]) -> ForgetRequest | None:
    """Return something to forget that has none of the spared words."""
    async with memory.store.reading() as view:
        space = view.space("main")
        free = [turn for turn in space.turns.values() if turn.kind == "message" and mark_of(turn.text) not in spared]
        match kind:
            case "id":
                return ForgetRequest("main", ids=(some.choice(free).id,))
            case "fact":
                names = {turn.id for turn in free}
                facts = [one for one in space.facts.rows if one.extractor == "caller" and one.turn_id in names]
                return ForgetRequest("main", ids=(some.choice(facts).id,)) if facts else None
            case "point":
                points = [one for one in space.hypergraph.all() if not spared & set(one.description.split())]
                return ForgetRequest("main", ids=(some.choice(points).id,)) if points else None
            case "session":
                return ForgetRequest("main", session=some.choice(sorted({turn.session for turn in free})))
            case "entity":
                return ForgetRequest("main", entity=some.choice(sorted({turn.speaker or "" for turn in free})))
    return ForgetRequest("main", query=mark_of(some.choice(free).text))


def mark_of(text: str) -> str:
    """Return the word of a message that no other has."""
    return next((word.strip(".") for word in text.split() if word.startswith("zy")), "")


async def rounds(folder: Path, messages: int, forgets: int) -> Found:
    """Fill a store, start two processes on it, and forget."""
    found, some = Found(), random.Random(2)
    memory = open_memory(folder)
    await fill(memory, messages)
    known = await texts(memory)
    kept = range(messages * 3 // 5, messages * 4 // 5, len(KEPT))
    here = [f"What do you know about {mark(number)}?" for number in kept][:QUESTIONS]
    others = some.sample(range(messages * 4 // 5, messages), min(QUESTIONS, messages // 5))
    there = [f"Who brought {mark(number)} where?" for number in others]
    spared = {mark(number) for number in range(messages * 3 // 5, messages * 4 // 5)}
    before = await evidence(memory, here, "main", len(KEPT)), await evidence(memory, there, "other", 8)
    processes = [
        subprocess.Popen(  # noqa: ASYNC220 - nothing else runs here yet
            [sys.executable, __file__, "--serve", str(folder)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    kinds = ["id"] * 11 + ["fact"] * 2 + ["point"] + ["session"] * 2 + ["entity"] + ["query"] * 3
    try:
        for number in range(forgets):
            kind = kinds[number % len(kinds)]
            request = await choose(memory, kind, some, spared)
            if request is None:
                continue
            preview = await memory.forget(request)
            began = time.perf_counter()
            done = await memory.forget(ForgetRequest(**{**_fields(request), "dry_run": False, "token": preview.token}))
            found.seconds.append(time.perf_counter() - began)
            found.forgets[kind] += 1
            now = await texts(memory)
            gone = [text for name, text in known.items() if name not in now]
            if len(gone) != done.forgotten.get("messages", 0) or preview.forgotten != done.forgotten:
                found.wrong.append(f"{kind}: {len(gone)} texts went, {dict(done.forgotten)} was said")
            # A fact goes with the message that says it; it would be read out of that again.
            if (kind in ("id", "query", "fact") and len(gone) != 1) or (kind == "point" and gone):
                found.wrong.append(f"{kind}: {len(gone)} texts went")
            known, found.texts = now, found.texts + len(gone)
            if number % 20 == 19 or number == forgets - 1:
                await _look(folder, known, messages, processes, found)
                bad = len(found.left), len(found.unseen), len(found.wrong), found.late
                sys.stderr.write(f"{number + 1} forgets, {found.texts} texts, {found.seconds[-1]:.1f} s, {bad}\n")
    finally:
        for process in processes:
            process.kill()
    after = await evidence(memory, here, "main", len(KEPT)), await evidence(memory, there, "other", 8)
    found.asked = len(here)
    found.elsewhere = sum(list(before[1][text]) != list(after[1][text]) for text in there)
    asked = [(text, "main", len(KEPT)) for text in here] + [(text, "other", 8) for text in there]
    found.unlike, found.faults = await unlike(memory, folder.with_name("copy"), asked)
    there_still = {mark_of(text) for text in known.values()}
    for text in here:
        old, new = list(before[0][text]), list(after[0][text])
        if not {mark_of(one) for one in old} <= there_still:
            found.touched += 1
        elif set(old) != set(new):
            found.changed.append((text, [one for one in old if one not in new], [one for one in new if one not in old]))
        elif old != new:
            found.reordered += 1
    found.faults += await faults(memory)
    await memory.aclose()
    return found


async def _look(
    folder: Path, known: dict[str, str], messages: int, processes: list[subprocess.Popen[str]], found: Found
) -> None:
    """Look for all that went, and wait until the other processes have let go."""
    every = {mark(number) for number in range(messages * 3 // 5)}
    there = {mark_of(text) for text in known.values()} & every
    held = holding(folder, every)
    found.left += sorted(held - there)
    found.unseen += sorted(there - held)
    limit = time.monotonic() + SECONDS
    for process in processes:
        assert process.stdout is not None
        while int(process.stdout.readline()) != len(known):
            if time.monotonic() > limit:
                found.late += 1
                break


def _fields(request: ForgetRequest) -> dict[str, object]:
    return {name: getattr(request, name) for name in ForgetRequest.__dataclass_fields__}


async def serve(folder: Path) -> None:
    """Recall again and again, and print how many texts there are."""
    memory, some = open_memory(folder), random.Random()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(memory.work)
        while True:
            try:
                await memory.reconstruct(
                    Query(f"Who brought the {some.choice(THINGS)} to {some.choice(PLACES)}?", "main")
                )
                sys.stdout.write(f"{len(await texts(memory))}\n")
            except StoreBusy:  # a forget took longer than a recall waits, on a machine that is very busy
                sys.stdout.write("-1\n")
            sys.stdout.flush()
            await anyio.sleep(2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=5_000)
    parser.add_argument("--forgets", type=int, default=200)
    parser.add_argument("--serve", type=Path)
    options = parser.parse_args()
    if options.serve is not None:
        anyio.run(serve, options.serve)
    with tempfile.TemporaryDirectory() as place:
        outcome = anyio.run(rounds, Path(place) / "store", options.messages, options.forgets)
    seconds = sorted(outcome.seconds)
    sys.stdout.write(json.dumps({name: value for name, value in vars(outcome).items() if name != "seconds"}) + "\n")
    sys.stdout.write(f"median {seconds[len(seconds) // 2]:.2f} s, longest {seconds[-1]:.2f} s a forget\n")
    bad = outcome.left, outcome.unseen, outcome.wrong, outcome.late, outcome.elsewhere, outcome.unlike, outcome.faults
    sys.exit(any(bad))
