"""Judgements by Claude, within a small budget, and when the rules replace it.

The SDK is imported with the first call, so that a server without a key never pays for it.
"""
