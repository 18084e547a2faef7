"""What a process imports before it needs it: neither a command nor the first reply waits for anything heavy."""

import subprocess
import sys

import pytest

HEAVY = "anthropic numpy networkx lancedb pyarrow onnxruntime tokenizers dateparser sentencex Stemmer"
LISTING = """
import anyio, mcp_memory.cli, mcp_memory.server.process
from mcp import Client
from mcp_memory.server.app import build
async def main():
    async with Client(build(None)) as client:
        await client.list_tools()
        {more}
anyio.run(main)
"""
MORE = "await client.list_resources(); await client.list_prompts()"
ROOMS = [f"mcp_memory.server.{room}" for room in ("tools", "resources")]
ROOMS += [f"mcp_memory.domain.{room}" for room in ("facts", "evidence", "requests")]
PEOPLES = ", ".join(f"mcp_memory.commands.{name}" for name in ("care", "show"))
CLAUDE = """
from dataclasses import replace
from mcp_memory.settings import Settings
from mcp_memory.wiring import open_claude
config = Settings()
config = replace(config, engine=replace(config.engine, judge="anthropic"))
assert open_claude(config, {"ANTHROPIC_API_KEY": "x"}).ready
"""
CASES = {
    "the arguments of commands": ("import mcp_memory.cli", ["numpy", "lancedb", "mcp", "pydantic"]),
    "commands for people": (f"import {PEOPLES}", ["mcp_types"]),
    "a store": ("import mcp_memory.storage.store", ["lancedb", "pyarrow"]),
    "Claude before it is asked": (CLAUDE, ["anthropic", "httpx2"]),
    "a server until a client has the list of tools": (LISTING.format(more=""), ROOMS),
    "a server until it is called": (
        LISTING.format(more=MORE), [*HEAVY.split(), "mcp_memory.wiring", "mcp_memory.memory"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_imported_too_early(case):
    program, modules = CASES[case]
    found = (
        f"print([name for name in {modules} if any(one == name or one.startswith(name + '.') for one in sys.modules)])"
    )
    program = f"{program}\nimport sys\n{found}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
