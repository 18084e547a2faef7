"""Recall: what in a space answers a question, best first."""
