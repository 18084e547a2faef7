"""REAL, reading: paths through the facts, from what a question names to what answers it (§III-B, Algorithm 1)."""
