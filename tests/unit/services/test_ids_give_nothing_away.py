"""Ids tell nobody what a masked text says, and still find what a store knows."""

import re

import anyio
from exported_store import MAY, exported, imported, masked_at, open_at

from mcp_memory.domain.ids import digest
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, Feedback, NewFact, NewItem, WriteRequest
from mcp_memory.domain.turns import sentence_id
from mcp_memory.services.indexing import deriver, silent
from mcp_memory.services.write import statement

PIN = "4821"
SAID = ("My bank PIN is 4821.", "The ferns are fine.", "My bank PIN is 4822.")
FACTS = (NewFact("Ines", "likes", "ferns", confidence=0.8), NewFact("Ines", "lives_in", "Porto"))


def told(*texts, facts=()):
    items = tuple(NewItem(text, speaker="Ines", said_at=MAY) for text in texts)
    return WriteRequest("default", "letters", "message", items, facts)


async def names(memory):
    """Return all ids of the space, and the refs of its texts."""
    async with memory.store.reading() as view:
        space = view.space("default")
        rows = (*space.turns.values(), *space.segments, *space.sentences, *space.facts.rows)
        return {row.id for row in rows} | {turn.ref for turn in space.turns.values()}


async def texts(memory):
    async with memory.store.reading() as view:
        return sorted(turn.said for turn in view.space("default").turns.values())


async def test_two_stores_name_the_same_texts_otherwise_and_one_names_them_alike(tmp_path):
    found = []
    for name in ("one", "other"):
        memory = masked_at(tmp_path / name)
        await memory.write(told(*SAID, facts=FACTS))
        found.append(await names(memory))
        assert store_key(memory)
        await memory.aclose()
        again = masked_at(tmp_path / name)
        written = await again.write(told(*SAID, facts=FACTS))
        assert [item.stored for item in written.items] == [False] * 3
        assert {fact.op for fact in written.facts} == {"unchanged"}
        await again.store.rebuild(deriver(again.reading, progress=silent))
        assert not any(item.stored for item in (await again.write(told(*SAID))).items)
        assert await names(again) == found[-1]
        await again.aclose()
    assert not found[0] & found[1]


def store_key(memory):
    return memory.store._refresher.last.key


def guesses(pin, refs):
    """Yield what an older program, or somebody with an export, would make of a PIN."""
    text = f"My bank PIN is {pin}."
    fact = "0.95FACT"
    made = [digest("Ines", "", time, "", text, "0") for time in ("", str(MAY))]
    made += [
        digest("", "statement", "", fact, statement(NewFact("harbour wifi", "password", f"Xk9qTz{pin}")), "0"),
        digest(text),
    ]
    for ref in (*made, *refs):
        yield ref
        turn = "t_" + digest("default", "letters", ref)
        yield turn
        yield sentence_id(turn, 0, text)
        yield "t_" + digest("default", "papers", ref, "1", text)


async def filled(memory):
    """Write a PIN in every way, and learn from a question about it."""
    await memory.write(told(*SAID, facts=(NewFact("harbour wifi", "password", f"Xk9qTz{PIN}"),)))
    for text in ("The bank opens at nine.", SAID[0]):
        await memory.write(WriteRequest("default", "papers", "document", (NewItem(text, ref="bank"),)))
    recall = await memory.reconstruct(Query("What is the PIN of my bank?"))
    supports = tuple(item.id for item in recall.evidence[:2])
    await memory.evolve(EvolveRequest("default", recall.episode, Feedback(supports=supports, correction=SAID[0])))


async def test_nobody_finds_a_masked_pin_by_an_export(tmp_path):
    memory = masked_at(tmp_path / "store")
    await filled(memory)
    assert not await names(memory) & set(guesses(PIN, []))
    file = (await exported(memory)).decode()
    assert PIN not in file
    assert store_key(memory) not in file
    refs = re.findall(r'"id": "([^"]+)"', file)
    said = set(re.findall(r"[0-9a-f]{16,20}", file))
    for number in range(10_000):
        found = [one for one in guesses(f"{number:04}", refs) if one[-20:] in said and one not in refs]
        assert found == [], number
    again = await imported(memory, file.encode())
    assert again.stored.total() == 0
    await memory.aclose()


async def test_two_programs_that_begin_a_store_with_one_import_store_it_once(tmp_path):
    one = open_at(tmp_path / "one")
    await one.write(told(*SAID, facts=FACTS))
    file = await exported(one)
    programs = [open_at(tmp_path / "new") for _ in range(2)]
    async with anyio.create_task_group() as together:
        for memory in programs:
            together.start_soon(imported, memory, file)
    assert len(await texts(programs[0])) == 5
    assert await names(programs[0]) == await names(programs[1])
    for memory in (one, *programs):
        await memory.aclose()
