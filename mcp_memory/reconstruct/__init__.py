"""MRAgent: cues, tags and contents, topics over them, and the seven steps by which a memory is reconstructed."""
