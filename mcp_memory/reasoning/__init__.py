"""Judgements by Claude (``anthropic/``), and when Claude or the rules are asked (``judges.py``)."""
