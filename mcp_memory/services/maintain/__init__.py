"""Maintenance of a whole space: names, the question pool, rebuild, status."""
