"""Errors, one class for each case that a caller would handle differently.

    McpMemoryError
    ├── InvalidInput          an argument is wrong; names it and what is allowed; nothing was changed
    ├── ConfigurationError    a setting is wrong; names file, key and the nearest known key
    ├── EmbedderError         the model is missing or not the expected one; names the package or file to fix
    ├── EngineError           Claude gave no usable reply; the embedded engine takes over and reports why
    │   ├── EngineRefused     there is no key, or the key or the model was refused; the user has to fix that first
    │   ├── EngineSpent       the budget of the day is spent; the next day has a new one
    │   └── EngineUnavailable it is overloaded or out of reach; any request may succeed later
    └── StoreError            the store cannot do this now
        ├── StoreBusy         another process held the lock for too long
        ├── StoreDamaged      committed rows are gone; nothing is written until they are back or given up
        ├── StoreUnwritable   no space, no permission or no folder; names ``storage.uri``
        └── StoreMismatch     made with another embedder or a newer format; names the command that fixes it

Expected outcomes are values, not errors: nothing found, not enough evidence, an item stored before. Every message is
written for the person or model that reads it in a tool result, and says what to do next.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory.visible import one_line


class McpMemoryError(Exception):
    """The base class of every error that this package raises on purpose.

    Args:
        text: the text for whoever reads it; it stays one line whatever names of files or of stored things are in it.
        lines: further lines.
    """

    def __init__(self, text: str = "", lines: Sequence[str] = ()) -> None:
        super().__init__("\n".join(map(one_line, (text, *lines))))


class InvalidInput(McpMemoryError):
    """An argument is wrong; nothing was changed. It is named, unless it is the file or name that the problem names."""

    def __init__(self, argument: str, problem: str, remedy: str, lines: Sequence[str] = ()) -> None:
        super().__init__(f"{argument and f'{argument}: '}{problem}. {remedy}".rstrip(), lines)


class ConfigurationError(McpMemoryError):
    """A setting in a file or in the environment is unknown or has the wrong type."""


class EmbedderError(McpMemoryError):
    """The embedder does not work: a package or a model is missing, changed or cannot be loaded. Nothing was stored."""


class EngineError(McpMemoryError):
    """A language model could not be asked, or its reply cannot be used; the message is the reason, for a warning."""


class EngineRefused(EngineError):
    """There is no key, or the key or the model was refused."""


class EngineSpent(EngineError):
    """The budget of the day is spent."""


class EngineUnavailable(EngineError):
    """The language model cannot be reached now, or its costs cannot be recorded."""


class StoreError(McpMemoryError):
    """The store cannot do this now."""


class StoreBusy(StoreError):
    """Another process held the store's lock for longer than a write waits."""


class StoreUnwritable(StoreError):
    """The place that ``storage.uri`` names cannot be written to."""


class StoreDamaged(StoreError):
    """Committed rows are gone or cannot be read; nothing is written before they are back.

    Args:
        text: the text for the user.
        damage: what is damaged, in words.
    """

    def __init__(self, text: str, damage: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.damage = damage


class StoreMismatch(StoreError):
    """The store was made with another embedder or a newer format; its rows and new ones would be incompatible."""
