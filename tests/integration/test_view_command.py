"""``mcp-memory view`` as a process, and ``export --html``: who is answered, what is written, and what is not."""

import json
import os
import signal
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import anyio
import pytest

from mcp_memory.cli import main
from mcp_memory.commands.view import CODE_S, Door
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
    """A running ``mcp-memory view``, and a browser of it that has one cookie at most."""

    def __init__(self, *options, through=(), browser=None):
        command = [*through, sys.executable, "-m", "mcp_memory", "view", *options]
        environment = os.environ | ({"BROWSER": browser} if browser else {})
        self.process = subprocess.Popen(
            command + ([] if browser else ["--no-browser"]), stdout=subprocess.PIPE, text=True, env=environment
        )
        self.address = urlsplit(self.process.stdout.readline().split()[-1])
        self.code = self.process.stdout.readline().split()[-1]
        self.cookie = ""

    def ask(self, path, method="GET", body=None, **headers):
        connection = HTTPConnection(self.address.hostname, self.address.port, timeout=20)
        connection.request(method, path, body, ({"Cookie": self.cookie} if self.cookie else {}) | headers)
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return reply, text

    def give(self, code, **headers):
        """Give the code; return the status, and the path that is shown then."""
        reply, _ = self.ask("/open", "POST", urlencode({"code": code}), **headers)
        if reply.status == 303:
            self.cookie = reply.headers["Set-Cookie"].partition(";")[0]
        return reply.status, reply.headers["Location"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def test_the_page_is_served_to_who_gave_the_code_by_the_right_name_and_changes_nothing(store):
    with Viewing("--entity", "ines") as viewing:
        before = contents(store)
        (reply, form), (status, path) = viewing.ask("/"), viewing.give(viewing.code)
        assert (reply.status, 'action="/open"' in form, viewing.code in form) == (200, True, False)
        assert (status, viewing.address.hostname, viewing.address.path, len(path)) == (303, "127.0.0.1", "/", 34)
        reply, page = viewing.ask(path)
        assert reply.status == 200
        assert reply.headers["Referrer-Policy"] == "no-referrer"
        assert reply.headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in reply.headers
        graph = inside(page)["graph"]
        assert (graph["entity"], graph["total"]["edges"], TOKEN in page) == ("ines", 2, False)
        part = json.loads(viewing.ask(f"{path}graph?entity=Tomas&depth=1&space=work")[1])
        assert ([edge["text"] for edge in part["edges"]], part["space"]) == (["Tomas lives in Braga"], "default")
        reply, problem = viewing.ask(f"{path}graph?entity=Zoe")
        assert (reply.status, problem.startswith("entity: nothing is known of 'Zoe'")) == (400, True)
        for wrong in ("/x/", path[:-2] + "/", "/x/graph", path + "../", "/%00/", "/open/"):
            assert viewing.ask(wrong)[0].status == 404, wrong
        for cookie in ("viewer=", "viewer=x", "other=1", ""):
            for part in (path, f"{path}graph"):
                assert viewing.ask(part, Cookie=cookie)[0].status == 404
        for host in ("evil.example", f"evil.example:{viewing.address.port}", "127.0.0.1.evil.example"):
            assert viewing.ask(path, Host=host)[0].status == 400
        assert viewing.ask(path, Host=f"localhost:{viewing.address.port}")[0].status == 200
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            assert viewing.ask(path, method)[0].status == 405
        assert contents(store) == before


def test_the_code_works_once_from_this_server_or_a_file_and_whatever_its_spelling():
    with Viewing() as viewing:
        own = f"http://127.0.0.1:{viewing.address.port}"
        for origin in ("https://evil.example", "http://127.0.0.1", f"http://localhost:{viewing.address.port}", ""):
            assert viewing.give(viewing.code, Origin=origin)[0] == 403, origin
        for code in ("", "x", viewing.code[:-1], viewing.code + "A", "é" * 12, "A" * 5_000):
            assert viewing.give(code)[0] in (403, 413), code
        reply, page = viewing.ask("/open", "POST", "code=")
        assert ("Run mcp-memory view again" in page, reply.headers["Set-Cookie"]) == (True, None)
        assert viewing.give(f" {viewing.code.lower().replace('-', ' ')}", Origin=own)[0] == 303
        for origin in (own, "null"):
            assert viewing.give(viewing.code, Origin=origin)[0] == 403
    with Viewing() as viewing:
        assert viewing.give(viewing.code, Origin="null")[0] == 303


def test_the_code_is_void_after_a_while_and_two_servers_have_two():
    now = [100.0]
    door, other = Door(lambda: now[0]), Door()
    assert len({door.code, other.code, door.path, other.path, door.cookie, other.cookie}) == 6
    assert not other.opens_for(door.code)
    now[0] += CODE_S
    assert not door.opens_for(door.code)


BROWSER = """import json, os, pathlib, sys, urllib.parse, urllib.request
file = pathlib.Path(urllib.request.url2pathname(urllib.parse.urlsplit(sys.argv[1]).path))
rights = [path.stat().st_mode & 0o777 for path in (file, file.parent)]
lines = []
for one in pathlib.Path("/proc").glob("[0-9]*"):
    try:
        lines += [(one / name).read_bytes().decode(errors="replace") for name in ("cmdline", "environ")]
    except OSError:
        pass
told = {"argv": sys.argv, "page": file.read_text(), "rights": rights, "lines": lines, "file": str(file)}
pathlib.Path(__file__ + ".new").write_text(json.dumps(told))
os.replace(__file__ + ".new", __file__ + ".json")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="BROWSER is not heeded there")
def test_no_command_line_has_the_code_and_the_file_that_posts_it_is_the_owners_and_goes(tmp_path):
    (tmp_path / "browser.py").write_text(BROWSER)
    told = tmp_path / "browser.py.json"
    with Viewing(browser=f"{sys.executable} {tmp_path / 'browser.py'} %s") as viewing:
        deadline = time.monotonic() + 30
        while not told.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        seen = json.loads(told.read_text())
        assert seen["rights"] == [0o600, 0o700]
        assert f'value="{viewing.code}"' in seen["page"]
        assert f'action="{viewing.address.geturl()}open"' in seen["page"]
        assert seen["argv"][1] == Path(seen["file"]).as_uri()
        _, path = viewing.give(viewing.code, Origin="null")
        secrets = (viewing.code, path.strip("/"), viewing.cookie.partition("=")[2])
        assert not any(secret in line for secret in secrets for line in [*seen["lines"], *seen["argv"]])
        viewing.process.send_signal(signal.SIGINT)
        assert viewing.process.wait(15) == 130
        assert not Path(seen["file"]).parent.exists()
        assert not any(secret in viewing.process.stdout.read() for secret in secrets)


def test_a_server_does_not_take_the_code_of_another_and_ends_when_it_is_interrupted():
    with Viewing() as one, Viewing() as other:
        assert other.give(one.code)[0] == 403
        assert one.give(one.code)[0] == 303
        if sys.platform != "win32":
            one.process.send_signal(signal.SIGINT)
            assert one.process.wait(15) == 130
        assert other.give(other.code)[0] == 303


@pytest.mark.skipif(sys.platform == "win32", reason="there a closed console ends its processes")
def test_the_server_ends_with_the_process_that_started_it():
    script = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    with Viewing(through=(sys.executable, "-c", script)) as viewing:
        assert viewing.ask("/")[0].status == 200
        viewing.process.kill()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                viewing.ask("/")
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
