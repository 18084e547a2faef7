"""The Kalman update of a sentence memory after a judgement (GAM-RAG §3.3, eqs 10-13; DESIGN 2.6).

A memory is a unit vector ``m`` and an uncertainty ``π`` in (0, 1], one pair for each channel (task, time). A judge says
of a question ``q`` with target ``y`` that the sentence supports an answer (1), does not (0), or is wrong (-1). The
Kalman gain ``K`` is the share of the way from the predicted ``s = cos(q, m)`` to ``y`` that the memory moves. The task
channel moves for every judgement, the time channel only if the question and the sentence both state a time; a silent
channel keeps its vector and its uncertainty (DESIGN D14, DESIGN D15, DESIGN I25).

**Departures.** Eq. 12 followed by normalisation does not follow the recursion of Proposition 1 (eq. 16), and breaks the
bound of Corollary 1 at the first step (DESIGN D11). The update ``exact`` turns ``m`` within the plane of ``m`` and
``q`` so that the new cosine is exactly ``(1 - K)·s + K·y`` (measured: on what was taught 0 to 2 points more after five
rounds, up to 8 after the first); ``additive`` is eq. 12 as printed. If there is no direction to turn to (``m`` is ±q
itself and should be neither), nothing is learnt: neither ``m`` nor ``π`` changes, or a sentence that was just said not
to help would be trusted more for it. The value of Q is not published; .001 is what the two ratios of Appendix C leave
(between .00099 and .00188). The target -1 stands in Appendix A only; here it is for what somebody explicitly calls
wrong (DESIGN D10).

Whoever labels decides whether what was activated and not marked counts as not supporting (y = 0), as in the paper; that
gains nothing on what was taught, and costs up to 3 points where 30 % of the labels are wrong. A sentence's time vector
is made when it is first needed: while its uncertainty is 1 its gate is 1 (DESIGN I20).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from mcp_memory.configurable import Update
from mcp_memory.domain.episodes import Belief, Target
from mcp_memory.domain.facts import Engine
from mcp_memory.vectors import Vector

POSITIVE_NOISE = 0.5
"""Noise of the label that a sentence supports an answer. R_pos, a variance without unit (Appendix C)."""
NEGATIVE_NOISE = 1.0
"""Noise of any other label. R_neg: a sentence that was not marked may still be a bridge (Appendix C)."""
PROCESS_NOISE = 0.001
"""What each step adds to the uncertainty. Q (DESIGN 2.6; the paper gives none)."""
TRUST: Mapping[Engine, float] = {"caller": 0.5, "anthropic": 1.0, "embedded": 2.0}
"""By whom a label is: the noise is multiplied by this. ρ (DESIGN 2.6); the rules see only what retrieval saw."""
_NO_LENGTH = 1e-6
"""Length below which a vector has no direction: float32 rounding of a zero orthogonal part."""


def label_noise(target: Target, source: Engine) -> float:
    """Return R for a label by one of the judges."""
    return TRUST[source] * (POSITIVE_NOISE if target == 1 else NEGATIVE_NOISE)


def taught(
    before: Belief, target: Target, source: Engine, query: Vector, times: tuple[Vector, Vector] | None, form: Update
) -> Belief:
    """Return the belief about a sentence after a judge has labelled it (§3.3.1).

    Args:
        before: what was believed, at first the sentence's own vector with uncertainty 1 (eq. 2).
        target: y.
        source: whose word it is.
        query: q_task, the vector of the query, shape ``(d,)``, of length 1.
        times: the vectors of the times that the sentence and the query state; None if one of them states none.
        form: the form of the update.
    """
    noise = label_noise(target, source)
    time, time_doubt = before.time, before.time_doubt
    task, task_doubt = update(before.task, before.task_doubt, query, target, noise, form)
    if times is not None:
        stated, query_time = times
        time, time_doubt = update(stated if time is None else time, time_doubt, query_time, target, noise, form)
    right = target == 1
    return replace(
        before,
        task=task,
        task_doubt=task_doubt,
        time=time,
        time_doubt=time_doubt,
        supported=before.supported + right,
        unsupported=before.unsupported + (not right),
    )


def gain(uncertainty: float, noise: float) -> float:
    """Return K in (0, 1) for an uncertainty in (0, 1] and a noise above 0 (eq. 11)."""
    return uncertainty / (uncertainty + noise)


def update(
    mean: Vector, uncertainty: float, query: Vector, target: Target, noise: float, form: Update
) -> tuple[Vector, float]:
    """Return a memory after a judgement: its vector, of length 1, and its uncertainty, in (0, 1].

    Args:
        mean: m, shape ``(d,)``, length 1.
        uncertainty: π in (0, 1].
        query: q, shape ``(d,)``, length 1.
        target: y, the judgement.
        noise: R, how little the judge is trusted.
        form: the form of the update.
    """
    share = gain(uncertainty, noise)
    moved = (_exact if form == "exact" else _additive)(mean.astype(np.float64), query.astype(np.float64), target, share)
    if moved is None:
        return mean, uncertainty
    return moved.astype(np.float32), min(1.0, (1 - share) * uncertainty + PROCESS_NOISE)  # eq. 13; at least Q


def _additive(mean: np.ndarray, query: np.ndarray, target: Target, share: float) -> np.ndarray | None:
    """Return eqs 10 and 12, normalised."""
    return _unit(mean + share * (target - float(query @ mean)) * query)


def _exact(mean: np.ndarray, query: np.ndarray, target: Target, share: float) -> np.ndarray | None:
    """Return the unit vector in the plane of memory and query whose cosine to the query is that of eq. 16."""
    now = float(query @ mean)
    cosine = (1 - share) * now + share * target
    aside = _unit(mean - now * query)
    if aside is None:
        return query * cosine if abs(cosine) >= 1 - _NO_LENGTH else None
    return cosine * query + math.sqrt(max(0.0, 1 - cosine * cosine)) * aside


def _unit(vector: np.ndarray) -> np.ndarray | None:
    length = float(np.linalg.norm(vector))
    return vector / length if length > _NO_LENGTH else None
