"""What can go wrong, as a caller would tell it apart.

    McpMemoryError
    ├── InvalidInput          the caller's argument is wrong: names it, and what would be right; nothing changed
    ├── ConfigurationError    a setting is wrong: names file, key and the nearest known key
    ├── EmbedderError         the model cannot be had or is not the one expected: names the package or file to mend
    ├── EngineError           Claude cannot be asked or said nothing usable: the embedded engine goes on, and says why
    │   ├── EngineCutOff      its reply was longer than it may be: asked for less, it may say it all
    │   ├── EngineRefused     there is no key, or the key or the model is refused: somebody has to change that first
    │   ├── EngineSpent       the day's budget does not hold it: the next day's may
    │   └── EngineUnavailable it is overloaded or out of reach: whatever it is asked, later is better
    └── StoreError            the store cannot do it now
        ├── StoreBusy         another process held the lock for longer than we wait
        ├── StoreUnwritable   no room, no right, no folder: names ``storage.uri``
        └── StoreMismatch     made by another embedder or a newer format: names the command that mends it

What is expected is a value, not an error: nothing found, not enough evidence, an item stored before. Every message
is written for the person or model that reads it in a tool result and must say what to do next.
"""

from __future__ import annotations


class McpMemoryError(Exception):
    """The root: catching it catches everything that this package raises on purpose."""


class InvalidInput(McpMemoryError):
    """An argument is wrong. Nothing was changed."""

    def __init__(self, argument: str, problem: str, remedy: str) -> None:
        super().__init__(f"{argument}: {problem}. {remedy}")


class ConfigurationError(McpMemoryError):
    """A setting in a file or in the environment is unknown or has the wrong type."""


class EmbedderError(McpMemoryError):
    """No vectors can be made: a package or a model is missing, changed or cannot be loaded. Nothing was stored."""


class EngineError(McpMemoryError):
    """A language model could not be asked, or said nothing that can be used; the words are why, for a warning."""


class EngineCutOff(EngineError):
    """The reply was longer than a reply may be."""


class EngineRefused(EngineError):
    """There is no key, or the key or the model is refused."""


class EngineSpent(EngineError):
    """The day's budget is spent."""


class EngineUnavailable(EngineError):
    """The language model cannot be reached for now, whatever it is asked, or what it costs cannot be recorded."""


class StoreError(McpMemoryError):
    """The store cannot do what was asked."""


class StoreBusy(StoreError):
    """Another process held the store's lock for longer than ``storage.lock_timeout_s``."""


class StoreUnwritable(StoreError):
    """The place that ``storage.uri`` names cannot be written to."""


class StoreMismatch(StoreError):
    """The store was made by another embedder or by a newer format; writing would mix what cannot be mixed."""
