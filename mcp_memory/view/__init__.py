"""The memory in this process: read-only for the rooms, refreshed from the log before each call."""
