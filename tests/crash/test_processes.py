"""Several processes on one store, and processes that die."""

import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from batches import batch
from crash import rounds
from crash.rounds import WORKER
from crash.worker import PRAISED, opened, refs_of, word
from rows_checked import row_problems
from stdio_client import serving
from store_contents import holding

KINDS = {rounds.writes: (5, 7), rounds.forgets: (4, 5), rounds.indexing: (3, 11), rounds.server: (2, 5)}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_nothing_is_damaged_when_processes_are_killed_again_and_again(tmp_path, kind):
    found = kind(tmp_path / "store", *KINDS[kind])
    assert found.faults == []
    assert found.acknowledged > 0
    assert kind is not rounds.forgets or found.interrupted


@pytest.mark.skipif(sys.platform == "win32", reason="no process is forked there")
def test_whatever_is_killed_leaves_one_whole_memory_or_says_what_mends_it():
    """What puts a store somewhere, or makes its tables again, at a few of its steps."""
    script = Path(__file__).with_name("kill_places.py")
    command = [sys.executable, str(script), "places", "--rounds", "8", "--seed", "3"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def at_once(*works):
    """Run workers at once until all have ended well, and return what each said."""
    processes = [subprocess.Popen([*WORKER, *work], stdout=subprocess.PIPE, text=True) for work in works]
    said = [process.communicate()[0].splitlines() for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes)
    return said


@pytest.mark.parametrize(("processes", "each"), [(2, 40), (4, 15)])
def test_processes_with_ten_calls_in_flight_lose_nothing_and_fail_nowhere(tmp_path, processes, each):
    folder, names = str(tmp_path / "store"), [f"p{number}" for number in range(processes)]
    said = at_once(*(["write", folder, name, str(each), "10"] for name in names))
    assert all(sorted(map(int, lines)) == list(range(each)) for lines in said)

    async def refs():
        async with opened(folder).reading() as view:
            assert view.tx == 2 * each * processes
            beliefs = view.space("default").beliefs
            assert {found.supported for name in PRAISED if (found := beliefs.get(name))} == {each * processes}
            assert len(beliefs.lessons()) == each * processes
            return {turn.ref for turn in view.space("default").turns.values()}

    assert anyio.run(refs) == {ref for name in names for number in range(each) for ref in refs_of(name, number)}


@pytest.mark.parametrize("beside", ["forget", "rebuild"])
def test_a_process_that_forgets_beside_others_leaves_nothing_and_loses_nothing(tmp_path, beside):
    folder = str(tmp_path / "store")
    gone = [*range(4), *(range(100, 104) if beside == "forget" else ())]
    kept = {word(200), word(201)}

    async def fill():
        store = opened(folder)
        for words in (map(word, gone), kept):
            async with store.writing() as transaction:
                await transaction.commit(batch(*words))
        await store.aclose()

    async def look():
        store = opened(folder)
        async with store.reading() as view:
            refs = {one.ref for one in view.space("default").turns.values()}
        return refs, await row_problems(store)

    anyio.run(fill)
    assert holding(Path(folder), map(word, gone)) == set(map(word, gone))
    works = [["forget", folder, "0"], ["rebuild", folder, "6"]]
    if beside == "forget":
        works[1:] = [["forget", folder, "100"], ["write", folder, "w", "12", "4"]]
        kept |= {ref for number in range(12) for ref in refs_of("w", number)}
    at_once(*works)
    assert anyio.run(look) == (kept, [])
    assert holding(Path(folder), map(word, gone)) == set()


def test_a_write_over_the_protocol_does_not_wait_and_the_next_server_indexes_what_a_killed_one_left(tmp_path):
    store = tmp_path / "store"
    book = " ".join(f"Keeper {n} lived in Oslo and mended lamp {n} of the pier." for n in range(2_000))
    with serving(store, MCP_MEMORY_WRITE_WAIT="false") as client:
        (write,) = (one for one in client.ask("tools/list")["result"]["tools"] if one["name"] == "memory_write")
        assert write["inputSchema"]["properties"]["wait"]["default"] is False
        stated = [{"head": "Ann", "relation": "lives_in", "tail": "Turku"}]
        said = [{"id": "m", "text": "I adopted a lurcher.", "speaker": "Ann"}]
        reply = client.structured("memory_write", messages=said, facts=stated)
        assert reply["pending"] == {"texts": 2}  # the message, and the statement
        assert [fact["text"] for fact in reply["facts"]] == ["Ann lives in Turku"]
        reply = client.structured("memory_write", documents=[{"id": "book", "text": f"{book} A quagga was seen."}])
        assert reply["pending"] == {"texts": 1}
        found = client.structured("memory_reconstruct", query="quagga", limit=3)
        assert found["evidence"][0]["sources"][0]["id"] == "book"
        client.process.kill()
    with serving(store, MCP_MEMORY_WRITE_WAIT="false") as client:
        assert client.structured("memory_status")["counts"]["pending"] > 0
        client.structured("memory_write", documents=[{"id": "book", "text": "It was withdrawn."}])  # a revision
        waited = client.structured("memory_write", text="Bob moved to Porto.", wait=True)
        assert "pending" not in waited
        assert any("Porto" in fact["text"] for fact in waited["facts"])
        reply = client.structured("memory_reconstruct", query="Who has a greyhound?")
        assert any("lurcher" in item["text"] for item in reply["evidence"])
