"""Lines and arguments of many megabytes: refused in our words, with little memory, while the server goes on."""

import json
import sys
from itertools import chain

import pytest
import stdio_client

PEAK_MB = 700


def huge_arguments(size):
    """Return arguments of tools that take about ``size`` bytes on the line, each a way to make much of little."""
    return {
        "a text": {"text": "word " * (size // 5)},
        "a list as text": {"messages": json.dumps([1] * (size // 3))},
        "lists as text": {"messages": "[" + "[]," * (size // 3) + "[]]", "documents": "[" * (size // 2)},
        "objects": {"messages": [{}] * (size // 4)},
        "unknown names": {f"n{n}": 1 for n in range(size // 12)},
        "nested": {"facts": [{"a": [1, 2]}] * (size // 15)},
        "many texts": {"messages": [{"text": "a"}] * (size // 15)},
        "a long name": {"x" * size: 1},
        "ids": {"ids": ["a"] * (size // 5), "evidence": ["a"] * (size // 5), "query": "q" * (size // 3)},
        "astral": {"question": "\U0001f600" * (size // 4), "text": ""},
    }


def own_arguments(tool, size):
    """Return a value for each argument that a tool knows: text that looks like a list, ``size`` bytes in all."""
    names = tool["inputSchema"]["properties"] or ["anything"]
    return dict.fromkeys(names, json.dumps([1] * (size // len(names) // 3)))


def peak_mb(process):
    with open(f"/proc/{process.pid}/status") as file:  # noqa: PTH123
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1e3


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak of memory as Linux tells it")
@pytest.mark.parametrize(("size", "era"), [(9_000_000, "2025-11-25"), (50_000_000, stdio_client.MODERN)])
def test_huge_lines_and_arguments_are_refused_with_little_memory(tmp_path, era, size):
    with stdio_client.serving(tmp_path / "store", era=era) as client:
        client.structured("memory_write", text="Ann lives in Lisbon.")
        tools = client.ask("tools/list")["result"]["tools"]
        calls = [("memory_write", arguments) for arguments in huge_arguments(size).values()] if size < 16e6 else []
        for tool, arguments in chain(calls, ((tool["name"], own_arguments(tool, size)) for tool in tools)):
            reply = client.ask("tools/call", name=tool, arguments=arguments)
            assert "error" in reply or reply["result"].get("isError"), (tool, str(arguments)[:80])
            assert peak_mb(client.process) < PEAK_MB, (tool, str(arguments)[:80])
        assert client.structured("memory_status")["counts"]["messages"] == 1
    assert client.noise == []
