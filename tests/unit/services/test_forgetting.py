"""What is chosen to be forgotten, the preview, the token, and the deed, also in a store with everything."""

import json
from dataclasses import replace

import pytest
from exported_store import content, exported, fill, imported, open_at, replies, tell
from fakes import Disk
from remembering import space_in
from rows_checked import row_problems
from store_contents import holding
from unit.services.learning_memory import judged, memory, recalled, told

from mcp_memory.domain.query import Query, Window
from mcp_memory.domain.requests import (
    EvolveRequest,
    ForgetRequest,
    NewFact,
    NewItem,
    PointEdits,
    PointInsert,
    WriteRequest,
)
from mcp_memory.errors import InvalidInput
from mcp_memory.language.iso import parse
from mcp_memory.server.tools.forget import forget_reply
from mcp_memory.services.forget import NEAR_TEXTS
from mcp_memory.services.indexing import Reading, deriver, silent


async def texts(one):
    return [turn.text for turn in (await space_in(one.store)).turns.values()]


async def refs(one):
    return {turn.text: turn.ref for turn in (await space_in(one.store)).turns.values()}


async def deed(one, **chosen):
    """Preview, and do it with the token."""
    request = ForgetRequest("default", **chosen)
    preview = await one.forget(request)
    assert preview.dry_run
    done = await one.forget(replace(request, dry_run=False, token=preview.token))
    assert done.forgotten == preview.forgotten
    return done


async def test_where_the_store_keeps_more_than_it_should_the_reply_says_so():
    one = await told(memory())
    about = one.store.about

    async def kept():
        return replace(await about(), notes=("Earlier versions are kept.",))

    one.store.about = kept
    preview = await one.forget(request := ForgetRequest("default", query="beagle"))
    done = await one.forget(replace(request, dry_run=False, token=preview.token))
    assert "Earlier versions are kept." in done.warnings


async def test_the_preview_of_a_fact_says_how_to_take_it_back_and_keep_its_text():
    one = await told(memory())
    item = NewItem("I jog with the bakers on Mondays.", ref="m9", speaker="Ann", said_at=0)
    wrong = NewFact("Ann", "works_at", "the bakers", source="m9")
    written = await one.write(WriteRequest("default", "talk", "message", (item,), (wrong,)))
    preview = await one.forget(ForgetRequest("default", ids=(written.facts[0].id,)))
    assert preview.forgotten["messages"] == 1
    (way, *_) = preview.warnings
    assert "'Ann works at the bakers' goes as a whole. If only this fact is wrong, keep the text" in way
    denial = json.loads(way[way.index("{") : way.index("}") + 1])
    again = NewFact(**denial | {"valid_from": parse(denial["valid_from"])[0]})
    after = await one.write(WriteRequest("default", "talk", "statement", (), (again,)))
    assert [(fact.op, fact.valid_from == fact.valid_to) for fact in after.facts] == [("closed", True)]


@pytest.mark.parametrize("token", [None, "nonsense"])
async def test_without_the_token_of_the_preview_nothing_but_ids_goes(token):
    one = await told(memory())
    for chosen in ({"query": "beagle"}, {"session": "talk"}, {"entity": "Ann"}, {"everything": True}):
        with pytest.raises(InvalidInput, match="token"):
            await one.forget(ForgetRequest("default", dry_run=False, token=token, **chosen))
    assert len(await texts(one)) == 4


async def test_a_token_is_of_no_use_after_something_was_written():
    """The choice is another one then: it has to be looked at again."""
    one = await told(memory())
    preview = await one.forget(ForgetRequest("default", session="talk"))
    await told(one, "Ann: I sing.")
    with pytest.raises(InvalidInput, match="something changed"):
        await one.forget(ForgetRequest("default", session="talk", dry_run=False, token=preview.token))
    assert len(await texts(one)) == 5


async def test_ids_name_messages_evidence_facts_points_and_episodes():
    """A fact and a sentence stand for the messages that say them."""
    one = await told(memory(read=True))
    by_text = await refs(one)
    found = await recalled(one, "Where did Bob move?")
    await one.forget(ForgetRequest("default", ids=(by_text["My sister is a baker."],), dry_run=False))
    assert "My sister is a baker." not in await texts(one)
    fact = next(row.id for row in (await space_in(one.store)).facts.rows if row.tail == "Lisbon")
    await one.forget(ForgetRequest("default", ids=("f_" + fact.removeprefix("x_"),), dry_run=False))
    assert "I moved to Lisbon last Friday." not in await texts(one)
    sentence = next(item.id for item in found.evidence if "beagle" in item.text or "weather" in item.text)
    before = len(await texts(one))
    await one.forget(ForgetRequest("default", ids=(sentence,), dry_run=False))
    assert len(await texts(one)) == before - 1
    answer = await recalled(one, "weather in Lisbon")
    await judged(one, answer.episode, supports=(answer.evidence[0].id,))
    await one.forget(ForgetRequest("default", ids=(answer.episode,), dry_run=False))
    async with one.store.reading() as view:
        assert not view.space("default").beliefs.lessons()
        assert len(view.space("default").beliefs) == 0


async def test_what_is_unknown_gone_or_of_another_space_is_refused_in_words_and_nothing_goes():
    one = await told(memory())
    await told(one, "Ann: I sail.", space="other")
    by_text = await refs(one)
    known = by_text["My sister is a baker."]
    foreign = next(turn.id for turn in (await space_in(one.store, "other")).turns.values())
    for unknown in ("nothing", foreign, "t_0", "f_0", "h_0", "ep_0"):
        with pytest.raises(InvalidInput, match="is not known in space 'default'"):
            await one.forget(ForgetRequest("default", ids=(known, unknown), dry_run=False))
    assert len(await texts(one)) == 4
    await one.forget(ForgetRequest("default", ids=(known,), dry_run=False))
    with pytest.raises(InvalidInput, match="gone already"):
        await one.forget(ForgetRequest("default", ids=(known,), dry_run=False))
    for chosen in ({"session": "none"}, {"entity": "Nobody"}):
        with pytest.raises(InvalidInput, match="is not known in space"):
            await one.forget(ForgetRequest("default", **chosen))


async def test_an_id_in_several_sessions_needs_the_session():
    one = memory()
    for session in ("a", "b"):
        await one.write(WriteRequest("default", session, "message", (NewItem(f"I am in {session}.", ref="m1"),)))
    with pytest.raises(InvalidInput, match="in several sessions"):
        await one.forget(ForgetRequest("default", ids=("m1",), dry_run=False))
    await one.forget(ForgetRequest("default", ids=("m1",), session="b", dry_run=False))
    assert await texts(one) == ["I am in a."]


async def test_a_document_goes_with_all_revisions_and_only_if_it_is_named_or_previewed():
    one = memory()
    for text in ("The harbour is deep.", "The harbour is shallow."):
        await one.write(WriteRequest("default", "talk", "document", (NewItem(text, ref="d1", title="Harbour"),)))
    sentence = (await space_in(one.store)).sentences[-1].id
    request = ForgetRequest("default", ids=(sentence,))
    with pytest.raises(InvalidInput, match="document 'd1'"):
        await one.forget(replace(request, dry_run=False))
    preview = await one.forget(request)
    assert preview.forgotten["documents"] == 2
    assert len(await texts(one)) == 2
    await one.forget(ForgetRequest("default", ids=("d1",), dry_run=False))
    assert await texts(one) == []


async def test_an_entity_goes_with_what_it_said_and_what_names_nobody_else():
    one = await told(
        memory(read=True), "Ann: I sail.", "Bob: Ann is nice.", "Bob: Ann met Carla Sand.", "Bob: I like tea."
    )
    await told(one, facts=(NewFact("Ann", "likes", "jazz"), NewFact("Bob", "likes", "chess")))
    done = await deed(one, entity="Ann")
    left = await texts(one)
    assert "Ann met Carla Sand." in left
    assert any("stays" in line and "names others too: Ann met Carla Sand." in line for line in done.affected)
    assert not {"I sail.", "Ann is nice."} & set(left)
    assert not any("jazz" in text for text in left)
    assert any("chess" in text for text in left)


async def test_a_text_that_has_only_the_letters_of_a_name_is_listed_and_stays():
    """As in a language that is not read: the person decides."""
    one = await told(
        memory(read=True), "Ann: mein Enkel heißt Jonas", "Ann: the jonass", facts=(NewFact("Jonas", "likes", "jazz"),)
    )
    found = await one.forget(ForgetRequest("default", entity="Jonas"))
    assert [line for line in found.affected if "stays" in line and "Enkel heißt Jonas" in line]
    assert not any("jonass" in line for line in found.affected)
    assert found.warnings == ("To forget a text that stays, give its id and session.",)
    done = await deed(one, entity="Jonas")
    assert any("jonas" in text.lower() for text in await texts(one))
    assert any("Enkel heißt Jonas" in line for line in done.affected)


async def test_a_range_of_time_goes():
    one = memory()
    items = [NewItem(f"It was {day}.", ref=day, said_at=parse(day)[0]) for day in ("2023-01-01", "2023-02-01")]
    await one.write(WriteRequest("default", "talk", "message", tuple(items)))
    await deed(one, window=Window(parse("2023-01-15")[0], parse("2023-03-01")[0]))
    assert await texts(one) == ["It was 2023-01-01."]


async def test_a_query_proposes_what_is_about_it_the_nearest_first_and_says_why():
    asked = "Please forget mum's kiln code"
    said = (
        "Mum loves walnuts.",
        "I rang mum.",
        "Codes bore me.",
        "The kiln code of mum is 77.",
        "Mum gave the kiln a code.",
    )
    one = await told(memory(), *(f"Ann: {text}" for text in said))
    paper = NewItem("The kiln code of mum is old.", ref="d1")
    await one.write(WriteRequest("default", "talk", "document", (paper,)))
    preview = await one.forget(ForgetRequest("default", query=asked))
    goes = [line.partition("(Ann) ")[2] for line in preview.affected if not line.startswith("stays: ")]
    assert set(goes) == {f"has mum, kiln, code: {text}" for text in said[3:]}
    assert any("stays" in line and "'d1'" in line for line in preview.affected)  # only its id takes a document
    stays = {line.partition("has only ")[2] for line in preview.affected if "has only" in line}
    assert stays == {"mum: Mum loves walnuts.", "mum: I rang mum.", "code: Codes bore me."}
    await one.forget(ForgetRequest("default", query=asked, dry_run=False, token=preview.token))
    assert set(await texts(one)) == {*said[:3], paper.text}


async def test_of_texts_without_a_word_of_the_query_a_preview_shows_only_the_nearest():
    """What is meant may be said in other words; but a search finds much that has nothing to do with it."""
    one = await told(memory(), "Ann: My beagle sleeps.", *(f"Ann: I like {thing}." for thing in ("tea", "jazz", "ink")))
    await told(one, *(f"Bob: I sold {thing}." for thing in ("a boat", "a lamp", "a kettle")))
    preview = await one.forget(ForgetRequest("default", query="beagle"))
    assert preview.forgotten["messages"] == 1
    stays = [line for line in preview.affected if line.startswith("stays: ")]
    shown, last = stays[:-1], stays[-1]
    assert len(shown) == NEAR_TEXTS
    assert all("has none of these words: I " in line for line in shown)
    assert last == f"stays: {6 - NEAR_TEXTS} further texts, found by a search, without these words"


async def test_a_fact_with_another_source_keeps_it_and_the_preview_says_so():
    one = await told(memory(read=True), "Bob: I live in Lisbon.", "Bob: I still live in Lisbon.", "Ann: Hello there.")
    by_text = await refs(one)
    preview = await one.forget(ForgetRequest("default", ids=(by_text["I live in Lisbon."],)))
    assert any("keeps 1 of 2 sources: Bob lives in Lisbon" in line for line in preview.affected)
    await one.forget(ForgetRequest("default", ids=(by_text["I live in Lisbon."],), dry_run=False))
    facts = (await space_in(one.store)).facts
    (version,) = facts.versions(facts.key("Bob"), "lives_in")
    assert len(version.assertions) == 1


async def test_episodes_that_showed_it_are_dropped_and_others_stay():
    """In this process; another process is refused feedback that would store it again."""
    disk = Disk()
    one, other = await told(memory(disk)), memory(disk)
    about = await recalled(one, "Who adopted a beagle?", limit=1)
    free = await recalled(one, "Who is a baker?", limit=1)
    elsewhere = await recalled(other, "Who adopted a beagle?", limit=1)
    assert "beagle" in about.evidence[0].text
    assert "baker" in free.evidence[0].text
    for result in (about, free):  # what propagation passed through counts as well, so it is left out here
        episode = one.episodes.get("default", result.episode)
        one.episodes.keep(replace(episode, activated=()))
    await one.forget(ForgetRequest("default", ids=(about.evidence[0].id,), dry_run=False))
    assert one.episodes.get("default", about.episode) is None
    assert one.episodes.get("default", free.episode) is not None
    with pytest.raises(InvalidInput, match="is not known in space 'default'"):
        await judged(other, elsewhere.episode, supports=(elsewhere.evidence[0].id,))
    assert not any(b"beagle" in lesson.trace for lesson in (await space_in(one.store)).beliefs.lessons())


# In a store with everything that a memory does


VALVES = ("Which valve leaks?", "Who mends valve 2 on Friday?", "valve 4", "What does my brother mend?")


async def evidence(memory, *questions, space="work"):
    found = [await memory.reconstruct(Query(question, space)) for question in questions]
    return [[item.id for item in result.evidence] for result in found]


async def test_a_message_goes_from_every_file_and_the_rest_answers_as_before(tmp_path):
    """And a rebuild of what is left gives the same memory: nothing that is derived still rests on what went."""
    memory = open_at(tmp_path / "store")
    await fill(memory)
    assert holding(tmp_path / "store", ["Braga", "harbour", "Matos"]) == {"Braga", "harbour", "Matos"}
    before = await evidence(memory, *VALVES)
    work = await content(memory, "work")
    assert (await deed(memory, query="Braga")).forgotten["messages"] == 1
    await memory.forget(ForgetRequest("default", ids=("tank",), dry_run=False))
    assert holding(tmp_path / "store", ["Braga", "Matos", "harbour"]) == {"harbour"}
    assert await evidence(memory, *VALVES) == before
    assert await content(memory, "work") == work
    assert await row_problems(memory.store) == []
    left = await content(memory)
    reading = Reading(memory.embedder, memory.extractor)
    await memory.store.rebuild(deriver(reading, progress=silent))
    assert await content(memory) == left
    assert await content(memory, "work") == work


@pytest.mark.usefixtures("one_key")
async def test_after_a_forget_a_memory_answers_like_one_that_never_had_what_went(tmp_path):
    """To the digit, though the rarity of every word is another one than before."""
    memory, other = open_at(tmp_path / "store"), open_at(tmp_path / "other")
    await tell(memory)
    await deed(memory, query="octopuses")
    await deed(memory, ids=("tank",))
    await imported(other, await exported(memory))
    for space in ("default", "work"):
        assert await replies(memory, space) == await replies(other, space)
        assert await evidence(memory, *VALVES, space=space) == await evidence(other, *VALVES, space=space)


async def test_a_preview_names_memory_points_and_questions_that_go_or_change(tmp_path):
    """One point rests on a text that goes; another one only shares its goal, which may tell of that text."""
    memory = open_at(tmp_path / "store")
    said = ("Ines moved to Oslo with Rafael.", "Ines works with Rafael at Nordlys.", "Ines sings in a choir with Bo.")
    for session, text in zip("abc", said, strict=True):
        await memory.write(WriteRequest("default", session, "message", (NewItem(text),)))
    first, second, third = (sentence.id for sentence in (await space_in(memory.store)).sentences)
    couple, choir = "My own summary: they are a couple.", "They sing every Tuesday."
    points = (PointInsert(("Ines", "Rafael"), couple, (first, second)), PointInsert(("Ines", "Bo"), choir, (third,)))
    await memory.evolve(EvolveRequest("default", goal="What is Ines doing?", points=PointEdits(insert=points)))
    await memory.evolve(EvolveRequest("default", steps=("questions",)))
    request = ForgetRequest("default", session="a")
    preview = await memory.forget(request)
    assert f"a memory point goes: {couple}" in preview.affected
    assert f"a memory point loses its goal: {choir}" in preview.affected
    assert any(line.startswith("a question goes: ") for line in preview.affected)
    done = await memory.forget(replace(request, dry_run=False, token=preview.token))
    assert "No file of the memory" in forget_reply(request, done).text
    left = {one.description: one.scope for one in (await space_in(memory.store)).hypergraph.active()}
    assert couple not in left
    assert left[choir] == ""
