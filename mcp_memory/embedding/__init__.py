"""Texts into vectors: the small model that comes with the install, and any other that a user names."""
