"""The semantic and abstract layers: the aspects of an entity, what is known under one, and the passages of a topic."""

from talk_space import new_space, say, steps, texts, walked

from mcp_memory.domain.query import Window
from mcp_memory.domain.requests import NewFact
from mcp_memory.language.questions import understand
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.reconstruct.semantic_operators import PersonalAspect, PersonalInformation, TopicEvents
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
    found = walked(known(), PersonalInformation(), entity="Ann")
    assert texts(found) == ["Ann Lee lives in Oslo", "Bob likes Ann Lee"]
    assert steps(found) == [
        ("personal_aspect", {"entity": "Ann Lee", "relation": "lives_in"}),
        ("personal_aspect", {"entity": "Ann Lee", "relation": "likes"}),
        ("tag_events", {"entity": "Ann"}),
    ]
    assert [one.why for one in found.next[:2]] == ["lives in: 2 known", "likes: 2 known"]


def test_an_aspect_by_relation_or_tag_returns_its_facts_current_ones_first() -> None:
    for asked in ({"relation": "livesIn"}, {"tag": "lives in"}, {"tag": "home"}):
        found = walked(known(), PersonalAspect(), entity="Ann Lee", **asked)
        assert texts(found) == ["Ann Lee lives in Oslo", "Ann Lee lives in Rome"]
        assert steps(found) == [("tag_events", {"entity": "Ann Lee", "tag": "lives in"})]
    mutual = walked(known(), PersonalAspect(), entity="Ann Lee", relation="likes")
    assert sorted(texts(mutual)) == ["Ann Lee likes tea", "Bob likes Ann Lee"]
    assert ("personal_information", {"entity": "Bob"}) in steps(mutual)


def test_an_unknown_aspect_suggests_the_known_ones() -> None:
    found = walked(known(), PersonalAspect(), entity="Ann Lee", relation="owns")
    assert found.items == ()
    assert steps(found) == [("personal_information", {"entity": "Ann Lee"})]


def test_an_entity_without_facts_suggests_its_sentences() -> None:
    for step, asked in ((PersonalInformation(), {}), (PersonalAspect(), {"tag": "home"})):
        found = walked(known(), step, entity="Zoe", **asked)
        assert (found.items, steps(found)) == ((), [("tag_events", {"entity": "Zoe"})])


def test_the_window_hides_facts_that_did_not_hold_in_it() -> None:
    found = walked(known(), PersonalAspect(), entity="Ann Lee", relation="lives_in", window=Window(-950, -850))
    assert texts(found) == ["Ann Lee lives in Rome"]


def test_the_aspect_most_similar_to_the_query_comes_first() -> None:
    def like(said: object) -> list[float]:
        return [0.8 if one.relation == "likes" else 0.2 for one in said]  # type: ignore[attr-defined]

    found = PersonalInformation()(OperatorInput(known(), like, understand("Who likes her?", ()), entity="Ann Lee"))
    assert [(item.text, item.score) for item in found.items] == [
        ("Bob likes Ann Lee", 1.0),
        ("Ann Lee lives in Oslo", 0.25),
    ]


def topical() -> Space:
    tea, pond = (1.0, 0.0), (0.0, 1.0)
    near = (0.6, 0.8)
    lines = ("Ann: Green tea please.", "Bob: The pond froze.", "Cid: Green tea helps.", "Bob: The pond thawed.")
    return say(new_space(), *lines, "Bob: The pond has tea.", vectors=[tea, pond, tea, pond, near])


def test_a_topic_returns_its_passages_most_typical_first() -> None:
    space = topical()
    pond = Topics.of(space).topic_of(space, 1)
    assert pond is not None
    found = walked(space, TopicEvents(), topic=pond.id)
    assert texts(found) == ["The pond thawed.", "The pond froze.", "The pond has tea."]
    assert found.items[0].score == 1.0 > found.items[2].score
    assert [operator for operator, _ in steps(found)] == ["event_keywords", "event_time"]


def test_words_mean_the_topic_that_contains_them_most() -> None:
    space = topical()
    assert texts(walked(space, TopicEvents(), topic="green teas"))[0] == "Green tea helps."
    assert walked(space, TopicEvents(), topic="zebra") == OperatorResult(())
