"""Print what one call of each tool passes through: files, rooms, changes of file, and value classes.

Run it to see the package grow or shrink: ``python tests/profile_calls.py``; ``--names`` adds the lists behind the
figures. Each tool is called on a small store with the embedded engine and default settings. Writes, recalls and answers
are called once before the counted call, so that imports and lazily loaded resources do not count. Writes wait until all
is indexed, which is part of a write and of no other call; the compaction after the first one is over before any counts.
Functions of the package count in every thread. A value class is a dataclass of the package of which the call built an
instance.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, is_dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import anyio
from mcp import Client

import mcp_memory
from mcp_memory.server.app import build
from mcp_memory.settings import load
from mcp_memory.wiring import open_memory

PACKAGE = f"{Path(mcp_memory.__file__).parent}{os.sep}"
MESSAGES = [
    {"id": "m1", "speaker": "Ines", "text": "I moved to Lisbon in March.", "time": "2015-05-10"},
    {"id": "m2", "speaker": "Tomas", "text": "How is it there? I work at the aquarium now.", "time": "2015-05-11"},
    {"id": "m3", "speaker": "Ines", "text": "Sunny! I adopted a dog called Biscuit.", "time": "2015-05-12"},
    {"id": "m4", "speaker": "Ines", "text": "I live in Porto now, near the river.", "time": "2019-10-02"},
    {"id": "m5", "speaker": "Tomas", "text": "Ines and I went to a concert last Friday.", "time": "2019-11-05"},
    {"id": "m6", "speaker": "Ines", "text": "I started to work as a biologist at the aquarium.", "time": "2020-01-15"},
]
WARM_UP, QUESTION = "Who is Biscuit?", "Where does Ines live?"


@dataclass
class Profile:
    """What one call passed through.

    Attributes:
        files: of the package in which a function was called, relative to it.
        changes: calls from one file of the package into another.
        classes: number of instances built, by dataclass.
    """

    files: set[str] = field(default_factory=set)
    changes: int = 0
    classes: dict[str, int] = field(default_factory=dict)

    def count(self, frame: FrameType) -> None:
        """Count one function call."""
        code = frame.f_code
        if code.co_filename == "<string>" and code.co_name == "__init__" and "self" in frame.f_locals:
            made = type(frame.f_locals["self"])
            if made.__module__.startswith("mcp_memory.") and is_dataclass(made):
                name = f"{made.__module__.removeprefix('mcp_memory.')}.{made.__name__}"
                self.classes[name] = self.classes.get(name, 0) + 1
        elif code.co_filename.startswith(PACKAGE):
            self.files.add(code.co_filename.removeprefix(PACKAGE))
            caller = frame.f_back
            while caller is not None and not caller.f_code.co_filename.startswith(PACKAGE):
                caller = caller.f_back
            self.changes += caller is not None and caller.f_code.co_filename != code.co_filename

    def row(self, name: str) -> str:
        """Return the figures as a row of a table."""
        rooms = {Path(file).parts[0] for file in self.files if os.sep in file}
        services = [file for file in self.files if file.startswith("services")]
        figures = [len(self.files), len(rooms), len(services), self.changes]
        built = f"{len(self.classes)} / {sum(self.classes.values())}"
        return f"| {name} | {' | '.join(map(str, figures))} | {built} |"


class Profiler:
    """Counts function calls of all threads while a profile is open; it has to exist before the threads do."""

    def __init__(self) -> None:
        self._profile: Profile | None = None
        threading.setprofile(self._called)
        sys.setprofile(self._called)

    def _called(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call" and self._profile is not None:
            self._profile.count(frame)

    @contextmanager
    def counting(self) -> Iterator[Profile]:
        """Count until the block ends."""
        self._profile = profile = Profile()
        try:
            yield profile
        finally:
            self._profile = None


async def measure(folder: str) -> dict[str, Profile]:
    """Return the profile of one call of each tool, on a new store in a folder."""
    profiler = Profiler()
    os.environ["MCP_MEMORY_STORAGE_URI"] = folder
    profiles: dict[str, Profile] = {}

    async def counted(name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        with profiler.counting() as profiles[name]:
            return await call()

    async with Client(_server()) as client:
        call = client.call_tool
        await call("memory_write", {"messages": MESSAGES[:5], "wait": True})
        for thread in threading.enumerate():
            if "compaction" in thread.name:
                await anyio.to_thread.run_sync(thread.join)
        await counted("write", lambda: call("memory_write", {"messages": MESSAGES[5:], "wait": True}))
        await call("memory_reconstruct", {"query": WARM_UP})
        recall = await counted("reconstruct", lambda: call("memory_reconstruct", {"query": QUESTION}))
        await call("memory_answer", {"question": WARM_UP})
        await counted("answer", lambda: call("memory_answer", {"question": QUESTION}))
        found = recall.structured_content
        feedback = {"episode": found["episode"], "feedback": {"supports": [found["evidence"][0]["id"]]}}
        await counted("evolve", lambda: call("memory_evolve", feedback))
    return profiles


def _server() -> Any:
    config = load()
    return build(partial(open_memory, config), config)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", action="store_true", help="also print the files and classes behind the figures")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        profiles = anyio.run(measure, folder)
    print("| call | files | rooms | service files | changes of file | value classes / objects |")
    print("|---|---|---|---|---|---|")
    for name, profile in profiles.items():
        print(profile.row(name))
    for name, profile in profiles.items() if arguments.names else ():
        print(f"\n{name}\n  files: {' '.join(sorted(profile.files))}")
        print(f"  classes: {' '.join(f'{made} x{count}' for made, count in sorted(profile.classes.items()))}")


if __name__ == "__main__":
    main()
