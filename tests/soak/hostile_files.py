"""Read random and damaged files of every format that the program reads, and count crashes, hangs, faults and memory.

Run as ``python tests/soak/hostile_files.py --cases 100000``. A case is a sample that is changed at random: cut,
flipped, spliced, nested, given wrong types, huge numbers, other encodings, links, or an archive that unpacks to much.
It may be read or refused in words. A worker process reads the cases, with `CPU_S` of the processor for each and
`MEMORY` beyond what it had at first; whatever else happens than reading or refusing is printed with the case's number,
and ``--only NUMBER`` reads that one again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from soak.hostile_samples import NAMES, Make, make_archive, make_backup, make_folder, single

from mcp_memory.errors import McpMemoryError

CPU_S = 5
"""Seconds of the processor that a case may take."""
MEMORY = 350 << 20
"""Bytes that a worker may take beyond what it had before the first case, about 150 MB."""


def read_foreign(path: Path) -> int:
    """Read a file of another program as an import does, and return how many records it has."""
    from mcp_memory.domain.batch import KEEP
    from mcp_memory.services.transfer.foreign.importing import ItemLimits, _ForeignWork
    from mcp_memory.services.transfer.foreign.kinds import OWN, READERS, recognise
    from mcp_memory.services.transfer.foreign.sources import source_files
    from mcp_memory.view.space import Space
    from mcp_memory.view.view import View

    store: Any = type("NothingForgotten", (), {"was_forgotten": lambda _self, _id: False})()
    reading: Any = type("Keeping", (), {"masking": KEEP, "zone": None})()
    space: Space = View().space("default")
    work = _ForeignWork(store, reading, space, ItemLimits(1_000_000, 8_000_000, 256), 0, again=False)
    with source_files(path) as files:
        kind = recognise(files)
        if kind == OWN:
            return read_export(path) if path.is_file() else 0
        counted = work.count(READERS[kind](files))
        parts = work.parts(READERS[kind](files), counted)
        while work.next_requests(parts):
            pass
    return counted.found.total()


def read_export(path: Path) -> int:
    """Check an export of this program."""
    from mcp_memory.domain.batch import KEEP
    from mcp_memory.services.transfer.importing import check
    from mcp_memory.view.view import View

    return len(check(lambda: path.open("rb"), View(), None, {}, KEEP, part=False).values)


def read_backup(path: Path) -> int:
    """Unpack a backup."""
    from mcp_memory.storage.backups import unpack

    return len(unpack(path, path.parent / "into"))


def read_settings(path: Path) -> int:
    """Load settings."""
    from mcp_memory.settings import load

    return bool(load(path, {}))


def read_tokens(path: Path) -> int:
    """Read the tokens of a server, and use them."""
    from mcp_memory.access.tokens import TokenFile

    tokens = TokenFile(path)
    tokens.verify("mcpm_x")
    return sum(tokens.valid(token.grant) or True for token in tokens.list() if token.row())


def read_client(form: str, *way: str) -> Callable[[Path], int]:
    """Return what changes an entry of a client's file, and takes it out."""

    def read(path: Path) -> int:
        from mcp_memory.commands.config_files import content_of, read_text, with_entry

        text = read_text(path)
        found = content_of(path, form, text)
        if form != "yaml":  # which is only read
            text = with_entry(path, form, way, {"command": "x", "args": ["y"]}, text)
            with_entry(path, form, way, None, text)
        return bool(found)

    return read


def read_calls(path: Path) -> int:
    """Read the lines of a client, and the arguments of its calls."""
    from mcp_memory.server.incoming import read_message
    from mcp_memory.server.tools.catalogue import TOOLS
    from mcp_memory.settings import Settings

    count = 0
    with path.open("rb") as file:
        while read := read_message(file, 2_000_000):
            params = getattr(read[0], "params", None) or {}
            tool = TOOLS.get(str(params.get("name")))
            if tool is not None and isinstance(given := params.get("arguments") or {}, dict):
                tool.prepare(given, Settings().limits)
            count += 1
    return count


FORMATS: dict[str, tuple[Make, Callable[[Path], int]]] = {
    **{name: (single(name, suffix), read_foreign) for name, suffix in NAMES.items()},
    "folder": (make_folder, read_foreign),
    "archive": (make_archive, read_foreign),
    "export": (single("export", ".jsonl"), read_export),
    "backup": (make_backup, read_backup),
    "settings": (single("settings", ".toml"), read_settings),
    "tokens": (single("tokens", ".json"), read_tokens),
    "client.json": (single("client.json", ".json"), read_client("json", "mcpServers", "memory")),
    "client.toml": (single("client.toml", ".toml"), read_client("toml", "mcp_servers", "memory")),
    "client.yaml": (single("client.yaml", ".yaml"), read_client("yaml", "extensions", "memory")),
    "call": (single("call", ".jsonl"), read_calls),
}


def format_of(case: int) -> str:
    """Return the format of a case."""
    return list(FORMATS)[case % len(FORMATS)]


def read_case(case: int, folder: Path) -> str:
    """Write and read a case; return "read", "empty" or "refused"."""
    make, read = FORMATS[format_of(case)]
    path = make(random.Random(case), folder)
    try:
        return "read" if read(path) else "empty"
    except McpMemoryError:
        return "refused"


@dataclass
class Outcome:
    """What became of the cases of a format."""

    ends: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    peak: int = 0


def most_memory() -> int:
    """The most memory that this process had, in MB; what its parent had before it began does not count."""
    return next(int(line.split()[1]) for line in Path("/proc/self/status").open() if line.startswith("VmHWM")) >> 10


def work(first: int, last: int, to: Any) -> None:
    """Read cases in this process, and send what became of each."""
    import mcp_memory.server.tools.catalogue
    import mcp_memory.storage.backups  # noqa: F401 - so that the limit is set above what they take

    warnings.simplefilter("ignore")  # an archive with two members of a name
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, held + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    root = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    try:
        for case in range(first, last):
            folder = root / str(case)
            folder.mkdir()
            to.send((case, "begun", 0.0, 0))
            signal.setitimer(signal.ITIMER_PROF, CPU_S)  # its signal ends the process, in C code, too
            began, end = time.process_time(), ""
            try:
                end = read_case(case, folder)
            except BaseException:  # MemoryError and RecursionError among them
                end = traceback.format_exc()[-1_500:]
            signal.setitimer(signal.ITIMER_PROF, 0)
            to.send((case, end, time.process_time() - began, most_memory()))
            shutil.rmtree(folder)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def soak(first: int, last: int, report: Callable[[str], None] = print) -> tuple[dict[str, Outcome], list[str]]:
    """Read cases in worker processes, one at a time; return what became of each format, and what was wrong."""
    context, outcomes, wrong = multiprocessing.get_context("spawn"), {name: Outcome() for name in FORMATS}, list[str]()
    while first < last:
        from_worker, to = context.Pipe(duplex=False)
        worker = context.Process(target=work, args=(first, last, to))
        worker.start()
        to.close()
        running = -1
        try:
            while True:
                case, end, seconds, peak = from_worker.recv()
                running = case if end == "begun" else -1
                if end == "begun":
                    continue
                first, outcome = case + 1, outcomes[format_of(case)]
                outcome.slowest, outcome.peak = max(outcome.slowest, seconds), max(outcome.peak, peak)
                outcome.ends[end if "\n" not in end else "fault"] += 1
                if "\n" in end:
                    wrong.append(f"case {case}, {format_of(case)}: {end}")
                    report(wrong[-1])
                if first % 5_000 == 0:
                    report(f"{first:,} cases, {len(wrong)} wrong")
        except EOFError:
            worker.join()
        if running >= 0:
            what = "hang" if worker.exitcode == -signal.SIGPROF else f"crash ({worker.exitcode})"
            outcomes[format_of(running)].ends[what] += 1
            wrong.append(f"case {running}, {format_of(running)}: {what}")
            report(wrong[-1])
            first = running + 1
        elif worker.exitcode:
            raise SystemExit(f"the worker ended with {worker.exitcode}")
    return outcomes, wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int)
    chosen = parser.parse_args()
    if chosen.only is not None:
        print(read_case(chosen.only, Path(tempfile.mkdtemp())))
        raise SystemExit
    found, faults = soak(chosen.first, chosen.first + chosen.cases)
    for name, outcome in found.items():
        ends = ", ".join(f"{count:,} {end}" for end, count in sorted(outcome.ends.items()))
        print(f"{name:12} {ends}; slowest {outcome.slowest:.2f} s, peak {outcome.peak} MB")
    raise SystemExit(bool(faults))
