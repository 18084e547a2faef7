"""Which connections make room where there are too many: those that wait for their clients, never one that works."""

import anyio
import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from mcp_memory.server.http.process import LEAST_RATE, _protocol

pytestmark = pytest.mark.anyio
REQUEST = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


class Transport:
    """The other end of a connection, which takes nothing."""

    def __init__(self):
        self.ended = ""
        self.waiting = 0

    def get_extra_info(self, _name):
        return None

    def get_write_buffer_size(self):
        return self.waiting

    def is_closing(self):
        return bool(self.ended)

    def write(self, _data):
        pass

    def close(self):
        self.ended = self.ended or "closed"

    def abort(self):
        self.ended = self.ended or "aborted"

    def resume_reading(self):
        pass

    pause_reading = resume_reading


async def at_work(_scope, receive, _send):
    while (await receive())["type"] != "http.disconnect":
        pass


@pytest.fixture
async def connect():
    """Return what makes a connection of a server that has room for three, and ends one where there are that many."""
    config, state = Config(at_work, http="h11", ws="none", log_config=None), ServerState()
    protocol, made = _protocol(0.2, 3), []

    def connected():
        made.append(protocol(config, state, {}))
        made[-1].connection_made(Transport())
        return made[-1]

    yield connected
    for one in made:
        one.connection_lost(OSError())
    await anyio.wait_all_tasks_blocked()


async def test_one_without_a_request_goes_and_then_one_whose_reply_nobody_takes(connect):
    idle, greedy = connect(), connect()
    greedy.data_received(REQUEST)
    greedy.pause_writing()
    working = connect()
    working.data_received(REQUEST)
    assert (idle.transport.ended, greedy.transport.ended) == ("closed", "")
    last = connect()
    last.data_received(REQUEST)
    assert [one.transport.ended for one in (greedy, working, last)] == ["aborted", "", ""]
    connect()  # nobody can make room but the new one itself
    assert [one.transport.ended for one in (working, last)] == ["", ""]


async def test_a_reply_has_to_be_taken_at_some_rate(connect):
    quick, slow = connect(), connect()
    for one in (quick, slow):
        one.data_received(REQUEST)
        one.transport.waiting = 10 * LEAST_RATE
        one.pause_writing()
    with anyio.fail_after(10):
        while not slow.transport.ended:
            quick.transport.waiting -= LEAST_RATE
            await anyio.sleep(0.05)
    assert (quick.transport.ended, slow.transport.ended) == ("", "aborted")
    quick.resume_writing()
