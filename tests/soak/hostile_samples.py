"""Samples of every format that the program reads, and what changes them at random, for ``hostile_files.py``."""

from __future__ import annotations

import io
import json
import random
import sys
import tarfile
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from foreign_files import BASIC, MEM0, OFFICIAL, chatgpt_chat, claude_chat

from mcp_memory.storage.schema import FORMAT

Make = Callable[[random.Random, Path], Path]
"""Writes a case into an empty folder, and returns its path."""


def sample_of(name: str) -> bytes:
    """Return a whole file of a format."""
    values: dict[str, Any] = {
        "chatgpt": [chatgpt_chat(0, 2), chatgpt_chat(1)],
        "claude": [claude_chat(0), claude_chat(1), {"conversations_memory": "Likes tea", "account_uuid": "a"}],
        "official": {"entities": OFFICIAL[:2], "relations": OFFICIAL[2:]},
        "mem0": MEM0 | {"relations": [{"source": "ann", "relationship": "knows", "target": "ben"}]},
        "tokens": {"tokens": [_token("ann"), _token("ben")]},
        "client.json": {"mcpServers": {"memory": {"command": "mcp-memory", "args": ["serve"]}, "x": {"command": "y"}}},
    }
    if name in values:
        return json.dumps(values[name], indent=random.Random(name).choice((None, 1))).encode()
    if name == "lines":
        return "\n".join(map(json.dumps, [*OFFICIAL, {"memory": "x", "id": 1, "user_id": "a"}])).encode() + b"\n"
    if name == "export":
        return _export()
    return {
        "basic": BASIC.encode(),
        "text": b"---\ntitle: Boats\ndate: 2024-05-05\ntags: &t [a, b]\nmore: *t\n---\n# Boats\n\nShe sails.\n" * 2,
        "csv": b'id,speaker,text,time\n1,Ann,"Hi, ""Ben""\nand Cy",2024-05-05\n2,Ben,Ho,5.5.2024\n,,Nobody,\n' * 3,
        "settings": b'[storage]\nuri = "/tmp/x"\noptions = ""\n[limits]\nitems = 5_000\n[switches]\nbeam = false\n',
        "client.toml": b'model = "x"\n[mcp_servers.memory]\ncommand = "x"\nargs = ["serve"]\nenv = {A = "b"}\n',
        "client.yaml": b"a: &a\n  cmd: x\n  args: [serve]\nextensions:\n  memory:\n    <<: *a\n    on: true\n  o: *a\n",
        "call": b'{"jsonrpc":"2.0","id":7,"method":"tools/call",'
        b'"params":{"name":"memory_write","arguments":{"text":"Hi"}}}\n',
    }[name]


def _token(name: str) -> dict[str, Any]:
    permissions = [{"spaces": "work*", "rights": ["read", "write"]}]
    return {"name": name, "digest": sha256(name.encode()).hexdigest(), "permissions": permissions, "tenant": "",
            "made": 1.0, "expires": None}  # fmt: skip


def _export() -> bytes:
    place = {"space": "default", "session": "s", "id": "m1"}
    when = "2024-05-05T10:00:00Z"
    rows: list[dict[str, Any]] = [
        {"format": "mcp-memory export", "version": 1, "program": "x", "exported": when, "spaces": ["default"]},
        {"record": "message", **place, "speaker": "Ann", "written": when, "text": "I live in Oslo."},
        {"record": "fact", **place, "fact": "f_1", "by": "caller", "head": "Ann",
         "relation": "lives_in", "tail": "Oslo", "confidence": 0.9, "intent": "FACT",
         "start": 0, "end": 5, "said": when, "recorded": when, "kind": "state"},
        {"record": "lesson", "space": "default", "episode": "e", "query": "Where?", "asked": when, "by": "caller",
         "recorded": when, "labels": {"s_1": 1}, "trace": {"a": [1]}},
        {"record": "end", "records": 3},
    ]  # fmt: skip
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def hostile_value(some: random.Random) -> str:
    """Return a JSON value, or nearly one, that costs or breaks more than most."""
    size = some.choice((5, 90, 110, 1_000, 5_000) if some.random() < 0.97 else (40_000, 300_000))
    return some.choice(
        (
            "1" * size,
            "-" + "9" * size + ".5",
            "1e999",
            "-1e-999",
            "NaN",
            "Infinity",
            "[" * size,
            "[" * size + "]" * size,
            '{"a":' * size + "1" + "}" * size,
            "[" + "0," * size + "0]",
            "[[]" + ",[]" * size + "]",
            '"' + "a" * size + '"',
            '"\\ud800"',
            '"\\u0000"',
            '"\\udc00\\ud800x"',
            '"\\x"',
            "null",
            "true",
            "{}",
            "[]",
            '""',
            "0",
            "-1",
            '"1' + "0" * size + '"',
            '{"a":1,"a":{"a":2}}',
            "2024",
            '"2024-13-45"',
            '"0001-01-01T00:00:00+23:59"',
            '"9999-12-31T23:59:59-23:59"',
            '"' + "\\u0301" * size + '"',
            '"' + "\U0001f600" * (size // 4) + '"',
            '"' + '\\"' * size + '"',
            "'a'",
            "[1,]",
            "{1:2}",
            "/*x*/1",
        )
    )


def hostile_bytes(some: random.Random) -> bytes:
    """Return bytes that stand badly in any file."""
    size = some.choice((3, 50, 1_000, 5_000) if some.random() < 0.97 else (60_000, 1_000_000))
    return some.choice(
        (
            b"\n",
            b"\r",
            b"\r\n",
            b"\x00",
            b"\xef\xbb\xbf",
            b"\xff\xfe",
            b"\xed\xa0\x80",
            b"\xc3",
            b"\xf5",
            b'"',
            b"'",
            b",",
            b"[",
            b"{",
            b"]",
            b"}",
            b":",
            b"\\",
            b"#",
            b"---\n",
            b"- ",
            b"? ",
            b"&a ",
            b"*a ",
            b"<<: *a\n",
            b"!!int ",
            b"!!python/object:os.system ",
            b"\t",
            b"=",
            b"[[a]]\n",
            b"a.",
            b"|",
            b">",
            b"# ",
            b"\xe2\x80\xa8",
            b"//",
            b"/*",
            b'""',
            b"'''",
            b'"""',
            b"- [a] b\n",
            b"[[x]]",
        )
    ) * some.choice((1, 1, 1, size))


def changed(content: bytes, some: random.Random) -> bytes:
    """Return a file changed in one to four ways."""
    for _ in range(some.choice((1, 1, 2, 4))):
        size = len(content)
        at, end = sorted((some.randrange(size + 1), some.randrange(size + 1)))
        match some.randrange(11):
            case 0:
                content = content[:at]
            case 1:
                content = content[:at] + bytes((some.randrange(256),)) + content[at + 1 :]
            case 2:
                content = content[:at] + content[end:]
            case 3:
                content = content[:end] + content[at:end] * some.choice((1, 1, 2, 30)) + content[end:]
            case 4 | 5:
                content = content[:at] + hostile_bytes(some) + content[at:]
            case 6:
                content = content.replace(b"\n", some.choice((b"\r\n", b"\r", b"", b"\n\n")))
            case 7 if size < 10_000:
                content = content.decode("latin-1").encode(
                    some.choice(("utf-16", "utf-16-le", "utf-32", "latin-1", "utf-8"))
                )
            case 8 if size < 10_000:
                content = bytes(some.randrange(256) for _ in range(some.choice((1, 20, 300))))
            case _:
                content = with_value(content, some)
    return content


def some_sample(name: str, some: random.Random) -> bytes:
    """Return a sample, mostly changed."""
    return changed(sample_of(name), some) if some.random() < 0.7 else sample_of(name)


def with_value(content: bytes, some: random.Random) -> bytes:
    """Return a file with a hostile value in place of one behind a colon, a comma, a bracket or a sign of equality."""
    places = [place for place, byte in enumerate(content[:100_000]) if byte in b":,[="]
    if not places:
        return content + hostile_value(some).encode()
    at = some.choice(places) + 1
    end = next((place for place in range(at, min(len(content), at + 200)) if content[place] in b",]}\n"), at)
    return content[:at] + b" " + hostile_value(some).encode() + content[end:]


def single(name: str, suffix: str) -> Make:
    """Return what writes one changed sample."""
    sample = sample_of(name)

    def make(some: random.Random, folder: Path) -> Path:
        (folder / f"case{suffix}").write_bytes(changed(sample, some) if some.random() < 0.98 else sample)
        return folder / f"case{suffix}"

    return make


NAMES = {"chatgpt": ".json", "claude": ".json", "official": ".json", "mem0": ".json", "lines": ".jsonl",
         "basic": ".md", "text": ".md", "csv": ".csv"}  # fmt: skip


def make_folder(some: random.Random, folder: Path) -> Path:
    """Write a folder of changed samples, with links, odd names and folders in it."""
    (folder / "secret.md").write_text("secret")
    place = folder / "case"
    place.mkdir()
    for number in range(some.randrange(1, 5)):
        name = some.choice(list(NAMES))
        (place / f"{number}{NAMES[name]}").write_bytes(some_sample(name, some))
    for name, target in (
        ("out.md", folder / "secret.md"),
        ("self.md", place / "self.md"),
        ("up", folder),
        ("0.md", place),
    ):
        if some.random() < 0.3 and not (place / name).exists():
            (place / name).symlink_to(target)
    (place / "\udce4.md").write_text("x")
    return place


def make_archive(some: random.Random, folder: Path) -> Path:
    """Write an archive of changed samples, or of one that unpacks to much, itself changed or not."""
    file = folder / "case.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(some.randrange(3)):
            name = some.choice(list(NAMES))
            archive.writestr(some.choice(("", "../", "/", "a/b/")) + f"{number}{NAMES[name]}", some_sample(name, some))
        if some.random() < 0.05:
            archive.writestr("0.json", some.choice((b" ", b"[", b'"', b"a,\n")) * (30 << 20))
        if some.random() < 0.2:
            inner = io.BytesIO()
            with zipfile.ZipFile(inner, "w") as nested:
                nested.writestr("0.md", changed(sample_of("text"), some))
            archive.writestr("inner.zip", inner.getvalue())
    if some.random() < 0.3:
        file.write_bytes(changed(file.read_bytes(), some))
    return file


def make_backup(some: random.Random, folder: Path) -> Path:
    """Write a backup with changed members, members that are none, or changed as a whole."""
    file, sums = folder / "case.backup", dict[str, str]()
    header = json.dumps({"format": "mcp-memory backup", "version": 1, "program": "x", "made": "2024-05-05", "commit": 1,
                         "store_format": FORMAT, "embedder": "fake", "dimension": 8}).encode()  # fmt: skip
    with tarfile.open(file, "w", format=some.choice((tarfile.PAX_FORMAT, tarfile.GNU_FORMAT))) as archive:
        for name in (
            "backup.json",
            "segments_0.lance/data/00000000-0000-0000-0000-000000000000.lance",
            "sentences_0.lance/_versions/1.manifest",
            "sums.json",
        ):
            content = {"backup.json": header, "sums.json": json.dumps(sums).encode()}.get(name, name.encode() * 20)
            info = tarfile.TarInfo(name)
            if some.random() < 0.1:
                content = changed(content, some)
            if some.random() < 0.1:
                info.name = some.choice(
                    ("../x.lance/y", "/x.lance/y", "segments_0.lance/../../x", name * 50, "x.lance/\udce4", "")
                )
            if some.random() < 0.1:
                info.type = some.choice(
                    (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE)
                )
                info.linkname = some.choice((name, "/etc/passwd", "backup.json"))
            if some.random() < 0.05:
                info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "9" * 13}
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
            sums |= {info.name: sha256(content).hexdigest()} if name != "backup.json" else {}
    if some.random() < 0.4:
        file.write_bytes(changed(file.read_bytes(), some))
    return file
