"""REAL, writing: check and make assertions, and find what they change."""
