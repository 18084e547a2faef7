"""Judgements by Claude, and when Claude or the rules are asked."""
