"""The server over HTTP: who may connect, limits, health, metrics, and the process that listens."""
