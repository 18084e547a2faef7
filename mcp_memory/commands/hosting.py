"""For whoever runs a server over HTTP: ``mcp-memory tenant`` and ``mcp-memory token``, tenants and tokens of callers.

The stores of several tenants are in one place (``storage.uri`` with ``{tenant}``). On object storage a tenant is all
objects under its prefix. They are removed while the write lock of its store is held, until a listing of the prefix is
empty; a server that has the store open sees at its next call that it is gone (``storage/bucket_journal.py``).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, cast

import anyio
from anyio import to_thread

from mcp_memory.commands.terminal import Terminal
from mcp_memory.domain.access import RIGHTS, TENANT_NAME, Grant, Permission, Right, is_pattern
from mcp_memory.errors import ConfigurationError, InvalidInput, StoreBusy, StoreUnwritable
from mcp_memory.server.http.access import TENANT, token_file
from mcp_memory.settings import Settings
from mcp_memory.storage.arrival import notes_from, settled
from mcp_memory.storage.bucket import KEEPS_VERSIONS, Bucket, storage_options
from mcp_memory.storage.bucket_journal import FORGETTING, BucketJournal
from mcp_memory.storage.bucket_lock import BucketLock
from mcp_memory.storage.data_files import STORED, local_folder
from mcp_memory.storage.lock import Holders
from mcp_memory.storage.noted import PlaceNote
from mcp_memory.storage.own_files import remove_empty, remove_own
from mcp_memory.storage.place import WRITE_LOCK
from mcp_memory.storage.places import known_places

LOOKS = 5
"""Listings of a prefix that may find something before a removal is given up: somebody writes to it all the time."""


class Tenants(Protocol):
    """The stores of all tenants."""

    @property
    def root(self) -> str:
        """The folder or prefix in which each has a place, with a slash at its end."""

    def names(self) -> list[str]:
        """Return what may be the names of tenants."""

    def remove(self, name: str) -> Sequence[str]:
        """Remove all that a tenant has, and return what should be known of that.

        Raises:
            StoreBusy: a process has its store open, or writes to it.
            StoreUnwritable: something of it is left.
        """


def tenant(settings: Settings, options: argparse.Namespace) -> int:
    """List tenants, or forget one: its tokens first, then its whole store.

    Returns:
        0, or 1 if it only said what it would do.

    Raises:
        ConfigurationError: ``storage.uri`` is not that of several tenants.
        InvalidInput: there is no such tenant.
        StoreBusy, StoreError, StoreUnwritable: see `Tenants.remove`.
    """
    tenants, terminal = _tenants(settings), Terminal()
    names = sorted(name for name in tenants.names() if TENANT_NAME.fullmatch(name))
    if options.deed == "list":
        for name in names:
            terminal.line(name)
        return 0
    name, tokens = options.name, token_file(settings)
    callers = [one.grant.caller for one in tokens.list() if one.grant.tenant == name]
    if name not in names and not callers:
        raise InvalidInput("name", f"there is no tenant {name[:60]!r} in {tenants.root}", "See mcp-memory tenant list.")
    if not options.yes:
        terminal.line(f"Would revoke {len(callers)} of its tokens and remove {tenants.root}{name}. Do it with --yes.")
        return 1
    for caller in callers:
        tokens.revoke(caller)
    notes = tenants.remove(name) if name in names else ()
    terminal.line(f"Revoked {len(callers)} tokens; nothing of {name!r} is left in {tenants.root}.")
    for note in notes:
        terminal.line(("NOTE:", "bold"), note)
    return 0


def _tenants(settings: Settings) -> Tenants:
    before, found, after = settings.storage.uri.partition(TENANT)
    if not found or not before.endswith("/") or before.endswith("://") or after[:1] not in ("", "/"):
        raise ConfigurationError(
            f"storage.uri is {settings.storage.uri!r}. This command knows tenants whose name is a whole part of the "
            "path of their store, such as '/var/lib/memory/{tenant}' or 's3://bucket/memory/{tenant}'."
        )
    folder = local_folder(before)
    if folder is None:
        return _Prefixes(before, after, settings.storage.options, settings.storage.lock_timeout_s)
    return _Folders(f"{folder}/", after, settings.storage.noted_in)


@dataclass(frozen=True, slots=True)
class _Folders:
    """Tenants with local stores.

    Attributes:
        root: the folder in which each has one.
        after: the path of the store within it.
        notes: the folder of the notes of places.
    """

    root: str
    after: str
    notes: str

    def names(self) -> list[str]:
        return [path.name for path in Path(self.root).glob("*") if path.is_dir()]

    def remove(self, name: str) -> Sequence[str]:
        folder = Path(self.root, name)
        store = Path(f"{folder}{self.after}")
        now = cast("Path", settled(store))  # where it was moved to
        if holders := Holders(now).alive():
            raise StoreBusy(
                f"{len(holders)} process(es) have {now} open: {', '.join(map(str, holders))}. Its tokens are "
                "revoked. Stop them, or try again when http.tenant_idle_s seconds have passed without a call."
            )
        homes = [now, *(home for home, _ in notes_from(store))]
        copies = [one.path for one in known_places(now) if one.kind == "copy" and one.path.exists()]
        try:
            for home in homes:  # that which the others lead to comes first
                remove_own(home)
                remove_empty(home / one for one in ("holders", "backups", "forgotten", "vectors", "view"))
        except OSError as error:
            problem = f"Some of {folder} could not be removed ({error})."
            raise StoreUnwritable(f"{problem} Fix the cause and run the command again.") from error
        remove_empty(one for one in (store, *store.parents) if folder in (one, *one.parents))
        if any((home / one).exists() for home in homes for one in STORED):
            raise StoreUnwritable(
                f"{' or '.join(map(str, homes))} was made again: another process writes to it. Stop it, and run "
                "the command again."
            )
        for home in homes:
            PlaceNote(str(home), self.notes).remove()
        left = [f"{one} was written for a person, and stays." for one in copies]
        return [*left, f"{folder} holds what this program did not write; that stays."] if folder.exists() else left


@dataclass(frozen=True, slots=True)
class _Prefixes:
    """Tenants with stores on object storage.

    Attributes:
        root: the prefix under which each has one, as a URI.
        after: the path of the store within it.
        options: ``storage.options``.
        wait_s: how long to wait for a write.
    """

    root: str
    after: str
    options: str
    wait_s: float

    def names(self) -> list[str]:
        return self._bucket(self.root).folders()

    def remove(self, name: str) -> Sequence[str]:
        return anyio.run(self._remove, name)

    async def _remove(self, name: str) -> Sequence[str]:
        every, store = self._bucket(self.root + name), self._bucket(self.root + name + self.after)
        promises = await to_thread.run_sync(store.probe)
        journal = BucketJournal(store)
        async with BucketLock(store, WRITE_LOCK, self.wait_s, journal=journal).hold():
            await to_thread.run_sync(journal.begin_forgetting)
            await to_thread.run_sync(every.remove_all, (WRITE_LOCK, FORGETTING))
            await to_thread.run_sync(journal.end_forgetting)
        for _ in range(LOOKS):
            if not await to_thread.run_sync(every.remove_all):
                return (KEEPS_VERSIONS,) if promises.versions else ()
        raise StoreUnwritable(
            f"{self.root}{name} has objects again: another process writes to it. Its tokens of this server are "
            "revoked; revoke those of the issuer, too, and run the command again."
        )

    def _bucket(self, uri: str) -> Bucket:
        return Bucket(uri.rstrip("/"), storage_options(self.options))


DAY_S = 86_400


def token(settings: Settings, options: argparse.Namespace) -> int:
    """Make, list or revoke; return 0.

    Raises:
        InvalidInput: a name, space, right or tenant is wrong.
    """
    file, terminal = token_file(settings), Terminal()
    if options.deed == "add":
        first = not file.exists()
        terminal.line(file.add(_grant(options)))  # alone on stdout, for programs
        if first:
            terminal.note(
                "This is the first token: servers over HTTP that run already ask for one once they are restarted."
            )
    elif options.deed == "revoke":
        file.revoke(options.name)
        terminal.line(f"Revoked {options.name!r}; no process takes it from now on.")
    else:
        for one in file.list():
            terminal.line(_grant_line(one.grant, one.made))
    return 0


def _grant(options: argparse.Namespace) -> Grant:
    rights = frozenset(part.strip() for part in options.rights.split(","))
    if not rights or not rights <= RIGHTS:
        raise InvalidInput("--rights", f"{options.rights!r} will not do", "Give some of read,write,forget.")
    for spaces in options.spaces:
        if not is_pattern(spaces):
            raise InvalidInput("--space", f"{spaces!r} is not the name of a space", "Give a name, or work-* or *.")
    if options.tenant and not TENANT_NAME.fullmatch(options.tenant):
        raise InvalidInput("--tenant", f"{options.tenant!r} will not do", "Give small letters, digits, - and _.")
    expires = time.time() + options.days * DAY_S if options.days else None
    held = cast("frozenset[Right]", rights)
    return Grant(options.name, tuple(Permission(one, held) for one in options.spaces), options.tenant, expires=expires)


def _grant_line(grant: Grant, made: float) -> str:
    allowed = ", ".join(f"{one.spaces} ({' '.join(sorted(one.rights))})" for one in grant.permissions)
    parts = [grant.caller, allowed, f"made {_day(made)}"]
    parts += [f"tenant {grant.tenant}"] if grant.tenant else []
    if grant.expires is not None:
        parts.append(f"{'expired' if grant.expires <= time.time() else 'until'} {_day(grant.expires)}")
    return " | ".join(parts)


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
