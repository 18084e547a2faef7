"""Random things of somebody else in and around a store, and every command on it: nothing of theirs changes or goes.

python tests/soak/foreign_layouts.py --layouts 300 --seed 0

Each layout plants files, folders and links, also dangling ones and ones to folders outside, under any names, those of
the store's own files among them. Then some commands run. After each, everything planted is as it was, and the memory
has all that it had, or the command has said what is in the way.
"""

from __future__ import annotations

import argparse
import functools
import io
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from mcp_memory.cli import main
from mcp_memory.domain.requests import NewFact, NewItem, WriteRequest
from mcp_memory.embedding import onnx
from mcp_memory.errors import McpMemoryError
from mcp_memory.settings import load
from mcp_memory.wiring import open_memory, open_unloaded

TEXTS = {f"m{number}": f"The {name} rang about the ferns." for number, name in enumerate(("clinic", "bank", "school"))}
HEX = "0a1b2c3d" * 4
STORE_NAMES = (
    "forgotten.json", "forgotten.new", f"journal/{1:020d}", "journal/diary.txt", "log", "log/notes/mine.txt",
    "rebuild.lock", "index.lock",
    "view.lock", "left.lock", "view", "vectors", "holders", "arriving.json", "arriving", f"view/{HEX}.view",
    f"view/{HEX}.view.12", f"vectors/0/{HEX}.f32", f"vectors/1/{HEX}.f32", "vectors/notes",
    "replaced-1500000000000/photos/one.jpg", "replaced-1500000000000/segments_0.lance", "replaced-mine/journal",
    "replaced-2", "forgotten/diary.txt", "forgotten/1500000000000-0a1b2c3d.jsonl", "forgotten/a.part",
    "forgotten/photos/one.jpg", "holders/mine.lock", "holders/1-0a1b2c3d.lock", "segments_0.lance/photo.jpg",
    "segments_0.lance/data/notes.txt", "segments_1.lance/photo.jpg", "segments_2.lance", "sentences_1.lance",
    "points.lance/photo.jpg", "jobs.lance", "my.damaged", "my.hidden", "segments_0.lance/my.hidden",
    "notes.lance/data/one.lance", "memory.backup", ".restore-1/x", "photos/one.jpg", "notes.txt", ".git/HEAD",
    "a b/ü.txt", "store.id.bak",
)  # fmt: skip
AROUND = (
    "to/photos/one.jpg", "to/notes.txt", "out.jsonl", "out.html", "out.backup", "out.mcpb", "notes/mine.md",
    "notes/spaces/default/mine.md", "notes", "notes/memory.jsonl", "notes/index.md", ".out.jsonl.1.part",
    ".store.before-1/x", "home/.cursor/mcp.json.before-mcp-memory",
    "home/.cursor/mcp.json.replaced-by-mcp-memory", "store.damaged-1/x",
)  # fmt: skip
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("restore", "@saved.backup", "--replace"),
    ("restore", "@saved.backup", "--replace", "--again"),
    ("restore", "@store/inside.backup", "--replace"),
    ("backup", "@out.backup"),
    ("backup", "@out.backup", "--replace"),
    ("forget", "m0", "--session", "letters", "--yes"),
    ("doctor", "--rebuild"),
    ("doctor", "--repair", "--yes"),
    ("doctor",),
    ("status",),
    ("export", "@out.jsonl"),
    ("export", "--html", "@out.html"),
    ("export", "--markdown", "@notes"),
    ("import", "@saved.jsonl"),
    ("bundle", "@out.mcpb"),
    ("install", "cursor"),
    ("install", "cursor", "--uninstall"),
    ("search", "ferns"),
    ("list", "facts"),
)
REFUSALS = ("in the way", "did not write", "under names that it needs", "holds other things", "held a memory",
            "that file is somebody else's")  # fmt: skip


@dataclass
class Found:
    """What was found.

    Attributes:
        done: how often each command succeeded and failed.
        planted: how many things of somebody else there were.
        wrong: what was changed, removed or lost.
    """

    done: dict[str, list[int]] = field(default_factory=dict)
    planted: int = 0
    wrong: list[str] = field(default_factory=list)


def make_base(folder: Path) -> None:
    """Make a store with something forgotten, and files to restore and import."""
    _settle_environment(folder)

    async def fill() -> None:
        memory = await open_memory(load(None))
        items = tuple(
            NewItem(text, ref=ref, speaker="Ines") for ref, text in (*TEXTS.items(), ("gone", "The spy rang."))
        )
        facts = (NewFact("Ines", "likes", "octopuses", source="m1"),)
        await memory.write(WriteRequest("default", "letters", "message", items, facts))
        await memory.aclose()

    anyio.run(fill)
    for command in (
        ["doctor", "--rebuild"],
        ["forget", "gone", "--session", "letters", "--yes"],
        ["backup", str(folder / "saved.backup")],
        ["export", str(folder / "saved.jsonl")],
    ):
        code, said = _run(command)
        assert code == 0, said
    shutil.copy(folder / "saved.backup", folder / "store" / "inside.backup")


def one_layout(base: Path, folder: Path, seed: int, found: Found, commands: int) -> None:
    """Plant things into a copy of a base, and run some commands."""
    chance = random.Random(seed)
    shutil.copytree(base, folder, symlinks=True)
    _settle_environment(folder)
    outside = folder / "outside"
    (outside / "things").mkdir(parents=True)
    (outside / "things" / "one.txt").write_text("mine, outside")
    (outside / "letter.txt").write_text("dear you")
    planted = [outside / "letter.txt", outside / "things" / "one.txt"]
    if not chance.randrange(4):  # a place without a store yet
        shutil.rmtree(folder / "store")
        (folder / "store").mkdir()
    for name in (*chance.sample(STORE_NAMES, chance.randint(1, 6)), *chance.sample(AROUND, chance.randint(0, 4))):
        place = folder / name if name in AROUND else folder / "store" / name
        planted += _plant(place, outside, chance)
    before = {path: _state(path) for path in planted}
    found.planted += len(before)
    held, said = _told()
    for command in chance.choices(COMMANDS, k=commands):
        arguments = [str(folder / one[1:]) if one.startswith("@") else one for one in command]
        code, output = _run(arguments)
        found.done.setdefault(" ".join(command), [0, 0])[code != 0] += 1
        label = f"seed {seed}, {' '.join(command)} (exit {code})"
        for path, state in before.items():
            if _state(path) != state:
                found.wrong.append(
                    f"{label}: {path.relative_to(folder)} was {state!r:.60}, is {_state(path)!r:.60}\n{output}"
                )
        if "Traceback" in output:
            found.wrong.append(f"{label}: {output}")
        now, said = _told()
        if now is None:
            if not any(words in said for words in REFUSALS):
                found.wrong.append(f"{label}: the memory cannot be read: {said}\n{output}")
            continue
        may_go = {"forget": {"m0"}, "restore": {"m0", "gone"}}.get(command[0], set())  # "gone" is in no backup
        lost = (held or set()) - now - may_go
        if lost:
            found.wrong.append(f"{label}: {sorted(lost)} are lost\n{output}")
        held = now
    shutil.rmtree(folder)


def run(folder: Path, layouts: int, seed: int, commands: int = 4) -> Found:
    """Try a number of layouts.

    Args:
        folder: an empty folder to work in.
        layouts: how many.
        seed: of the first one; each has one of its own.
        commands: commands on each.
    """
    found, environment = Found(), dict(os.environ)
    onnx._load, before = functools.cache(onnx._load), onnx._load  # one model for all commands
    try:
        (folder / "base").mkdir()
        make_base(folder / "base")
        for number in range(seed, seed + layouts):
            one_layout(folder / "base", folder / f"layout{number}", number, found, commands)
    finally:
        onnx._load = before
        os.environ.clear()
        os.environ.update(environment)
    return found


def _settle_environment(folder: Path) -> None:
    (folder / "config").mkdir(exist_ok=True)
    (folder / "home").mkdir(exist_ok=True)
    (folder / "config" / "config.toml").touch()
    os.environ["HOME"] = os.environ["USERPROFILE"] = str(folder / "home")
    for name, value in {
        "MCP_MEMORY_CONFIG": folder / "config" / "config.toml",
        "MCP_MEMORY_STORAGE_URI": folder / "store",
        "MCP_MEMORY_FORGET_KEEP_DAYS": 30,
        "XDG_CONFIG_HOME": folder / "home" / ".config",
        "XDG_DATA_HOME": folder / "home" / ".local",
    }.items():
        os.environ[name] = str(value)


def _plant(place: Path, outside: Path, chance: random.Random) -> list[Path]:
    if os.path.lexists(place):
        return []
    for parent in place.parents:  # what another thing was planted as
        if os.path.lexists(parent) and not (parent.is_dir() and not parent.is_symlink()):
            return []
    place.parent.mkdir(parents=True, exist_ok=True)
    kinds: tuple[Callable[[], object], ...] = (
        lambda: place.write_bytes(chance.choice((b"mine\n", b'{"to": 7}', b"\0\1\2" * 50, b"a,b\n1,2\n" * 900))),
        lambda: place.write_text("my own words, about the mcp-memory export and its backup"),
        lambda: (place.mkdir(), (place / "one.txt").write_text("mine"), (place / "sub").mkdir()),
        lambda: place.symlink_to(outside / "letter.txt"),
        lambda: place.symlink_to(outside / "things"),
        lambda: place.symlink_to(outside / "nowhere"),
    )
    chance.choice(kinds)()
    return [place, place / "one.txt"] if place.is_dir() and not place.is_symlink() else [place]


def _state(path: Path) -> object:
    if path.is_symlink():
        return "link", str(path.readlink())
    if path.is_dir():
        return "folder"
    return path.read_bytes() if path.exists() else None


def _run(arguments: list[str]) -> tuple[int, str]:
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        try:
            code = main(arguments)
        except SystemExit as stopped:
            code = int(stopped.code or 0)
        except Exception as error:
            out.write(f"Traceback: {type(error).__name__}: {error}")
            code = 99
    return code, out.getvalue()


def _told() -> tuple[set[str] | None, str]:
    """Return the refs of the messages in the memory; None, and why, where it cannot be read."""

    async def read() -> set[str]:
        memory = await open_unloaded(load(None))
        try:
            async with memory.store.reading() as view:
                return {one.ref for one in view.space("default").turns.values()} if view.spaces else set()
        finally:
            await memory.aclose()

    try:
        return anyio.run(read), ""
    except McpMemoryError as error:
        return None, str(error)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--layouts", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        result = run(Path(work), options.layouts, options.seed)
    for name, (good, bad) in sorted(result.done.items()):
        sys.stdout.write(f"{name}: {good} done, {bad} refused\n")
    sys.stdout.write(f"{options.layouts} layouts, {result.planted} things planted, {len(result.wrong)} wrong\n")
    sys.stdout.write("".join(f"{text}\n\n" for text in result.wrong))
    sys.exit(bool(result.wrong))
