"""MRAgent: the graph of cues, tags and sentences, topics, and the seven operators over them."""
