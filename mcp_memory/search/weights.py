"""The numbers of the formulas in ``look.py``, and the switches that turn its channels off one by one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """What each channel counts. "Measured" is: on dialogues and passages that are not part of this package.

    Attributes:
        talk_words: of BM25 over its maximum, beside meaning over its maximum (measured: +10 points of R@10; values
            from .5 to 1 lie within 2 points).
        talk_speaker: added where the turn is by the one speaker that the question names (measured: +3.5 points of
            R@10; values from .3 to .5 lie within half a point).
        talk_statement: added where the turn does not end with a question mark (measured: +2 points of R@2).
        talk_length: added to a turn of ``full_length`` words, less to a shorter one (measured: +.5 points of R@5).
        full_length: in words.
        document_words: of BM25 as it is, beside the cosine as it is (measured: +1 to +6 points of R@5; values from
            .01 to .02 lie within 1 point).
        document_head: added where the head of a document stands in the question (measured: +0 to +1 point of R@5, +1
            to +4 of R@2).
        typical_cosine: stands for the best cosine of talk where there is none, with meaning switched off.
    """

    talk_words: float = 0.7
    talk_speaker: float = 0.4
    talk_statement: float = 0.1
    talk_length: float = 0.05
    full_length: int = 30
    document_words: float = 0.015
    document_head: float = 0.2
    typical_cosine: float = 0.5


@dataclass(frozen=True, slots=True)
class Switches:
    """Which channels take part.

    Attributes:
        meaning: similarity of embeddings.
        words: BM25.
        speaker: who said it, when the question names one speaker.
        heads: a document whose head stands in the question.
        neighbours: the words of the turns before and after count for a turn too.
        first_person: talk is compared with the question as the speaker it names would say it.
    """

    meaning: bool = True
    words: bool = True
    speaker: bool = True
    heads: bool = True
    neighbours: bool = True
    first_person: bool = True
