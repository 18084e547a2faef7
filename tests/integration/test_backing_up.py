"""``mcp-memory backup`` and ``restore``: what they say, and what comes back."""

import anyio
import pytest
from remembering import space_in

from mcp_memory.domain.requests import ForgetRequest, NewItem, WriteRequest
from mcp_memory.settings import load
from mcp_memory.wiring import new_memory

TEXTS = {"m1": "The Quincefield clinic rang.", "m2": "Tomas waters the ferns.", "m3": "The Oakvessel leaks."}

pytestmark = pytest.mark.usefixtures("here")


async def with_memory(work):
    memory = new_memory(load(None))
    try:
        return await work(memory)
    finally:
        await memory.aclose()


async def tell(memory):
    items = tuple(NewItem(text, ref=ref, speaker="Ines") for ref, text in TEXTS.items())
    await memory.write(WriteRequest("default", "letters", "message", items))


async def tell_more(memory):
    await memory.write(WriteRequest("default", "letters", "message", (NewItem("It rains.", ref="m4"),)))


async def forget_first(memory):
    await memory.forget(ForgetRequest("default", ids=("m1",), session="letters", dry_run=False))


async def told(memory):
    return {one.ref for one in (await space_in(memory.store)).turns.values()}


def test_a_backup_comes_back_in_a_new_place_alone(tmp_path, run, monkeypatch):
    anyio.run(with_memory, tell)
    file = str(tmp_path / "memory.backup")
    assert "Backed up" in run("backup", file).out
    anyio.run(with_memory, forget_first)
    assert "A restore replaces nothing" in run("restore", file, code=1).err
    assert anyio.run(with_memory, told) == {"m2", "m3"}
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(tmp_path / "new"))
    assert "What was forgotten after that backup was made is there again" in run("restore", file).out
    assert anyio.run(with_memory, told) == {"m1", "m2", "m3"}
    run("doctor")


def test_files_and_folders_of_others_are_left_alone(run, tmp_path, monkeypatch):
    assert "nothing is stored" in run("backup", tmp_path / "none.backup", code=1).err
    anyio.run(with_memory, tell)
    file = tmp_path / "memory.backup"
    run("backup", file)
    made = file.read_bytes()
    assert "add --replace" in run("backup", file, code=1).err
    assert file.read_bytes() == made
    run("backup", file, "--replace")
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Ines")
    assert "letter.txt is there already" in run("backup", letter, code=1).err
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(tmp_path / "new"))
    run("restore", letter, code=1)
    assert "cannot be read" in run("restore", tmp_path / "missing", code=1).err
    assert letter.read_text() == "Dear Ines"
    assert not (tmp_path / "new").exists()


def test_what_is_left_of_a_damaged_log_can_be_exported(tmp_path, run, monkeypatch):
    anyio.run(with_memory, tell)
    anyio.run(with_memory, tell_more)
    log = min((tmp_path / "store" / "journal").iterdir())
    log.write_bytes(log.read_bytes()[:100])
    said = run("doctor", code=1).out
    assert "restore a backup" in said
    assert "import what is left here" in said
    run("export", tmp_path / "left.jsonl")
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(tmp_path / "new"))
    run("import", tmp_path / "left.jsonl")
    assert anyio.run(with_memory, told) == {"m4"}
    run("doctor")
