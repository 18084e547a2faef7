"""What the bench measures (stores filled with synthetic text, server processes with given settings), and its figures.

Figures have units and runs, and are printed as a table or as JSON. Absolute times depend mostly on the machine; the
ratio of two medians measured in turns within one run depends mostly on the program. So ratios come first in each part
of the table. An aim is the value that the project wants on its own machine; a figure beyond it is marked and has no
other effect, since a slow or busy machine is not an error.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from itertools import groupby
from math import ceil
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from bench.synthetic import Corpus, corpus
from mcp import Client, StdioServerParameters

from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.memory import Memory
from mcp_memory.settings import Settings
from mcp_memory.wiring import open_memory


@dataclass(frozen=True, slots=True)
class Figure:
    """One number.

    Attributes:
        part: the part of the bench.
        name: what was measured, in words.
        value: the number.
        unit: ``ms``, ``s``, ``MB``, ``%``, ``x`` for a ratio, or empty for a plain number.
        runs: number of measurements.
        aim: highest value that the project wants; None for no aim.
    """

    part: str
    name: str
    value: float
    unit: str
    runs: int
    aim: float | None = None

    @property
    def beyond(self) -> bool:
        """Whether it is worse than its aim."""
        return self.aim is not None and self.value > self.aim


Report = Callable[[Figure], None]
"""Called with each figure as soon as it is known."""


@dataclass(slots=True)
class Laps:
    """Times of a repeated action, in milliseconds, in order."""

    ms: list[float] = field(default_factory=list)

    @contextmanager
    def lap(self, clock: Callable[[], float] = time.perf_counter) -> Iterator[None]:
        """Add the time that the block takes by a clock in seconds, unless it raises."""
        began = clock()
        yield
        self.ms.append((clock() - began) * 1_000)

    def __len__(self) -> int:
        return len(self.ms)

    def median(self) -> float:
        """Return the median in milliseconds; there must be at least one time."""
        return median(self.ms)

    def p(self, share: float) -> float:
        """Return the smallest time that at least this share of the times do not exceed, in milliseconds."""
        return sorted(self.ms)[max(0, ceil(share * len(self.ms)) - 1)]


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as lines for a terminal, by part, ratios first."""
    lines: list[str] = []
    for part, group in groupby(figures, key=lambda figure: figure.part):
        ordered = sorted(group, key=lambda figure: figure.unit != "x")
        width = max(len(figure.name) for figure in ordered)
        lines += ["", part]
        for figure in ordered:
            aim = f"   aim {_number(figure.aim)}" if figure.aim is not None else ""
            mark = "  BEYOND" if figure.beyond else ""
            times = "run" if figure.runs == 1 else "runs"
            value = f"{_number(figure.value):>9} {figure.unit:<3}"
            lines.append(f"  {figure.name:<{width}} {value} {figure.runs:>6} {times:<4}{aim}{mark}".rstrip())
    return "\n".join(lines)


def document(figures: Sequence[Figure]) -> dict[str, Any]:
    """Return the figures in JSON types, with the properties of the machine that they depend on."""
    machine = {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()}
    machine |= {"python": platform.python_version(), "versions": {name: version(name) for name in LIBRARIES}}
    return {"machine": machine, "figures": [asdict(figure) for figure in figures]}


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


LIBRARIES = ("mcp", "lancedb", "pyarrow", "numpy", "onnxruntime", "tokenizers")
"""Whose versions figures depend on."""
SEED = 20_261_120
SPACE = "default"
QUESTIONS = 90
ITEMS_A_CALL = 1_000


@dataclass(frozen=True, slots=True)
class Filled:
    """A store with text.

    Attributes:
        folder: its folder.
        corpus: its text.
        seconds: time of writing, including opening the store and loading the model.
    """

    folder: Path
    corpus: Corpus
    seconds: float


class Stores:
    """The stores of one run; each size is built once, when a part first needs it."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self._filled: dict[int, Filled] = {}

    async def of(self, sentences: int) -> Filled:
        """Return the store with this number of sentences."""
        if sentences not in self._filled:
            text = corpus(SEED, sentences, QUESTIONS)
            folder = self.folder / f"store-{sentences}"
            began = time.perf_counter()
            async with opened(self.settings, folder) as memory:
                for request in requests(text):
                    await memory.write(request)
            self._filled[sentences] = Filled(folder, text, time.perf_counter() - began)
        return self._filled[sentences]


@asynccontextmanager
async def opened(settings: Settings, folder: Path) -> AsyncIterator[Memory]:
    """Open a store in this process and close it at the end."""
    memory = await open_memory(replace(settings, storage=replace(settings.storage, uri=str(folder))))
    try:
        yield memory
    finally:
        await memory.aclose()


def requests(text: Corpus) -> Iterator[WriteRequest]:
    """Yield the calls that write a corpus; they are large, since filling is not measured."""
    for collection in text.collections:
        for start in range(0, len(collection.items), ITEMS_A_CALL):
            yield WriteRequest(
                SPACE, collection.session, collection.kind, collection.items[start : start + ITEMS_A_CALL]
            )


def messages(seed: int, number: int) -> list[NewItem]:
    """Return this many messages of synthetic dialogues."""
    talk: list[NewItem] = []
    for collection in corpus(seed, max(60, 4 * number), 0).collections:
        talk += collection.items if collection.kind == "message" else ()
    return talk[:number]


def own_server(settings: Settings, store: Path, *, wait: bool = True, **server: str) -> StdioServerParameters:
    """Return how to start our server with the settings of this process.

    Args:
        settings: those of this process.
        store: folder of the store.
        wait: whether each write waits until it is indexed.
        server: changes to the section ``[server]``.
    """
    environment = os.environ | {"MCP_MEMORY_STORAGE_URI": str(store), "MCP_MEMORY_WRITE_WAIT": str(wait)}
    environment |= {f"MCP_MEMORY_SERVER_{name.upper()}": value for name, value in server.items()}
    return StdioServerParameters(command=sys.executable, args=["-m", "mcp_memory", "serve"], env=environment)


@asynccontextmanager
async def connected(server: StdioServerParameters) -> AsyncIterator[tuple[Client, psutil.Process]]:
    """Start a server process, connect to it, and yield client and process; the process ends with the context."""
    before = {child.pid for child in psutil.Process().children()}
    async with Client(server, read_timeout_seconds=600) as client:
        (process,) = (child for child in psutil.Process().children() if child.pid not in before)
        yield client, process


def resident_mb(process: psutil.Process) -> float:
    """Return the resident memory of a process, in millions of bytes."""
    return float(process.memory_info().rss) / 1e6


def peak_mb(process: psutil.Process) -> float | None:
    """Return the peak of its resident memory, in millions of bytes; None on macOS, which does not record it."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(line.split()[1]) * 1_024 / 1e6 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        peak = getattr(process.memory_info(), "peak_wset", None)  # Windows
        return None if peak is None else float(peak) / 1e6


def size_mb(folder: Path) -> float:
    """Return the size of all files in a folder and below it, in millions of bytes."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
