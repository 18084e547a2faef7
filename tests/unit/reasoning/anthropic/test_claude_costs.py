"""With a right judge an answer keeps its calls and tokens; with ``auto`` a certain fact makes no request."""

import json

import pytest
from judged_memory import asked, judged
from standin.replies import said

from mcp_memory.domain.requests import NewFact, WriteRequest
from mcp_memory.language.iso import parse
from mcp_memory.reasoning.anthropic.answer import token_room
from mcp_memory.reasoning.anthropic.judgements import FORM_TOKENS, AnswerReply, RelatingReply
from mcp_memory.reasoning.anthropic.messages import estimate_tokens, reply_schema

pytestmark = pytest.mark.anyio
TALK = (
    "Ann: Hi Bob! I went to the climbing gym yesterday and it was great.",
    "Bob: Nice, Ann! My band played a concert at the Blue Lantern last week.",
    "Ann: I adopted two kittens, and they sleep all day.",
    "Bob: I have been playing the cello for nine years.",
    "Ann: My sister gave me a telescope for my birthday.",
    "@ 2023-07-20T09:00:00",
    "Bob: I joined a small pottery class last Friday.",
    "Ann: I sold my old bicycle because the brakes kept failing.",
    "Bob: I swim three times a week before work.",
    "Bob: Carla taught me how to bake rye bread.",
    "Ann: I flew to Kyoto for the robotics fair last month.",
    "Bob: I don't eat mushrooms with dinner.",
)
KNOWN = {
    "When did Ann go to the climbing gym?": ("7 May 2023", "climbing gym"),
    "When did Bob's band play a concert?": ("the week before 8 May 2023", "concert"),
    "When did Bob join a pottery class?": ("14 July 2023", "pottery"),
    "When did Ann fly to the robotics fair?": ("June 2023", "robotics"),
    "How many kittens did Ann adopt?": ("two", "kittens"),
    "How often does Bob swim?": ("three times a week", "swim"),
    "Who gave Ann a telescope?": ("her sister", "telescope"),
    "Who taught Bob how to bake rye bread?": ("Carla", "rye bread"),
    "Where did Bob's band play a concert?": ("the Blue Lantern", "concert"),
    "Where did Ann fly for the robotics fair?": ("Kyoto", "robotics"),
    "Does Bob eat mushrooms with dinner?": ("no", "mushrooms"),
    "Why did Ann sell her old bicycle?": ("the brakes kept failing", "bicycle"),
    "What kind of class did Bob join?": ("a small pottery class", "pottery"),
    "Which instrument has Bob played for nine years?": ("the cello", "cello"),
}
UNKNOWN = ("What is the name of Ann's ship?", "Why did Carla leave Paris?", "Which sport does Ann's sister play?")


def perfect(request):
    """Answer correctly, citing the lines with the answer where they are shown."""
    if request.question not in KNOWN:
        return said(missing=("all of it",))
    answer, words = KNOWN[request.question]
    return said(answer, tuple(number for number, line in request.lines.items() if words in line)[:8])


async def test_every_answer_of_a_perfect_judge_is_right_within_the_budget():
    async with judged(perfect, *TALK) as (memory, api):
        for question, (right, words) in KNOWN.items():
            answer = await asked(memory, question)
            assert (answer.text, answer.engine) == (right, "anthropic")
            assert any(words in citation.source.quote for citation in answer.citations)
        for question in UNKNOWN:
            answer = await asked(memory, question)
            assert (answer.text, answer.engine) == (None, "anthropic")
        assert len(api.requests) == len(KNOWN) + len(UNKNOWN)
        assert max(request.tokens for request in api.requests) <= 8_000 * 0.5


async def test_with_auto_only_what_no_certain_fact_says_causes_a_call():
    async with judged(perfect, *TALK, judge="auto") as (memory, api):
        fact = NewFact("Carla", "lives_in", "Leeds", parse("2020-01-01")[0])
        await memory.write(WriteRequest("default", "facts", "statement", (), (fact,)))
        found = await asked(memory, "Where does Carla live?")
        assert (found.text, found.engine, len(api.requests)) == ("Leeds", "embedded", 0)
        engines = [(await asked(memory, question)).engine for question in (*KNOWN, *UNKNOWN)]
        assert engines.count("anthropic") == len(api.requests) == len(engines)


async def test_facts_that_only_repeat_their_sentences_take_no_room():
    food = ("sushi", "ramen", "pizza", "pasta", "curry", "soup", "bread", "rice", "tacos", "salad", "stew", "pie")
    likes = tuple(f"Bob: I like {name}." for name in food)
    async with judged([said(missing=("all",))], *likes) as (memory, api):
        await asked(memory, "What does Bob like?")
        assert {number[0] for number in api.requests[0].lines} == {"S"}


def test_the_tokens_of_each_form_are_known_and_none_pays_for_what_it_does_not_ask():
    for form, tokens in FORM_TOKENS.items():
        assert tokens - 40 < estimate_tokens(json.dumps(reply_schema(form))) <= tokens
    assert FORM_TOKENS[AnswerReply] < FORM_TOKENS[RelatingReply]


def test_a_judgement_has_room_for_evidence_however_much_was_spent_before_it():
    assert token_room(8_000, 2_000, 0.5) == 2_000
    assert token_room(5_000, 2_000, 0.5) == 700  # as much as it leaves for another
    assert token_room(2_500, 2_000, 1) == 500
    assert token_room(30_000, 2_000, 0.5) == token_room(20_000, 2_000, 1) == 4_000
