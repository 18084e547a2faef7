"""A small object store on loopback that speaks as much of S3 as LanceDB and obstore ask for, without signatures.

Conditional writes are atomic, as on Amazon S3; ``conditions=False`` ignores them without a word, as some other stores
do. It counts requests, can delay each, and forgets everything when it is closed.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree
from xml.sax.saxutils import escape


class ObjectStore:
    """The objects, by bucket and name."""

    def __init__(self, *, conditions: bool = True, delay_s: float = 0.0, versions: bool = False) -> None:
        self.requests: Counter[str] = Counter()  # how many there were, by method and what they asked for
        self.conditions = conditions  # whether ``If-None-Match`` and ``If-Match`` are honoured
        self.delay_s = delay_s  # how long each request takes at least
        self.versions = versions  # whether it says that it keeps earlier versions of objects
        self.objects: dict[str, tuple[bytes, datetime]] = {}
        self._uploads: dict[str, dict[int, bytes]] = {}
        self._lock = threading.Lock()

    @property
    def options(self) -> str:
        """``storage.options`` for this store."""
        keys = "aws_access_key_id=test aws_secret_access_key=test region=us-east-1 allow_http=true"
        return f"{keys} endpoint=http://127.0.0.1:{self.port}"

    @contextmanager
    def serving(self) -> Iterator[ObjectStore]:
        """Serve requests on a free port of this machine while the context lasts."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"store": self}))
        server.daemon_threads = True
        self.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def answer(
        self, method: str, path: str, query: dict[str, str], headers: Any, body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of the reply to a request."""
        kind = "LIST" if method == "GET" and "list-type" in query else method
        time.sleep(self.delay_s)
        with self._lock:
            self.requests[kind] += 1
            self.requests["all"] += 1
            if kind == "LIST":
                return 200, {"Content-Type": "application/xml"}, self._list(path, query)
            if method in ("GET", "HEAD"):
                return self._get(path, headers, head=method == "HEAD")
            if method == "PUT" and "partNumber" in query:
                self._uploads[query["uploadId"]][int(query["partNumber"])] = body
                return 200, {"ETag": _tag(body)}, b""
            if method == "PUT" and "x-amz-copy-source" in headers:
                return self._put(path, headers, self.objects[unquote(headers["x-amz-copy-source"]).lstrip("/")][0])
            if method == "PUT":
                return self._put(path, headers, body)
            if method == "DELETE":
                self.objects.pop(path, None)
                return 204, {}, b""
            return self._post(path, query, headers, body)

    def _post(self, path: str, query: dict[str, str], headers: Any, body: bytes) -> tuple[int, dict[str, str], bytes]:
        if "uploads" in query:
            name = f"upload{len(self._uploads)}"
            self._uploads[name] = {}
            text = f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>"
            return 200, {}, text.encode()
        if "uploadId" in query:
            parts = self._uploads.pop(query["uploadId"])
            status, made, _ = self._put(path, headers, b"".join(parts[number] for number in sorted(parts)))
            text = f"<CompleteMultipartUploadResult><ETag>{made.get('ETag', '')}</ETag></CompleteMultipartUploadResult>"
            return status, made, text.encode()
        bucket = path.partition("/")[0]
        names = [one.text or "" for one in ElementTree.fromstring(body).iter() if one.tag.endswith("Key")]
        for name in names:
            self.objects.pop(f"{bucket}/{name}", None)
        deleted = "".join(f"<Deleted><Key>{escape(name)}</Key></Deleted>" for name in names)
        return 200, {}, f"<DeleteResult>{deleted}</DeleteResult>".encode()

    def _put(self, path: str, headers: Any, body: bytes) -> tuple[int, dict[str, str], bytes]:
        there = self.objects.get(path)
        if self.conditions:
            absent, same = headers.get("If-None-Match"), headers.get("If-Match")
            if (absent == "*" and there) or (same and (there is None or _tag(there[0]) != same)):
                return 412, {}, b"<Error><Code>PreconditionFailed</Code></Error>"
        self.objects[path] = body, datetime.now(UTC)
        version = {"x-amz-version-id": secrets.token_hex(8)} if self.versions else {}
        return 200, {"ETag": _tag(body), **version}, b""

    def _get(self, path: str, headers: Any, *, head: bool) -> tuple[int, dict[str, str], bytes]:
        if path not in self.objects:
            return 404, {}, b"<Error><Code>NoSuchKey</Code></Error>"
        body, changed = self.objects[path]
        found = {"ETag": _tag(body), "Last-Modified": format_datetime(changed, usegmt=True), "Accept-Ranges": "bytes"}
        if asked := headers.get("Range"):
            first, _, last = asked.removeprefix("bytes=").partition("-")
            start = int(first) if first else max(0, len(body) - int(last))
            end = min(int(last) + 1, len(body)) if first and last else len(body)
            found["Content-Range"] = f"bytes {start}-{end - 1}/{len(body)}"
            return 206, {**found, "Content-Length": str(end - start)}, b"" if head else body[start:end]
        return 200, {**found, "Content-Length": str(len(body))}, b"" if head else body

    def _list(self, path: str, query: dict[str, str]) -> bytes:
        bucket, prefix, delimiter = path.strip("/"), query.get("prefix", ""), query.get("delimiter", "")
        after = query.get("continuation-token") or query.get("start-after", "")
        most = int(query.get("max-keys", "1000"))
        rows: list[str] = []
        folders: list[str] = []
        last, more = "", False
        for full in sorted(name for name in self.objects if name.startswith(f"{bucket}/{prefix}")):
            name = full.removeprefix(f"{bucket}/")
            if name <= after:
                continue
            rest = name.removeprefix(prefix)
            if delimiter and delimiter in rest:
                folder = prefix + rest.partition(delimiter)[0] + delimiter
                if folder not in folders:
                    folders.append(folder)
                continue
            if len(rows) == most:
                more = True
                break
            body, changed = self.objects[full]
            moment = changed.strftime("%Y-%m-%dT%H:%M:%S.000Z")
            rows.append(
                f"<Contents><Key>{escape(name)}</Key><LastModified>{moment}</LastModified>"
                f"<ETag>{escape(_tag(body))}</ETag><Size>{len(body)}</Size></Contents>"
            )
            last = name
        token = f"<NextContinuationToken>{escape(last)}</NextContinuationToken>" if more else ""
        shared = "".join(f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>" for one in folders)
        return (
            f"<ListBucketResult><IsTruncated>{str(more).lower()}</IsTruncated>{token}<KeyCount>{len(rows)}</KeyCount>"
            f"{''.join(rows)}{shared}</ListBucketResult>"
        ).encode()


class _Handler(BaseHTTPRequestHandler):
    store: ObjectStore
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet: a second small one would wait 40 ms until the first is acknowledged
    disable_nagle_algorithm = True

    def _handle(self) -> None:
        address = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(address.query, keep_blank_values=True).items()}
        body = self._body()
        status, headers, content = self.store.answer(
            self.command, unquote(address.path).lstrip("/"), query, self.headers, body
        )
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", "0")))
        parts: list[bytes] = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _handle  # noqa: N815 - the names that http.server calls

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Write nothing: standard error belongs to the tests."""


def _tag(body: bytes) -> str:
    return f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'
