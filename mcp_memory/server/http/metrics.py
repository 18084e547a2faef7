"""Figures for Prometheus: numbers of requests, calls and refusals, and how long calls took; no texts and no names."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The figures of one server.

    Attributes:
        content_type: the content type of the text.
    """

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(namespace="mcp_memory", registry=self._registry)
        self._requests = Counter(
            "mcp_memory_http_requests", "HTTP requests by status.", ["status"], registry=self._registry
        )
        self._uses = Counter(
            "mcp_memory_uses", "Calls of tools and resources read.", ["what", "outcome"], registry=self._registry
        )
        self._seconds = Histogram(
            "mcp_memory_use_seconds", "How long they took.", ["what"], buckets=SECONDS, registry=self._registry
        )

    def watch(self, name: str, about: str, value: Callable[[], float]) -> None:
        """Add a figure that is read when it is asked for."""
        Gauge(f"mcp_memory_{name}", about, registry=self._registry).set_function(value)

    def count_status(self, status: int) -> None:
        """Count an HTTP reply."""
        self._requests.labels(str(status)).inc()

    def count_use(self, what: str, outcome: str, seconds: float) -> None:
        """Count a call."""
        self._uses.labels(what, outcome).inc()
        self._seconds.labels(what).observe(seconds)

    def text(self) -> bytes:
        """Return all figures in Prometheus' text format."""
        return generate_latest(self._registry)
