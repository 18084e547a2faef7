"""Maintenance of a whole space: names of entities, the question pool, status."""
