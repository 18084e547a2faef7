"""Facts from end to end over a real server: three years of one life, questioned as of three times."""

import pytest
from stdio_client import serving

SESSION = "letters"
MESSAGES = [
    {"id": "m1", "speaker": "Ann", "time": "2021-03-01", "text": "I live in Lisbon."},
    {"id": "m2", "speaker": "Ann", "time": "2022-05-10", "text": "I live in Oslo now."},
    {"id": "hedge", "speaker": "Ann", "time": "2022-05-10", "text": "Maybe I am allergic to nuts."},
    {"id": "m3", "speaker": "Ann", "time": "2022-09-01", "text": "I am allergic to nuts."},
    {
        "id": "m4",
        "speaker": "Bob",
        "time": "2023-02-01",
        "text": "Ann is my friend. Ann has lived in Turku since 1 January 2023.",
    },
    {"id": "m5", "speaker": "Ann", "time": "2023-03-01", "text": "I have lived in Bergen since 1 January 2023."},
]
SINCE = {"valid_from": "2023-01-01"}
FACTS = {
    "m1": [{"head": "Ann", "relation": "lives_in", "tail": "Lisbon"}],
    "m2": [{"head": "Ann", "relation": "lives_in", "tail": "Oslo", "intent": "EVOLUTION"}],
    "hedge": [{"head": "Ann", "relation": "allergic_to", "tail": "nuts", "confidence": 0.45}],
    "m3": [{"head": "Ann", "relation": "allergic_to", "tail": "nuts"}],
    "m4": [
        {"head": "Bob", "relation": "friend_of", "tail": "Ann"},
        {"head": "Ann", "relation": "lives_in", "tail": "Turku"} | SINCE,
    ],
    "m5": [{"head": "Ann", "relation": "lives_in", "tail": "Bergen"} | SINCE],
}


@pytest.fixture(scope="module", params=["given", "extracted"])
def written(tmp_path_factory, request):
    """Return a client after three years of messages, one call each, and the reply to each call.

    The facts are given by the caller or extracted by the server. Each call is repeated at the end and changes nothing.
    """
    with serving(tmp_path_factory.mktemp("facts") / "store") as talk:
        calls = [call(message, request.param) for message in MESSAGES]
        replies = {one["messages"][0]["id"]: talk.structured("memory_write", session=SESSION, **one) for one in calls}
        for again in calls:
            assert {op for _, op in ops(talk.structured("memory_write", session=SESSION, **again))} <= {"unchanged"}
        yield talk, replies
        assert talk.noise == []


def call(message, how):
    facts = [fact | {"source": message["id"]} for fact in FACTS[message["id"]]]
    return {"messages": [message]} | ({"facts": facts} if how == "given" else {})


def ops(reply):
    return {(fact["text"], fact["op"]) for fact in reply["facts"]}


def test_each_write_reports_its_facts_and_those_that_it_ended(written):
    _, replies = written
    assert ops(replies["m1"]) == {("Ann lives in Lisbon", "added")}
    assert ops(replies["m2"]) >= {("Ann lives in Oslo", "added"), ("Ann lives in Lisbon", "closed")}
    assert ops(replies["m3"]) >= {("Ann is allergic to nuts", "merged")}
    assert ops(replies["m4"]) >= {("Ann lives in Turku", "added"), ("Ann lives in Oslo", "closed")}
    assert ops(replies["m5"]) >= {("Ann lives in Bergen", "added"), ("Ann lives in Turku", "contested")}


HOMES = [("2021-06-01", "Lisbon"), ("2022-12-24", "Oslo"), ("2023-06-01", "Bergen")]


@pytest.mark.parametrize(("as_of", "home"), HOMES)
def test_the_same_question_is_answered_as_of_each_time(written, as_of, home):
    talk, _ = written
    recall = talk.structured("memory_reconstruct", query="Where does Ann live?", as_of=as_of, detail="full")
    best = next(item for item in recall["evidence"] if item["kind"] == "fact")
    assert best["text"] == f"Ann lives in {home}"
    assert best["valid_from"] <= as_of < best.get("valid_to", "9999")
    assert recall["roots"][0]["name"] == "Ann"
    assert recall["paths"][0].startswith("Ann -lives_in[")
    answer = talk.structured("memory_answer", question="Where does Ann live?", as_of=as_of)
    contested = home == "Bergen"  # Turku was said, too
    assert (answer["abstained"], home in (answer["answer"] or "")) == (contested, not contested)
    assert not contested or any("Bergen" in said["text"] for said in answer["closest"])


def test_a_contradiction_is_reported_and_both_values_are_kept(written):
    talk, _ = written
    answer = talk.structured("memory_answer", question="Where does Ann live?", as_of="2023-06-01")
    (conflict,) = answer["conflicts"]
    assert "Bergen" in conflict
    assert "Turku" in conflict


def test_a_confirmed_hedge_holds_from_its_first_statement(written):
    talk, _ = written
    (fact,) = talk.structured("memory_explore", operator="versions", entity="Ann", relation="allergic_to")["items"]
    assert (fact["valid_from"], fact["confidence"] > 0.9) == ("2022-05-10", True)
    assert {source["id"] for source in fact["sources"]} == {"hedge", "m3"}


def test_an_inferred_fact_is_marked_as_a_hypothesis(written):
    talk, _ = written
    step = talk.structured("memory_explore", operator="counterfactual", entity="Ann", query="Who is a friend of Ann?")
    friend = next(item for item in step["items"] if item.get("inferred") == "symmetry")
    assert "Bob" in friend["text"]
    known = talk.read("memory://default/entities/Ann")
    assert all(fact["head"] == "Bob" for fact in known["facts"]["friend_of"])  # the hypothesis was not stored


def test_the_timeline_shows_every_value_with_its_validity(written):
    talk, _ = written
    line = talk.read("memory://default/timeline/Ann")["versions"]
    shown = [(one["text"], one["valid_from"], one.get("valid_to"), one["status"]) for one in line]
    assert shown == [
        ("Ann lives in Lisbon", "2021-03-01", "2022-05-10", "closed"),
        ("Ann lives in Oslo", "2022-05-10", "2023-01-01", "closed"),
        ("Ann is allergic to nuts", "2022-05-10", None, "active"),
        ("Ann lives in Turku", "2023-01-01", "2023-01-01", "contested"),
        ("Ann lives in Bergen", "2023-01-01", None, "active"),
        ("Bob is a friend of Ann", "2023-02-01", None, "active"),
    ]
    assert line[0]["superseded_by"] == line[1]["id"]
    nuts = talk.read(line[2]["uri"])
    assert [one["source"]["id"] for one in nuts["assertions"]] == ["hedge", "m3"]
    assert all("I am allergic to nuts" in one["source"]["quote"] for one in nuts["assertions"])
    assert [state["known"][0].get("suspected") for state in nuts["history"]] == [True, None]
