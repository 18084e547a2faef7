"""Embed texts as vectors: with the small default model, or with any other that a user names."""
