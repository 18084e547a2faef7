"""Frames outside a message, for a client: what is said before or after a message may make it nobody's own.

A wish of the user's and a fact behind a frame are kept as text and as uncertain facts; none is shown as a standing wish
or answered plainly. Talk that frames nothing takes nothing away. Neither is a fact answered that something said much
later leaves open, in words that no rule reads.
"""

import json

import pytest
from fakes import DiskStore, FakeEmbedder
from integration.client_calls import content, structured
from mcp import Client

from mcp_memory.domain.turns import Turn
from mcp_memory.memory import Memory
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.reconstruct.topics import Topics
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.search.candidates import INDEXES
from mcp_memory.server.app import build
from mcp_memory.settings import Settings
from mcp_memory.view.frames import Frames

pytestmark = pytest.mark.anyio

WISH, FACT = "Never use emojis.", "I live in Bergen."
FRAMES = [
    ["user: Turn my next three messages into Dutch.", "user: I have a parrot."],
    ["user: You are the baker and I am a customer.", "assistant: Good morning!", "user: My name is Per Holm."],
    ["user: We play charades, and I start."],
    ["user: Olga's notes come in a second."],
    ["user: Guess who I am!", "assistant: Ready."],
    ["assistant: How would the captain introduce himself?"],
    ["assistant: Fine. Type in the sentence that you want to have checked."],
    ["assistant: Which words are printed on the box?", "user: I am a nurse."],
    ["user: Is my cousin's essay okay?"],
    ["user: Which boats go to Alta?", "assistant: Two of them go on Sundays."],
    ["user: My source is Wikipedia."],
    ["assistant: Please always answer in whole sentences."],
]
TAKEN_BACK = [
    ["user: That was my brother at the keyboard."],
    ["user: Say it again in Polish."],
    ["user: Only joking!"],
    ["assistant: Good to know.", "user: That is not true, by the way."],
    ["assistant: Are you joking?", "user: Yes."],
    ["me: Just kidding, that was my sister."],
    ["user: Thanks!", "user: I only copied that."],
    ["user: Write a polite reply."],
    ["user: I only copied a line from the mail."],
    ["user: Thanks!", "user: Please ignore my last message but one."],
    [f"user: {'We talk about the boats of the village for a while. ' * 4}"],
]
WISHES_THAT_FRAME = ["Every time I send you a quote, name the film.", "Always name the source."]
HARMLESS = [
    (["user: Good morning!"], []),
    (["user: I have a parrot."], ["assistant: Nice. What is it called?", "user: Thanks!"]),
    (["user: Hello!"], ["- 2024-03-02", "user: What is the price of a ticket?"]),
    (["user: Turn my next message into Dutch.", "- 2024-03-02"], ["Ann: We are planning a trip along the coast."]),
]

OPEN = [  # what was told, what may have ended it, a question that is not answered then
    (
        "I'm allergic to penicillin.",
        "They tested me, and I am not allergic to penicillin after all.",
        "What am I allergic to?",
    ),
    ("I take ibuprofen.", "The doctor took me off ibuprofen and it helps.", "What do I take?"),
    ("I live in Bergen.", "We left Bergen in the end, it was too wet.", "Where do I live?"),
    ("I live in Bergen.", "Moved to the coast at last, what a relief.", "Where do I live?"),
    ("I live in Bergen.", "I have moved in Sopot at Friday, nice place.", "Where do I live?"),
    ("I work at Siemens.", "I got a new job, at Red Bull.", "Where do I work?"),
    ("I work at Siemens.", "Siemens let me go, so I have time now.", "Where do I work?"),
    ("Ben works at Bosch.", "Ben was fired on Friday, poor man.", "Where does Ben work?"),
    ("Gil lives in Ghent.", "Gil died last winter, you know.", "Where does Gil live?"),
]
LEFT_ALONE = [
    ("I live in Bergen.", "user: It rains in Bergen again, as always.", "Where do I live?", "Bergen"),
    ("I live in Bergen.", "user: What was the mistake of Bergen's mayor?", "Where do I live?", "Bergen"),
    ("I live in Bergen.", "assistant: You left Bergen, so look at other towns.", "Where do I live?", "Bergen"),
    ("I live in Bergen.", "user: My aunt moved her sofa, as it was in the way.", "Where do I live?", "Bergen"),
    ("Ben works at Bosch.", "user: Ben called, he wants his drill.", "Where does Ben work?", "Bosch"),
]


async def new_memory() -> Memory:
    store = DiskStore(indexes=(*INDEXES, CueGraph, Topics))
    return Memory(Settings(), store, FakeEmbedder(), RuleExtractor())


async def known(*lines: str) -> tuple[bool, bool]:
    """Return whether the wish stands and whether the fact is answered, after messages in one session."""
    day, messages = "2024-03-01", []
    for line in lines:
        who, _, text = line.partition(" ")
        if who == "-":
            day = text
        else:
            messages.append({"speaker": who.rstrip(":"), "text": text, "time": f"{day}T10:00:00Z"})
    async with Client(build(new_memory)) as client:
        await structured(client, "memory_write", messages=messages, wait=True)
        wishes = json.loads(await content(client, "memory://default/wishes"))["wishes"]
        answer = await structured(client, "memory_answer", question="Where do I live?")
    return any(WISH in one["text"] for one in wishes), "Bergen" in (answer.get("answer") or "")


@pytest.mark.parametrize("before", FRAMES)
async def test_behind_a_frame_nothing_is_certain(before: list[str]) -> None:
    assert await known(*before, f"user: {WISH}", f"user: {FACT}") == (False, False)


@pytest.mark.parametrize("after", TAKEN_BACK)
async def test_what_its_speaker_may_take_back_later_is_not_certain(after: list[str]) -> None:
    assert await known(f"user: {FACT}", *after) == (False, False)
    assert await known(f"user: {WISH}", *after) == (False, False)


@pytest.mark.parametrize("wish", WISHES_THAT_FRAME)
async def test_beside_a_wish_no_fact_is_certain(wish: str) -> None:
    assert await known(f"user: {wish}", f"user: {FACT}") == (False, False)
    assert await known(f"user: {FACT}", f"user: {wish}") == (False, False)


@pytest.mark.parametrize(("before", "after"), HARMLESS)
async def test_talk_that_frames_nothing_takes_nothing_away(before: list[str], after: list[str]) -> None:
    assert (await known(*before, f"user: {WISH}", *after))[0] is True
    assert (await known(*before, f"user: {FACT}", *after))[1] is True


async def test_no_speaker_is_guessed_to_be_the_user() -> None:
    for name in ("search result", "fetch", "developer"):
        assert await known(f"{name.replace(' ', '_')}: {WISH}", f"{name.replace(' ', '_')}: {FACT}") == (False, False)


async def test_a_name_in_a_frame_is_not_the_user_s() -> None:
    async def is_per(*lines: str) -> bool:
        messages = [{"speaker": "user", "text": FACT, "time": "2024-02-01T10:00:00Z"}]
        messages += [{"speaker": "user", "text": text, "time": "2024-03-01T10:00:00Z"} for text in lines]
        async with Client(build(new_memory)) as client:
            await structured(client, "memory_write", messages=messages, wait=True)
            answer = await structured(client, "memory_answer", question="Where does Per Holm live?")
        return "Bergen" in (answer.get("answer") or "")

    assert await is_per("My name is Per Holm.")
    assert not await is_per("You are the baker and I am a customer.", "My name is Per Holm.")
    assert not await is_per("My name is Per Holm.", "Only joking!")


async def test_a_talk_of_many_people_is_read_in_steps_as_many_as_its_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, beside = [0], Frames._beside

    def counted(frames: Frames, turn: Turn, step: int) -> Turn | None:
        steps[0] += 1
        return beside(frames, turn, step)

    monkeypatch.setattr(Frames, "_beside", counted)
    await known(*(f"P{'abcdefghij'[one % 10]}{'abcdefghij'[one // 10]}: {FACT}" for one in range(100)))
    assert steps[0] < 30 * 100


async def answer_after(told: str, later: str, question: str, **stated: object) -> str:
    """Return what is answered after a message, and another one of two months later; "" for nothing."""
    who, _, text = later.partition(": ")
    messages = [{"speaker": "user", "text": told, "time": "2024-03-01T10:00:00Z"}] if told else []
    messages.append({"speaker": who, "text": text, "time": "2024-05-01T10:00:00Z"})
    async with Client(build(new_memory)) as client:
        await structured(client, "memory_write", messages=messages, wait=True, **stated)
        return (await structured(client, "memory_answer", question=question)).get("answer") or ""


@pytest.mark.parametrize(("told", "later", "question"), OPEN)
async def test_a_fact_is_open_once_something_said_later_may_have_ended_it(told: str, later: str, question: str) -> None:
    assert await answer_after(told, "user: It rains.", question)
    assert await answer_after(told, f"user: {later}", question) == ""


@pytest.mark.parametrize(("told", "later", "question", "answer"), LEFT_ALONE)
async def test_what_ends_nothing_leaves_a_fact_certain(told: str, later: str, question: str, answer: str) -> None:
    assert await answer_after(told, later, question) == answer


async def test_what_a_caller_states_is_the_caller_s_to_end() -> None:
    fact = {"head": "Ben", "relation": "works_at", "tail": "Bosch", "valid_from": "2024-03-01"}
    assert (
        await answer_after("", "user: Ben was fired on Friday, poor man.", "Where does Ben work?", facts=[fact])
        == "Bosch"
    )
