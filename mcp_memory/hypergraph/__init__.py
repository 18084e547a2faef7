"""HGMem: memory points, hyperedges over related entities; made, updated and merged for a goal, and retrieved."""
