"""Where a store is: a folder of this machine, or objects under a URI, with the options to reach them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mcp_memory.errors import StoreError
from mcp_memory.storage.bucket import KEEPS_VERSIONS, Bucket, Promises, storage_options
from mcp_memory.storage.bucket_journal import BucketJournal
from mcp_memory.storage.bucket_lock import BucketLock
from mcp_memory.storage.data_files import FAILURES, error_text, local_folder, moved_to
from mcp_memory.storage.journal import Journal
from mcp_memory.storage.lance import import_lancedb, new_session


@dataclass(frozen=True)
class Place:
    """Where a store is.

    Attributes:
        uri: a folder, or any URI that LanceDB opens.
        text: ``storage.options``.
    """

    uri: str
    text: str = ""

    @cached_property
    def folder(self) -> Path | None:
        """The folder of the store; None for a store that is no local folder."""
        return moved_to(local_folder(self.uri))

    @cached_property
    def options(self) -> Mapping[str, str]:
        """The options of an object store."""
        return storage_options(self.text)

    @cached_property
    def bucket(self) -> Bucket:
        """The objects of a store on object storage; nothing is asked of them yet."""
        return Bucket(self.uri, dict(self.options))

    @cached_property
    def promises(self) -> Promises:
        """What the object store was found to do, by a few requests at the first write.

        Raises:
            StoreUnwritable: it cannot be written to, or not by several writers.
        """
        return self.bucket.probe()

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be known of the place, in words.

        Raises:
            StoreUnwritable: see `promises`.
        """
        return (KEEPS_VERSIONS,) if self.folder is None and self.promises.versions else ()

    @cached_property
    def journal(self) -> Journal:
        """The journal of the store."""
        return Journal(self.folder) if self.folder is not None else BucketJournal(self.bucket)

    def lock(self, name: str) -> BucketLock:
        """Return a lock on object storage, always the same: it knows for how long another holder has been silent."""
        return self._locks.setdefault(name, BucketLock(self.bucket, name))

    @cached_property
    def _locks(self) -> dict[str, BucketLock]:
        return {}

    def connect(self) -> Any:
        """Return LanceDB's own connection.

        Raises:
            StoreError: none can be opened with this uri.
        """
        os.environ.setdefault("LANCEDB_LOG", "error")
        lancedb = import_lancedb()
        try:
            if self.folder is not None:
                return lancedb.connect(self.folder, session=new_session())
            return lancedb.connect(self.uri, storage_options=dict(self.options) or None, session=new_session())
        except FAILURES as error:
            raise StoreError(
                f"storage.uri {self.uri!r} cannot be opened: {error_text(error)}. "
                "Set storage.uri (or MCP_MEMORY_STORAGE_URI) to a folder, or to a URI that LanceDB opens."
            ) from error
