"""MRAgent: the graph of cues, tags and sentences, topics, the seven operators over them, and the active loop."""
