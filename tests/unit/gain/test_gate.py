"""Gates: 1 without knowledge, always within [0, 2], and 1 below the threshold in the sharp form."""

import numpy as np
import pytest

from mcp_memory.gain.gates import gate


def test_the_published_gate_gives_the_papers_numbers() -> None:
    task = gate(np.float32([0.6]), np.float32([1 / 3]), 0)
    time = gate(np.float32([-0.4]), np.float32([0.5]), 0)
    assert task[0] == pytest.approx(1.4, abs=1e-6)
    assert time[0] == pytest.approx(0.8, abs=1e-6)
    assert 0.5 * task[0] * time[0] == pytest.approx(0.56, abs=1e-6)


def test_the_sharp_gate_is_shut_up_to_its_threshold_and_ends_where_the_published_one_does() -> None:
    cosines = np.float32([-1, -0.3, 0, 0.3, 0.65, 1])
    found = gate(cosines, np.full(6, 0.25, np.float32), 0.3)
    assert found == pytest.approx([0.25, 1, 1, 1, 1.375, 1.75], abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("theta", [0.0, 0.3, 0.5])
def test_a_gate_lies_between_0_and_2_and_is_1_without_knowledge(seed: int, theta: float) -> None:
    chance = np.random.default_rng(seed)
    cosines = chance.uniform(-1, 1, 50).astype(np.float32)
    found = gate(cosines, chance.uniform(0, 1, 50).astype(np.float32), theta)
    assert ((found >= 0) & (found <= 2)).all()
    assert ((found - 1) * cosines >= 0).all()
    assert (gate(cosines, np.ones(50, np.float32), theta) == 1).all()
