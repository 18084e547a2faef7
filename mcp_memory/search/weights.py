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
        talk_facts: of what the facts give a segment of talk, beside meaning over its maximum (chosen on half of the
            questions; on the other half +1.5 points of R@2, +.6 of R@5, 0 of R@10).
        document_facts: of what the facts give a segment of a document, beside the cosine as it is (likewise; +.4 to
            +.9 points of R@2, 0 to +.4 of R@5; with facts that miss nothing +17 on questions of two hops).
        talk_said: added where a message was said at the time that the question asks about, less the farther from it
            (measured, with the next: +12 points of R@2 where the question writes the date, +22 where it does not).
        talk_stated: added where it states such a time.
        document_near: of the nearness of a segment's dates to the question's; ``times.py`` says what these four are
            (measured on questions about times in long articles: without it -3 points of R@5).
        document_valid: of their validity (without it -2).
        document_close: of the closeness of a date to what is asked (without it -1).
        document_siblings: of the best score of any segment of the same document (without it -.2, of R@20 -.5).
        typical_cosine: stands for the best cosine of talk where there is none, with meaning switched off.
    """

    talk_words: float = 0.7
    talk_speaker: float = 0.4
    talk_statement: float = 0.1
    talk_length: float = 0.05
    full_length: int = 30
    document_words: float = 0.015
    document_head: float = 0.2
    talk_facts: float = 0.4
    document_facts: float = 0.4
    talk_said: float = 0.3
    talk_stated: float = 0.2
    document_near: float = 0.25
    document_valid: float = 0.15
    document_close: float = 0.2
    document_siblings: float = 1.0
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
        time: what the question says about time, beside the times that the texts state.
        facts: the channel of that name, which is worked out elsewhere.
    """

    meaning: bool = True
    words: bool = True
    speaker: bool = True
    heads: bool = True
    neighbours: bool = True
    first_person: bool = True
    time: bool = True
    facts: bool = True
