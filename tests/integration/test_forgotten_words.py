"""A forgotten word stays in no cache of the process that forgot it."""

import functools
import gc
import re

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import ForgetRequest, NewItem, WriteRequest
from mcp_memory.settings import load
from mcp_memory.wiring import new_memory

WORD = "quincefield"
TEXTS = {
    "m1": "I have never visited the Quincefield clinic, so where do I begin?",
    "m2": "I moved from the Quincefield Road to Oakvessel Lane on 3 May. Quincefield has now 12 doctors.",
    "m3": "I visited the Quincefield clinic; Quincefield had 9 doctors. Tell me `quincefield = 3` now.",
}
QUESTIONS = ("Have I visited the Quincefield clinic?", "How many doctors has Quincefield?", "Where did Ines move?")


def cached():
    """Yield what the caches of this process hold."""
    left = [one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper)]
    seen = {id(one) for one in left}
    while left:
        for one in gc.get_referents(left.pop()):
            plain = isinstance(one, (str, tuple, list, dict, set, frozenset, re.Pattern)) or hasattr(one, "__slots__")
            if plain and id(one) not in seen:
                seen.add(id(one))
                left.append(one)
                yield one
    yield from re._cache


def held():
    found = [one.pattern if isinstance(one, re.Pattern) else one for one in cached()]
    return [one for one in found if isinstance(one, str) and WORD in one.lower()]


async def test_no_cache_keeps_a_word_that_was_forgotten(here):
    memory = new_memory(load(None))
    try:
        items = tuple(NewItem(text, ref=ref, speaker="Ines") for ref, text in TEXTS.items())
        await memory.write(WriteRequest("default", "letters", "message", items, wait=True))
        for question in QUESTIONS:
            await memory.reconstruct(Query(question))
            await memory.reconstruct(Query(question, mode="all"))
            await memory.answer(Query(question))
        assert held(), "the test looks in the wrong place"
        await memory.forget(ForgetRequest("default", ids=tuple(TEXTS), session="letters", dry_run=False))
        assert held() == []
    finally:
        await memory.aclose()
