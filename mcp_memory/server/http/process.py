"""The process of `mcp-memory serve --http`: it listens, and on a signal lets running calls end, for a while."""

from __future__ import annotations

import logging
from types import FrameType

import uvicorn

from mcp_memory.domain.access import LOOPBACK
from mcp_memory.errors import ConfigurationError
from mcp_memory.server.http.access import Access
from mcp_memory.server.http.app import http_app, listed
from mcp_memory.server.opening import Opener
from mcp_memory.settings import Settings

KEEP_ALIVE_S = 75
"""Seconds for which an unused connection stays open: longer than proxies and clients keep theirs, so that none of them
sends a request on a connection that is just being closed."""

log = logging.getLogger(__name__)


def serve_http(settings: Settings, address: tuple[str, int], open_memory: Opener, access: Access | None) -> int:
    """Serve until the process is told to stop; return the exit code.

    Raises:
        ConfigurationError: it would listen beyond this machine without asking for tokens, or for any name.
    """
    check_safe(settings, address, asks_token=access is not None)
    listening = listener(settings, address, open_memory, access)
    log.warning("Listening on http://%s:%s/mcp", *address)
    listening.run()
    return 0 if listening.started else 1


def listener(
    settings: Settings, address: tuple[str, int], open_memory: Opener, access: Access | None
) -> uvicorn.Server:
    """Return what listens, not started yet."""
    http = settings.http
    config = uvicorn.Config(
        http_app(open_memory, settings, address, access),
        host=address[0],
        port=address[1],
        http="h11",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(http.proxies),
        forwarded_allow_ips=listed(http.proxies),
        limit_concurrency=http.connections,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=http.drain_s,
    )
    return _Server(config)


def check_safe(settings: Settings, address: tuple[str, int], *, asks_token: bool) -> None:
    """Check that it is safe to listen.

    Raises:
        ConfigurationError: it is not.
    """
    http, host = settings.http, address[0]
    if not asks_token and host not in LOOPBACK:
        raise ConfigurationError(
            f"serve --http {host}:{address[1]} would let every machine that reaches it read and forget all. Make a "
            "token (mcp-memory token add NAME --space SPACE), or set access.issuer, or listen on 127.0.0.1."
        )
    if host in ("0.0.0.0", "::") and not (http.url or http.hosts):
        raise ConfigurationError(
            f"serve --http {host}:{address[1]} listens under every address, so it has to be told its names. Set "
            "http.url (MCP_MEMORY_HTTP_URL) to the address that clients use, or http.hosts."
        )


class _Server(uvicorn.Server):
    """Ends with the exit status 0 on a signal; a second signal does not wait for running calls."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - as uvicorn calls it
        """Begin to stop; at the second signal, stop."""
        self.force_exit = self.should_exit
        self.should_exit = True


def host_and_port(text: str) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT``; an IPv6 address stands in brackets.

    Raises:
        ConfigurationError: it has another form.
    """
    host, colon, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not colon or not bare or (":" in bare and bare == host) or not port.isdigit() or int(port) > 65_535:
        raise ConfigurationError(f"--http {text[:80]!r} is not HOST:PORT, such as 127.0.0.1:8765 or [::1]:8765.")
    return bare, int(port)
