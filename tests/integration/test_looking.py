"""``mcp-memory show``, ``list`` and ``search``: what they print, and with which exit code, on a store in use."""

import json
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from remembering import space_in

from mcp_memory.cli import main
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, Feedback, NewFact, NewItem, PointEdits, PointInsert, WriteRequest
from mcp_memory.embedding.onnx import OnnxEmbedder
from mcp_memory.server.opening import space_of_folder
from mcp_memory.settings import load
from mcp_memory.storage.store import LanceStore
from mcp_memory.wiring import open_memory

NOON = 1_716_206_400_000
DAY = 86_400_000
LETTERS = (
    NewItem("I moved to Porto in March.", ref="m1", speaker="Ines", said_at=NOON),
    NewItem("My new job is loud.\n\x1b[2JI like it\u202e.", ref="m2", speaker="Ines", said_at=NOON + DAY),
    NewItem("Tomas waters my ferns.", ref="m3", speaker="Ines", said_at=NOON + 2 * DAY),
)
FACTS = (
    NewFact("Ines", "lives_in", "Lisbon", NOON - 900 * DAY),
    NewFact("Ines", "lives_in", "Porto", NOON, source="m1"),
)


@pytest.fixture(scope="module")
def uri(tmp_path_factory):
    """Return a store that a server wrote and still has open."""
    place = str(tmp_path_factory.mktemp("looking") / "store")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("MCP_MEMORY_STORAGE_URI", place)
        settings = load(None)
    anyio.run(fill, settings)
    return place


async def fill(settings):
    memory = await open_memory(settings)
    await memory.write(WriteRequest("default", "letters", "message", LETTERS, FACTS))
    for depth in (3, 4):
        text = f"The tank is {depth} m deep."
        await memory.write(WriteRequest("default", "papers", "document", (NewItem(text, ref="tank", title="Tanks"),)))
    work = (
        NewItem("Always answer me in French.", ref="w2", role="user", said_at=NOON + DAY),
        NewItem("The valve downstairs leaks.", ref="w1", said_at=NOON),
    )
    await memory.write(WriteRequest("work", "letters", "message", work))
    recall = await memory.reconstruct(Query("Who waters the ferns?"))
    feedback = Feedback(supports=(recall.evidence[0].id,))
    await memory.evolve(EvolveRequest("default", episode=recall.episode, feedback=feedback))
    point = PointInsert(("Ines", "Tomas"), "Tomas looks after the ferns of Ines.")
    await memory.evolve(EvolveRequest("default", points=PointEdits(insert=(point,))))
    await memory.aclose()


@pytest.fixture(autouse=True)
def environment(monkeypatch, here, uri):
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", uri)


def printed(capsys, *command):
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    return out


def parsed(capsys, *command):
    return json.loads(printed(capsys, *command, "--json"))


def test_a_session_is_shown_word_for_word_with_its_control_characters_escaped(capsys):
    out = printed(capsys, "show", "letters")
    assert "    I moved to Porto in March.\n" in out
    assert "    My new job is loud.\n    \\x1b[2JI like it\\u202e.\n" in out
    turns = parsed(capsys, "show", "letters")
    assert [turn["text"] for turn in turns["turns"]][:3] == [item.text for item in LETTERS]
    assert parsed(capsys, "show", "letters", "--limit", "2")["total"] == turns["total"] == 4  # and a statement
    assert "valve" in printed(capsys, "show", "letters", "--space", "work")


def test_an_entity_is_shown_with_what_holds_and_with_its_timeline(capsys):
    out = printed(capsys, "show", "ines")
    now, timeline = out.split("Timeline\n")
    assert "Ines lives in Porto" in now
    assert "Lisbon" not in now
    assert timeline.index("Ines lives in Lisbon (from 2021-12-02") < timeline.index("Ines lives in Porto (since")
    content = parsed(capsys, "show", "Ines")
    assert content["type"] == "entity"
    assert {row["tail"] for row in content["timeline"]} >= {"Lisbon", "Porto"}
    assert content["points"][0]["text"] == "Tomas looks after the ferns of Ines."


def test_every_kind_of_id_is_shown(capsys, uri):
    async def learnt_episode():
        store = LanceStore(uri, embedder=OnnxEmbedder().name, dimension=OnnxEmbedder.dimension)
        space = await space_in(store)
        found = space.beliefs.lessons()[0].episode_id
        await store.aclose()
        return found

    facts = parsed(capsys, "list", "facts")["facts"]
    fact = parsed(capsys, "show", facts[0]["id"])
    assert (fact["type"], fact["id"]) == ("fact", facts[0]["id"])
    [point] = parsed(capsys, "list", "points")["points"]
    assert parsed(capsys, "show", point["id"])["text"] == "Tomas looks after the ferns of Ines."
    found = printed(capsys, "search", "Who waters the ferns?")
    assert "Their ids, which show and forget take: 1 m3" in found
    assert "Tomas waters my ferns." in printed(capsys, "show", "m3")
    for name in ("tank", "Tanks"):
        assert [turn["text"][12:15] for turn in parsed(capsys, "show", name)["turns"]] == ["3 m", "4 m"]
    assert "(written" in printed(capsys, "show", "Tanks")
    evidence = parsed(capsys, "search", "Who waters the ferns?")["evidence"][0]
    assert parsed(capsys, "show", evidence["id"])["source"]["id"] == "m3"
    assert "Tomas waters my ferns." in printed(capsys, "show", evidence["id"])
    assert parsed(capsys, "show", anyio.run(learnt_episode))["query"] == "Who waters the ferns?"


def test_lists_begin_with_the_newest_and_say_how_many_there_are(capsys):
    facts = parsed(capsys, "list", "facts", "--limit", "1")
    assert len(facts["facts"]) == 1
    assert facts["total"] > 1
    assert f"… 1 of {facts['total']} facts" in printed(capsys, "list", "facts", "--limit", "1")
    assert [row["id"] for row in parsed(capsys, "list", "sessions")["sessions"]] == ["papers", "letters"]
    assert printed(capsys, "list", "sessions", "--space", "work") == "letters 2 items 2024-05-20 to 2024-05-21\n"
    assert printed(capsys, "list", "points", "--space", "work") == "There are no points in space work.\n"


def test_search_prints_a_recall_by_conversation(capsys):
    out = printed(capsys, "search", "Who waters the ferns?")
    assert "Session letters, Mon 20 May 2024:\n" in out
    watered = "1. [Wed 22 May 2024, session letters] Ines: Tomas waters my ferns."
    assert watered in out
    assert "memory_evolve" not in out
    assert len(parsed(capsys, "search", "ferns", "--limit", "1")["evidence"]) == 1
    assert watered in printed(capsys, "search", "Who", "waters", "the", "ferns?")  # no quotes
    assert ': "Always answer me in French."' in printed(capsys, "search", "the valve", "--space", "work")


MISTAKES = [
    (["show", "nobody\x1b"], 1, "called 'nobody\\x1b'"),
    (["show", "f_00000000000000000000"], 1, "does not know anything called"),
    (["show"], 2, "NAME"),
    (["show", "Innes"], 1, "Did you mean 'Ines'?"),
    (["list", "facts", "--space", "elsewhere"], 1, "There are: default, work."),
    (["list", "facts", "--space", "workspace"], 1, f"a space {space_of_folder(Path.cwd())!r}"),
    (["search", "ferns", "--space", "elsewhere"], 1, "There are: default, work."),
    (["list", "ferns"], 2, "invalid choice"),
    (["list", "facts", "--limit", "0"], 2, "whole number from 1"),
    (["search", "ferns", "--limit", "201"], 2, "from 1 to 200"),
    (["search", " "], 2, "is empty"),
]


@pytest.mark.parametrize(("command", "code", "said"), MISTAKES)
def test_mistakes_are_named_with_an_exit_code(run, command, code, said):
    printed = run(*command, code=code)
    assert printed.out == ""
    assert said in printed.err
    assert "\x1b" not in printed.err


def test_looking_at_an_empty_place_creates_nothing(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(tmp_path / "none"))
    assert printed(capsys, "list", "facts") == "There are no facts in space default.\n"
    assert printed(capsys, "search", "ferns") == "No records to show.\n"
    assert not (tmp_path / "none").exists()


def test_only_a_search_loads_the_model(capsys, monkeypatch):
    def load_model(*_):
        raise AssertionError("the model was loaded")

    with monkeypatch.context() as patched:
        patched.setattr("mcp_memory.embedding.onnx._open_session", load_model)
        printed(capsys, "show", "Ines")
        printed(capsys, "list", "facts")
        with pytest.raises(AssertionError):
            main(["search", "ferns"])


def test_commands_work_while_another_process_writes(capsys):
    async def look_while_writing():
        memory = await open_memory(load(None))
        await memory.write(WriteRequest("live", "now", "message", (NewItem("It rains.", ref="r1"),)))
        code = await anyio.to_thread.run_sync(main, ["show", "now", "--space", "live"])
        await memory.write(WriteRequest("live", "now", "message", (NewItem("It stopped.", ref="r2"),)))
        await memory.aclose()
        return code

    assert anyio.run(look_while_writing) == 0
    assert "It rains." in capsys.readouterr().out
    assert "It stopped." in printed(capsys, "show", "now", "--space", "live")


READERS = [["show", "letters"], ["search", "ferns"], ["status"], ["export", "FILE"], ["forget", "--session", "letters"]]


@pytest.mark.parametrize("command", READERS, ids=" ".join)
def test_a_reader_that_has_seen_enough_is_no_error(command, tmp_path):
    command = [str(tmp_path / "all.jsonl") if word == "FILE" else word for word in command]
    script = f"from mcp_memory.cli import main; import sys; sys.exit(main({command}))"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        error = process.stderr.read()
    assert (process.returncode, error) == (141, b"")
