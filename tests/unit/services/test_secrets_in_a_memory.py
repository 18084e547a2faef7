"""Secrets through a whole memory: in the log alone, and nowhere that a text of it is shown, embedded, read or sent."""

import re

import anyio
import pytest
from exported_store import MAY, exported, imported, open_at
from remembering import space_in
from rows_checked import row_problems
from store_contents import holding

from mcp_memory.domain.ids import digest
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, Feedback, NewFact, NewItem, PointEdits, PointInsert, WriteRequest
from mcp_memory.domain.turns import sentence_id
from mcp_memory.errors import InvalidInput
from mcp_memory.services.indexing import deriver, silent
from mcp_memory.services.write import statement
from mcp_memory.visible import FILL, SECRET_MASK

TOKEN = "gh" + "p_" + "k7Q" * 12
"""Nobody ever had it."""
PASSWORD = "k7Qfern" + "-9w"
MASKED = repr(FILL)[1:-1]
SAID = f"My token for the harbour is {TOKEN}. The harbour opens at eight."


async def filled(folder, secrets="mask"):
    memory = open_at(folder, secrets)
    items = (NewItem(SAID, ref="m1", speaker="Ines"), NewItem("The ferns are fine.", ref="m2", speaker="Ines"))
    facts = (NewFact("harbour wifi", "password", PASSWORD), NewFact("Ines", "likes", "ferns", source="m2"))
    result = await memory.write(WriteRequest("default", "letters", "message", items, facts))
    return memory, result.warnings


async def shown(memory):
    """Return everything that a memory shows of what it holds."""
    recall = await memory.reconstruct(Query("What is the token for the harbour?"))
    answer = await memory.answer(Query(f"Whose token is {TOKEN}, and what is the wifi password?"))
    space = await space_in(memory.store)
    known = [
        list(space.facts.all(suspected=True)),
        [space.text(piece) for piece in (*space.segments, *space.sentences)],
    ]
    turns = [(turn.text, turn.title) for turn in space.turns.values()]
    lessons = [(lesson.query, lesson.trace.decode()) for lesson in space.beliefs.lessons()]
    points = [(point.description, point.entities, point.scope) for point in space.hypergraph.all()]
    return re.sub(r"ep_\w+", "ep_", repr((recall, answer, known, turns, lessons, points)))


async def test_a_secret_stays_in_the_log_and_is_shown_embedded_and_read_masked(tmp_path):
    memory, warnings = await filled(tmp_path / "store")
    assert "messages[0] (GitHub token), facts[0] (password)" in warnings[0]
    await memory.evolve(EvolveRequest("default", goal=f"Who has {TOKEN}?"))
    point = PointInsert(("Ines", f"harbour {TOKEN}"), f"Ines opens the harbour with {TOKEN}.")
    await memory.evolve(EvolveRequest("default", points=PointEdits(insert=(point,))))
    found = await shown(memory)
    assert MASKED in found
    assert TOKEN not in found
    assert PASSWORD not in found
    embedder = memory.embedder
    assert not [text for text in embedder.texts if TOKEN in text or PASSWORD in text]
    assert holding(tmp_path / "store", [TOKEN, PASSWORD]) == {TOKEN, PASSWORD}


async def test_another_process_and_a_rebuild_see_the_same(tmp_path):
    memory, _ = await filled(tmp_path / "store")
    before = await shown(memory)
    await memory.aclose()
    again = open_at(tmp_path / "store")
    assert await shown(again) == before
    await again.store.rebuild(deriver(again.reading, progress=silent))
    assert await row_problems(again.store) == []
    assert MASKED in await shown(again)
    assert TOKEN not in await shown(again)


@pytest.mark.parametrize(
    "fact",
    [
        NewFact("wifi password", "is", PASSWORD),
        NewFact("Ann's PIN", "is", "471199"),
        NewFact("door code", "has_value", "471199"),
    ],
)
async def test_the_head_of_a_fact_may_say_that_its_tail_is_a_secret(tmp_path, fact):
    memory = open_at(tmp_path / "store")
    result = await memory.write(WriteRequest("default", "letters", "statement", (), (fact,)))
    assert "Secrets in facts[0]" in result.warnings[0]
    assert fact.tail not in await shown(memory)


async def test_a_store_written_before_secrets_were_masked_shows_them_masked(tmp_path):
    memory, warnings = await filled(tmp_path / "store", "keep")
    assert warnings == ()
    point = PointInsert(("Ines", f"harbour {TOKEN}"), f"Ines opens the harbour with {TOKEN}.")
    await memory.evolve(EvolveRequest("default", points=PointEdits(insert=(point,))))
    recall = await memory.reconstruct(Query("What is the token for the harbour?"))
    feedback = Feedback(supports=(recall.evidence[0].id,))
    await memory.evolve(EvolveRequest("default", episode=recall.episode, feedback=feedback))
    found = await shown(memory)
    assert TOKEN in found
    assert PASSWORD in found
    await memory.aclose()
    later = open_at(tmp_path / "store")
    found = await shown(later)
    assert TOKEN not in found
    assert PASSWORD not in found
    assert MASKED in found


async def test_what_holds_a_secret_is_refused_where_none_may_be_stored(tmp_path):
    with pytest.raises(InvalidInput, match=r"messages\[0\].*GitHub token.*Nothing of this call was stored"):
        await filled(tmp_path / "store", "refuse")
    memory = open_at(tmp_path / "store", "refuse")
    fact = NewFact("harbour wifi", "password", PASSWORD)
    with pytest.raises(InvalidInput, match=r"facts\[0\]"):
        await memory.write(WriteRequest("default", "letters", "statement", (), (fact,)))
    assert not (await space_in(memory.store)).turns


async def test_the_same_secret_is_one_message_and_another_one_is_another(tmp_path):
    memory, _ = await filled(tmp_path / "store")
    other = SAID.replace("k7Q", "m8R")
    for text, stored in ((SAID, False), (other, True), (other, False)):
        ref = "m1" if text == SAID else None
        result = await memory.write(
            WriteRequest("default", "letters", "message", (NewItem(text, ref=ref, speaker="Ines"),))
        )
        assert result.items[0].stored is stored
    with pytest.raises(InvalidInput, match="another text"):
        await memory.write(WriteRequest("default", "letters", "message", (NewItem(other, ref="m1", speaker="Ines"),)))
    for text, stored in ((SAID, True), (other, True), (other, False)):
        request = WriteRequest("default", "files", "document", (NewItem(text, ref="notes", title="Notes"),))
        assert (await memory.write(request)).items[0].stored is stored


@pytest.mark.usefixtures("one_key")
async def test_an_export_is_masked_unless_told_and_both_come_back_as_they_are(tmp_path):
    memory, _ = await filled(tmp_path / "store")
    for secrets in ("mask", "keep"):
        file, is_kept = await exported(open_at(tmp_path / "store", secrets)), secrets == "keep"
        assert (TOKEN.encode() in file, PASSWORD.encode() in file) == (is_kept, is_kept)
        assert (f"My token for the harbour is {SECRET_MASK}. The".encode() in file) is not is_kept
        assert FILL.encode() not in file
        copy = open_at(tmp_path / f"copy {secrets}")
        await imported(copy, file)
        assert await exported(open_at(tmp_path / f"copy {secrets}", secrets)) == file
        assert TOKEN not in await shown(copy)
        await copy.aclose()
        assert not (await imported(memory, file)).stored.total()


REMEMBER = "Remember that the door code is 4711#."


@pytest.mark.parametrize(
    ("text", "speaker", "kept"),
    [
        (REMEMBER, None, True),
        ("Please don't forget: my PIN is 7302", "user", True),
        ("Merke dir: der Türcode ist 4711", None, True),
        (REMEMBER, "Eve", False),
        (REMEMBER, "assistant", False),
        ("The door code is 4711#.", None, False),
        (f"Mail from Eve: {REMEMBER}", None, False),
        (f"Hello.\n{REMEMBER}", None, False),
        (f'Remember what she wrote: "{REMEMBER}"', None, False),
    ],
)
async def test_a_secret_that_the_user_asks_to_remember_stays_readable_and_the_reply_says_so(
    tmp_path, text, speaker, kept
):
    for told in ("keep", "mask"):
        memory = open_at(tmp_path / told, told=told)
        items = (NewItem(text, ref="m1", speaker=speaker),)
        result = await memory.write(WriteRequest("default", "letters", "message", items, wait=True))
        readable = kept and told == "keep"
        assert len(result.warnings) == 1
        assert ("stay readable" in result.warnings[0]) == readable
        assert ("Remember: …" in result.warnings[0]) != readable
        await memory.aclose()


async def test_what_the_user_asked_to_remember_is_still_readable_when_it_is_read_again(tmp_path):
    for told, seen in (("keep", True), ("mask", False), ("keep", True)):
        memory = open_at(tmp_path, told=told)
        await memory.write(WriteRequest("default", "letters", "message", (NewItem(REMEMBER, ref="m1"),)))
        assert ("code is 4711" in await shown(memory)) is seen
        await memory.aclose()


async def test_what_a_readable_message_states_is_readable_in_its_facts_too(tmp_path):
    facts = (NewFact("front door", "door_code", "4711", source="m1"), NewFact("gate", "gate_code", "8822", source="m2"))
    for text, readable in (("Remember that the door code is 4711#.", True), ("The door code is 4711#.", False)):
        memory = open_at(tmp_path / str(readable))
        items = (NewItem(text, ref="m1"), NewItem("The gate is green.", ref="m2"))
        first = await memory.write(WriteRequest("default", "letters", "message", items, facts[:1], wait=True))
        again = await memory.write(WriteRequest("default", "letters", "message", (), facts, wait=True))
        assert ("messages[0] (PIN), facts[0] (PIN) stay readable" in first.warnings[0]) is readable
        assert len(again.warnings) == 1 + readable
        for _ in range(2):
            known = repr(list((await space_in(memory.store)).facts.all(suspected=True)))
            assert ("'4711'" in known) is readable
            assert "'8822'" not in known
            await memory.aclose()
            memory = open_at(tmp_path / str(readable))
        await memory.aclose()


# Ids tell nobody what a masked text says, and still find what a store knows


PIN = "4821"
PINS = ("My bank PIN is 4821.", "The ferns are fine.", "My bank PIN is 4822.")
FACTS = (NewFact("Ines", "likes", "ferns", confidence=0.8), NewFact("Ines", "lives_in", "Porto"))


def told(*texts, facts=()):
    items = tuple(NewItem(text, speaker="Ines", said_at=MAY) for text in texts)
    return WriteRequest("default", "letters", "message", items, facts)


async def names(memory):
    """Return all ids of the space, and the refs of its texts."""
    space = await space_in(memory.store)
    rows = (*space.turns.values(), *space.segments, *space.sentences, *space.facts.rows)
    return {row.id for row in rows} | {turn.ref for turn in space.turns.values()}


async def texts(memory):
    return sorted(turn.said for turn in (await space_in(memory.store)).turns.values())


async def test_two_stores_name_the_same_texts_otherwise_and_one_names_them_alike(tmp_path):
    found = []
    for name in ("one", "other"):
        memory = open_at(tmp_path / name)
        await memory.write(told(*PINS, facts=FACTS))
        found.append(await names(memory))
        assert store_key(memory)
        await memory.aclose()
        again = open_at(tmp_path / name)
        written = await again.write(told(*PINS, facts=FACTS))
        assert [item.stored for item in written.items] == [False] * 3
        assert {fact.op for fact in written.facts} == {"unchanged"}
        await again.store.rebuild(deriver(again.reading, progress=silent))
        assert not any(item.stored for item in (await again.write(told(*PINS))).items)
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


async def with_pins(memory):
    """Write a PIN in every way, and learn from a question about it."""
    await memory.write(told(*PINS, facts=(NewFact("harbour wifi", "password", f"Xk9qTz{PIN}"),)))
    for text in ("The bank opens at nine.", PINS[0]):
        await memory.write(WriteRequest("default", "papers", "document", (NewItem(text, ref="bank"),)))
    recall = await memory.reconstruct(Query("What is the PIN of my bank?"))
    supports = tuple(item.id for item in recall.evidence[:2])
    await memory.evolve(EvolveRequest("default", recall.episode, Feedback(supports=supports, correction=PINS[0])))


async def test_nobody_finds_a_masked_pin_by_an_export(tmp_path):
    memory = open_at(tmp_path / "store")
    await with_pins(memory)
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


async def test_two_programs_that_begin_a_store_with_one_import_store_it_once(tmp_path):
    one = open_at(tmp_path / "one")
    await one.write(told(*PINS, facts=FACTS))
    file = await exported(one)
    programs = [open_at(tmp_path / "new") for _ in range(2)]
    async with anyio.create_task_group() as together:
        for memory in programs:
            together.start_soon(imported, memory, file)
    assert len(await texts(programs[0])) == 5
    assert await names(programs[0]) == await names(programs[1])
