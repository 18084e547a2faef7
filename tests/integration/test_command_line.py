"""``mcp-memory status``, ``doctor`` and ``demo``: what they say, and with which exit code."""

from types import SimpleNamespace

import anyio
import mcp.client.stdio  # noqa: F401 - it takes the stderr of the moment of its import, which a fixture may have replaced
import pytest
from batches import batch

from mcp_memory.embedding.onnx import OnnxEmbedder
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables


@pytest.fixture
def store(here):
    return here / "store"


NAME = OnnxEmbedder().name


def written(store, embedder=NAME):
    async def write():
        place = LanceStore(str(store), embedder=embedder, dimension=OnnxEmbedder.dimension)
        async with place.writing() as transaction:
            await transaction.commit(batch("a", "b", dimension=OnnxEmbedder.dimension))
        await place.aclose()

    anyio.run(write)


def test_a_healthy_store_is_reported_before_and_after_a_rebuild(store, run):
    assert "Holds 0 messages" in run("status").out
    written(store)
    assert "2 messages" in run("status").out
    assert run("doctor").out.endswith("all is well\n")
    assert "2 messages and documents" in run("doctor", "--rebuild").out
    commits = list(Tables(str(store)).log.commits())
    assert commits[-1].reader == RuleExtractor().version  # no server reads all texts once more


@pytest.mark.parametrize("terminal", [True, False])
def test_a_server_that_is_started_in_a_terminal_says_that_it_waits_for_a_client(store, run, monkeypatch, terminal):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: terminal))
    monkeypatch.setattr("mcp_memory.server.process.serve", lambda _settings: 0)
    assert ("a client starts" in run().err) == terminal


@pytest.mark.parametrize("judge", ["auto", "anthropic"])
def test_the_status_states_what_leaves_the_machine_and_where_it_goes(store, run, monkeypatch, judge):
    assert "Judged by the embedded engine: nothing leaves the machine." in run("status").out
    monkeypatch.setenv("MCP_MEMORY_ENGINE_JUDGE", judge)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    written(store)
    output = run("status").out
    assert "the evidence found for them go to claude-" in output
    assert ("All questions and goals and " in output) == (judge == "anthropic")
    assert "at https://api.anthropic.com, once ANTHROPIC_API_KEY is set: it is not." in output
    assert "embedded engine," not in output
    assert "Today (UTC), by all processes: 0 calls, 0 of 500,000 tokens sent." in output
    assert "Space default: 2 messages, 0 documents in 1 session; " in output


def test_a_store_of_another_embedder_is_refused_with_the_command_that_repairs_it(store, run):
    written(store, embedder="another")
    run("status", code=1)
    assert "doctor --rebuild" in run("doctor", code=1).out
    run("doctor", "--rebuild")
    run("status")


@pytest.mark.parametrize("command", [["status"], ["doctor"], ["doctor", "--rebuild"], ["show", "x"]])
def test_a_store_that_cannot_be_opened_is_reported_without_a_traceback(store, run, monkeypatch, command):
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", "bogus://somewhere")
    output = run(*command, code=1)
    assert "storage.uri 'bogus://somewhere'" in output.out + output.err


def test_a_wrong_setting_has_the_exit_code_of_wrong_usage(store, run, monkeypatch):
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URL", "somewhere")
    assert "MCP_MEMORY_STORAGE_URI" in run("status", code=2).err


def test_what_is_forgotten_is_previewed_and_goes_with_the_token_of_the_preview(store, run):
    written(store)
    preview = run("forget", "--session", "talk").out
    assert preview.startswith("Would be forgotten in space 'default': 2 messages, ")
    token = preview.split("--token ")[1].strip(" .\n")
    assert "Nothing was forgotten" in run("forget", "--session", "talk", "--token", "other", code=1).err
    done = run("forget", "--session", "talk", "--token", token).out
    assert done.startswith("Forgotten in space 'default': 2 messages, ")
    assert "Copies elsewhere remain" in done
    assert "is not known in space 'default'" in run("forget", "--session", "talk", "--token", token, code=1).err
    run("doctor")


def test_what_is_forgotten_by_its_id_goes_at_once_with_yes(store, run):
    written(store)
    assert '"dry_run": true' in run("forget", "a", "--json").out
    assert '"dry_run": false' in run("forget", "a", "--yes", "--json").out
    assert "1 message," in run("status").out


@pytest.mark.parametrize("arguments", [[], ["a", "--everything"], ["--since", "2024-02-30"], ["unknown", "--yes"]])
def test_a_forget_that_says_not_exactly_one_thing_is_refused(store, run, arguments):
    written(store)
    assert run("forget", *arguments, code=1).err.startswith("mcp-memory forget: ")
    assert "2 messages" in run("status").out
