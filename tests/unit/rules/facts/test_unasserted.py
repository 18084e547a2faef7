"""Sentences that look like statements and state nothing, and true ones beside them that are still read."""

from time import process_time

import pytest
from reading import facts, read

from mcp_memory.language.segments import split
from mcp_memory.rules.facts.unasserted import Unasserted


@pytest.mark.parametrize(
    "text",
    [
        # refusals, offers, requests
        "Viktor asked me to marry him but I said no.",
        "My manager asked me to work at the harbour, and I refused.",
        "Brightly hired me as an editor but I turned them down.",
        "I got a job at Brightly. But then I turned it down.",
        "They invited me to join Brightly and I said I'd rather not.",
        "They offered to sell me a boat.",
        # plans without a date, wishes, hypotheses
        "I might buy a canoe.",
        "We could adopt a cat.",
        "I could live in Turku.",
        "Maybe we buy a canoe.",
        "We move to Delayville.",
        "I'd marry Olga tomorrow.",
        "I was supposed to move to Turku.",
        "We adopt a cat if the landlord agrees.",
        "I thought I lived near a lake.",
        "I used to believe I was a poet.",
        "I want to make sure I'm using Velox.",
        "Please check that I live in Turku.",
        "Please verify that I use Velox.",
        "I plan to quit and work at Brightly.",
        "I'm trying to fix it and use Velox.",
        # scenarios, examples, plays
        "Imagine I live in Turku. My boss is Olga.",
        "Let's say I work at Brightly. I have two cats.",
        "Example: Olga works at Brightly.",
        "For example, Olga works at Brightly.",
        "As a user, I live in Turku.",
        "You are a helpful assistant. You live in Turku.",
        "In the film, Olga works at a bakery.",
        "The song says I live in Turku.",
        "I dreamt that I had a twin sister. We lived in Turku.",
        "In my dream I lived in Turku.",
        "My dream job is being a pilot.",
        # irony, jokes, everybody
        "Oh great, I just love waiting for the bus.",
        "I live in a castle, just kidding.",
        "We all love pizza.",
        "Everyone likes chocolate.",
        "You move to a new city and you know nobody.",
        # a denied subject, and values that are not reached or passed
        "Neither Olga nor I play the harp.",
        "Not even Olga eats liver.",
        "It wasn't me who sold the canoe.",
        "I'm not the woman who owns a canoe.",
        "I'm almost a vet.",
        "My aunt is nearly 70, and my uncle's over 80.",
        # what is false, meant or thought by others, and what comes first
        "It's a myth that I live in Turku.",
        "It is untrue that Olga works at Brightly.",
        "I was meant to become a pilot.",
        "My aunt believes I'm a poet.",
        "They suspected I had pneumonia.",
        "Once I own a canoe, I'll row to Turku.",
        "In case I move to Turku, keep my number.",
        # feared, wrongly said, supposed, and of nobody
        "My worry is that I have asthma.",
        "The wiki wrongly says the limit is 5 MB.",
        "The wiki says the limit is 5 MB, which is wrong.",
        "Assumption: the limit is 5 MB.",
        "In this example the limit is 5 MB.",
        "Proposed limit: 5 MB",
        "No service uses Redis.",
        "All services but search use Redis.",
        "Nobody owns the search service.",
        "They use Redis at my sister's office.",
        "Never worked at Brightly.",
        # over, not reached, compared
        "I was going to Turku but the bus broke down.",
        "The course was going to start on 12 May.",
        "I don't like tea as much as Olga does.",
        "I visited Turku in a video game.",
        "My asthma is gone, and I outgrew my eczema.",
        "I wish my dog was still alive.",
        "My imaginary sister Olga called.",
        "I'm scared that I have asthma.",
        "As soon as I own a canoe, I'll row to Turku.",
        "By the time I am a vet, you'll be old.",
        "Whoever lives in Turku is lucky.",
        "Let me guess, you live in Turku.",
        "I made believe I was a vet.",
        "Does Olga own the search service",
        "Limit: 5 MB (wrong, it's 10 MB)",
        "I live nowhere near Turku.",
        "In my novel, Olga is a vet. She lives in Turku.",
        # taken back, not real, or the text of a task
        "I live in a castle. Kidding!",
        "I own a submarine. I wish.",
        "I work at Brightly. No, really, I don't.",
        "My aunt is a countess. Or so she claims.",
        "I adopted a cat. It isn't mine, it's Olga's.",
        "I'm a vet, not.",
        "I told Olga I'm a vet, but that was a lie.",
        "On paper I work at Brightly.",
        "For carnival I was a pilot.",
        "In the film Olga is a vet. She lives in Turku.",
        "Please rephrase this: I am a vet. I live in Turku.",
        # what somebody else said
        "Olga said 'I live in Turku'.",
        "Olga goes: I live in Turku!",
        "Olga wrote me: my aunt lives in Turku.",
        "Olga was like, I live in Turku.",
        "Olga: I live in Turku.",
        # questions without a mark
        "Q: I live in Turku",
        "Anyone know where Olga lives",
        "Does Olga live in Turku",
    ],
)
def test_what_is_not_asserted_gives_no_fact(text: str) -> None:
    assert facts(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I dreamt of a flood. Anyway, my aunt lives in Turku.", ["Maria's aunt lives_in Turku"]),
        ("Imagine you had a boat.\n\nMy aunt lives in Turku.", ["Maria's aunt lives_in Turku"]),
        ("Maria: I live in Turku.", ["Maria lives_in Turku"]),
        ("Update: I live in Turku.", ["Maria lives_in Turku"]),
        ("The boys' aunt says I'm tall, and I live in Turku.", ["Maria lives_in Turku"]),
        ("Olga wants to rest and works at Brightly.", ["Olga works_at Brightly"]),
        ("I have to cook and I live in Turku.", ["Maria lives_in Turku"]),
        ("Please remember that I live in Turku.", ["Maria lives_in Turku"]),
        ("Mine: I live in Turku.", ["Maria lives_in Turku"]),
        ("Not even Olga knows everything, but I live in Turku.", ["Maria lives_in Turku"]),
        ("In the film Olga is a vet. My aunt lives in Turku.", ["Maria's aunt lives_in Turku"]),
        ("It's great that I live in Turku.", ["Maria lives_in Turku"]),
        ("I own a canoe and no car.", ["Maria owns canoe"]),
        ("The limit isn't 5 MB.", ["not limit set_to 5 MB"]),
        ("Never been to Turku.", ["not Maria visited Turku"]),
        ("Nobody owns a canoe, but billing uses Redis.", ["billing uses Redis"]),
        ("My dog ate my shoes.", ["Maria has_pet dog"]),
        ("I gave my dog to my aunt.", []),
        ("My future wife Ida lives in Turku.", ["Ida lives_in Turku"]),
        ("We have zero kids.", ["not Maria parent_of kids"]),
        ("My aunt doesn't live in Turku either.", ["not Maria's aunt lives_in Turku"]),
        ("I was almost always in Turku, and I own a canoe.", ["Maria owns canoe"]),
        ("I live in Turku, whatever people think.", ["Maria lives_in Turku"]),
        ("Olga may live in Turku.", ["Olga lives_in Turku"]),
        ("Olga might have moved to Turku.", ["Olga lives_in Turku"]),
        ("I still refuse to fly. My aunt lives in Turku.", ["Maria's aunt lives_in Turku"]),
    ],
)
def test_the_rest_is_read(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


def test_a_doubt_about_what_is_so_keeps_its_hedge() -> None:
    assert [fact.confidence for fact in read("Olga may live in Turku.")] == [0.45]


@pytest.mark.parametrize("text", ["We fly to Malta on 20 December.", "We're moving to Turku on 20 December."])
def test_an_announcement_is_never_told_as_over(text: str) -> None:
    assert all(fact.since > fact.said_at for fact in read(text))


@pytest.mark.parametrize("piece", ["so ", "a wish ", "we all ", "I turned the ", "in the film ", "\n\n", "dream "])
def test_long_messages_take_linear_time(piece: str) -> None:
    text = (piece * 200 + ". ") * 30
    spans = split(text)
    start = process_time()
    unasserted = Unasserted(text, spans)
    for index in range(len(spans)):
        unasserted.in_fiction(index)
        unasserted.is_unreal(index)
    assert process_time() - start < 6
