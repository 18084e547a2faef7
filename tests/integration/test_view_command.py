"""``mcp-memory view`` as a process, and ``export --html``: who is answered, what is written, and what is not."""

import json
import os
import signal
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import pytest

from mcp_memory.cli import main
from mcp_memory.domain.requests import NewFact, NewItem, WriteRequest
from mcp_memory.settings import load
from mcp_memory.wiring import open_unloaded

TOKEN = "gh" + "p_" + "k7Q" * 12
NOON = 1_716_206_400_000


@pytest.fixture(autouse=True)
def store(monkeypatch, tmp_path):
    (tmp_path / "config.toml").touch()
    monkeypatch.setenv("MCP_MEMORY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(tmp_path / "store"))
    anyio.run(fill)
    return tmp_path / "store"


async def fill():
    memory = await open_unloaded(load(None))
    items = (NewItem(f"I moved to Porto. The token is {TOKEN}.", ref="m1", speaker="Ines", said_at=NOON),)
    facts = (
        NewFact("Ines", "lives_in", "Porto", NOON, source="m1"),
        NewFact("Ines", "likes", "</script><script>alert(1)</script>", source="m1"),
        NewFact("Tomas", "lives_in", "Braga"),
    )
    await memory.write(WriteRequest("default", "letters", "message", items, facts))
    await memory.write(WriteRequest("work", "files", "document", (NewItem("The valve leaks.", ref="w1"),)))
    await memory.aclose()


def inside(page):
    """Return the data inside a page."""
    return json.loads(page.partition('id="data">')[2].partition("</script>")[0])


def contents(store):
    return {path: path.read_bytes() for path in sorted(store.rglob("*")) if path.is_file()}


class Viewing:
    """A running ``mcp-memory view``."""

    def __init__(self, *options, through=()):
        command = [*through, sys.executable, "-m", "mcp_memory", "view", "--no-browser", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.address = urlsplit(self.process.stdout.readline().split()[-1])

    def ask(self, path, method="GET", host=None):
        connection = HTTPConnection(self.address.hostname, self.address.port, timeout=20)
        connection.request(method, path, headers={} if host is None else {"Host": host})
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return reply, text

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def test_the_page_is_served_to_who_knows_the_token_by_the_right_name_and_changes_nothing(store):
    with Viewing("--entity", "ines") as viewing:
        before, path = contents(store), viewing.address.path
        reply, page = viewing.ask(path)
        assert (reply.status, viewing.address.hostname, len(path.strip("/"))) == (200, "127.0.0.1", 32)
        assert reply.headers["Referrer-Policy"] == "no-referrer"  # the address has the token in it
        assert reply.headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in reply.headers
        graph = inside(page)["graph"]
        assert (graph["entity"], graph["total"]["edges"], TOKEN in page) == ("ines", 2, False)
        part = json.loads(viewing.ask(f"{path}graph?entity=Tomas&depth=1&space=work")[1])
        assert ([edge["text"] for edge in part["edges"]], part["space"]) == (["Tomas lives in Braga"], "default")
        reply, problem = viewing.ask(f"{path}graph?entity=Zoe")
        assert (reply.status, problem.startswith("entity: nothing is known of 'Zoe'")) == (400, True)
        for wrong in ("/", "/x/", path[:-2] + "/", "/x/graph", path + "../", "/%00/"):
            assert viewing.ask(wrong)[0].status == 404, wrong
        for host in ("evil.example", f"evil.example:{viewing.address.port}", "127.0.0.1.evil.example"):
            assert viewing.ask(path, host=host)[0].status == 400
        assert viewing.ask(path, host=f"localhost:{viewing.address.port}")[0].status == 200
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            assert viewing.ask(path, method)[0].status == 405
        assert contents(store) == before


def test_two_servers_have_two_tokens_and_one_ends_when_it_is_interrupted():
    with Viewing() as one, Viewing() as other:
        assert one.address.path != other.address.path
        assert other.ask(one.address.path)[0].status == 404
        if sys.platform != "win32":
            one.process.send_signal(signal.SIGINT)
            assert one.process.wait(15) == 130
        assert other.ask(other.address.path)[0].status == 200


@pytest.mark.skipif(sys.platform == "win32", reason="there a closed console ends its processes")
def test_the_server_ends_with_the_process_that_started_it():
    script = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    with Viewing(through=(sys.executable, "-c", script)) as viewing:
        assert viewing.ask(viewing.address.path)[0].status == 200
        viewing.process.kill()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                viewing.ask(viewing.address.path)
            except OSError:
                return
            time.sleep(0.1)
        raise AssertionError("it is still there")


def test_what_cannot_be_shown_is_refused_before_anything_is_served(capsys):
    assert main(["view", "--no-browser", "--space", "nowhere"]) == 1
    assert main(["view", "--no-browser", "--entity", "Zoe"]) == 1
    with Viewing() as viewing:
        assert main(["view", "--no-browser", "--port", str(viewing.address.port)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "--space: nothing was ever written to a space 'nowhere'" in said.err
    assert "entity: nothing is known of 'Zoe'" in said.err
    assert "--port: " in said.err


def test_an_exported_page_holds_the_graph_with_secrets_masked_and_asks_nobody(tmp_path, capsys):
    file = tmp_path / "memory.html"
    assert main(["export", "--html", str(file)]) == 0
    assert "Exported 3 facts" in capsys.readouterr().out
    page = file.read_text("utf-8")
    data = inside(page)
    assert (data["requests"], data["graph"]["total"]["edges"]) == (False, 3)
    assert (page.count("<script"), TOKEN in page, "connect-src 'none'" in page) == (2, False, True)
    assert data["graph"]["edges"][1]["tail"] == "</script><script>alert(1)</script>"
    if os.name == "posix":
        assert file.stat().st_mode & 0o777 == 0o600
    assert main(["export", "--html", "--with-secrets", str(file)]) == 0  # an earlier page is replaced
    assert TOKEN in file.read_text("utf-8")
    assert "secrets too" in capsys.readouterr().out


def test_no_page_replaces_another_file_or_shows_a_space_that_is_not_there(tmp_path, capsys):
    mine = tmp_path / "mine.html"
    mine.write_text("<title>Mine</title>")
    assert main(["export", "--html", str(mine)]) == 1
    assert mine.read_text() == "<title>Mine</title>"
    assert main(["export", "--html", "--space", "nowhere", str(tmp_path / "new.html")]) == 1
    assert not Path(tmp_path / "new.html").exists()
    assert "exists and is no export" in capsys.readouterr().err
