"""The content of the store held in memory: read-only for the rooms, refreshed from the store before each call."""
