"""Maintenance of a space: forgetting, names of entities, the question pool, status."""
