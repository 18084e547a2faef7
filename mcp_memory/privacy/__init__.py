"""Secrets in what is written: found by rules, masked wherever a text leaves the log."""
