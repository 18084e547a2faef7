"""One step of navigation for a client that navigates itself, the steps that a recall suggests, and those of evolve."""

from dataclasses import replace

import pytest
from batches import point, pointed
from fakes import Disk, DiskStore, FakeEmbedder
from learning_memory import held, memory, recalled, told

from mcp_memory.configurable import Switches
from mcp_memory.domain.episodes import Episode, ShownEvidence
from mcp_memory.domain.operators import OPERATORS
from mcp_memory.domain.query import Window
from mcp_memory.domain.requests import EvolveRequest, ExploreRequest, NewFact, NewItem, WriteRequest
from mcp_memory.errors import InvalidInput
from mcp_memory.language.tokens import rouge_l, words
from mcp_memory.ports import OperatorResult
from mcp_memory.search.ranking import INDEXES
from mcp_memory.server.tools.arguments import read_arguments
from mcp_memory.server.tools.explore import ExploreInput, explore_request
from mcp_memory.services.explore import explore
from mcp_memory.services.indexing import Reading, silent
from mcp_memory.services.learn.episodes import Episodes
from mcp_memory.services.recall.loop import RecallSettings, operators
from mcp_memory.services.write import write
from mcp_memory.settings import LimitSettings

NOW = 1_700_000_000_000
SETTINGS = RecallSettings(operators=operators(Switches()))


def listening(asked):
    """Return settings with an operator that finds nothing and keeps what it was asked."""

    def take(call):
        asked.append(call)
        return OperatorResult(())

    return RecallSettings(operators=dict.fromkeys(OPERATORS, take))


async def store_of(*facts):
    store, embedder = DiskStore(indexes=INDEXES), FakeEmbedder()
    items = tuple(NewItem(f"{fact.head} told me about {fact.tail}.", ref=fact.source) for fact in facts)
    request = WriteRequest("default", "s", "message", items, facts)
    await write(store, Reading(embedder, None), request, now=NOW, progress=silent)
    return store, embedder


def test_every_operator_names_what_it_needs_among_what_it_uses_and_every_argument_is_used():
    used = set()
    for step in OPERATORS.values():
        assert {name for needed in step.needs for name in needed.split(" or ")} <= set(step.uses)
        used |= set(step.uses)
    assert used == set(ExploreInput.model_fields) - {"operator", "limit", "max_tokens", "space", "episode"}


def shown(number, sentences=()):
    return ShownEvidence(number, 1.0, (), sentences, "")


def kept(*items):
    episodes = Episodes()
    episodes.keep(Episode("ep_1", "default", "Who?", NOW, shown=items))
    return episodes


async def test_records_are_named_by_their_number_where_their_episode_is_given():
    store, embedder = await store_of(NewFact("Ann", "likes", "tea", source="m1"))
    calls, space = [], store._view.space("default")
    sentence, fact = space.sentences[0].id, next(iter(space.facts.from_("ann"))).id
    episodes = kept(shown(fact), shown("i_0", (sentence,)))
    asked = ExploreRequest("default", "event_time", ids=("1", "2"), episode="ep_1")
    await explore(store, embedder, listening(calls), asked, now=NOW, episodes=episodes)
    assert calls[0].ids == (fact, sentence)  # a hypothesis stands for the sentences that it was shown with


@pytest.mark.parametrize(
    ("ids", "episode", "words"),
    [
        (("1",), None, r"^ids\[0\]: 1 is the number of a record, and no episode is given\. Give the episode"),
        (("2",), "ep_1", r"^ids\[0\]: episode ep_1 has no record 2\. It has 1 to 1"),
        (("1",), "ep_2", "^episode: 'ep_2' is not known in space 'default'"),
        (
            ("s_nope",),
            None,
            r"^ids\[0\]: space 'default' holds no evidence 's_nope' with a text\. .*s_, g_, f_, h_.*numbers",
        ),
        (("i_0",), None, r"^ids\[0\]: .* no evidence 'i_0' with a text\..* facts that it follows from"),
    ],
)
async def test_evidence_that_nobody_knows_is_refused_by_its_place(ids, episode, words):
    store, embedder = await store_of(NewFact("Ann", "likes", "tea", source="m1"))
    asked = ExploreRequest("default", "event_time", ids=ids, episode=episode)
    with pytest.raises(InvalidInput, match=words):
        await explore(store, embedder, SETTINGS, asked, now=NOW, episodes=kept(shown("f_1")))


async def test_a_point_stands_for_its_sentences_where_points_are_not_meant_and_only_it_where_they_are():
    store, embedder = await store_of(NewFact("Ann", "likes", "tea", source="m1"))
    calls, sentences = [], (store._view.space("default").sentences[0].id,)
    async with store.writing() as transaction:
        await transaction.commit(pointed(replace(point("1"), sentences=sentences), dimension=64))
    asked = ExploreRequest("default", "event_time", ids=("h_1",))
    await explore(store, embedder, listening(calls), asked, now=NOW)
    assert calls[0].ids == sentences
    around = ExploreRequest("default", "local_points", ids=sentences)
    with pytest.raises(InvalidInput, match=r"is no memory point of space 'default'\. .* begin with h_"):
        await explore(store, embedder, SETTINGS, around, now=NOW)
    await explore(store, embedder, SETTINGS, replace(around, ids=("h_1",)), now=NOW)


def step(name, **arguments):
    return ExploreRequest("default", name, **arguments)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (step("versions"), "entity: is missing. The operator versions cannot"),
        (step("personal_aspect", entity="Ann"), r"relation or tag: neither is given\. .* without one of them\."),
        (step("event_time"), "ids: is missing.* Ids of evidence stand in"),
        (step("event_context"), "ids: is missing.* numbers of records"),
        (step("local_points"), "ids: is missing.* begin with h_"),
        (step("timeline", relation="likes"), r"relation: .* timeline does not use it\. .* since, until and limit"),
        (step("local_points", ids=("h_1",), window=Window(5)), "since: .* does not use it"),
        (step("local_points", ids=("h_1",), window=Window(until=50)), "until: .* does not use it"),
        (step("versions", entity="Ann", episode="ep_1"), "episode: .* does not use it"),
    ],
)
async def test_what_a_step_cannot_do_without_or_does_not_use_is_refused_by_its_name(asked, words):
    with pytest.raises(InvalidInput, match=f"^{words}"):
        await explore(DiskStore(), FakeEmbedder(), SETTINGS, asked, now=NOW)


# Suggested steps, and steps of evolve over a whole space


TALK = ("Bob: My godfather is Emil.", "Emil: The hives behind my house were full of honey.", "Cleo: It rained.")
ASKED = "Which animals does the godfather of Bob breed?"
FACTS = (
    NewFact("Bob", "godfather", "Emil"),
    NewFact("Emil", "lives_in", "Rome"),
    NewFact("Emil", "lives_in", "Oslo"),
    NewFact("Bob", "likes", "tea"),
)


def steps(recall):
    return [(one.operator, dict(one.args)) for one in recall.next]


async def test_without_facts_steps_start_from_the_evidence_and_from_what_is_missing():
    recall = await recalled(await told(memory(), *TALK), ASKED, max_turns=1)
    ids = tuple(item.id for item in recall.evidence)
    following = dict(steps(recall))
    assert following["event_keywords"] == {"ids": ids[:3], "query": ASKED}
    assert following["reflect"] == {"query": f"{ASKED}; missing: animals, breed", "ids": ids[:3]}


async def test_the_first_step_follows_facts_to_where_more_is_known_and_no_step_is_repeated():
    recall = await recalled(await told(memory(), *TALK, facts=FACTS), ASKED, max_turns=1)
    following = steps(recall)
    assert following[0] == ("expand_facts", {"entity": "Emil", "query": ASKED})
    assert following[1][0] == "event_keywords"
    assert ("expand_facts", {"entity": "tea", "query": ASKED}) not in following  # nothing else is known of it
    assert len({str(one) for one in following}) == len(following)


async def test_a_recall_that_finds_nothing_suggests_nothing():
    assert steps(await recalled(memory(), ASKED)) == []


@pytest.mark.parametrize("space", ["default", "work"])
async def test_each_suggested_step_can_be_taken_as_given_in_its_space(space):
    one = await told(memory(), *TALK, facts=FACTS, space=space)
    ways, seen = list((await recalled(one, ASKED, space=space)).next), set()
    assert ways
    while ways and len(seen) < 40:
        step = ways.pop(0)
        if str(step) in seen:
            continue
        seen.add(str(step))
        args = {"space": "default", "operator": step.operator} | step.args
        assert args["space"] == space
        given = read_arguments(ExploreInput, args | {"ids": list(args.get("ids", ()))}, LimitSettings())
        reply = await one.explore(explore_request(given))
        assert reply.items or reply.next
        assert reply.next
        ways += reply.next


PATELS = (
    NewFact("Anna Patel", "visited", "Oslo"),
    NewFact("Anna Maria Patel", "works_at", "Acme"),
    NewFact("Anna Patel", "lives_in", "Lima"),
)


async def stepped(one, *steps, **asked):
    return await one.evolve(EvolveRequest("default", steps=steps, **asked))


def counts(one):
    space = held(one)
    return [len(space.turns), len(space.sentences), len(space.facts.rows)]


async def test_names_of_one_entity_are_united_without_a_new_fact():
    one = await told(memory(), facts=PATELS)
    before = counts(one)
    done = await stepped(one, "entities")
    (change,) = done.changes
    assert (change.step, change.kind, change.id) == ("entities", "entity", "Anna Maria Patel")
    assert change.before == "Anna Maria Patel (in 1 kind of fact) and Anna Patel (in 2) were two"
    assert change.after == "Anna Patel means Anna Maria Patel"
    assert done.engine == "embedded"
    facts = held(one).facts
    assert {fact.tail for fact in facts.from_(facts.key("Anna Maria Patel"))} == {"Oslo", "Acme", "Lima"}
    assert counts(one) == before


async def test_the_pool_asks_what_segments_answer_and_no_two_questions_are_similar():
    one = await told(memory(read=True), "Ann: I live in Oslo.", "Ann: I work at Acme.", "Bob: I live in Oslo.")
    done = await stepped(one, "questions")
    (change,) = done.changes
    pool = held(one).questions
    assert (change.step, change.kind, change.before) == ("questions", "question", "0 questions")
    assert change.after.startswith(f"{len(pool)} questions, {len(pool)} of them new, to 3 segments")
    assert "Where does Ann live?" in [asked.text for asked in pool.rows]
    assert len(pool.vectors) == len(pool)
    for a in pool.rows:
        for b in pool.rows:
            if a is not b and a.segment_id == b.segment_id and a.entities & b.entities:
                assert rouge_l(words(a.text), words(b.text)) < 0.6


async def test_pooling_again_adds_only_what_is_new():
    disk = Disk()
    one = await told(memory(disk, read=True), "Ann: I live in Oslo.")
    await stepped(one, "questions")
    before, commits = list(held(one).questions.rows), disk.commits
    again = await stepped(memory(disk, read=True), "questions")
    assert (again.changes, [left.step for left in again.skipped]) == ((), ["questions"])
    assert disk.commits == commits
    await told(one, "Bob: I live in Rome.")
    await stepped(one, "questions")
    assert held(one).questions.rows[: len(before)] == before
    assert len(held(one).questions) > len(before)


ALL = ("entities", "questions", "feedback", "confidence", "cardinality", "points", "merge")


async def test_steps_with_nothing_to_do_report_why_and_change_nothing():
    one = memory()
    done = await stepped(one, *ALL)
    assert done.changes == ()
    assert {left.step for left in done.skipped} == {*ALL}
    assert one.store.disk.commits == 0
