"""A process that repairs a store and makes its derived tables again, as `mcp-memory doctor --repair --yes` does.

Run as ``python repairing_process.py FOLDER``. It says ``begin``, then ``repaired`` and ``rebuilt``, each with the
seconds since the beginning.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent))

from damaged_store import make_rows, open_store


async def main(folder: Path) -> None:
    """Repair, and rebuild."""
    store = open_store(folder)
    sys.stdout.write("begin\n")
    sys.stdout.flush()
    started = time.monotonic()
    await store.repair(lambda _: True)
    sys.stdout.write(f"repaired {time.monotonic() - started}\n")
    sys.stdout.flush()
    await store.rebuild(make_rows)
    sys.stdout.write(f"rebuilt {time.monotonic() - started}\n")
    await store.aclose()


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]))
