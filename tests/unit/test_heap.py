"""What stays in memory for good, and the garbage collector."""

import gc

from mcp_memory.heap import SPARED_OBJECTS, made_to_stay, may_go


def test_many_objects_that_stay_are_spared_by_collections_until_they_may_go():
    before = gc.get_freeze_count()
    with made_to_stay():
        assert not gc.isenabled()
        kept = [[] for _ in range(2 * SPARED_OBJECTS)]  # other threads free some meanwhile
    assert gc.isenabled()
    assert gc.get_freeze_count() - before > len(kept)
    may_go()
    assert gc.get_freeze_count() == 0


def test_few_objects_are_collected_as_ever():
    before = gc.get_freeze_count()
    with made_to_stay():
        kept = [[] for _ in range(100)]
    assert gc.isenabled()
    assert gc.get_freeze_count() == before
    assert len(kept) == 100
