"""Claude as a judge: the same judgements as ``rules``, made by a language model within a small budget.

The SDK is imported with the first call, so that a server without a key never pays for it.
"""
