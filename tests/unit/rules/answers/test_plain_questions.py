"""Plain questions about what was told plainly: things by their common nouns, what stands beside a value, choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from small_memory import ask, said

pytestmark = pytest.mark.anyio


async def answer(lines: Sequence[str], question: str) -> str | None:
    """Return the answer after messages; those of "user" have that role and no speaker."""
    items = [replace(one, role="user", speaker=None if one.speaker == "user" else one.speaker) for one in said(*lines)]
    return (await ask(items, question, read=True)).text


ANSWERED = [
    (["user: The deposit limit is 300 euros."], "How much is our deposit limit?", "300 euros"),
    (["user: retry limit for the mail queue: 6"], "What is the retry limit of the mail queue?", "6"),
    (["user: We use Mollie for donations."], "What do we use for donations?", "Mollie"),
    (["user: My wife Orla hates olives.", "user: I hate beetroot."], "What does my wife hate?", "olives"),
    (["user: My aunt Ines lives in Faro.", "@ 2023-06-01", "user: We moved to a new flat last week."],
     "Where does my aunt live?", "Faro"),
    (["user: I've been learning Estonian since March."], "Which language am I learning?", "Estonian"),
    (["user: I prefer trains to buses."], "Do I prefer trains or buses?", "trains"),
    (["user: deploy with `make ship`"], "How do we deploy?", "make ship"),
    (["Ann: I got a parrot at the fair. It is green and its name is Kiko."],
     "What is the name of Ann's parrot?", "Kiko"),
    (["Ann: I knitted my first scarf for a fair, and it took me 31 hours."],
     "How many hours did Ann need for her first scarf?", "31 hours"),
    (["Ann: I paid 90 pounds for the canoe.", "@ 2023-09-05", "Ann: I sold the canoe again."],
     "How much did Ann pay for the canoe?", "90 pounds"),
    (["Ann: My brother Tom is a welder."], "What does Tom do?", "welder"),
    (["Ann: I bought a kayak in Trieste for 90 euros."], "What did Ann buy in Trieste?", "kayak"),
    (["user: My sister fell off a ladder. She sprained her right ankle."], "Which ankle did my sister sprain?",
     "right ankle"),
    (["user: I ended up buying a Zanker freezer."], "Which brand of freezer did I buy?", "Zanker freezer"),
    (["Ann: Three weeks on the barge. The cook is called Ottmar."], "What is the cook of Ann's barge called?",
     "Ottmar"),
    (["Ann: Mallow lost her keys on the ferry to Oban."], "What did Mallow lose on the ferry?", "keys"),
    (["Ann: I pay more now too, my rent went up to 410 euros."], "How much rent does Ann pay?", "410 euros"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "question", "expected"), ANSWERED, ids=[question for _, question, _ in ANSWERED])
async def test_what_was_told_plainly_is_answered(lines: Sequence[str], question: str, expected: str) -> None:
    assert await answer(lines, question) == expected


SILENT = [
    (["user: I have a cat called Miso and a dog."], "What is the name of my dog?"),
    (["user: We use Mollie for donations."], "Which SMS provider do we use?"),
    (["user: The retry limit of the mail queue is 6."], "What is the retry limit of the photo queue?"),
    (["Ann: I bought a kayak in Trieste."], "What did Ann buy in Rome?"),
    (["user: My boss Ida hates olives."], "What do I hate?"),
    (["user: I like tea and coffee."], "Do I like tea or coffee?"),
    (["Ann: I painted the shed last week."], "What colour did Ann paint the shed?"),
    (["Ann: I pay 40 euros more now for the flat."], "How much does Ann pay for the flat?"),
    (["Ann: I work on the boats, and a bit in the yard in winter."], "Where does Ann work in the yard?"),
]


@pytest.mark.parametrize(("lines", "question"), SILENT, ids=[question for _, question in SILENT])
async def test_what_was_not_told_is_not_answered(lines: Sequence[str], question: str) -> None:
    assert await answer(lines, question) is None


async def test_a_shorter_description_of_a_place_ends_the_longer_one() -> None:
    talk = ["user: I work at the city library.", "@ 2023-09-05", "user: I no longer work at the library."]
    assert (await answer(talk, "Where do I work?") or "").startswith("not any more: city library")


TIMED = [
    (["user: We fly to Malta on 9 July and come back on 23 July."], "When do we come back from Malta?", "23 July 2023"),
    (["user: We fly to Malta on 9 July and come back on 23 July."], "When do we fly to Malta?", "9 July 2023"),
    (["user: The upload limit was 30 MB, I raised it to 60 today."], "What is the upload limit?", None),
    (["user: Backups run every night at 02:30."], "When do the backups run?", "every night at 02:30"),
    (["user: Our standup is at 9:45 on weekdays."], "When is our standup?", "9:45 on weekdays"),
    (["Ann: Megan and I split up in March."], "Are Ann and Megan still together?", "No"),
    (["Ann: My brother Tom works as a piano tuner."], "What does Tom do for a living?", "piano tuner"),
    (["Ann: We finally moved out of Turku."], "Where did Ann live before?", "Turku"),
    (["Ann: Henning lost his job at the shipyard."], "Where did Henning work?", "shipyard"),
    (["Ann: Henning lost his job at the shipyard."], "Where does Henning work?", None),
    (["@ 2023-09-01", "Ann: I had lunch with Tom at the Lowick Inn."], "Where did Ann have lunch in 2021?", None),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "question", "expected"), TIMED, ids=[question for _, question, _ in TIMED])
async def test_the_time_of_what_was_asked_counts(lines: Sequence[str], question: str, expected: str | None) -> None:
    assert await answer(lines, question) == expected
