"""GAM-RAG: propagation over entities and sentences, and sentence memories that learn from feedback."""
