"""`mcp-memory tenant`: the stores of several tenants in one place (``storage.uri`` with ``{tenant}``)."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from mcp_memory.commands.terminal import Terminal
from mcp_memory.domain.access import TENANT_NAME
from mcp_memory.errors import ConfigurationError, InvalidInput, StoreBusy, StoreUnwritable
from mcp_memory.server.http.access import TENANT, token_file
from mcp_memory.settings import Settings
from mcp_memory.storage.lock import Holders


def tenant(settings: Settings, options: argparse.Namespace) -> int:
    """List tenants, or forget one: its tokens first, then its whole store.

    Returns:
        0, or 1 if it only said what it would do.

    Raises:
        ConfigurationError: ``storage.uri`` is not that of several tenants in local folders.
        InvalidInput: there is no such tenant.
        StoreBusy: a process has its store open.
        StoreUnwritable: something of it is left.
    """
    before, found, after = settings.storage.uri.partition(TENANT)
    if not found or "://" in before:
        raise ConfigurationError(
            f"storage.uri is {settings.storage.uri!r}. This command knows tenants whose stores are local folders, such "
            "as '/var/lib/memory/{tenant}'; on an object store remove the tenant's prefix with the tools of that store."
        )
    root, terminal = Path(before).expanduser(), Terminal()
    names = sorted(path.name for path in root.glob("*") if TENANT_NAME.fullmatch(path.name) and path.is_dir())
    if options.deed == "list":
        for name in names:
            terminal.line(name)
        return 0
    name = options.name
    if name not in names:
        raise InvalidInput("name", f"there is no tenant {name[:60]!r} in {root}", "See mcp-memory tenant list.")
    tokens = token_file(settings)
    callers = [one.grant.caller for one in tokens.list() if one.grant.tenant == name]
    if not options.yes:
        terminal.line(f"Would revoke {len(callers)} of its tokens and remove {root / name}. Do it with --yes.")
        return 1
    for caller in callers:
        tokens.revoke(caller)
    _remove(root / name, Path(f"{root / name}{after}"))
    terminal.line(f"Revoked {len(callers)} tokens; nothing of {name!r} is left in {root}.")
    return 0


def _remove(folder: Path, store: Path) -> None:
    holders = Holders(store).alive()
    if holders:
        raise StoreBusy(
            f"{len(holders)} process(es) have {store} open: {', '.join(map(str, holders))}. Its tokens are revoked. "
            "Try again once http.tenant_idle_s is over, or stop them."
        )
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise StoreUnwritable(f"{folder} cannot be removed whole ({error}). Mend that, and call again.") from error
    if folder.exists():
        raise StoreUnwritable(f"{folder} is there again: somebody writes to it. Call again once they have stopped.")
