"""What of a text a tokenizer is given: nothing that makes it stumble, and no more than it can use.

A model reads some hundreds of tokens and cuts off the rest, but its tokenizer first works through everything: a
"sentence" of a million characters without a full stop took 0.8 s of work and 170 MB in English, 3.5 s and more than
twice that in Chinese, for tokens that nobody looks at.
"""

from __future__ import annotations

CHARACTERS_PER_TOKEN = 64
"""Far more than words need, so that the cut shows only in what is no writing: long runs of blanks, or of letters
without a gap, which the tokenizer of the default model takes as one unknown word each."""


def clean(text: str, tokens: int) -> str:
    """Return the part of a text that can matter to a model which reads ``tokens`` tokens of it.

    Args:
        text: anything, of any length; lone surrogates too, which no tokenizer accepts.
        tokens: after how many tokens the model cuts, above 0.

    Returns:
        The first ``tokens * CHARACTERS_PER_TOKEN`` characters, each lone surrogate as a question mark.
    """
    return text[: tokens * CHARACTERS_PER_TOKEN].encode("utf-8", "replace").decode("utf-8")
