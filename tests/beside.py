"""Files that stand beside a test: lists of texts, and tables of what is given and what is found, an object a line."""

import json
from pathlib import Path
from typing import Any


def lines_beside(test: str, name: str) -> list[str]:
    """Return the lines of a file in the folder of a test."""
    return Path(test).with_name(name).read_text(encoding="utf-8").splitlines()


def table_beside(test: str, name: str) -> list[Any]:
    """Return the objects of the lines of a file in the folder of a test."""
    return [json.loads(line) for line in lines_beside(test, name)]
