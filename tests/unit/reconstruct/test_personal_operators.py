"""The semantic layer: which aspects of somebody are known, and what is known under one."""

from talk_space import new_space, say, steps, texts, walked

from mcp_memory.domain.query import Window
from mcp_memory.domain.requests import NewFact
from mcp_memory.reconstruct.personal_operators import PersonalAspect, PersonalInformation
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


def test_each_aspect_is_told_by_its_newest_fact_and_is_a_step() -> None:
    found = walked(known(), PersonalInformation(), entity="Ann")
    assert texts(found) == ["Ann Lee lives in Oslo", "Bob likes Ann Lee"]
    assert steps(found) == [
        ("personal_aspect", {"entity": "Ann Lee", "relation": "lives_in"}),
        ("personal_aspect", {"entity": "Ann Lee", "relation": "likes"}),
        ("tag_events", {"entity": "Ann"}),
    ]
    assert [one.why for one in found.next[:2]] == ["lives in: 2 known", "likes: 2 known"]


def test_an_aspect_gives_its_facts_what_holds_now_first_by_relation_or_by_tag() -> None:
    for asked in ({"relation": "livesIn"}, {"tag": "lives in"}, {"tag": "home"}):
        found = walked(known(), PersonalAspect(), entity="Ann Lee", **asked)
        assert texts(found) == ["Ann Lee lives in Oslo", "Ann Lee lives in Rome"]
        assert steps(found) == [("tag_events", {"entity": "Ann Lee", "tag": "lives in"})]
    mutual = walked(known(), PersonalAspect(), entity="Ann Lee", relation="likes")
    assert sorted(texts(mutual)) == ["Ann Lee likes tea", "Bob likes Ann Lee"]
    assert ("personal_information", {"entity": "Bob"}) in steps(mutual)


def test_an_aspect_that_is_not_known_leads_back_to_those_that_are() -> None:
    found = walked(known(), PersonalAspect(), entity="Ann Lee", relation="owns")
    assert found.items == ()
    assert steps(found) == [("personal_information", {"entity": "Ann Lee"})]


def test_of_whom_no_fact_is_known_the_sentences_are() -> None:
    for step, asked in ((PersonalInformation(), {}), (PersonalAspect(), {"tag": "home"})):
        found = walked(known(), step, entity="Zoe", **asked)
        assert (found.items, steps(found)) == ((), [("tag_events", {"entity": "Zoe"})])


def test_the_window_hides_what_did_not_hold_in_it() -> None:
    found = walked(known(), PersonalAspect(), entity="Ann Lee", relation="lives_in", window=Window(-950, -850))
    assert texts(found) == ["Ann Lee lives in Rome"]


def test_the_aspect_that_is_likest_to_the_query_comes_first() -> None:
    from mcp_memory.language.questions import understand
    from mcp_memory.ports import OperatorInput

    def like(said: object) -> list[float]:
        return [0.8 if one.relation == "likes" else 0.2 for one in said]  # type: ignore[attr-defined]

    found = PersonalInformation()(OperatorInput(known(), like, understand("Who likes her?", ()), entity="Ann Lee"))
    assert [(item.text, item.score) for item in found.items] == [
        ("Bob likes Ann Lee", 1.0),
        ("Ann Lee lives in Oslo", 0.25),
    ]
