"""Objects beside the tables of a store on object storage, by ``obstore``: put, get, list, delete. All calls block.

LanceDB keeps the tables; the log (``log.py``) and the locks (``bucket_lock.py``) are objects of their own. They rest
on one promise of the store: of two requests to put an object that does not exist, exactly one succeeds ("put if
absent", ``If-None-Match: *``). LanceDB's own commits rest on it as well. Some S3-compatible stores ignore the condition
without a word, and two writers then overwrite each other's commits; `probe` finds out before the first write.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from io import BytesIO
from typing import IO, Any

from mcp_memory.errors import ConfigurationError, StoreError, StoreUnwritable

OPTION = re.compile(r"[\s,]*(?P<name>[\w.]+)=(?P<value>[^\s,]+)")
"""One of the options in ``storage.options``."""
CLIENT_OPTIONS = ("allow_http", "timeout", "connect_timeout", "proxy_url")
"""Options about connections; obstore takes them apart from those of the store."""
KEEPS_VERSIONS = (
    "The bucket keeps earlier versions of its objects: what is forgotten remains in them until they are "
    "deleted. Switch that off, or give the bucket a rule that deletes them."
)
FOLDER = "_mcp_memory/"
"""The prefix of these objects, which no table has."""


def storage_options(text: str) -> dict[str, str]:
    """Return the options that ``storage.options`` names, as LanceDB takes them.

    Raises:
        ConfigurationError: the text is not a list of ``name=value``.
    """
    found = {match["name"].lower(): match["value"] for match in OPTION.finditer(text)}
    if OPTION.sub("", text).strip(" ,\t\n"):
        raise ConfigurationError(
            'storage.options: write "name=value name=value", such as "region=eu-central-1 endpoint=https://host"; '
            "LanceDB's documentation lists the names."
        )
    return found


class Bucket:
    """The objects of one store; see `mcp_memory.storage.log.Objects`.

    Args:
        uri: the URI of the store, such as ``s3://bucket/path``.
        options: the options of LanceDB, such as region, endpoint and keys; what is missing comes from the environment.
    """

    shared = True

    def __init__(self, uri: str, options: dict[str, str]) -> None:
        self.uri = uri
        self._options = options

    @cached_property
    def _store(self) -> Any:
        """The store of obstore, which asks for nothing yet.

        Raises:
            StoreError: the package obstore is missing, or it knows no such store or option.
        """
        try:
            from obstore.store import from_url
        except ImportError as error:
            remedy = 'storage.uri is on object storage: install `pip install "mcp-memory[object-storage]"`.'
            raise StoreError(
                f"storage.uri {self.uri!r} cannot be opened: the package obstore is missing. {remedy}"
            ) from error
        client: Any = {name: self._options[name] for name in CLIENT_OPTIONS if name in self._options}
        if plain := os.environ.get("AWS_ALLOW_HTTP"):  # LanceDB reads it as well
            client.setdefault("allow_http", plain)
        if "allow_http" in client:
            client["allow_http"] = client["allow_http"].lower() == "true"
        config: Any = {name: value for name, value in self._options.items() if name not in CLIENT_OPTIONS}
        try:
            return from_url(self.uri, config=config, client_options=client)
        except Exception as error:  # obstore raises several classes of its own
            remedy = "Check storage.uri and storage.options, or set MCP_MEMORY_STORAGE_URI to a folder."
            raise StoreError(f"storage.uri {self.uri!r} cannot be opened: {_text(error)}. {remedy}") from error

    def probe(self) -> bool:
        """Return whether the store keeps earlier versions of objects, so that what was forgotten remains in them.

        Nobody knows of Google Cloud, which numbers all objects alike.

        Raises:
            StoreUnwritable: it cannot be written to, or two writers could overwrite each other's commits in it.
        """
        import obstore

        name = f"probe/{secrets.token_hex(16)}"
        with self._errors("written to"):
            first = obstore.put(self._store, FOLDER + name, b"1", mode="create")
            try:
                honoured = self.put_new(name, b"2") is None
            finally:
                self.remove([name])
        if not honoured:
            raise StoreUnwritable(
                f"storage.uri {self.uri!r}: this store overwrites an object that must not exist yet (it ignores "
                "If-None-Match), so two servers would lose each other's writes. Nothing was stored. Use a store that "
                "honours conditional writes (Amazon S3, Azure, Google Cloud, MinIO, R2), or a local folder."
            )
        numbered = first.get("version") not in (None, "null")  # "null": it was switched off
        return numbered and not self.uri.startswith("gs:")

    def put_new(self, name: str, content: bytes, *, lasting: bool = True) -> str | None:  # noqa: ARG002 - all are
        """Put an object that does not exist yet, and return the tag of its content; None if it existed."""
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        with self._errors("written to"):
            try:
                made = obstore.put(self._store, FOLDER + name, content, mode="create", use_multipart=False)
            except (AlreadyExistsError, PreconditionError):
                return None
        return _tag(made)

    def put(self, name: str, content: bytes) -> None:
        """Put an object in place of the one that is there, if any."""
        import obstore

        with self._errors("written to"):
            obstore.put(self._store, FOLDER + name, content, use_multipart=False)

    def get(self, name: str) -> bytes | None:
        """Return the content of an object; None if there is none."""
        import obstore

        with self._errors("read"):
            try:
                return bytes(obstore.get(self._store, FOLDER + name).bytes())
            except FileNotFoundError:
                return None

    def open(self, name: str) -> IO[bytes] | None:
        """Return the content of an object to be read in parts; None if there is none."""
        content = self.get(name)
        return BytesIO(content) if content is not None else None

    def tag(self, name: str) -> str | None:
        """Return the tag of an object's content; None if there is none."""
        return self.tags(name).get(name)

    def tags(self, prefix: str, after: str = "") -> dict[str, str]:
        """Return the objects under a prefix that sort after a name, in order, each with the tag of its content."""
        import obstore

        with self._errors("read"):
            offset = FOLDER + after if after else None
            pages = obstore.list(self._store, FOLDER + prefix, offset=offset, chunk_size=1000)
            found = {one["path"].removeprefix(FOLDER): _tag(one) for page in pages for one in page}
            return dict(sorted(found.items()))

    def remove(self, names: Iterable[str]) -> None:
        """Delete objects; those that do not exist are passed over."""
        import obstore

        for name in names:
            with self._errors("written to"):
                try:
                    obstore.delete(self._store, FOLDER + name)
                except FileNotFoundError:
                    continue

    @contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        """Convert the errors of obstore in the body to ours.

        Raises:
            StoreError: the store cannot be read.
            StoreUnwritable: it cannot be written to.
        """
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, OSError) as error:
            problem = f"storage.uri {self.uri!r} cannot be {what}: {_text(error)}."
            remedy = " Check the address, the keys and the rights (storage.uri, storage.options), and try again."
            raise (StoreError if what == "read" else StoreUnwritable)(problem + remedy) from error


def _tag(about: Mapping[str, Any]) -> str:
    """Return the tag of an object's content; empty if the store gives none. Azure quotes it in some replies only."""
    return (about.get("e_tag") or "").strip('"')


def _text(error: Exception) -> str:
    """Return the first line of an error of obstore; the others repeat it for its developers."""
    return str(error).partition("\n")[0].rstrip(". ")[:300]


def to_json(value: Any) -> bytes:
    """Return a value as the content of an object."""
    return json.dumps(value, separators=(",", ":")).encode()
