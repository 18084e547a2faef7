"""Import a file of some MB of each other program, twice, and print what it took; the second time nothing is stored.

Run as ``python tests/soak/foreign_imports.py --megabytes 3``. The files are invented, in the shapes of
``foreign_files.py``; each is imported by a process of its own, whose peak of memory is printed. The vectors cost
nothing unless ``--model`` is given, so the times are those of reading the files, deriving, and storing.
"""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.synthetic import prose
from fakes import FakeEmbedder
from foreign_files import chatgpt_chat, write_json

from mcp_memory.embedding.onnx import OnnxEmbedder
from mcp_memory.memory import Memory
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.services.transfer.foreign.importing import ForeignImport, ItemLimits, import_foreign
from mcp_memory.services.transfer.foreign.kinds import READERS, recognise
from mcp_memory.services.transfer.foreign.sources import source_files
from mcp_memory.settings import load
from mcp_memory.storage.store import LanceStore
from mcp_memory.wiring import open_store

TURNS = 20
"""Exchanges of a chat."""
TIME = "2024-05-{:02}T10:00:00Z"


class Texts:
    """Invented texts, each a little different, until so many bytes are given out."""

    def __init__(self, size: int) -> None:
        self.left = size
        self._some = random.Random(3)
        self._sentences = prose(3, 4_000).split(". ")

    def __call__(self, sentences: int) -> str:
        """Return a text of so many sentences."""
        text = ". ".join(self._some.choice(self._sentences).rstrip(".") for _ in range(sentences)) + "."
        self.left -= len(text)
        return text


def chatgpt(size: int) -> list[object]:
    """Return chats with abandoned branches, calls of tools and pictures."""
    text, chats = Texts(size), []
    while text.left > 0:
        chat = chatgpt_chat(len(chats), TURNS)
        for name, node in chat["mapping"].items():
            if name.partition("-")[2][0] in "ua":
                node["message"]["content"]["parts"] = [text(2 if "-u" in name else 8)]
        chats.append(chat)
    return chats


def claude(size: int) -> list[object]:
    """Return chats with attachments."""
    text, chats = Texts(size), []
    while text.left > 0:
        messages = []
        for number in range(TURNS):
            for sender, length in (("human", 2), ("assistant", 8)):
                said = text(length)
                name = f"k{len(chats)}-{sender}-{number}"
                one = {"uuid": name, "sender": sender, "text": said, "content": [{"type": "text", "text": said}]}
                messages.append(one | {"created_at": TIME.format(1 + number), "attachments": [], "files": []})
        messages[0]["attachments"] = [{"file_name": "log.txt", "extracted_content": text(20)}]
        name = f"k{len(chats)}"
        chats.append({"uuid": name, "name": name, "created_at": TIME.format(1), "chat_messages": messages})
    return chats


def official(size: int) -> Iterator[object]:
    """Yield entities with observations, and relations."""
    text, number = Texts(size), 0
    while text.left > 0:
        name, number = f"Person {number}", number + 1
        seen = [text(1) for _ in range(5)]
        yield {"type": "entity", "name": name, "entityType": "person", "observations": seen}
        yield {"type": "relation", "from": name, "to": f"Person {number // 2}", "relationType": "knows"}


def mem0(size: int) -> dict[str, object]:
    """Return memories."""
    text, found = Texts(size), []
    while text.left > 0:
        one = {"id": f"{len(found)}", "memory": text(1), "user_id": f"user{len(found) % 50}"}
        found.append(one | {"created_at": TIME.format(1 + len(found) % 28)})
    return {"results": found}


def zep(size: int) -> dict[str, object]:
    """Return episodes with edges between nodes."""
    text, episodes, edges = Texts(size), [], []
    nodes = [{"uuid": f"n{number}", "name": f"Person {number}"} for number in range(500)]
    while text.left > 0:
        number = len(episodes)
        name = f"p{number}"
        content = f"Ines(user): {text(2)}\nBot(assistant): {text(8)}"
        episodes.append({"uuid": name, "content": content, "source": "message", "created_at": TIME.format(5)})
        ends = {"source_node_uuid": f"n{number % 500}", "target_node_uuid": f"n{(number * 7 + 1) % 500}"}
        edge = {"uuid": f"e{number}", "name": "KNOWS", "fact": text(1), "episodes": [name], "valid_at": TIME.format(1)}
        edges.append(edge | ends)
    return {"edges": edges, "nodes": nodes, "episodes": episodes}


def note(number: int, text: Texts, *, basic: bool) -> str:
    """Return a note of Markdown, with the lines of basic-memory or without."""
    head = f"# Note {number}\n\n"
    if basic:
        head = f"---\ntitle: Note {number}\npermalink: notes/{number}\ncreated: 2024-03-01\n---\n{head}"
        head += f"- [method] {text(1)} #tag\n- relates_to [[Note {number // 2}]]\n\n"
    return head + "\n\n".join(text(10) for _ in range(4))


def files(folder: Path, size: int) -> Iterator[tuple[str, Path]]:
    """Write the export of each kind, and yield the kind with its path."""
    yield "chatgpt", write_json(folder / "chatgpt" / "conversations.json", chatgpt(size))
    chats = chatgpt(size)
    for number in range(0, len(chats), 20):
        write_json(folder / "split" / f"conversations-{number // 20:03}.json", chats[number : number + 20])
    yield "chatgpt", folder / "split"
    yield "claude", write_json(folder / "claude" / "conversations.json", claude(size))
    path = folder / "memory.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in official(size)), "utf-8")
    yield "official", path
    yield "mem0", write_json(folder / "mem0.json", mem0(size))
    yield "zep", write_json(folder / "zep.json", zep(size))
    for kind, name in (("basic-memory", "basic"), ("text", "texts")):
        text, number = Texts(size), 0
        (folder / name).mkdir()
        while text.left > 0:
            (folder / name / f"{number}.md").write_text(note(number, text, basic=name == "basic"), "utf-8")
            number += 1
        yield kind, folder / name
    text, path = Texts(size), folder / "talk.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("id", "speaker", "text", "time", "session"))
        number = 0
        while text.left > 0:
            rows.writerow((number, f"Ann{number % 7}", text(3), TIME.format(1 + number % 28), f"day {number // 200}"))
            number += 1
    yield "csv", path


async def imported(memory: Memory, path: Path, kind: str) -> tuple[ForeignImport, float, float]:
    """Import and return the result with its seconds, by the clock and of the processor."""
    limits = memory.settings.limits
    most = ItemLimits(limits.message_bytes, limits.document_bytes, limits.name_chars)
    began, used = time.perf_counter(), _used()
    assert isinstance(memory.store, LanceStore)
    with source_files(path) as opened:
        assert recognise(opened) == kind, (recognise(opened), kind)
        result = await import_foreign(
            memory.store, memory.reading, READERS[kind], opened, space="main", limits=most, now=memory.clock()
        )
    return result, time.perf_counter() - began, _used() - used


def _megabytes(path: Path) -> float:
    return sum(one.stat().st_size for one in (path, *path.rglob("*")) if one.is_file()) / 1e6


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def in_a_process(store: Path, path: Path, kind: str, model: bool) -> bool:
    """Do `both` in this process."""
    return anyio.run(lambda: both(store, path, kind, model=model))


async def both(store: Path, path: Path, kind: str, *, model: bool) -> bool:
    """Import twice into a store of its own, print the figures, and return whether the second time stored nothing."""
    settings = load(None, {"MCP_MEMORY_STORAGE_URI": str(store)})
    embedder, extractor = OnnxEmbedder() if model else FakeEmbedder(384), RuleExtractor()
    memory = Memory(settings, open_store(settings, embedder, extractor), embedder, extractor)
    size = _megabytes(path)
    first, seconds, used = await imported(memory, path, kind)
    async with memory.store.reading() as view:
        before = set(view.space("main").turns)
        sentences = len(view.space("main").sentences)
        waiting = len(view.space("main").unindexed)
    second, again, _ = await imported(memory, path, kind)
    async with memory.store.reading() as view:
        same = set(view.space("main").turns) == before
    await memory.aclose()
    what = ", ".join(f"{count:,} {name}" for name, count in first.stored.items())
    sys.stdout.write(
        f"{kind:12} {path.name:20} {size:4.1f} MB: {what}, {sentences:,} sentences in {seconds:.1f} s "
        f"({size / seconds:.2f} MB/s, CPU {used / size:.1f} s a MB); peak {_peak():.0f} MB; bad {first.bad}, "
        f"waiting {waiting}; again {again:.1f} s, stored {second.stored.total()}\n"
    )
    sys.stdout.flush()
    return same and not second.stored.total() and not first.bad and not waiting


def main() -> int:
    """Import every kind; return 1 if one was stored twice or not whole."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=3)
    parser.add_argument("--only", help="this kind alone")
    parser.add_argument("--model", action="store_true", help="make real vectors")
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as place:
        for number, (kind, path) in enumerate(files(Path(place), int(options.megabytes * 1e6))):
            if options.only in (None, kind):
                with multiprocessing.get_context("spawn").Pool(1) as processes:
                    work = Path(place) / f"store{number}", path, kind, options.model
                    good &= processes.apply(in_a_process, work)
    return not good


if __name__ == "__main__":
    sys.exit(main())
