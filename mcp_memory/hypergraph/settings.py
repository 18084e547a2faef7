"""Settings of HGMem: how memory points are made, merged and retrieved."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.configurable import switch


@dataclass(frozen=True, slots=True)
class PointSettings:
    """Memory points: what several entities have to do with each other, made for a goal."""

    order: int = 12
    """Entities of one point, at most. |V|; the paper's points grow to 7 on average (Table 3), ours may not grow without
    bound."""
    overlap: float = 0.8
    """Share of entities in common from which on evidence updates a point instead of making one. Jaccard index; ours."""
    alike: float = 0.7
    """Cosine of two descriptions from which on points that share an entity are merged. Applies where the goal does not
    relate the two; ours (measured: of such pairs half lie above .62 in dialogues, .59 and .42 in passages of an
    encyclopedia, most of them for no other reason than the entity; above .7 lie 19, 8 and 1 of 100)."""
    relevance: float = 0.5
    """Evidence below this share of the best score is left out of points. Ours (measured: .5 keeps 93 to 100 of 100
    texts that answer and were found, and of what it keeps 27 and 73 of 100 answer in documents, 10 in dialogues; .6
    loses 7 to 10 of 100 more in documents, .7 loses 9 in dialogues)."""
    words: int = 80
    """Words of a description that the memory writes. Not from the paper."""
    shown: int = 5
    """Points that a recall lists."""
    near: float = 0.4
    """Ours: cosine of a question from which on it bears on a point that joins only the user of what it names and has
    none of its words. Of 280 pairs of both in a memory of half a year 6 lay above, 4 of them fitting."""
    redundant: float = 0.6
    """ROUGE-L from which on a sentence repeats another; from QRMeM's pool of questions (§3.3)."""
    merged_words: int = 160
    """Words of the description of a merged point; ours."""
    hub_share: float = 0.95
    """The share of entities that are no hubs: they have the fewest sentences (DESIGN 2.1)."""
    hub_least: int = 10
    """An entity with this many sentences is no hub, whatever the share: in a small memory every entity that joins
    others would be one."""
    n_v: int = 5
    """Entities that one subquery retrieves (code, graph_run.py: 5)."""

    enabled: bool = switch("points", True, "memory points are made, kept, and listed with what recall finds")
    merge: bool = switch("merge", True, "similar points become one, for goals that relate things to each other")


DEFAULTS = PointSettings()
"""For callers without a configuration."""
