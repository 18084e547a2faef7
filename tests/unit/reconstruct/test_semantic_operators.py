"""The semantic and abstract layers: the aspects of an entity, what is known under one, and the passages of a topic."""

from talk_space import new_space, say, steps, texts, walked

from mcp_memory.domain.requests import NewFact
from mcp_memory.ports import OperatorResult
from mcp_memory.reconstruct.operators import personal_aspect, personal_information, topic_events
from mcp_memory.reconstruct.topics import Topics
from mcp_memory.view.space import Space


def known() -> Space:
    facts = [
        NewFact("Ann Lee", "lives_in", "Rome", valid_from=-900, valid_to=-800),
        NewFact("Ann Lee", "lives_in", "Oslo", valid_from=-700),
        NewFact("Ann Lee", "likes", "tea"),
        NewFact("Bob", "likes", "Ann Lee"),
        NewFact("Bob", "works_at", "the Red Mill"),
    ]
    return say(new_space(), "Ann Lee: I moved.", facts={0: facts})


def test_each_aspect_is_shown_by_its_newest_fact_and_suggested_as_a_step() -> None:
    found = walked(known(), personal_information, entity="Ann")
    assert texts(found) == ["Ann Lee lives in Oslo", "Bob likes Ann Lee"]
    assert steps(found) == [
        ("personal_aspect", {"entity": "Ann Lee", "relation": "lives_in"}),
        ("personal_aspect", {"entity": "Ann Lee", "relation": "likes"}),
        ("tag_events", {"entity": "Ann"}),
    ]
    assert [one.why for one in found.next[:2]] == ["lives in: 2 known", "likes: 2 known"]


def test_an_aspect_by_relation_or_tag_returns_its_facts_current_ones_first() -> None:
    for asked in ({"relation": "livesIn"}, {"tag": "lives in"}, {"tag": "home"}):
        found = walked(known(), personal_aspect, entity="Ann Lee", **asked)
        assert texts(found) == ["Ann Lee lives in Oslo", "Ann Lee lives in Rome"]
        assert steps(found) == [("tag_events", {"entity": "Ann Lee", "tag": "lives in"})]
    mutual = walked(known(), personal_aspect, entity="Ann Lee", relation="likes")
    assert sorted(texts(mutual)) == ["Ann Lee likes tea", "Bob likes Ann Lee"]
    assert ("personal_information", {"entity": "Bob"}) in steps(mutual)


def test_an_entity_without_facts_suggests_its_sentences() -> None:
    for step, asked in ((personal_information, {}), (personal_aspect, {"tag": "home"})):
        found = walked(known(), step, entity="Zoe", **asked)
        assert (found.items, steps(found)) == ((), [("tag_events", {"entity": "Zoe"})])


def topical() -> Space:
    tea, pond = (1.0, 0.0), (0.0, 1.0)
    near = (0.6, 0.8)
    lines = ("Ann: Green tea please.", "Bob: The pond froze.", "Cid: Green tea helps.", "Bob: The pond thawed.")
    return say(new_space(), *lines, "Bob: The pond has tea.", vectors=[tea, pond, tea, pond, near])


def test_a_topic_returns_its_passages_most_typical_first() -> None:
    space = topical()
    pond = Topics.of(space).topic_of(space, 1)
    assert pond is not None
    found = walked(space, topic_events, topic=pond.id)
    assert texts(found) == ["The pond thawed.", "The pond froze.", "The pond has tea."]
    assert found.items[0].score == 1.0 > found.items[2].score
    assert [operator for operator, _ in steps(found)] == ["event_keywords", "event_time"]


def test_words_mean_the_topic_that_contains_them_most() -> None:
    space = topical()
    assert texts(walked(space, topic_events, topic="green teas"))[0] == "Green tea helps."
    assert walked(space, topic_events, topic="zebra") == OperatorResult(())
