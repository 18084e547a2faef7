"""The numbers of navigation, with where they come from, and the switches that turn its mechanisms off one by one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """How far navigation goes, and what its steps count.

    Attributes:
        width: k, paths that are followed at once from each root (REAL §4.1; 3, 8 and 10 were worse there).
        depth: D_max, steps of a path (REAL §4.1; 4 gains .1 there, 5 loses).
        expanded: m, neighbours of a path's end that are scored (REAL §4.1; 10 gains .05 there).
        relevance: δ_QR, below which a path is not relied on (REAL §4.1).
        coherence: δ_LC, likewise.
        roots: at most so many are followed; ours, so that a long question stays cheap.
        specific: (head, relation) that a common noun takes part in at most to be a root; ours, so that "film" is none.
        soft_roots: facts nearest to the question whose ends stand in for roots (DESIGN 3.1, which takes 5: measured,
            these find nothing more and take twice as long).
        nearest: assertions that are compared for that, from the texts nearest to the question; ours, so that it stays
            one small product.
        scanned: versions on each side of a root that are looked at before the best m are taken; ours, for hubs.
        passed: likewise, of an entity on the way; with 256 as well the walk over dense facts takes twice as long.
        premises: neighbours that each rule of repair looks at; ours, likewise.
        joint: the Jaccard index of their words from which on two names may mean the same (DESIGN 3.1).
        asked: what a relation that the question asks for adds to relevance, of what is left to 1; ours.
        spread: deviations of the background cosine from 0 to 1 of the calibrated one (DESIGN 3.2).
        backward: taken off relevance for a step from tail to head (DESIGN D36).
        incompatible: taken off a neighbour's rank where it is not of the kind that the root's intent looks for, as far
            as the question does not ask for its relation by name (DESIGN D35, which gives no number).
        same: confidence kept by the inverse of a fact, or its mirror where the relation is symmetric (DESIGN 3.3).
        implied: likewise, by a relation that another implies.
        hyponymy: likewise, by a step up or down in a hierarchy.
        succession: likewise, by the version before or after.
        causality: likewise, by a chain of causes.
        cooccurrence: likewise, by a shared sentence.
    """

    width: int = 5
    depth: int = 3
    expanded: int = 5
    relevance: float = 0.5
    coherence: float = 0.5
    roots: int = 8
    specific: int = 8
    soft_roots: int = 2
    nearest: int = 256
    scanned: int = 256
    passed: int = 48
    premises: int = 24
    joint: float = 0.6
    asked: float = 0.7
    spread: float = 4.0
    backward: float = 0.05
    incompatible: float = 0.15
    same: float = 1.0
    implied: float = 0.8
    hyponymy: float = 0.8
    succession: float = 0.6
    causality: float = 0.5
    cooccurrence: float = 0.3


@dataclass(frozen=True, slots=True)
class Switches:
    """Which mechanisms take part.

    Attributes:
        beam: follow paths; without it only the direct neighbours of the roots are looked at.
        counterfactual: repair where nothing reliable is found.
        rule_symmetry: repair by inverse, symmetric and implied relations.
        rule_hyponymy: repair by a step up or down in a hierarchy.
        rule_succession: repair by the version before or after, and by what comes before or after.
        rule_causality: repair by chains of causes.
        rule_cooccurrence: repair by what is said in one sentence.
        intent: what the question is about says which neighbours come first.
        temporal_filter: only what holds at the time in question.
        confidence: only what can be relied on.
    """

    beam: bool = True
    counterfactual: bool = True
    rule_symmetry: bool = True
    rule_hyponymy: bool = True
    rule_succession: bool = True
    rule_causality: bool = True
    rule_cooccurrence: bool = True
    intent: bool = True
    temporal_filter: bool = True
    confidence: bool = True
