"""REAL, reading: from what a question names along the facts to what answers it (§3.3, Algorithm 1)."""
