"""The Kalman update: worked examples, and the claims of Appendix A as far as they hold."""

from itertools import pairwise

import numpy as np
import pytest
from sentence_space import unit

from mcp_memory.gain.kalman import PROCESS_NOISE, gain, label_noise, update

NEAR = {"abs": 1e-6}


def near(cosine, query, seed=0):
    """Return a vector of length 1 with that cosine to the query."""
    other = unit(seed + 1000, len(query))
    other = other - (other @ query) * query
    return (cosine * query + np.sqrt(1 - cosine**2) * other / np.linalg.norm(other)).astype(np.float32)


def series(target, noise, form, start, steps):
    """Return (cosine, doubt) before the first word and after each of the same ones that follow."""
    query = unit(1)
    mean, doubt = near(start, query), 1.0
    found = [(start, doubt)]
    for _ in range(steps):
        mean, doubt = update(mean, doubt, query, target, noise, form)
        found.append((float(query @ mean), doubt))
    return found


def test_gains_and_doubts_are_those_of_the_worked_example():
    assert gain(1, 0.5) == pytest.approx(2 / 3, **NEAR)
    assert gain(1, 1) == pytest.approx(0.5, **NEAR)
    right, other = series(1, 0.5, "exact", 0.5, 3), series(0, 1.0, "exact", 0.5, 3)
    assert [doubt for _, doubt in right] == pytest.approx([1, 0.334333, 0.201360, 0.144549], **NEAR)
    assert [gain(doubt, 0.5) for _, doubt in right] == pytest.approx([0.666667, 0.400719, 0.287099, 0.224264], **NEAR)
    assert [doubt for _, doubt in other] == pytest.approx([1, 0.501, 0.334777, 0.251811], **NEAR)


@pytest.mark.parametrize(("noise", "after_ten", "least"), [(0.5, 0.9484, 0.02287), (1.0, 0.9049, 0.03213)])
def test_doubt_falls_to_its_least_and_never_to_zero(noise, after_ten, least):
    doubts = [doubt for _, doubt in series(1, noise, "exact", 0.5, 300)]
    assert 1 - doubts[10] == pytest.approx(after_ten, abs=1e-4)
    assert doubts[-1] == pytest.approx(least, abs=1e-5)
    assert all(after < before for before, after in pairwise(doubts[:100]))
    assert (
        min(doubts) >= (PROCESS_NOISE + np.sqrt(PROCESS_NOISE * PROCESS_NOISE + 4 * PROCESS_NOISE * noise)) / 2 - 1e-12
    )


def test_vectors_are_moved_as_in_the_worked_example():
    query, mean = np.float32([1, 0]), np.float32([0.6, 0.8])
    assert update(mean, 1, query, 1, 0.5, "additive")[0] == pytest.approx([0.734803, 0.678280], **NEAR)
    assert update(mean, 1, query, 0, 1.0, "additive")[0] == pytest.approx([0.351123, 0.936329], **NEAR)
    assert update(mean, 1, query, 1, 0.5, "exact")[0][0] == pytest.approx(0.866667, **NEAR)
    assert update(mean, 1, query, 0, 1.0, "exact")[0][0] == pytest.approx(0.3, **NEAR)


@pytest.mark.parametrize(
    ("start", "target", "noise", "additive", "exact"),
    [(0.5, 1, 0.5, 0.693375, 0.833333), (0.5, 0, 1.0, 0.277350, 0.25), (0.5, -1, 1.0, -0.277350, -0.25),
     (0.0, 1, 0.5, 0.554700, 2 / 3)],
)  # fmt: skip
def test_cosines_move_as_in_the_worked_example(start, target, noise, additive, exact):
    assert series(target, noise, "additive", start, 1)[1][0] == pytest.approx(additive, **NEAR)
    assert series(target, noise, "exact", start, 1)[1][0] == pytest.approx(exact, **NEAR)


def test_support_in_a_row_draws_a_memory_to_the_question():
    places = (1, 2, 3, 5, 10, 20)
    additive, exact = series(1, 0.5, "additive", 0.5, 20), series(1, 0.5, "exact", 0.5, 20)
    assert [additive[n][0] for n in places] == pytest.approx([0.6934, 0.7497, 0.7787, 0.8102, 0.8445, 0.8720], abs=5e-5)
    assert [exact[n][0] for n in places] == pytest.approx([0.8333, 0.9001, 0.9288, 0.9550, 0.9770, 0.9893], abs=5e-5)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("form", ["exact", "additive"])
def test_a_memory_keeps_its_length_and_moves_towards_the_label(seed, form):
    mean, query = unit(seed), unit(seed + 100)
    before = float(query @ mean)
    for target, noise in ((1, 0.25), (0, 1.0), (-1, 2.0)):
        moved, _ = update(mean, 0.7, query, target, noise, form)
        after = float(query @ moved)
        assert moved.shape == mean.shape
        assert moved.dtype == np.float32
        assert np.linalg.norm(moved) == pytest.approx(1, **NEAR)
        if target == 0:
            assert abs(after) <= abs(before) + 1e-6
            assert after * before >= -1e-6
        else:
            assert (after - before) * target >= -1e-6


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("target", [1, 0, -1])
def test_the_exact_update_follows_the_recursion_and_its_bound(seed, target):
    chance = np.random.default_rng(seed)
    noise, start = float(chance.uniform(0.1, 2)), float(chance.uniform(-0.9, 0.9))
    steps = series(target, noise, "exact", start, 15)
    for (before, doubt), (after, _) in pairwise(steps):
        share = gain(doubt, noise)
        assert after == pytest.approx((1 - share) * before + share * target, **NEAR)
    least = PROCESS_NOISE / (PROCESS_NOISE + noise)
    assert all(
        abs(cosine - target) <= (1 - least) ** n * abs(start - target) + 1e-6 for n, (cosine, _) in enumerate(steps)
    )


@pytest.mark.parametrize("seed", range(20))
def test_gain_rises_with_doubt_and_falls_with_noise(seed):
    low, high = sorted(np.random.default_rng(seed).uniform(0.01, 1, 2))
    assert 0 < gain(low, 1) < gain(high, 1) < 1
    assert gain(low, high) < gain(low, low)
    assert gain(low, label_noise(1, "caller")) > gain(low, label_noise(0, "caller"))


@pytest.mark.parametrize("form", ["exact", "additive"])
def test_a_memory_without_a_direction_to_turn_to_is_unchanged(form):
    query = np.float32([1, 0])
    target = 0 if form == "exact" else -1
    moved, doubt = update(query, 1.0, query, target, 1.0, form)
    assert (moved == query).all()
    assert doubt == 1.0
    assert update(query, 1.0, query, 1, 1.0, form)[0] == pytest.approx([1, 0], **NEAR)
