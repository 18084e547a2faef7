"""Learning: what feedback and the memory's own answers teach about sentences (GAM-RAG §3.3)."""
