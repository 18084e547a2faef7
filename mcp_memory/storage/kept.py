"""What was forgotten and may still be taken back: files beside the tables, each removed when its days are over.

With ``forget.keep_days`` above 0, what goes is written into such a file, as an export, before it goes from every table.
So it is hidden at once, and taking it back is an import. Whoever opens the store, and every server that runs, removes
what is over.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.times import Millis
from mcp_memory.errors import InvalidInput, StoreUnwritable
from mcp_memory.storage.tables import Tables

FOLDER = "forgotten"
DAY_MS = 24 * 60 * 60 * 1000
_NAME = re.compile(r"(\d{13})-([0-9a-f]{8})\.jsonl")


class KeptFiles:
    """The files of one store; see `ports.Kept`.

    Args:
        uri: of the store.
        days: how long a file is kept, from the forget on.
        clock: milliseconds since 1970, UTC.
        log: returns the log of the store, as it was said.
    """

    def __init__(
        self, uri: str, days: int, clock: Callable[[], Millis], log: Callable[[], Awaitable[Sequence[Batch]]]
    ) -> None:
        self._log = log
        folder = Tables(uri).folder
        self._folder = folder / FOLDER if folder is not None else None
        self._days = days
        self._clock = clock

    @property
    def days(self) -> int:  # noqa: D102
        return self._days

    async def log(self) -> Sequence[Batch]:
        """Return the log of the store, as it was said."""
        return await self._log()

    async def put(self, lines: Sequence[bytes]) -> str:
        """Keep the lines of an export, and return the name to take them back by."""
        return await to_thread.run_sync(self._put, lines)

    def purge(self) -> int:
        """Remove what is over, by the days that are set now, and return how many files. Blocking."""
        over = [path for path, at in self._files() if at + self._days * DAY_MS <= self._clock()]
        for path in over:
            path.unlink(missing_ok=True)
        return len(over)

    def find(self, name: str) -> Path:
        """Return the file of a name; "last" for the newest. Blocking.

        Raises:
            InvalidInput: there is none.
        """
        self.purge()
        files = [path for path, _ in self._files()]
        found = files[-1:] if name == "last" else [path for path in files if path.stem.endswith(f"-{name}")]
        if not found:
            names = ", ".join(path.stem.partition("-")[2] for path in files) or "nothing"
            problem = f"nothing that was forgotten is kept as {name[:40]!r}"
            raise InvalidInput("--undo", problem, f"Kept is: {names}; forget.keep_days says how long.")
        return found[0]

    def _files(self) -> list[tuple[Path, Millis]]:
        """Return the files with the moments of their forgets, the oldest first."""
        if self._folder is None or not self._folder.is_dir():
            return []
        matches = ((path, _NAME.fullmatch(path.name)) for path in sorted(self._folder.iterdir()))
        return [(path, int(match[1])) for path, match in matches if match]

    def _put(self, lines: Sequence[bytes]) -> str:
        if self._folder is None:
            raise StoreUnwritable(
                "forget.keep_days needs a store in a local folder. Nothing was forgotten. Set it to 0."
            )
        name = secrets.token_hex(4)
        path = self._folder / f"{self._clock():013}-{name}.jsonl"
        part = path.with_suffix(".part")
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            for left in self._folder.glob("*.part"):  # of a process that died at it
                left.unlink(missing_ok=True)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                out.writelines(lines)
                out.flush()
                os.fsync(out.fileno())
            part.replace(path)
        except OSError as error:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise StoreUnwritable(
                f"what is to be forgotten cannot be kept in {str(self._folder)!r} ({error.strerror or error}). Nothing "
                "was forgotten. Make room, or set forget.keep_days to 0 to forget for good."
            ) from None
        return name
