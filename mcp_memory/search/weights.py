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
        talk_reply: of what a question that was asked just before means, where the turn is another speaker's reply to it
            (measured on dialogues: +3.5 points of R@2, +1 of R@5, +.6 of R@10, -.5 of R@20; .1 gives half of it).
        talk_statement: added where the turn does not end with a question mark (measured: +2 points of R@2).
        talk_length: added to a turn of ``full_length`` words, less to a shorter one (measured: +.5 points of R@5).
        full_length: in words.
        document_words: of BM25 as it is, beside the cosine as it is (measured: +1 to +6 points of R@5; values from
            .01 to .02 lie within 1 point).
        document_head: added where the head of a document stands in the question (measured: +0 to +1 point of R@5, +1
            to +4 of R@2; beside links .3 is better than .2 by 1 to 2 points of R@2 and 0 to .5 of R@5).
        talk_facts: of what the facts give a segment of talk, beside meaning over its maximum (chosen on half of the
            questions; on the other half +1.5 points of R@2, +.6 of R@5, 0 of R@10).
        document_facts: of what the facts give a segment of a document, beside the cosine as it is (likewise; +.4 to
            +.9 points of R@2, 0 to +.4 of R@5; with facts that miss nothing +17 on questions of two hops).
        talk_points: of what memory points give the messages that they rest on. Measured on dialogues, after points were
            made for half of the questions: on that half .1 to .4 cost 1 to 5 points of R@2, on the other they give
            nothing, so it is off.
        document_points: the same for documents (measured likewise on questions of several hops: .05 to .3 move 1 of 240
            questions up at R@2 and 1 down, and nothing at R@5 and R@10 on average), so it is off.
        talk_experience: of what was learnt of a message, its gate less 1, in units of the best cosine (measured over
            five rounds of teaching: +9 points of R@10 on the questions that were taught, 0 on those that were not; with
            30 % wrong words +8 and 0; values from .4 to .6 lie within 1 point).
        document_experience: the same for a document (measured: +8 to +17 points of R@5, and 0 to +2).
        talk_propagation: of what propagation gives a message; measured on dialogues, nothing, so it is off.
        document_propagation: the same for a document (measured beside links: +.5 points of R@5 and +1.6 of R@10 where
            the second text is hard to find, 0 to +.3 of R@5 elsewhere; .4 costs 1 to 2 of R@2).
        talk_said: added where a message was said at the time that the question asks about, less the farther from it
            (measured, with the next: +12 points of R@2 where the question writes the date, +22 where it does not).
        talk_stated: added where it states such a time.
        document_near: of the nearness of a segment's dates to the question's; ``times.py`` says what these four are
            (measured on questions about times in long articles: without it -3 points of R@5).
        document_valid: of their validity (without it -2).
        document_close: of the closeness of a date to what is asked (without it -1).
        document_siblings: of the best score of any segment of the same document (without it -.2, of R@20 -.5).
        document_links: of what a seed passes on to a document that it mentions (measured on three sets of questions
            of several hops over passages of an encyclopedia: +11 to +15 points of R@5, without titles +10 and +11;
            values from .3 to .5 lie within 1.3 points).
        talk_entities: of what a seed passes on to a message that names a rare thing which the seed names. Measured on
            dialogues: .1 costs .7 points of R@2 and gives nothing, so it is off.
        document_entities: the same for documents (measured, beside links: +4 points of R@5 where the second text often
            does not stand under the name that the first mentions, +1 to +2.5 elsewhere; -1 to +2 of R@2; values from .2
            to .3 lie within 1.6 points).
        talk_residual: of what residual questions give a message; not measured, so it is off.
        document_residual: the same for documents (measured: +1.9 points of R@5 where the second text is hard to find,
            -1 to 0 elsewhere).
        talk_questions: of what the pool of questions gives a message, where that is switched on
            (``reflection/questions.py`` says what was measured).
        document_questions: the same for a document; it loses, so it is off.
        talk_parts: of what is found for the parts of a question, where a reader told them. Measured with parts written
            by hand as sentences that might tell it, for 50 questions to dialogues: +9 points of R@2 and +6 of R@5, with
            .2 +8 and +4; by the cosine alone -4 and 0.
        document_parts: the same for a document (measured where the parts of questions of several hops are known: +1.1
            points of R@2 and +.9 of R@5 with those that stand by themselves, +1.3 and +.9 with all; .4 gives +.3 to +.9
            of R@5, .7 costs .9; by the cosine alone 0. With parts written by hand, for 40 questions, -1 and 0).
        seeds: segments from which it goes on (measured: 4 to 10 are alike).
        seed_steepness: how fast what they pass on falls with their score (measured: 2 to 4 are alike).
        typical_cosine: stands for the best cosine of talk where there is none, with meaning switched off.
    """

    talk_words: float = 0.7
    talk_speaker: float = 0.4
    talk_reply: float = 0.2
    talk_statement: float = 0.1
    talk_length: float = 0.05
    full_length: int = 30
    document_words: float = 0.015
    document_head: float = 0.3
    talk_facts: float = 0.4
    document_facts: float = 0.4
    talk_points: float = 0.0
    document_points: float = 0.0
    talk_experience: float = 0.6
    document_experience: float = 0.4
    talk_propagation: float = 0.0
    document_propagation: float = 0.2
    talk_said: float = 0.3
    talk_stated: float = 0.2
    document_near: float = 0.25
    document_valid: float = 0.15
    document_close: float = 0.2
    document_siblings: float = 1.0
    document_links: float = 0.4
    talk_entities: float = 0.0
    document_entities: float = 0.3
    talk_residual: float = 0.0
    document_residual: float = 0.6
    talk_questions: float = 0.15
    document_questions: float = 0.0
    talk_parts: float = 0.4
    document_parts: float = 0.2
    seeds: int = 5
    seed_steepness: float = 3.0
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
        replies: what a question means counts for the reply to it.
        first_person: talk is compared with the question as the speaker it names would say it.
        time: what the question says about time, beside the times that the texts state.
        facts: the channel of that name, which is worked out elsewhere.
        questions: the channel of that name, likewise.
        links: documents whose heads are mentioned by what was found.
        rare_entities: texts that name the rare things that what was found names.
        residual: what the question still asks after the best of what was found, where that leaves something open.
        residual_always: the same where it leaves nothing open.
    """

    meaning: bool = True
    words: bool = True
    speaker: bool = True
    heads: bool = True
    neighbours: bool = True
    replies: bool = True
    first_person: bool = True
    time: bool = True
    facts: bool = True
    questions: bool = False
    links: bool = True
    rare_entities: bool = True
    residual: bool = True
    residual_always: bool = False

    @property
    def onward(self) -> bool:
        """Whether anything goes on from what was found."""
        return self.links or self.rare_entities or self.residual
