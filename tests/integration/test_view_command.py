"""``mcp-memory view`` as a process: what the page holds, who can read it, and when it goes."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest

from mcp_memory.domain.requests import NewFact, NewItem, WriteRequest
from mcp_memory.settings import load
from mcp_memory.wiring import new_memory

TOKEN = "gh" + "p_" + "k7Q" * 12
NOON = 1_716_206_400_000


@pytest.fixture(autouse=True)
def store(here):
    anyio.run(fill)
    return here / "store"


async def fill():
    memory = new_memory(load(None))
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


HEED_INTERRUPTS = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
"""What runs in the background of a shell ignores them, and so does what it starts."""


@contextmanager
def viewing(*options, through=(), browser=None):
    """Yield a running ``mcp-memory view`` and its page."""
    command = [*through, sys.executable, "-m", "mcp_memory", "view", *options]
    environment = os.environ | ({"BROWSER": browser} if browser else {})
    process = subprocess.Popen(
        command + ([] if browser else ["--no-browser"]),
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=None if sys.platform == "win32" else HEED_INTERRUPTS,
    )
    try:
        yield process, Path(process.stdout.readline().split()[-1])
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def gone(file):
    deadline = time.monotonic() + 60
    while file.parent.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    return not file.parent.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there the rights are those of the folder")
def test_the_page_is_its_owners_has_secrets_masked_and_goes_when_the_command_is_interrupted(store):
    with viewing("--entity", "ines") as (process, file):
        assert [path.stat().st_mode & 0o777 for path in (file, file.parent)] == [0o600, 0o700]
        page = file.read_text("utf-8")
        graph = inside(page)["graph"]
        assert (graph["entity"], graph["total"]["edges"], TOKEN in page) == ("ines", 2, False)
        assert graph["edges"][1]["tail"] == "</script><script>alert(1)</script>"
        assert (page.count("<script"), "connect-src 'none'" in page) == (2, True)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert gone(file)


@pytest.mark.skipif(sys.platform == "win32", reason="there a process that is told to end has no say")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_the_page_goes_when_the_command_is_told_to_end(name):
    with viewing() as (process, file):
        process.send_signal(getattr(signal, name))
        assert process.wait(60) == 130
        assert gone(file)


BROWSER = """import pathlib, sys
pathlib.Path(__file__ + ".told").write_text(sys.argv[1])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="BROWSER is not heeded there")
def test_a_browser_is_given_the_page_and_nothing_else(tmp_path):
    (tmp_path / "browser.py").write_text(BROWSER)
    told = tmp_path / "browser.py.told"
    with viewing(browser=f"{sys.executable} {tmp_path / 'browser.py'} %s") as (_, file):
        deadline = time.monotonic() + 30
        while not (told.exists() and told.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert told.read_text() == file.as_uri()


@pytest.mark.skipif(sys.platform == "win32", reason="there a closed console ends its processes")
def test_the_page_goes_with_the_process_that_started_the_command():
    script = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    with viewing(through=(sys.executable, "-c", script)) as (process, file):
        process.kill()
        assert gone(file)


def test_what_cannot_be_shown_is_refused(run):
    for option, name, words in (
        ("--space", "nowhere", "--space: nothing was ever written to a space 'nowhere'"),
        ("--entity", "Zoe", "entity: no fact of space 'default' is about 'Zoe'"),
    ):
        said = run("view", "--no-browser", option, name, code=1)
        assert (said.out, words in said.err) == ("", True)
