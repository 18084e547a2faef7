"""Learn from callers' feedback and from the memory's own answers (GAM-RAG §3.3)."""
