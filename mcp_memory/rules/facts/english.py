"""Whether a sentence is English: by the small words, which no text of some length does without."""

from __future__ import annotations

import re

_ENGLISH = re.compile(
    r"\b(?:i|my|we|our|he|she|his|her|it|they|the|a|an|is|was|are|has|have|had|been|and|of|to|in|at|for|with|from|as|on"
    r"|by|you|not|im|but|this|that|since|used)\b|['’](?:s|m|ve|re|ll)\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:der|das|und|ist|ich|nicht|ein|eine|mit|für|wir|sie|auf|den|dem|seit|bin|habe|als|le|la|les|et|je|il|elle|une|un"
    r"|des|du|est|à|dans|pour|que|qui|el|los|las|y|en|es|con|por|una|del|che|di|e|sono|per|non|lo|mi|io|het|een|ik|niet|van"
    r"|op|som|och|jag|er|og|på|jeg|av|ja|nie|się|na|em|do|da|uma|não|eu|o|os)\b",
    re.IGNORECASE,
)


def is_english(sentence: str) -> bool:
    """Return whether more of a sentence's small words are English than of any other language.

    One without any small word is taken for English where it is written in ASCII alone.
    """
    ours = len(_ENGLISH.findall(sentence))
    others = len(_OTHERS.findall(sentence))
    return ours > others or (ours == others and sentence.isascii() and (ours > 0 or not others))
