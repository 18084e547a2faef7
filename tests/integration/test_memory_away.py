"""A place that once held a memory and has none now is an error in words, for every command and every tool call."""

import json
import shutil
from functools import partial
from pathlib import Path

import anyio
import pytest
from mcp import Client
from remembering import remember

from mcp_memory.server.app import build
from mcp_memory.settings import load
from mcp_memory.storage.place import Place
from mcp_memory.wiring import open_memory

CALLS = {
    "memory_write": {"text": "I sold it."},
    "memory_status": {},
    "memory_reconstruct": {"query": "What is the boat called?"},
    "memory_answer": {"question": "What is the boat called?"},
    "memory_forget": {"query": "boat"},
    "memory_graph": {},
}


@pytest.fixture
def store(here, tmp_path, monkeypatch):
    """A memory with one message, noted beside its configuration; the folder of its store."""
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(tmp_path / "disk" / "store"))
    anyio.run(remember, "My boat is called Curlew.")
    return tmp_path / "disk" / "store"


def vanish(store):
    shutil.rmtree(store)


def unmount(store):
    shutil.rmtree(store.parent)
    store.parent.mkdir()


def empty(store):
    shutil.rmtree(store)
    store.mkdir()


@pytest.mark.parametrize("leave", [vanish, unmount, empty])
def test_every_call_says_that_the_memory_is_away_and_changes_nothing(store, tmp_path, run, leave):
    leave(store)
    before = sorted(tmp_path.rglob("*"))

    async def call():
        settings = load()
        async with Client(build(partial(open_memory, settings), settings)) as client:
            for name, arguments in CALLS.items():
                reply = await client.call_tool(name, arguments)
                assert reply.is_error, name
                assert "disk mounted?" in reply.content[0].text, name

    anyio.run(call)
    for command in ("status", "doctor"):
        assert "disk mounted?" in run(command, code=1).err
    assert sorted(tmp_path.rglob("*")) == before


def test_every_command_says_that_the_memory_is_away_and_changes_nothing(store, tmp_path, run):
    (tmp_path / "chat.md").write_text("Hello there.\n")
    empty(store)
    told = ("held a memory", "Is its disk mounted?", "restore FILE", "remove the note")
    before = sorted(tmp_path.rglob("*"))
    new = str(tmp_path / "new")
    commands = [["list", "facts"], ["show", "x"], ["search", "boat"], ["doctor", "--rebuild"]]
    commands += [["forget", "m1"], ["export", new]]
    commands += [["import", str(tmp_path / "chat.md")], ["backup", new]]
    for command in commands:
        said = run(*command, code=1).err
        assert all(text in said for text in told), command
    assert sorted(tmp_path.rglob("*")) == before


def test_a_server_whose_memory_goes_while_it_runs_says_so_and_goes_on_when_it_is_back(store, tmp_path):
    async def talk():
        settings = load()
        async with Client(build(partial(open_memory, settings), settings)) as client:
            assert not (await client.call_tool("memory_write", {"text": "I sold it.", "wait": True})).is_error
            away = store.parent.rename(tmp_path / "away")
            for name, arguments in CALLS.items():
                reply = await client.call_tool(name, arguments)
                assert "Is its disk mounted?" in json.dumps(reply.model_dump(mode="json")), name
            assert not store.exists()
            away.rename(store.parent)
            reply = await client.call_tool("memory_reconstruct", {"query": "What is the boat called?"})
            assert "Curlew" in reply.content[0].text

    anyio.run(talk)


def test_what_to_do_does_it(run, store, tmp_path):
    run("backup", tmp_path / "b.backup")
    vanish(store)
    run("restore", tmp_path / "b.backup")
    assert "1 message" in run("status").out
    vanish(store)
    said = run("status", code=1).err
    note = Place(str(store), "", load().storage.noted_in).note
    assert str(note) in said
    note.unlink()
    run("status")
    anyio.run(remember, "A new beginning.")
    run("status")


def test_a_store_that_is_not_noted_is_when_it_is_opened(run, store):
    note = Place(str(store), "", load().storage.noted_in).note
    note.unlink()
    run("status")
    assert json.loads(note.read_text())["place"] == str(store)


def test_everything_forgotten_leaves_a_memory_that_works(store, run):
    run("forget", "--everything", "--yes")
    run("status")
    anyio.run(remember, "A new beginning.")
    run("status")


def test_a_throw_away_place_is_made_again_where_the_configuration_is_no_throw_away(run, here, tmp_path, monkeypatch):
    monkeypatch.setattr("mcp_memory.storage.place.FOLDERS", ())
    for name in ("TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(tmp_path / "scratch" / "store"))
    for _ in (1, 2):
        anyio.run(remember, "My boat is called Curlew.")
        run("status")
        shutil.rmtree(tmp_path / "scratch")


def test_a_place_is_used_where_no_note_of_it_can_be_written(run, here, tmp_path):
    (tmp_path / "config.places").write_text("a file where the folder would be")
    for _ in (1, 2):
        anyio.run(remember, "My boat is called Curlew.")
        run("status")
        shutil.rmtree(tmp_path / "store")


@pytest.mark.parametrize("place", ["disk/new", "link/new"])
def test_a_memory_that_was_restored_is_noted_before_it_is_first_opened(run, store, tmp_path, monkeypatch, place):
    (tmp_path / "mounted").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "mounted")
    new = str(tmp_path / place)
    run("backup", tmp_path / "FILE")
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", new)
    run("restore", tmp_path / "FILE")
    vanish(store)
    vanish(Path(new))
    assert "Is its disk mounted?" in run("status", code=1).err
