"""Let the reader that ships read what a recall found, and keep its chances beside the scores of the search.

python -m training.score OUT.jsonl CANDIDATES.jsonl …
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import anyio

from mcp_memory.embedding.onnx import OnnxReader

FIRST = 24
"""Records that are read of each question."""


async def main(options: argparse.Namespace) -> None:
    """Read, and write each line again with ``chances`` in place of the texts."""
    reader = OnnxReader()
    with options.out.open("w", encoding="utf-8") as out:
        for file in options.candidates:
            for line in file.open(encoding="utf-8"):
                row = json.loads(line)
                pairs = [(row["q"], text) for text in row.pop("texts")[:FIRST]]
                chances = (await reader.read(pairs)).tolist() if pairs else []
                row["chances"] = [round(chance, 4) for chance in chances]
                out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("candidates", nargs="+", type=Path)
    anyio.run(main, parser.parse_args())
