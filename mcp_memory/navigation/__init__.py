"""REAL, reading: paths through the facts, from what a question names to what answers it (§3.3, Algorithm 1)."""
