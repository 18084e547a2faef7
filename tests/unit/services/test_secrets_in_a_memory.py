"""Secrets through a whole memory: in the log alone, and nowhere that a text of it is shown, embedded, read or sent."""

import re

import pytest
from exported_store import exported, imported, masked_at, store_of
from rows_checked import row_problems
from store_contents import holding

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, Feedback, NewFact, NewItem, PointEdits, PointInsert, WriteRequest
from mcp_memory.errors import InvalidInput
from mcp_memory.services.indexing import deriver, silent
from mcp_memory.visible import FILL, SECRET_MASK

TOKEN = "gh" + "p_" + "k7Q" * 12
"""Nobody ever had it."""
PASSWORD = "k7Qfern" + "-9w"
MASKED = repr(FILL)[1:-1]
SAID = f"My token for the harbour is {TOKEN}. The harbour opens at eight."


async def filled(folder, secrets="mask"):
    memory = masked_at(folder, secrets)
    items = (NewItem(SAID, ref="m1", speaker="Ines"), NewItem("The ferns are fine.", ref="m2", speaker="Ines"))
    facts = (NewFact("harbour wifi", "password", PASSWORD), NewFact("Ines", "likes", "ferns", source="m2"))
    result = await memory.write(WriteRequest("default", "letters", "message", items, facts))
    return memory, result.warnings


async def shown(memory):
    """Return everything that a memory shows of what it holds."""
    recall = await memory.reconstruct(Query("What is the token for the harbour?"))
    answer = await memory.answer(Query(f"Whose token is {TOKEN}, and what is the wifi password?"))
    async with memory.store.reading() as view:
        space = view.space("default")
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
    await memory.aclose()


async def test_another_process_and_a_rebuild_see_the_same(tmp_path):
    memory, _ = await filled(tmp_path / "store")
    before = await shown(memory)
    await memory.aclose()
    again = masked_at(tmp_path / "store")
    assert await shown(again) == before
    await store_of(again).rebuild(deriver(again.reading, progress=silent))
    assert await row_problems(store_of(again)) == []
    assert MASKED in await shown(again)
    assert TOKEN not in await shown(again)
    await again.aclose()


@pytest.mark.parametrize(
    "fact",
    [
        NewFact("wifi password", "is", PASSWORD),
        NewFact("Ann's PIN", "is", "471199"),
        NewFact("door code", "has_value", "471199"),
    ],
)
async def test_the_head_of_a_fact_may_say_that_its_tail_is_a_secret(tmp_path, fact):
    memory = masked_at(tmp_path / "store")
    result = await memory.write(WriteRequest("default", "letters", "statement", (), (fact,)))
    assert "Secrets in facts[0]" in result.warnings[0]
    assert fact.tail not in await shown(memory)
    await memory.aclose()


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
    later = masked_at(tmp_path / "store")
    found = await shown(later)
    assert TOKEN not in found
    assert PASSWORD not in found
    assert MASKED in found
    await later.aclose()


async def test_what_holds_a_secret_is_refused_where_none_may_be_stored(tmp_path):
    with pytest.raises(InvalidInput, match=r"messages\[0\].*GitHub token.*Nothing of this call was stored"):
        await filled(tmp_path / "store", "refuse")
    memory = masked_at(tmp_path / "store", "refuse")
    fact = NewFact("harbour wifi", "password", PASSWORD)
    with pytest.raises(InvalidInput, match=r"facts\[0\]"):
        await memory.write(WriteRequest("default", "letters", "statement", (), (fact,)))
    async with memory.store.reading() as view:
        assert not view.space("default").turns
    await memory.aclose()


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
    await memory.aclose()


@pytest.mark.usefixtures("one_key")
async def test_an_export_is_masked_unless_told_and_both_come_back_as_they_are(tmp_path):
    memory, _ = await filled(tmp_path / "store")
    for secrets in ("mask", "keep"):
        file, is_kept = await exported(masked_at(tmp_path / "store", secrets)), secrets == "keep"
        assert (TOKEN.encode() in file, PASSWORD.encode() in file) == (is_kept, is_kept)
        assert (f"My token for the harbour is {SECRET_MASK}. The".encode() in file) is not is_kept
        assert FILL.encode() not in file
        copy = masked_at(tmp_path / f"copy {secrets}")
        await imported(copy, file)
        assert await exported(masked_at(tmp_path / f"copy {secrets}", secrets)) == file
        assert TOKEN not in await shown(copy)
        await copy.aclose()
        assert not (await imported(memory, file)).stored.total()
    await memory.aclose()


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
        memory = masked_at(tmp_path / told, told=told)
        items = (NewItem(text, ref="m1", speaker=speaker),)
        result = await memory.write(WriteRequest("default", "letters", "message", items, wait=True))
        readable = kept and told == "keep"
        assert len(result.warnings) == 1
        assert ("stay readable" in result.warnings[0]) == readable
        assert ("Remember: …" in result.warnings[0]) != readable
        await memory.aclose()


async def test_what_the_user_asked_to_remember_is_still_readable_when_it_is_read_again(tmp_path):
    for told, seen in (("keep", True), ("mask", False), ("keep", True)):
        memory = masked_at(tmp_path, told=told)
        await memory.write(WriteRequest("default", "letters", "message", (NewItem(REMEMBER, ref="m1"),)))
        assert ("4711" in await shown(memory)) is seen
        await memory.aclose()


async def test_what_a_readable_message_states_is_readable_in_its_facts_too(tmp_path):
    facts = (NewFact("front door", "door_code", "4711", source="m1"), NewFact("gate", "gate_code", "8822", source="m2"))
    for text, readable in (("Remember that the door code is 4711#.", True), ("The door code is 4711#.", False)):
        memory = masked_at(tmp_path / str(readable))
        items = (NewItem(text, ref="m1"), NewItem("The gate is green.", ref="m2"))
        first = await memory.write(WriteRequest("default", "letters", "message", items, facts[:1], wait=True))
        again = await memory.write(WriteRequest("default", "letters", "message", (), facts, wait=True))
        assert ("messages[0] (PIN), facts[0] (PIN) stay readable" in first.warnings[0]) is readable
        assert len(again.warnings) == 1 + readable
        for _ in range(2):
            async with memory.store.reading() as view:
                known = repr(list(view.space("default").facts.all(suspected=True)))
            assert ("'4711'" in known) is readable
            assert "8822" not in known
            await memory.aclose()
            memory = masked_at(tmp_path / str(readable))
        await memory.aclose()
