"""All steps of Claude with a judge that is always right: the answers, the number of calls, the cost."""

from dataclasses import dataclass, field
from statistics import median

import pytest
from judged_memory import asked, judged
from standin.perfect import Known, perfect
from standin.rooms import room

from mcp_memory.domain.query import Query

pytestmark = pytest.mark.anyio
ON = {"understand": True, "points": True}
TOPICS = ("tram", "soup", "window", "garden", "radio", "novel", "coat", "market", "river", "lamp", "piano", "kettle")
SMALL_TALK = tuple(
    f"{'Ann' if place % 2 else 'Bob'}: The {TOPICS[place % 12]} and the {TOPICS[(place * 5 + 3) % 12]} kept me busy"
    f" on day {place} of this long spring, and I thought about you."
    for place in range(72)
)
TALK = (
    *("Ann: My brother is Bob.", "Ann: My sister is Cleo.", "Ann: I like jazz."),
    *("Bob: I live in Rome.", "Bob: I work at Acme.", "Bob: I like tea.", "Bob: My friend is Dan."),
    *("Cleo: I live in Oslo.", "Cleo: I work at Umbra.", "Cleo: I like chess."),
    *("Dan: I live in Turin.", "Dan: I work at Zeta.", "Dan: I like rain."),
    *SMALL_TALK,
    "Ann: Hi Bob! I went to the climbing gym yesterday and it was great.",
    "Bob: Nice, Ann! My band played a concert at the Blue Lantern last week.",
    "Ann: I adopted two kittens, and they sleep all day.",
    "Bob: I have been playing the cello for nine years.",
    "@ 2023-07-20T09:00:00",
    "Bob: I joined a small pottery class last Friday.",
    "Ann: I sold my old bicycle because the brakes kept failing.",
    "Bob: Carla taught me how to bake rye bread.",
    "Ann: The kiln exploded, so whatever had been in it is shards now.",
    "Bob: The vase that I made in that class was in the kiln.",
    "Ann: Whoever steers number 9 is a cheerful man, and his name is Ulrich.",
)
DIRECT = {
    "When did Ann go to the climbing gym?": Known("7 May 2023", ("climbing gym",)),
    "When did Bob's band play a concert?": Known("the week before 8 May 2023", ("concert",), about=("Bob",)),
    "When did Bob join a pottery class?": Known("14 July 2023", ("pottery",), parts=("I joined a pottery class.",)),
    "How many kittens did Ann adopt?": Known("two", ("kittens",)),
    "Where did Bob's band play a concert?": Known("the Blue Lantern", ("concert",)),
    "Why did Ann sell her old bicycle?": Known("the brakes kept failing", ("bicycle",)),
    "Who taught Bob how to bake rye bread?": Known("Carla", ("rye bread",)),
    "Which instrument has Bob played for nine years?": Known("the cello", ("cello",)),
    "Where does Cleo live?": Known("Oslo", ("live in Oslo",), ("Oslo",)),
}
HOPS = {
    "Where does the brother of Ann work?": Known("Acme", ("work at Acme", "brother is Bob"), ("Bob", "Acme")),
    "What does the brother of Ann like?": Known("tea", ("like tea", "brother is Bob"), ("Bob", "tea")),
    "Where does the sister of Ann live?": Known("Oslo", ("live in Oslo", "sister is Cleo"), ("Cleo", "Oslo")),
    "Where does Ann's sister work?": Known("Umbra", ("work at Umbra", "sister is Cleo"), ("Cleo", "Umbra")),
    "What does the sister of Ann like?": Known("chess", ("like chess", "sister is Cleo"), ("Cleo", "chess")),
    "Where does the friend of Bob work?": Known("Zeta", ("work at Zeta", "friend is Dan"), ("Dan", "Zeta")),
    "Where does the friend of Ann's brother live?": Known(
        *("Turin", ("live in Turin", "friend is Dan", "brother is Bob"), ("Bob", "Dan", "Turin"), ("Ann", "Bob")),
        parts=("My friend is", "Where does the friend live?"),
    ),
    "What became of what Bob made in July?": Known("it was destroyed", ("shards", "vase"), about=("Bob",)),
    "Who drives the tram that kept Ann busy?": Known("Ulrich", ("name is Ulrich",)),
}
UNKNOWN = {
    "What is the name of Ann's ship?": Known(words=("my ship is called",)),
    "Why did Carla leave Paris?": Known(words=("left Paris",), way=("Carla", "Paris")),
    "Which sport does Ann's sister play?": Known(words=("sport",), way=("Cleo", "sport")),
}
ALL = DIRECT | HOPS | UNKNOWN


"""Facts in the texts that the rules do not find."""


@dataclass
class Bill:
    """What each question took.

    Attributes:
        rooms: that were asked, in order.
        tokens: that the stand-in received.
    """

    rooms: list[list[str]] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)

    def add(self, sent):
        self.rooms.append([room(request) for request in sent])
        self.tokens.append(sum(request.tokens for request in sent))

    @property
    def calls(self):
        return [len(one) for one in self.rooms]


async def answered(memory, question, known):
    """Ask for an answer, and return it as what was recalled for it, with what it cites."""
    answer = await asked(memory, question)
    assert (answer.text, answer.engine) == (known.answer or None, "anthropic"), question
    return answer.recall, {citation.source.quote for citation in answer.citations}


async def recalled(memory, question, known):
    """Ask for the evidence, and return it, with what it quotes."""
    recall = await memory.reconstruct(Query(question, "default", 12))
    assert (recall.sufficient, recall.engine) == (bool(known.answer), "anthropic"), question
    return recall, {source.quote for item in recall.evidence for source in item.sources}


async def billed(memory, api, ask):
    """Ask all questions and return what they took."""
    bill = Bill()
    for question, known in ALL.items():
        before = len(api.requests)
        recall, quotes = await ask(memory, question, known)
        assert not known.answer or all(any(words in quote for quote in quotes) for words in known.words), question
        assert recall.warnings == ()
        bill.add(api.requests[before:])
        assert recall.spent is not None
        assert (recall.spent.calls, recall.spent.input_tokens) == (bill.calls[-1], bill.tokens[-1])
    return bill


@pytest.mark.parametrize("ask", [answered, recalled])
async def test_a_perfect_judge_is_right_within_its_calls_and_tokens(ask):
    async with judged(perfect(ALL), *TALK, **ON) as (memory, api):
        bill = await billed(memory, api, ask)
    assert max(bill.calls) <= 8
    assert median(bill.calls) <= 3
    assert max(bill.tokens) <= 8_000
    assert median(bill.tokens) <= 4_100
    assert sum(one.count("answer") > 1 for one in bill.rooms) >= 3


async def test_with_auto_all_questions_are_right_and_only_the_judgement_is_asked_for():
    async with judged(perfect(ALL), *TALK, **ON, judge="auto", enrich="all") as (memory, api):
        answers = {question: await asked(memory, question) for question in ALL}
        assert {room(request) for request in api.requests} == {"answer"}
        assert memory.text_reader is None
    for question, known in ALL.items():
        assert known.answer.removeprefix("the ") in (answers[question].text or ""), question
        assert bool(answers[question].text) == bool(known.answer)
