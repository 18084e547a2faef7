"""Spaces for projects, as a client sees them: the default of the server, that of a folder, and several at once."""

import json
from dataclasses import replace

import pytest
from integration.client_calls import connected, content, structured
from mcp import Client
from mcp_types import ListRootsResult, Root
from unit.services.learning_memory import FakeLog, memory

from mcp_memory.server.app import build
from mcp_memory.server.opening import space_of_folder
from mcp_memory.settings import Settings

pytestmark = pytest.mark.anyio


def client_with(space, log=None, **how):
    async def opened():
        return memory(log or FakeLog())

    settings = Settings()
    return Client(build(opened, replace(settings, server=replace(settings.server, space=space))), **how)


async def test_a_call_without_a_space_goes_to_the_configured_one():
    async with client_with("work") as client:
        await structured(client, "memory_write", text="The pump leaks.")
        await structured(client, "memory_write", text="The boat is called Curlew.", space="home")
        found = await structured(client, "memory_reconstruct", query="What leaks?")
        assert [item["text"] for item in found["evidence"]] == ["The pump leaks."]
        assert "space" not in found["evidence"][0]
        status = await client.call_tool("memory_status", {})
        assert status.structured_content["space"] == "work"
        assert "Calls that name no space go to 'work'." in status.content[0].text
        shown = json.loads(await content(client, "memory://spaces"))
        assert shown["default"] == "work"
        assert sorted(row["space"] for row in shown["spaces"]) == ["home", "work"]


async def test_a_clients_folder_chooses_its_space(tmp_path):
    project = tmp_path / "boats"
    project.mkdir()

    async def roots(_context):
        return ListRootsResult(roots=[Root(uri=project.as_uri())])

    async with client_with("workspace", list_roots_callback=roots, mode="legacy") as client:
        await structured(client, "memory_write", text="The sail is torn.")
        status = await structured(client, "memory_status")
        assert status["space"] == space_of_folder(project)
        assert [row["space"] for row in status["spaces"]] == [space_of_folder(project)]


async def test_a_client_without_roots_has_the_folder_that_it_was_started_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with client_with("workspace") as client:
        assert (await structured(client, "memory_status"))["space"] == space_of_folder(tmp_path)


async def test_several_spaces_are_recalled_from_and_shown_with_their_names():
    async with connected(FakeLog()) as client:
        for space, text in (("work", "The pump leaks."), ("home", "The tap leaks."), ("other", "The roof leaks.")):
            await structured(client, "memory_write", text=text, space=space)
        asked = {"query": "What leaks?", "spaces": ["work", "home", "work"]}
        reply = await client.call_tool("memory_reconstruct", asked)
        found = reply.structured_content
        assert {(item["space"], item["text"]) for item in found["evidence"]} == {
            ("work", "The pump leaks."),
            ("home", "The tap leaks."),
        }
        assert ", space work]" in reply.content[0].text
        assert ", space home]" in reply.content[0].text
        best = {"episode": found["episode"], "feedback": {"supports": ["1"]}, "space": found["evidence"][0]["space"]}
        changed = await structured(client, "memory_evolve", **best)
        assert changed["changes"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"spaces": ["a"], "mode": "all"}, "mode: all lists one space at a time"),
        ({"spaces": ["a"], "space": "b"}, "stands in place of space"),
        ({"spaces": ["a", "not a name"]}, "spaces[1]: 'not a name' is not the name of a space"),
        ({"spaces": [f"s{n}" for n in range(9)]}, "9 items are more than the 8"),
    ],
)
async def test_spaces_that_cannot_be_asked_are_refused(arguments, words):
    async with connected(FakeLog()) as client:
        result = await client.call_tool("memory_reconstruct", {"query": "x"} | arguments)
        assert result.is_error
        assert words in result.content[0].text


async def test_an_unknown_space_among_several_is_warned_of():
    async with connected(FakeLog()) as client:
        await structured(client, "memory_write", text="The pump leaks.", space="work")
        found = await structured(client, "memory_reconstruct", query="What leaks?", spaces=["work", "wrok"])
        assert [item["space"] for item in found["evidence"]] == ["work"]
        assert "There is no space 'wrok' yet" in found["warnings"][0]


def test_the_environment_names_the_space_for_the_command_line(tmp_path, monkeypatch, capsys):
    from mcp_memory.cli import main

    (tmp_path / "config.toml").touch()
    monkeypatch.setenv("MCP_MEMORY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(tmp_path / "store"))
    monkeypatch.setenv("MCP_MEMORY_SPACE", "work")
    (tmp_path / "notes.txt").write_text("The pump leaks.", "utf-8")
    assert main(["import", str(tmp_path / "notes.txt")]) == 0
    assert "in space 'work'" in capsys.readouterr().out
    assert main(["list", "sessions"]) == 0
    assert "notes" in capsys.readouterr().out
    assert main(["status"]) == 0
    assert "calls that name no space go to work" in capsys.readouterr().out
    monkeypatch.setenv("MCP_MEMORY_SPACE", "not a name")
    assert main(["list", "sessions"]) == 2
