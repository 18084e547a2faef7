"""Standing wishes for a client that is connected in memory: recognised, shown where they apply, listed, forgotten."""

import json

import pytest
from fakes import FakeLog
from integration.client_calls import connected, content, structured

pytestmark = pytest.mark.anyio


def said(*lines: str, role: str = "user", start: int = 1) -> list[dict[str, str]]:
    return [
        {"id": f"{role[0]}{number}", "speaker": role, "text": line, "time": f"2024-03-{number:02}"}
        for number, line in enumerate(lines, start)
    ]


async def listed(client) -> list[str]:
    return [one["text"] for one in json.loads(await content(client, "memory://default/wishes"))["wishes"]]


async def test_a_wish_is_listed_shown_and_gone_with_its_message():
    log = FakeLog()
    async with connected(log) as client:
        await structured(client, "memory_write", messages=said("Keep your answers short.", "We live in Alta."))
        recall = await client.call_tool("memory_reconstruct", {"query": "Where do I live?"})
        (wish,) = recall.structured_content["wishes"]
        assert wish["text"] == "Keep your answers short"
        assert wish["id"].startswith("s_")
        assert recall.content[0].text.startswith("Standing wish of the user: Keep your answers short\n")
        newest = await structured(client, "memory_reconstruct")
        assert newest["wishes"] == [wish]
    async with connected(log) as client:
        assert await listed(client) == ["Keep your answers short"]
        await structured(client, "memory_forget", ids=["u1"], dry_run=False)
        assert await listed(client) == []
        assert "wishes" not in await structured(client, "memory_reconstruct", query="Where do I live?")


async def test_a_later_wish_supersedes_an_earlier_one_of_the_same_matter():
    async with connected(FakeLog()) as client:
        lines = (
            "Always use metric units.",
            "Never use emojis.",
            "From now on use imperial units.",
            "Never use emojis!",
            "Please answer in Finnish.",
        )
        await structured(client, "memory_write", messages=said(*lines))
        assert await listed(client) == [
            "Never use emojis",
            "From now on use imperial units",
            "Please answer in Finnish",
        ]
        await structured(client, "memory_write", messages=said("You can use emojis again.", start=9))
        assert await listed(client) == ["From now on use imperial units", "Please answer in Finnish"]


async def test_an_assistant_and_others_state_no_wishes():
    async with connected(FakeLog()) as client:
        await structured(client, "memory_write", messages=said("Always use metric units.", role="assistant"))
        await structured(client, "memory_write", messages=said("Thanks, I never knew that."))
        assert await listed(client) == []
        talk = [{"speaker": name, "text": f"Never call me {name}y."} for name in ("Ann", "Bob")]
        await structured(client, "memory_write", messages=talk, space="friends")
        row = json.loads(await content(client, "memory://friends/wishes"))
        assert row == {"space": "friends", "wishes": [], "total": 0}


async def test_a_caller_states_wishes_as_facts():
    async with connected(FakeLog()) as client:
        wish = {"head": "user", "relation": "wants", "tail": "answers in verse"}
        await structured(client, "memory_write", facts=[wish], text="Rain again.")
        assert await listed(client) == ["user wants answers in verse"]
        recall = await structured(client, "memory_reconstruct", query="What is the weather?")
        assert [one["text"] for one in recall["wishes"]] == ["user wants answers in verse"]
        assert recall["wishes"][0]["id"].startswith("f_")
        await structured(client, "memory_write", facts=[{**wish, "negated": True, "valid_from": "2030-01-01"}])
        assert await listed(client) == []


async def test_a_stated_wish_is_ended_by_its_contrary_and_no_wish_is_what_somebody_would_like_to_have():
    async with connected(FakeLog()) as client:
        for number, wish in enumerate(("no emojis", "short answers", "a new bike", "to learn Welsh", "emojis"), 1):
            said = [{"id": f"m{number}", "speaker": "user", "text": "Hm.", "time": f"2024-03-{number:02}"}]
            facts = [{"head": "user", "relation": "wants", "tail": wish, "source": f"m{number}"}]
            await structured(client, "memory_write", messages=said, facts=facts)
        assert await listed(client) == ["user wants short answers", "user wants emojis"]
