"""The numbers of HGMem, and of what stands in for its language model here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shaping:
    """How points are made, merged and looked up.

    Attributes:
        order: |V| that no point exceeds; the paper's grow to 7 on average (Table 3), ours may not grow for ever.
        overlap: Jaccard of the vertices from which on evidence updates a point rather than makes another; ours.
        alike: cosine of two descriptions that share an entity from which on they are merged, though the goal does not
            relate them; ours (measured: of such pairs half lie above .62 in dialogues, .59 and .42 in passages of an
            encyclopedia, most of them for no other reason than the entity; above .7 lie 19, 8 and 1 of 100).
        redundant: ROUGE-L from which on a sentence says what another said; of QRMeM's pool of questions (§3.3).
        words: in a description; ours.
        merged_words: in the description of what was merged; ours.
        hub_share: share of the entities that no hub has more sentences than; DESIGN 2.1.
        hub_least: so many sentences make no hub, whatever the share: in a small memory all that joins would be one.
        relevance: share of the best item's score below which evidence says too little for a point; ours (measured: .5
            keeps 93 to 100 of 100 texts that answer and were found, and of what it keeps 27 and 73 of 100 answer in
            documents, 10 in dialogues; .6 loses 7 to 10 of 100 more in documents, .7 loses 9 in dialogues).
        n_v: entities that one subquery retrieves (code, graph_run.py: 5).
        shown: points that a recall lists.
    """

    order: int = 12
    overlap: float = 0.8
    alike: float = 0.7
    redundant: float = 0.6
    words: int = 80
    merged_words: int = 160
    hub_share: float = 0.95
    hub_least: int = 10
    relevance: float = 0.5
    n_v: int = 5
    shown: int = 5
