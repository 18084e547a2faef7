"""Of each text, the last valid job counts, in any order of the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mcp_memory.domain.language_model import Job
from mcp_memory.storage.rows import latest, right_rows, rows_of

FIRST = Job("default", "t_0", "waiting", 0, 0, 0, "", 1)


@pytest.mark.parametrize("seed", range(20))
def test_the_last_valid_job_of_each_text_counts_in_any_order_of_the_rows(seed: int) -> None:
    dice = np.random.default_rng(seed)
    said = [replace(FIRST, turn_id=f"t_{dice.integers(4)}", parts=int(dice.integers(-1, 5))) for _ in range(12)]
    txs = sorted(dice.integers(1, 5, len(said)).tolist())
    order = dice.permutation(len(said)).tolist()
    rows = rows_of("jobs", [said[n] for n in order], [txs[n] for n in order], order)
    last = {job.turn_id: job for job in said if job.parts >= 0}
    assert {row.value.turn_id: row.value for row in latest(right_rows("jobs", rows), "turn_id")} == last
    assert right_rows("jobs", None) == []
