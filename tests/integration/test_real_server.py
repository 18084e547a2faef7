"""The whole system as installed: ``mcp-memory serve`` over stdio, LanceDB, and the default embedding model."""

import pytest
from stdio_client import MODERN, serving

from mcp_memory.visible import without_hidden

ENDS_S = 10
"""Far more than the two seconds that a server has for leaving, as the machine may be busy."""
ADOPTED = "I adopted a beagle in May. His name is Rufus."
TALK = [
    {"id": "m1", "speaker": "Ann", "text": ADOPTED, "time": "2023-05-08T14:30:00Z"},
    {"id": "m2", "speaker": "Bob", "text": "I moved to Lisbon last Friday.", "time": "2023-06-12"},
    {"id": "m3", "speaker": "Ann", "text": "你好，世界。 \u202eمرحبا\u202c 👩‍👩‍👧 cafe\u0301"},
]


@pytest.mark.parametrize("era", ["2025-03-26", MODERN])
def test_a_whole_session_over_stdio(tmp_path, era):
    with serving(tmp_path / "store", era, PYTHONWARNINGS="error") as talk:
        assert len(talk.ask("tools/list")["result"]["tools"]) == 8
        written = talk.structured("memory_write", session="s/1 ü", messages=TALK)
        assert [item["stored"] for item in written["items"]] == [True] * 3
        title, text = "Blue Mill", "The Blue Mill opened in 1901. It burnt down in 1987."
        talk.structured("memory_write", session="papers", documents=[{"id": "d", "title": title, "text": text}])
        assert talk.structured("memory_write", session="s/1 ü", messages=TALK)["counts"]["stored"] == 0

        for query, id_ in [
            ("Which dog does Ann have?", "m1"),
            ("When did the Blue Mill burn down?", "d"),
            ("你好", "m3"),
        ]:
            best = talk.structured("memory_reconstruct", query=query, limit=3)["evidence"][0]
            assert best["sources"][0]["id"] == id_
        answered = talk.structured("memory_answer", question="Where did Bob move to?")
        assert answered["answer"] is None or "Lisbon" in answered["answer"]
        status = talk.structured("memory_status")
        assert status["healthy"]
        assert (status["counts"]["messages"], status["counts"]["documents"], status["processes"]) == (3, 1, 1)

        assert "memory" in talk.ask("resources/read", uri="memory://guide")["result"]["contents"][0]["text"]
        assert [space["space"] for space in talk.read("memory://spaces")["spaces"]] == ["default"]
        assert talk.read("memory://default/status")["healthy"]
        uris = {row["id"]: row["uri"] for row in talk.read("memory://default/sessions")["sessions"]}
        shown = [without_hidden(message["text"]) for message in TALK]
        assert [turn["text"] for turn in talk.read(uris["s/1 ü"])["turns"]] == shown
        found = talk.structured("memory_reconstruct", query="Bob moved to Lisbon")["evidence"]
        moved = talk.read(f"memory://default/facts/{found[0]['id']}")
        assert moved["tail"] == "Lisbon"
        sentence = talk.read(f"memory://default/sentences/{moved['assertions'][0]['source']['sentence']}")
        assert sentence["times"][0]["since"].startswith("2023-06-09")  # last Friday, seen from Monday the 12th

        prompts = talk.ask("prompts/list")["result"]["prompts"]
        assert {prompt["name"] for prompt in prompts} == {"remember", "recall", "investigate", "review", "consolidate"}
        prompt = talk.ask("prompts/get", name="recall", arguments={"question": "Who is Rufus?"})
        assert "Who is Rufus?" in prompt["result"]["messages"][0]["content"]["text"]
        template = {"type": "ref/resource", "uri": "memory://{space}/sessions/{id}{?cursor}"}
        typed = {"name": "id", "value": "pa"}
        completed = talk.ask("completion/complete", ref=template, argument=typed)
        assert completed["result"]["completion"]["values"] == ["papers"]

        talk.process.stdin.close()
        assert talk.process.wait(ENDS_S) == 0
        assert talk.noise == []
    assert (tmp_path / "store.stderr").read_text() == ""
    left = [file for file in (tmp_path / "home").rglob("*") if file.is_file()]
    assert [file.parent for file in left] == [tmp_path / "home/.config/mcp-memory/config.places"]  # of no library


def test_a_folder_that_cannot_be_written_to_is_reported_with_the_setting_to_change(tmp_path):
    (tmp_path / "file").touch()
    with serving(tmp_path / "store", MCP_MEMORY_STORAGE_URI="", HOME=str(tmp_path / "file" / "home")) as talk:
        refused = talk.call("memory_write", text="I moved to Lisbon.")
        assert refused["isError"]
        assert "MCP_MEMORY_STORAGE_URI" in refused["content"][0]["text"]
        assert talk.structured("memory_reconstruct", query="Lisbon")["evidence"] == []
        assert not talk.structured("memory_status")["healthy"]


def test_two_servers_on_one_store_lose_nothing_and_see_each_others_writes(tmp_path):
    each, in_flight = 20, 10
    with serving(tmp_path / "store") as one, serving(tmp_path / "store") as other:
        under_way = {one: [], other: []}
        for number in range(each):
            for talk, name in ((one, "one"), (other, "other")):
                if len(under_way[talk]) == in_flight:
                    assert not talk.reply(under_way[talk].pop(0))["result"].get("isError")
                message = {"id": f"{name}-{number}", "text": f"This is what {name} says, number {number}."}
                under_way[talk].append(talk.begin("memory_write", messages=[message]))
        replies = [talk.reply(number)["result"] for talk, numbers in under_way.items() for number in numbers]
        assert not [reply for reply in replies if reply.get("isError")]
        written = {f"{name}-{number}" for name in ("one", "other") for number in range(each)}
        for writer, reader, word in ((one, other, "kayak"), (other, one, "walrus")):
            writer.structured("memory_write", messages=[{"id": word, "text": f"Here is a {word}."}])
            assert reader.structured("memory_reconstruct", query=word)["evidence"][0]["sources"][0]["id"] == word
        assert [{turn["id"] for turn in talk.turns("default")} for talk in (one, other)] == [
            written | {"kayak", "walrus"}
        ] * 2
        assert one.structured("memory_status")["processes"] == 2
