"""What a search finds among messages and documents, one query a line in ``searches.jsonl``.

``said`` are texts, or the name of some that a line with ``texts`` gives: ref, speaker and words, and perhaps ``title``
(of a document), ``role``, ``session`` (else one of its own) and ``at``. ``ask`` is asked ``now`` or at no known time,
for a ``role`` and a ``window`` if they are given, with ``near``, the cosine of each text (else all are 0). ``order``
are the refs of all that is found, ``first`` those of the first; ``lacks`` are not found. ``via`` says by which channels
a text is found among others, ``without`` which channels find nothing. ``missing`` are the words of the query that
nothing has.
"""

from dataclasses import replace

import numpy as np
import pytest
from beside import table_beside
from small_space import ask, document, message, space_of

from mcp_memory.configurable import Switches
from mcp_memory.domain.query import Window
from mcp_memory.language.iso import parse
from mcp_memory.language.questions import understand
from mcp_memory.services.recall.loop import judge_coverage

LINES = table_beside(__file__, "searches.jsonl")
TEXTS = {line["texts"]: line["said"] for line in LINES if "texts" in line}
QUERIES = [line for line in LINES if "ask" in line]


def turn(ref, speaker, words, more=None):
    more = more or {}
    at = parse(more["at"])[0] if "at" in more else 0
    if "title" in more:
        return replace(document(ref, more["title"], words), said_at=at if "at" in more else None)
    return message(ref, speaker, words, at, more.get("session", ref), more.get("role"))


@pytest.mark.parametrize("line", QUERIES, ids=[f"{line.get('what', '')} {line['ask']}" for line in QUERIES])
def test_this_is_found(line):
    texts = TEXTS[line["said"]] if isinstance(line["said"], str) else line["said"]
    space = space_of(*(turn(*text) for text in texts))
    query = understand(line["ask"], space.speakers, parse(line["now"])[0] if "now" in line else None)
    window = Window(*(parse(day)[0] for day in line["window"])) if "window" in line else Window()
    ranked = ask(
        space,
        replace(query, window=window, role=line.get("role")),
        np.array(line.get("near", np.zeros(len(space.segments))), np.float32),
        switches=Switches(**line.get("switches", {})),
    )
    found = {space.segment_turn[one.row].ref: one for one in ranked}
    if "order" in line:
        assert [*found] == line["order"]
    assert [*found][: len(line.get("first", ()))] == line.get("first", [])
    assert not found.keys() & set(line.get("lacks", ()))
    assert all(channel in found[ref].scores for ref, channel in line.get("via", {}).items())
    assert not {channel for one in ranked for channel in one.scores} & set(line.get("without", ()))
    if "missing" in line:
        assert [*judge_coverage(space, query, ranked).missing] == line["missing"]
