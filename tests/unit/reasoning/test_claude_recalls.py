"""Recall with Claude as its judge: needed evidence comes first, and missing evidence is searched."""

from standin.replies import said
from unit.reasoning.judged_memory import judged

from mcp_memory.domain.query import Query

ASKED = "Where did Bob move to?"


async def recalled(memory, query=ASKED, limit=12):
    return await memory.reconstruct(Query(query, "default", limit))


def record_number(asked, words):
    return next(number for number, line in asked.lines.items() if number.startswith("S") and words in line)


async def test_evidence_that_the_judge_needs_comes_first_and_scores_stay_ordered():
    def keep_the_baker(asked):
        return said("A baker.", (record_number(asked, "baker"),), confidence=0.8)

    async with judged(keep_the_baker) as (memory, _):
        recall = await recalled(memory)
        scores = [item.score for item in recall.evidence]
        assert recall.evidence[0].sources[0].quote == "My sister is a baker."
        assert (recall.engine, recall.sufficient, recall.sufficiency, recall.missing) == ("anthropic", True, 0.8, ())
        assert scores == sorted(scores, reverse=True)
        assert scores[0] == 1
        assert recall.next  # who asks may still go on
        assert recall.spent.calls == 1


async def test_evidence_that_the_judge_does_not_need_is_not_lost():
    async with judged([said(missing=("where",))]) as (memory, _):
        told = await recalled(memory)
    async with judged([said(missing=("where",))], judge="auto") as (memory, api):
        own = await recalled(memory)
        assert not api.requests  # it covers the question
    assert [item.id for item in told.evidence] == [item.id for item in own.evidence]
    assert (told.sufficient, told.sufficiency_by, told.missing) == (False, "anthropic", ("where",))
    assert (own.sufficient, own.sufficiency, own.sufficiency_by) == (None, None, "nobody")
    assert own.stop == "covered"
