"""Try a repair on a copy of a damaged store, so that `mcp-memory doctor` names it only if it mends.

The copy is made where the store's own backups are. It has the tables by hard links where the disk has them, since no
data file is ever changed in place, and copies of the small files beside them, so it costs what the repair writes. It is
removed at once, and where a process died, by the next forget, as whatever is half done there.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from mcp_memory.domain.times import Millis
from mcp_memory.errors import StoreError, StoreUnwritable
from mcp_memory.storage.backups import Backups
from mcp_memory.storage.check import check
from mcp_memory.storage.copies import ANCHORS, LOG_COPY
from mcp_memory.storage.data_files import SUMS
from mcp_memory.storage.examine import examine
from mcp_memory.storage.forgotten import BOOK_COPY
from mcp_memory.storage.journal import JOURNAL
from mcp_memory.storage.repair import repair
from mcp_memory.storage.schema import COMMITS, LOG_TABLES
from mcp_memory.storage.tables import Tables


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a repair would come to.

    Attributes:
        lost: in words, what it would give up for good.
        left: in words, what would be wrong with the log even then.
        untried: why it could not be tried; "" if it was.
    """

    lost: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    untried: str = ""


def rehearse(tables: Tables, backups: Backups, at: Millis) -> Rehearsal:
    """Repair a copy of a store, whose locks must be held, and return what it comes to.

    Args:
        tables: the tables of the store, a local folder.
        backups: of this store.
        at: now.
    """
    lost: list[str] = []

    def give_up(texts: Sequence[str]) -> bool:
        lost.extend(texts)
        return True

    try:
        with _copied(tables, backups.folder or Path()) as trial:
            copy = Tables(str(trial))
            repair(copy, backups.files(), give_up, at)
            left = examine(copy).log
            faults = [] if left else [one.text for one in check(copy, now=at) if one.severity == "error"]
        return Rehearsal(tuple(lost), (*left, *(text for text in faults if text.startswith((COMMITS, *LOG_TABLES)))))
    except (OSError, StoreUnwritable) as error:
        return Rehearsal(untried=str(error))
    except StoreError as error:
        return Rehearsal(tuple(lost), (str(error),))


@contextmanager
def _copied(tables: Tables, place: Path) -> Iterator[Path]:
    """Copy a store, and remove the copy."""
    folder, made = tables.folder or Path(), not place.exists()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    trial = Path(tempfile.mkdtemp(prefix=".trial-", dir=place))
    try:
        for table in folder.glob("*.lance"):
            shutil.copytree(table, trial / table.name, copy_function=_link)
        for name in (JOURNAL, SUMS, LOG_COPY, BOOK_COPY, *ANCHORS):
            with suppress(FileNotFoundError):
                shutil.copyfile(folder / name, trial / name)
        yield trial
    finally:
        shutil.rmtree(trial, ignore_errors=True)
        if made:
            with suppress(OSError):
                place.rmdir()


def _link(source: str, target: str) -> None:
    """Link a file that nobody changes in place; copy any other, and where there are no links."""
    try:
        if source.endswith(".json"):
            raise OSError
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
