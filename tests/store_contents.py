"""Everything that the files of a store hold, decoded: LanceDB compresses its pages, so their bytes show little."""

from __future__ import annotations

import json
import re
import tempfile
import zipfile
from base64 import b64encode
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import lancedb

from mcp_memory.storage.log import decode

SHORT = 4
"""Letters or bytes below which a word may stand somewhere by chance."""


def decoded(folder: Path) -> str:
    """Return the values of every row of all retained versions of all tables, and of the log.

    Raises:
        AssertionError: there is a data file or an index that no retained version of its table has, so that nobody
            knows what is in it.
    """
    texts: list[str] = []
    for path in (*folder.glob("journal/[0-9]*"), *folder.glob("log/*/*")):
        lines = path.read_bytes().splitlines()
        for line in lines if path.parent.parent.name == "log" else lines[:1]:
            texts += [str(text) for part in line[9:].split(b"\t") for text in _strings(json.loads(part))]
        if path.parent.name == "journal":
            _, _, rest = path.read_bytes().partition(b"\n")
            entry = decode(lines[0] + b"\n", rest)
            texts += [str(_strings(rows.to_pylist())) for rows in entry.rows.values() if not isinstance(rows, list)]
    for path in sorted(folder.glob("*.lance")):
        known: set[int] = set()
        table = lancedb.connect(folder).open_table(path.stem)
        numbers = [version["version"] for version in table.list_versions()]
        assert len(list((path / "_versions").glob("*.manifest"))) == len(numbers), path
        for number in numbers:
            old = lancedb.connect(folder).open_table(path.stem, version=number)
            rows = old.search().to_arrow()
            texts += map(str, _strings(rows.drop_columns(_vectors(rows)).to_pylist()))
            known.add(old.stats()["fragment_stats"]["num_fragments"])
        files = len(list((path / "data").glob("*"))) if (path / "data").is_dir() else 0
        assert files <= sum(range(max(known, default=0) + 1)), f"{path}: {files} files, of {known} fragments"
        if len(numbers) == 1:
            assert known == {files}, f"{path}: {files} files, of {known} fragments"
        assert not list(path.glob("_indices/*")), path
        assert not list(path.glob("_deletions/*")), path
    return "\n".join(texts)


def holding(folder: Path, words: Iterable[str]) -> set[str]:
    """Return the words that a store holds: in a decoded row, or in the bytes or the name of any file."""
    content = decoded(folder).casefold()
    paths = list(folder.rglob("*"))
    content += "".join(path.read_bytes().decode("latin-1").casefold() for path in paths if path.is_file())
    content += "".join(path.name.casefold() for path in paths)
    return {word for word in words if word.casefold() in content}


def _vectors(rows: Any) -> list[str]:
    return [field.name for field in rows.schema if "fixed_size_list" in str(field.type)]


def _strings(value: object) -> list[object]:
    if isinstance(value, dict):
        return [text for part in value.values() for text in _strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in _strings(part)]
    return [value]


def holding_anywhere(root: Path, words: Iterable[str]) -> set[str]:
    """Return the words that anything below a folder holds: other stores, backups and files too, in every encoding.

    As bytes of UTF-8 and UTF-16, escaped as in JSON, in base64, and decoded out of tables and backups. A word of one or
    two letters is looked for as a whole word, and only in what is text: any three bytes stand somewhere in vectors.
    """
    parts = (*root.rglob("*.lance"), *root.rglob("journal"))
    stores = {path.parent for path in parts if path.is_dir() and "data" not in path.parts}
    texts = [decoded(store) for store in stores if "backups" not in store.name]
    names = [path.relative_to(root).as_posix() for path in root.rglob("*")]
    files = [path.read_bytes() for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    for backup in root.rglob("*.backup"):
        with tempfile.TemporaryDirectory() as unpacked:
            with zipfile.ZipFile(backup) as archive:
                archive.extractall(unpacked)
            texts.append(decoded(Path(unpacked)))
    for content in files:
        with suppress(UnicodeDecodeError):
            texts.append(content.decode())
    content = "\n".join((*texts, *names)).casefold()
    raw = b"\0".join(files)
    lowered = raw.lower()
    return {word for word in words if _in_text(word, content) or _in_bytes(word, raw, lowered)}


def _in_text(word: str, content: str) -> bool:
    folded = word.casefold()
    whole = rf"(?<!\w){re.escape(folded)}(?!\w)" if folded.isascii() and len(folded) < SHORT else re.escape(folded)
    return re.search(whole, content) is not None


def _in_bytes(word: str, raw: bytes, lowered: bytes) -> bool:
    if len(word.encode()) < SHORT:
        return False
    escaped = json.dumps(word)[1:-1].lower()
    if any(form in lowered for form in (word.lower().encode(), escaped.encode())):
        return True
    wide = (word.encode("utf-16-le"), word.encode("utf-16-be"))
    return any(form in raw for form in (*wide, *_in_base64(word)))


def _in_base64(word: str) -> list[bytes]:
    """Return the parts of base64 that a word has at each of its three places."""
    coded = word.encode()
    found = []
    for place in range(3):
        whole = b64encode(bytes(place) + coded)
        first, last = -(-place * 4 // 3), (place + len(coded)) * 4 // 3
        found.append(whole[first:last])
    return [one for one in found if len(one) >= SHORT]
