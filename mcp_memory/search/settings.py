"""Which channels of recall take part. Their weights are no settings: each stands beside its channel."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChannelSwitches:
    """Switches of the channels; one that is off adds nothing to any score.

    Attributes:
        meaning: similarity of embeddings.
        words: BM25.
        speaker: who said a message, when the query names one speaker.
        heads: documents whose title stands in the query.
        neighbours: the words of the messages before and after a message count for it too.
        replies: a message that replies to a question also scores by what that question means.
        first_person: messages are compared with the query as the speaker that it names would say it.
        time: the dates of the query, compared with the dates that texts state.
        facts: the channel ``facts``.
        questions: the channel ``questions``.
        links: documents whose titles the best candidates mention.
        rare_entities: texts that name the same rare things as the best candidates.
        residual: what the query still asks once a part of it is answered, where that leaves something open.
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
    def needs_seeds(self) -> bool:
        """Whether any channel starts from the best candidates of the others."""
        return self.links or self.rare_entities or self.residual
