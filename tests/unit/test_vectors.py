"""A matrix that grows in blocks is the matrix that it would be in one piece."""

import os
import subprocess
import sys

import numpy as np
import pytest

from mcp_memory.vectors import GrowingMatrix


@pytest.mark.parametrize("seed", range(5))
def test_rows_appended_in_any_portions_behave_as_one_matrix(seed):
    rng = np.random.default_rng(seed)
    whole = rng.normal(size=(GrowingMatrix.BLOCK * 2 + 17, 3)).astype(np.float32)
    matrix = GrowingMatrix(3)
    done = 0
    while done < len(whole):
        portion = int(rng.integers(1, GrowingMatrix.BLOCK * 2))
        matrix.append(whole[done : done + portion])
        done += portion
    queries = rng.normal(size=(2, 3)).astype(np.float32)
    assert len(matrix) == len(whole)
    np.testing.assert_allclose(matrix.dot(queries), queries @ whole.T, rtol=1e-5, atol=1e-6)
    rows = rng.integers(0, len(whole), size=50)
    np.testing.assert_array_equal(matrix.take(rows), whole[rows])


def test_a_missing_row_is_an_error():
    matrix = GrowingMatrix(2)
    matrix.append(np.ones((1, 2), dtype=np.float32))
    with pytest.raises(IndexError):
        matrix[1]


@pytest.mark.parametrize("chosen", [None, "2"])
def test_numpy_computes_in_one_thread_unless_the_user_says_otherwise(chosen):
    """Its library reads the variable when it is imported, so the package must not have done so before it set it."""
    code = "import sys, os, mcp_memory; print('numpy' in sys.modules, os.environ['OPENBLAS_NUM_THREADS'])"
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    environment |= {"OPENBLAS_NUM_THREADS": chosen} if chosen else {}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", chosen or "1"]
