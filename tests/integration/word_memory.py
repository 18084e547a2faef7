"""The memory of the tests of the server: the real one over fakes, in which writes can be made to pause.

Run as a program it is a server process over stdio that opens its memory after the first reply, as the real one does.
``--print`` uses a memory whose libraries print, ``--stuck`` one whose library call blocks.
"""

import sys
from pathlib import Path

import anyio


def word_memory(kind=""):
    """Return a memory with an attribute ``pause``, which each write awaits before anything of it is stored."""
    from unit.services.learning_memory import on_disk

    from mcp_memory.configurable import WriteSettings
    from mcp_memory.memory import Memory
    from mcp_memory.services.indexing import silent
    from mcp_memory.settings import Settings

    class WordMemory(Memory):
        pause = staticmethod(anyio.lowlevel.checkpoint)

        async def write(self, request, progress=silent):
            await self.pause()
            return await super().write(request, progress)

        async def status(self):
            if kind == "--stuck":  # in a library for a minute, and cannot be interrupted
                import time

                await anyio.to_thread.run_sync(time.sleep, 60)
            if kind == "--print":
                print_everywhere()
            return await super().status()

    return on_disk(WordMemory, Settings(write=WriteSettings(wait=True)))


def print_everywhere():
    """Print as libraries do: through Python, below Python, and from a buffer when the process ends."""
    import atexit
    import os
    import warnings

    print("a print from a library")  # noqa: T201 - that is what is tested
    os.write(1, b"a write to descriptor 1\n")
    print("a print that stays in its buffer", end="", file=sys.__stdout__)
    atexit.register(print, "a print at exit")
    warnings.warn("a warning from a library", stacklevel=1)


if __name__ == "__main__":
    from mcp_memory.server.process import serve
    from mcp_memory.settings import load

    sys.path.insert(0, str(Path(__file__).parents[1]))

    async def opened():
        return word_memory(sys.argv[-1])

    serve(load(environment={}), opened)
