"""Facts from end to end over a real server: three years of one life, questioned as of three times."""

import pytest
from stdio_client import serving

SESSION = "letters"
TURKU = "Ann is my friend. Ann has lived in Turku since 1 January 2023."
MESSAGES = [
    {"id": "m1", "speaker": "Ann", "time": "2021-03-01", "text": "I live in Lisbon."},
    {"id": "m2", "speaker": "Ann", "time": "2022-05-10", "text": "I live in Oslo now."},
    {"id": "hedge", "speaker": "Ann", "time": "2022-05-11", "text": "I am allergic to nuts."},
    {"id": "m3", "speaker": "Ann", "time": "2022-09-01", "text": "I am allergic to nuts."},
    {"id": "m4", "speaker": "Bob", "time": "2023-02-01", "text": TURKU},
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
OPS = {
    "m1": {("Ann lives in Lisbon", "added")},
    "m2": {("Ann lives in Oslo", "added"), ("Ann lives in Lisbon", "closed")},
    "m3": {("Ann is allergic to nuts", "merged")},
    "m4": {("Ann lives in Turku", "added"), ("Ann lives in Oslo", "closed")},
    "m5": {("Ann lives in Bergen", "added"), ("Ann lives in Turku", "contested")},
}
HOMES = {"2021-06-01": "Lisbon", "2022-12-24": "Oslo", "2023-06-01": "Bergen"}


def ops(reply):
    return {(fact["text"], fact["op"]) for fact in reply["facts"]}


@pytest.mark.parametrize("how", ["given", "extracted"])
def test_three_years_of_a_life_are_remembered_as_of_each_time(tmp_path, how):
    """The facts are given by the caller or extracted by the server; a repeated call changes nothing."""
    with serving(tmp_path / "store") as talk:
        for again in (False, True):
            for message in MESSAGES:
                facts = [fact | {"source": message["id"]} for fact in FACTS[message["id"]]] if how == "given" else []
                more = {"facts": facts} if facts else {}
                reply = talk.structured("memory_write", session=SESSION, messages=[message], **more)
                if again:
                    assert {op for _, op in ops(reply)} <= {"unchanged"}
                else:
                    assert ops(reply) >= OPS.get(message["id"], set())
        for as_of, home in HOMES.items():
            recall = talk.structured("memory_reconstruct", query="Where does Ann live?", as_of=as_of, detail="full")
            best = next(item for item in recall["evidence"] if item["kind"] == "fact")
            assert best["text"] == f"Ann lives in {home}"
            assert best["valid_from"] <= as_of < best.get("valid_to", "9999")
            assert recall["roots"][0]["name"] == "Ann"
            assert recall["paths"][0].startswith("Ann -lives_in[")
            answer = talk.structured("memory_answer", question="Where does Ann live?", as_of=as_of)
            contested = home == "Bergen"  # Turku was said, too
            assert (answer["abstained"], home in (answer["answer"] or "")) == (contested, not contested)
            if contested:
                assert any("Bergen" in said["text"] for said in answer["closest"])
                (conflict,) = answer["conflicts"]
                assert "Bergen" in conflict
                assert "Turku" in conflict

        known = talk.structured("memory_explore", operator="versions", entity="Ann", relation="allergic_to")["items"]
        (fact,) = known  # a confirmed hedge holds from its first statement
        assert (fact["valid_from"], fact["confidence"] > 0.9) == ("2022-05-11", True)
        assert {source["id"] for source in fact["sources"]} == {"hedge", "m3"}
        asked = {"entity": "Ann", "query": "Who is a friend of Ann?"}
        step = talk.structured("memory_explore", operator="counterfactual", **asked)
        assert "Bob" in next(item for item in step["items"] if item.get("inferred") == "symmetry")["text"]
        friends = talk.read("memory://default/entities/Ann")["facts"]["friend_of"]
        assert all(fact["head"] == "Bob" for fact in friends)  # the hypothesis was not stored

        line = talk.read("memory://default/timeline/Ann")["versions"]
        assert [(one["text"], one["valid_from"], one.get("valid_to"), one["status"]) for one in line] == [
            ("Ann lives in Lisbon", "2021-03-01", "2022-05-10", "closed"),
            ("Ann lives in Oslo", "2022-05-10", "2023-01-01", "closed"),
            ("Ann is allergic to nuts", "2022-05-11", None, "active"),
            ("Ann lives in Turku", "2023-01-01", "2023-01-01", "contested"),
            ("Ann lives in Bergen", "2023-01-01", None, "active"),
            ("Bob is a friend of Ann", "2023-02-01", None, "active"),
        ]
        assert line[0]["superseded_by"] == line[1]["id"]
        assert [one["text"] for one in talk.read(line[0]["uri"])["ended_by"]] == ["Ann lives in Oslo"]
        nuts = talk.read(line[2]["uri"])
        assert [one["source"]["id"] for one in nuts["assertions"]] == ["hedge", "m3"]
        assert all("I am allergic to nuts" in one["source"]["quote"] for one in nuts["assertions"])
        assert talk.noise == []
