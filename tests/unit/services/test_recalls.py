"""What is recalled of a talk, one query a line in ``recalls.jsonl``.

``said`` are the lines of a talk, or the name of one that a line with ``talk`` gives; an object among them is a
document, or a message with a role. ``then`` was said later, and ``facts`` are a caller's own. ``query`` is asked as
``asked`` says. ``first`` is in the first record; ``order`` are the first records, ``only`` all of them; ``has`` are in
some record, and ``lacks`` in none. What else stands in a line is a field of the result. It is 1 January 2024, and
similar is what has words in common.
"""

import pytest
from beside import table_beside
from learning_memory import memory, recalled, told
from unit.services.learning_memory import said

from mcp_memory.domain.query import Query, Window
from mcp_memory.domain.requests import EvolveRequest, NewFact, NewItem, PointEdits, PointInsert, WriteRequest
from mcp_memory.server.tools.arguments import parse_window

LINES = table_beside(__file__, "recalls.jsonl")
TALKS = {line["talk"]: line["said"] for line in LINES if "talk" in line}
QUERIES = [line for line in LINES if "query" in line]


async def hold(lines, facts):
    """Return a memory of what was said, in a session for each day; documents are in one of their own."""
    one, day = memory(), "@ 2023-05-08"
    for place, line in enumerate(lines):
        if isinstance(line, str) and line.startswith("@"):
            day = line
        elif isinstance(line, str):
            await one.write(WriteRequest("default", day, "message", tuple(said(day, line))))
        else:
            kind = "document" if "title" in line else "message"
            await one.write(WriteRequest("default", kind, kind, (NewItem(**({"ref": str(place)} | line)),)))
    if facts:
        await one.write(WriteRequest("default", "facts", "statement", (), facts))
    return one


@pytest.mark.parametrize("line", QUERIES, ids=[f"{line.get('what', '')} {line['query']}" for line in QUERIES])
async def test_what_is_recalled(line):
    lines = line["said"] if isinstance(line["said"], list) else TALKS[line["said"]]
    one = await hold([*lines, *line.get("then", ())], tuple(NewFact(*fact) for fact in line.get("facts", ())))
    asked = dict(line.get("asked", {}))
    asked |= {"window": parse_window(*asked["window"])} if "window" in asked else {"window": Window()}
    asked |= {"parts": tuple(map(Query, asked.get("parts", ())))}
    recall = await recalled(one, line["query"], **asked)
    texts = [item.text for item in recall.evidence]
    for name in line.keys() - {"what", "said", "then", "facts", "query", "asked"}:
        match name:
            case "first":
                assert line[name] in texts[0]
            case "has":
                assert all(any(words in text for text in texts) for words in line[name]), texts
            case "lacks":
                assert not any(words in text for text in texts for words in line[name]), texts
            case "order":
                assert all(words in text for words, text in zip(line[name], texts, strict=False)), texts
                assert len(texts) >= len(line[name])
            case "only":
                assert texts == line[name]
            case "speakers":
                assert sorted({str(item.sources[0].turn.speaker) for item in recall.evidence}) == line[name]
            case "before":
                assert [item.before.quote if item.before else None for item in recall.evidence] == line[name]
            case "missing":
                assert list(recall.missing) == line[name]
            case _:
                assert getattr(recall, name) == line[name]


GARDEN = "In what order did I bring up the parts of my garden?"
SHOES = "Which shoes does Ann wear these days?"


async def test_pages_go_on_where_the_one_before_ended():
    one = await told(memory(), *TALKS["garden"])
    whole = await recalled(one, GARDEN, mode="all")
    first = await recalled(one, GARDEN, mode="all", lines=2)
    second = await recalled(one, GARDEN, mode="all", lines=2, skip=2)
    assert [item.id for item in (*first.evidence, *second.evidence)] == [item.id for item in whole.evidence[:4]]
    assert (first.total, second.total, second.skipped) == (whole.total, whole.total, 2)


async def test_an_overview_has_both_sides_of_an_exchange_in_one_line_and_replies_by_their_headings():
    recall = await recalled(await told(memory(), *TALKS["garden"]), "How has my garden developed?", mode="auto")
    assert recall.breadth == "overview"
    texts = [item.text for item in recall.evidence]
    assert "I want a garden with roses. The soil is heavy. → assistant: Soil; Roses; Water" in texts
    line = next(item for item in recall.evidence if "pond" in item.text)
    assert [source.turn.speaker for source in line.sources] == ["user", "assistant"]
    assert all(source.quote.split()[0] in line.text for source in line.sources)


async def test_a_point_that_a_caller_made_leads():
    one = await told(memory(), *TALKS["garden"])
    point = PointInsert(("Carla", "tax return"), "Carla's garden counts for the tax return.")
    await one.evolve(EvolveRequest("default", points=PointEdits(insert=(point,))))
    recall = await recalled(one, "In what order did I bring up the parts of Carla's garden?", mode="all")
    assert [(item.kind, item.text) for item in recall.evidence[:1]] == [("point", point.description)]


async def test_a_role_that_nobody_has_is_left_out_and_said_with_the_speakers_that_there_are():
    one = await told(memory(), *TALKS["boots"])
    with_role = await recalled(one, SHOES, role="assistant", parts=(Query("flat boots"),))
    without = await recalled(one, SHOES, parts=(Query("flat boots"),))
    assert [item.id for item in with_role.evidence] == [item.id for item in without.evidence] != []
    assert with_role.warnings == (
        "Nobody here has the role assistant; speakers are Ann, Bob. It was left out: name a speaker in the query.",
    )
    newest = await recalled(one, "", role="assistant")
    assert (len(newest.evidence), newest.warnings) == (len(TALKS["boots"]), with_role.warnings)
    assert (await recalled(await told(memory(), "user: I wear boots."), SHOES, role="user")).warnings == ()


async def test_of_a_query_longer_than_anybody_types_the_beginning_is_searched_and_the_reply_says_so():
    one = await told(memory())
    short = await recalled(one, "What pet did Ann adopt?")
    long = await recalled(one, "What pet did Ann adopt?" + " <b>" * 4_000)
    assert long.evidence[0].id == short.evidence[0].id
    assert "Of the query's 16,023 characters the first 2,000 were searched for." in long.warnings
    assert not any("characters" in warning for warning in short.warnings)
