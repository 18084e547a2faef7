"""REAL, writing: which assertions are taken in, and what they change."""
