"""Frames outside a message: what is said before or after a message may make it nobody's own.

A line of ``frames.jsonl`` is a talk ("@" gives the day from there on), with the wishes that stand after it, or the
answer to a question, by default where the user lives. Behind a frame a wish of the user's and a fact are kept as text
and as uncertain facts; none is shown as a standing wish or answered plainly. Talk that frames nothing takes nothing
away. What was said since then makes an answer one of the day on which it was told.
"""

import pytest
from beside import table_beside
from remembering import space_in
from unit.services.learning_memory import on_disk, said

from mcp_memory.configurable import WriteSettings
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import NewFact, WriteRequest
from mcp_memory.domain.turns import WISHES
from mcp_memory.language.iso import parse
from mcp_memory.memory import Memory
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.search.wishes import standing_wishes
from mcp_memory.settings import Settings
from mcp_memory.view.frames import Frames

LINES = table_beside(__file__, "frames.jsonl")


async def after(lines, *facts):
    """Return a memory in which somebody said these lines."""
    memory = on_disk(Memory, Settings(write=WriteSettings(wait=True)), extractor=RuleExtractor())
    memory.clock = lambda: parse("2024-06-01")[0]
    await memory.write(WriteRequest("default", "talk", "message", tuple(said(*lines)), facts))
    return memory


@pytest.mark.parametrize("line", LINES, ids=[" ".join(line["said"]) for line in LINES])
async def test_what_stands_after_a_talk_depends_on_the_talk_around_it(line):
    memory = await after(line["said"])
    if "wishes" in line:
        assert [wish.text for wish in standing_wishes(await space_in(memory.store))] == line["wishes"]
    if "answer" in line:
        question = line.get("question", "Where do I live?")
        assert (await memory.answer(Query(question, learn=False))).text == line["answer"]


async def test_what_a_caller_states_is_the_caller_s_to_end():
    fact = NewFact("Ben", "works_at", "Bosch", parse("2024-03-01")[0])
    memory = await after(["@ 2024-05-01", "user: Ben was fired on Friday, poor man."], fact)
    assert (await memory.answer(Query("Where does Ben work?"))).text == "Bosch"


async def test_a_talk_of_many_people_is_read_in_steps_as_many_as_its_messages(monkeypatch):
    steps, beside = [0], Frames._beside

    def counted(frames, turn, step):
        steps[0] += 1
        return beside(frames, turn, step)

    monkeypatch.setattr(Frames, "_beside", counted)
    names = [f"P{'abcdefghij'[one % 10]}{'abcdefghij'[one // 10]}" for one in range(100)]
    memory = await after([f"{name}: I live in Bergen." for name in names])
    await memory.answer(Query("Where do I live?"))
    assert steps[0] < 30 * 100


async def test_a_message_of_a_later_call_takes_back_what_was_answered_before():
    memory = on_disk(Memory, Settings(write=WriteSettings(wait=True)), extractor=RuleExtractor())
    memory.clock = lambda: parse("2024-06-01")[0]
    asked = Query("When did I visit Vienna?", learn=False)
    answers = []
    for line in ("user: I visited Vienna on 3 May 2023.", "user: It was Graz, not Vienna."):
        await memory.write(WriteRequest("default", "talk", "message", tuple(said("@ 2024-03-01", line)), ()))
        answers.append((await memory.answer(asked)).text)
    assert answers == ["3 May 2023", None]


async def test_a_wish_that_a_caller_understood_leaves_what_was_read_plain():
    memory = await after(["@ 2024-03-01", "user: I live in Bergen."])
    asked = Query("Where do I live?", learn=False)
    answers = []
    for session in (WISHES, "talk"):
        wish = tuple(said("@ 2024-03-02", "user: Never give me links, they drive me mad."))
        await memory.write(WriteRequest("default", session, "message", wish, ()))
        answers.append((await memory.answer(asked)).text)
    assert answers == ["Bergen", "Bergen, as told on 1 March 2024"]
