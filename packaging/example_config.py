"""Print ``config.example.toml``: every setting with its default and its comment.

python packaging/example_config.py > config.example.toml
"""

import sys
from collections.abc import Iterator
from textwrap import wrap
from typing import Any, Final, get_type_hints

from mcp_memory.settings import SECTIONS, Settings

_WIDTH: Final = 120
_HEADER: Final = """\
# Every setting of mcp-memory with its default. Copy what you want to change into config.toml: named by --config, else
# by MCP_MEMORY_CONFIG, else in the user's configuration folder (Linux ~/.config/mcp-memory, macOS
# ~/Library/Application Support/mcp-memory, Windows %LOCALAPPDATA%\\mcp-memory).
# An environment variable overrides each of them: MCP_MEMORY_<SECTION>_<KEY>, for example MCP_MEMORY_STORAGE_URI."""


def example() -> str:
    """Return the text of the file."""
    blocks = [_HEADER]
    kinds = get_type_hints(Settings)
    for section, keys in SECTIONS.items():
        about = kinds[section].__doc__.splitlines()[0]
        lines = [(f"[{section}]", about[0].lower() + about[1:].rstrip("."))]
        lines += [(f"{name} = {_toml(one.default)}", one.comment) for name, one in keys.items()]
        column = max(len(left) for left, _ in lines) + 2
        blocks.append("\n".join(line for left, comment in lines for line in _comment_lines(left, comment, column)))
    return "\n\n".join(blocks) + "\n"


def _comment_lines(left: str, comment: str, column: int) -> Iterator[str]:
    for part in wrap(comment, _WIDTH - column - 2):
        yield f"{left:<{column}}# {part}"
        left = ""


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else f"{value:_}" if isinstance(value, int) else repr(value)


if __name__ == "__main__":
    sys.stdout.write(example())
