"""Memory points: made, updated and merged for a goal, or as a caller asks (HGMem §3.3)."""
