"""One step of navigation for a client that navigates itself."""

from dataclasses import replace

import numpy as np
import pytest
from batches import point
from fakes import DiskStore, FakeEmbedder

from mcp_memory.configurable import Switches
from mcp_memory.domain.batch import Batch
from mcp_memory.domain.episodes import Episode, ShownEvidence
from mcp_memory.domain.operators import OPERATORS
from mcp_memory.domain.query import Window
from mcp_memory.domain.requests import ExploreRequest, NewFact, NewItem, WriteRequest
from mcp_memory.errors import InvalidInput
from mcp_memory.ports import OperatorResult
from mcp_memory.search.ranking import INDEXES
from mcp_memory.server.tools.explore import ExploreInput
from mcp_memory.services.explore import explore
from mcp_memory.services.indexing import Reading, silent
from mcp_memory.services.learn.episodes import Episodes
from mcp_memory.services.recall.loop import RecallSettings, operators
from mcp_memory.services.write import write

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


async def with_point(*sentences):
    store, embedder = await store_of(NewFact("Ann", "likes", "tea", source="m1"))
    space = store._view.space("default")
    sentences = sentences or (space.sentences[0].id,)
    async with store.writing() as transaction:
        made = replace(point("1"), sentences=sentences)
        await transaction.commit(Batch(points=(made,), point_vectors=np.ones((1, 64), dtype=np.float32)))
    return store, embedder, sentences


async def test_a_point_stands_for_its_sentences_where_points_are_not_meant_and_only_it_where_they_are():
    store, embedder, sentences = await with_point()
    calls = []
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
        (
            step("timeline", relation="likes"),
            r"relation: .* timeline does not use it\. .* since, until and limit",
        ),
        (step("local_points", ids=("h_1",), window=Window(5)), "since: .* does not use it"),
        (step("local_points", ids=("h_1",), window=Window(until=50)), "until: .* does not use it"),
        (step("versions", entity="Ann", episode="ep_1"), "episode: .* does not use it"),
    ],
)
async def test_what_a_step_cannot_do_without_or_does_not_use_is_refused_by_its_name(asked, words):
    with pytest.raises(InvalidInput, match=f"^{words}"):
        await explore(DiskStore(), FakeEmbedder(), SETTINGS, asked, now=NOW)
