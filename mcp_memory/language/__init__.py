"""Text: its sentences and segments, its words and their stems, and the times that it states.

Everything here is a pure function of its arguments. Libraries are loaded when first needed.
"""
