"""A column grows at the end, and its values are read-only."""

import numpy as np
import pytest

from mcp_memory.vectors import Column


def test_a_column_keeps_the_order_of_its_values_as_it_grows() -> None:
    column: Column[np.int64] = Column(np.int64)
    for number in range(100):
        column.append(number)
    column.extend(range(100, 1000))
    column[3] = -1
    assert column.values.tolist() == [0, 1, 2, -1, *range(4, 1000)]


def test_the_values_of_a_column_are_read_only_and_end_with_its_last_row() -> None:
    column: Column[np.bool_] = Column(np.bool_)
    column.append(True)
    with pytest.raises(ValueError, match="read-only"):
        column.values[0] = False
    with pytest.raises(IndexError):
        column[1] = True
