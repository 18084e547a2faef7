"""``mcp-memory export`` and ``import``: files, exit codes, and a copy that answers alike with the real model."""

import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, NewFact, NewItem, WriteRequest
from mcp_memory.settings import load
from mcp_memory.wiring import open_memory

NOON = 1_716_206_400_000


@pytest.fixture(scope="module")
def uri(tmp_path_factory):
    place = str(tmp_path_factory.mktemp("moving") / "store")
    anyio.run(fill, place)
    return place


@pytest.fixture(autouse=True)
def environment(monkeypatch, here, uri):
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", uri)


async def fill(place):
    memory = await open_memory(load(None, {"MCP_MEMORY_STORAGE_URI": place}))
    items = (
        NewItem("I moved to Porto in March.", ref="m1", speaker="Ines", said_at=NOON),
        NewItem("My boat is called Curlew.", ref="m2", speaker="Ines", said_at=NOON + 7_200_000),
        NewItem("Tomas waters my ferns.", ref="m3", speaker="Ines", said_at=NOON + 14_400_000),
    )
    facts = (NewFact("Ines", "likes", "octopuses", source="m2"),)
    await memory.write(WriteRequest("default", "letters", "message", items, facts))
    item = NewItem("The valve leaks.", ref="w1", speaker="Ann")
    await memory.write(WriteRequest("work", "letters", "message", (item,)))
    await memory.answer(Query("Where does Ines live?"))
    await memory.evolve(EvolveRequest("default", goal="Ines and her ferns"))
    await memory.aclose()


async def asked(place):
    """Return evidence and answers."""
    memory = await open_memory(load(None, {"MCP_MEMORY_STORAGE_URI": place}))
    found = []
    for question in ("Where does Ines live?", "Who waters the ferns?", "What is the boat called?"):
        recall = await memory.reconstruct(Query(question))
        found.append([item.text for item in recall.evidence])
        answer = await memory.answer(Query(question, learn=False))
        found.append((answer.text, answer.confidence))
    await memory.aclose()
    return found


def without_header(file):
    return file.read_bytes().partition(b"\n")[2]


def test_a_memory_that_was_moved_answers_alike(tmp_path, run, monkeypatch, uri):
    out = run("export", tmp_path / "memory.jsonl").out
    assert "4 messages" in out
    assert "What was learnt is not in it" in out
    assert "Secrets in it are masked" in out
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(tmp_path / "copy"))
    assert "Stored 4 messages, 1 fact" in run("import", tmp_path / "memory.jsonl").out
    assert run("import", tmp_path / "memory.jsonl").out.endswith("Nothing of it is new: nothing was stored.\n")
    run("export", tmp_path / "again.jsonl")
    assert without_header(tmp_path / "again.jsonl") == without_header(tmp_path / "memory.jsonl")
    assert anyio.run(asked, uri) == anyio.run(asked, str(tmp_path / "copy"))


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files mean nothing there")
def test_an_export_is_readable_for_its_owner_alone(run, tmp_path):
    run("export", tmp_path / "memory.jsonl")
    assert (tmp_path / "memory.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_file_is_replaced_only_when_told(tmp_path, run):
    file = tmp_path / "memory.jsonl"
    run("export", file)
    first = file.read_bytes()
    assert "add --replace" in run("export", file, code=1).err
    assert file.read_bytes() == first
    run("export", file, "--replace")


@pytest.mark.parametrize("inside", ["moved.json", "forgotten/1.jsonl", "mine/out"])
def test_nothing_is_exported_or_backed_up_into_the_folder_of_a_memory(run, tmp_path, uri, inside):
    file = Path(uri) / inside
    file.parent.mkdir(exist_ok=True)
    for command in (["backup"], ["export"]):
        assert "lies in the folder of a memory" in run(*command, file, code=1).err
    assert not file.exists()
    run("status")


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
def test_a_full_disk_leaves_no_torn_file(run, tmp_path, uri):
    earlier = tmp_path / "memory.jsonl"
    run("export", earlier)
    before = earlier.read_bytes()
    script = (
        "import resource, signal, sys; from mcp_memory.cli import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))\n"  # the second block of the file does not fit
        "sys.exit(main(['export', *sys.argv[1:]]))"
    )
    for file in (earlier, tmp_path / "new.jsonl"):
        done = subprocess.run(
            [sys.executable, "-c", script, str(file), "--replace"], capture_output=True, text=True, env=dict(os.environ)
        )
        assert done.returncode == 1
        assert "cannot be written (File too large)" in done.stderr
    assert earlier.read_bytes() == before
    assert {one.name for one in tmp_path.iterdir()} - {"config.places"} == {"config.toml", "memory.jsonl"}


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (["export", "."], 1, "is a folder"),
        (["export", "nowhere/memory.jsonl"], 1, "lies in no folder"),
        (["export", "memory.jsonl", "--space", "play"], 1, "There are: default, work."),
        (["import", "nothing.jsonl"], 1, "cannot be read (No such file"),
        (["import", "."], 1, "config.toml is empty"),
        (["import", "config.toml"], 1, "is empty"),
        (["import", "x.jsonl", "--space", "a b"], 2, "not the name of a space"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="its errors have other words")
def test_mistakes_are_named_with_an_exit_code(tmp_path, run, monkeypatch, command, code, said):
    monkeypatch.chdir(tmp_path)
    printed = run(*command, code=code)
    assert printed.out == ""
    assert said in printed.err
    assert {one.name for one in tmp_path.iterdir()} - {"config.places"} == {"config.toml"}


def test_an_empty_store_is_not_exported(tmp_path, run, monkeypatch):
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(tmp_path / "none"))
    assert "nothing is stored in" in run("export", tmp_path / "memory.jsonl", code=1).err
    assert not (tmp_path / "none").exists()
    assert not (tmp_path / "memory.jsonl").exists()


def test_a_bad_line_is_named_before_the_model_is_loaded(tmp_path, run, monkeypatch):
    def load_model(*_):
        raise AssertionError("the model was loaded")

    monkeypatch.setattr("mcp_memory.embedding.onnx._open_session", load_model)
    file = tmp_path / "memory.jsonl"
    run("export", file)
    file.write_bytes(file.read_bytes().replace(b'"text": "Tomas', b'"test": "Tomas'))
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(tmp_path / "copy"))
    assert "line 5 has no text in 'text'" in run("import", file, code=1).err
    assert not (tmp_path / "copy").exists()
