"""Objects of a store: files of its folder (`Folder`), or objects beside its tables on object storage (`Bucket`).

The log, the book of what was forgotten and the locks of a bucket are such objects. All calls block. They rest on one
promise: of two requests to put an object that does not exist, exactly one succeeds.

**In a folder** each file is written beside its place and renamed into it, so that none is ever half; whoever puts a new
one holds the write lock. It is not synced, as LanceDB's appends are not: a power loss can cost the last commits. A file
of which that left nothing but its name counts as not there.

**In a bucket**, by ``obstore``, the promise is "put if absent" (``If-None-Match: *``), on which LanceDB's own commits
rest as well. Some S3-compatible stores ignore it without a word; `Bucket.probe` finds out before the first write.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Protocol

from mcp_memory.errors import ConfigurationError, StoreError, StoreUnwritable
from mcp_memory.files import whole_file

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


class Objects(Protocol):
    """Where the objects of one store are.

    Attributes:
        shared: whether several machines use them, so that every look is a request.
    """

    shared: bool

    def put_new(self, name: str, content: bytes, *, lasting: bool = False) -> str | None:
        """Put an object that does not exist yet, and return the tag of its content; None if it existed.

        It survives a power loss if it is ``lasting``.
        """

    def put(self, name: str, content: bytes) -> None:
        """Put an object in place of the one that is there, if any; it survives a power loss."""

    def get(self, name: str) -> bytes | None:
        """Return the content of an object; None if there is none."""

    def open(self, name: str) -> IO[bytes] | None:
        """Return the content of an object to be read in parts; None if there is none."""

    def tags(self, prefix: str, after: str = "") -> dict[str, str]:
        """Return the objects under a prefix that sort after a name, in order, each with the tag of its content."""

    def tag(self, name: str) -> str | None:
        """Return the tag of an object's content; None if there is none. Not asked where they are shared."""

    def remove(self, names: Iterable[str]) -> None:
        """Remove objects; those that do not exist are passed over."""


class Folder:
    """The objects of one store."""

    shared = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put_new(self, name: str, content: bytes, *, lasting: bool = False) -> str | None:
        """Put a file that does not exist yet."""
        path = self._folder / name
        if self.tag(name) is not None:
            return None
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with whole_file(path, lasting=lasting) as out:
            out.write(content)
        return self.tag(name)

    def put(self, name: str, content: bytes) -> None:
        """Put a file in place of the one that is there, if any."""
        path = self._folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with whole_file(path) as out:
            out.write(content)

    def get(self, name: str) -> bytes | None:
        """Return the content of a file; None if there is none."""
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def open(self, name: str) -> IO[bytes] | None:
        """Return a file to be read in parts; None if there is none."""
        try:
            return (self._folder / name).open("rb")
        except FileNotFoundError:
            return None

    def tags(self, prefix: str, after: str = "") -> dict[str, str]:
        """Return the files under a prefix that sort after a name, in order, each with the tag of its content."""
        names = [f"{prefix}{name}" for name in self._listed(prefix)]
        if prefix == "log/":
            names = [f"{above}/{name}" for above in names for name in self._listed(above)]
        tags = {name: self.tag(name) for name in sorted(names) if name > after and name.rpartition("/")[2][0] != "."}
        return {name: tag for name, tag in tags.items() if tag is not None}

    def _listed(self, place: str) -> list[str]:
        try:
            return os.listdir(self._folder / place)  # noqa: PTH208 - sooner
        except (FileNotFoundError, NotADirectoryError):
            return []

    def tag(self, name: str) -> str | None:
        """Return what tells the content of a file from any other; None if there is none."""
        try:
            found = os.stat(f"{self._folder}{os.sep}{name}")  # noqa: PTH116 - a third of the time
        except OSError:
            return None
        return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}" if found.st_size else None

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that do not exist are passed over."""
        for path in (self._folder / name for name in names):
            with suppress(PermissionError if os.name == "nt" else FileNotFoundError):  # Windows: somebody reads it
                path.unlink(missing_ok=True)
            if path.parent.parent != self._folder:
                with suppress(OSError):  # there is something in it
                    path.parent.rmdir()


class Bucket:
    """The objects of one store on object storage, at a URI such as ``s3://bucket/path``.

    The options are LanceDB's, such as region, endpoint and keys; what is missing comes from the environment.
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
