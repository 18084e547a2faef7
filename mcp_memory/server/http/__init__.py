"""The server over HTTP: who may connect, limits, health, and the process that listens."""
