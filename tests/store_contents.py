"""Everything that the files of a store hold, decoded: LanceDB compresses its pages, so their bytes show little."""

import json
from collections.abc import Iterable
from pathlib import Path

import lancedb

from mcp_memory.storage.log import decode


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
            texts += [str(_strings(rows.to_pylist())) for rows in (entry.tables or {}).values()]
    for path in sorted(folder.glob("*.lance")):
        known: set[int] = set()
        table = lancedb.connect(folder).open_table(path.stem)
        numbers = [version["version"] for version in table.list_versions()]
        assert len(list((path / "_versions").glob("*.manifest"))) == len(numbers), path
        for number in numbers:
            old = lancedb.connect(folder).open_table(path.stem, version=number)
            rows = old.search().to_arrow()
            vectors = [field.name for field in rows.schema if "fixed_size_list" in str(field.type)]
            texts += map(str, _strings(rows.drop_columns(vectors).to_pylist()))
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


def _strings(value: object) -> list[object]:
    if isinstance(value, dict):
        return [text for part in value.values() for text in _strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in _strings(part)]
    return [value]
