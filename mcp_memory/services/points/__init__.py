"""Memory points: made, updated and merged for a goal, or by a caller's edits (HGMem §3.3)."""
