"""HGMem: memory points, hyperedges that join what belongs together; made, updated and merged for a goal."""
