"""Which texts go through a model together.

A batch is a rectangle: each text in it is padded to the longest, and what the padding costs is paid for nothing. So
texts of like length go together. The attention of a transformer holds, for every text, a square of the longest
length, so the memory of a batch at its peak follows texts × length², and batches are cut by that product too.

Large batches do not pay on a processor: what one layer makes of a batch should stay in its cache until the next layer
reads it. With the model that comes with the install, 194 passages and sentences took 5.0 s of processor time where
texts × length² might reach 200,000, 3.5 at 66,000, 3.0 at 33,000 and 2.8 at 16,000 and 8,000, and a peak of memory
that was less by 200 MB.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def batches(lengths: Sequence[int], *, texts: int, area: float = math.inf) -> list[list[int]]:
    """Share texts out into batches, the shortest first.

    Args:
        lengths: of each text, in tokens or in whatever else grows with them; 0 or more.
        texts: how many a batch may hold, at least 1.
        area: what the number of texts in a batch times the square of its longest length must stay below. A text
            that reaches it alone makes a batch of its own.

    Returns:
        The positions in ``lengths``, each exactly once; within equal lengths in their order. No batch is empty.
    """
    shared: list[list[int]] = []
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        # Sorted, so this text would be the longest of the batch.
        if batch and (len(batch) == texts or (len(batch) + 1) * lengths[position] ** 2 >= area):
            shared.append(batch)
            batch = []
        batch.append(position)
    if batch:
        shared.append(batch)
    return shared
