"""``mcp-memory backup`` and ``restore``: what they say, and what comes back."""

import anyio
import pytest
from remembering import space_in

from mcp_memory.cli import main
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


def test_a_backup_comes_back_in_a_new_place_alone(tmp_path, capsys, monkeypatch):
    anyio.run(with_memory, tell)
    file = str(tmp_path / "memory.backup")
    assert main(["backup", file]) == 0
    assert "Backed up" in capsys.readouterr().out
    anyio.run(with_memory, forget_first)
    assert main(["restore", file]) == 1
    assert "A restore replaces nothing" in capsys.readouterr().err
    assert anyio.run(with_memory, told) == {"m2", "m3"}
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(tmp_path / "new"))
    assert main(["restore", file]) == 0
    assert "What was forgotten after that backup was made is there again" in capsys.readouterr().out
    assert anyio.run(with_memory, told) == {"m1", "m2", "m3"}
    assert main(["doctor"]) == 0


def test_files_and_folders_of_others_are_left_alone(tmp_path, capsys, monkeypatch):
    assert main(["backup", str(tmp_path / "none.backup")]) == 1
    assert "nothing is stored" in capsys.readouterr().err
    anyio.run(with_memory, tell)
    file = tmp_path / "memory.backup"
    assert main(["backup", str(file)]) == 0
    made = file.read_bytes()
    assert main(["backup", str(file)]) == 1
    assert "add --replace" in capsys.readouterr().err
    assert file.read_bytes() == made
    assert main(["backup", str(file), "--replace"]) == 0
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Ines")
    assert main(["backup", str(letter)]) == 1
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(tmp_path / "new"))
    assert main(["restore", str(letter)]) == 1
    assert main(["restore", str(tmp_path / "missing")]) == 1
    monkeypatch.undo()
    err = capsys.readouterr().err
    assert "letter.txt is there already" in err
    assert "cannot be read" in err
    assert letter.read_text() == "Dear Ines"
    assert not (tmp_path / "new").exists()


def test_what_is_left_of_a_damaged_log_can_be_exported(tmp_path, capsys, monkeypatch):
    anyio.run(with_memory, tell)
    anyio.run(with_memory, tell_more)
    log = min((tmp_path / "store" / "journal").iterdir())
    log.write_bytes(log.read_bytes()[:100])
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "restore a backup" in said
    assert "import what is left here" in said
    assert main(["export", str(tmp_path / "left.jsonl")]) == 0
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(tmp_path / "new"))
    assert main(["import", str(tmp_path / "left.jsonl")]) == 0
    assert anyio.run(with_memory, told) == {"m4"}
    assert main(["doctor"]) == 0
