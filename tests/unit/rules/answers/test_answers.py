"""What a small memory quotes where no certain fact answers, and that all of it is verbatim (DESIGN I38)."""

from __future__ import annotations

from functools import partial

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_memory import ask, said

from mcp_memory.domain.evidence import AnswerResult
from mcp_memory.domain.requests import NewItem
from mcp_memory.language.iso import parse

TALK = said(
    "Ann: Hi Bob! I went to the climbing gym yesterday and it was great.",
    "Bob: Nice, Ann! My band played a concert at the Blue Lantern last week.",
    "Ann: I adopted two kittens, and they sleep all day.",
    "Bob: I have been playing the cello for nine years.",
    "Ann: My sister gave me a telescope for my birthday.",
    "@ 2023-07-20T09:00:00",
    "Bob: I joined a small pottery class last Friday.",
    'Ann: I\'m reading "The Silent Orchard" at the moment, what a book.',
    "Bob: I swim three times a week before work.",
    "Ann: I sold my old bicycle because the brakes kept failing.",
    "Bob: Carla taught me how to bake rye bread.",
    "Ann: I flew to Lisbon for the robotics fair last month.",
    "Bob: I don't eat mushrooms with dinner.",
)

QUESTIONS_TO_TALK = [
    ("When did Ann go to the climbing gym?", "I went to the climbing gym yesterday and it was great."),
    ("How many kittens did Ann adopt?", "I adopted two kittens, and they sleep all day."),
    ("How long has Bob been playing the cello?", "I have been playing the cello for nine years."),
    ("Who taught Bob how to bake rye bread?", "Carla taught me how to bake rye bread."),
    ("Where did Bob's band play a concert?", "My band played a concert at the Blue Lantern last week."),
    ("Why did Ann sell her old bicycle?", "I sold my old bicycle because the brakes kept failing."),
    ("Does Bob eat mushrooms with dinner?", "I don't eat mushrooms with dinner."),
]


@pytest.mark.anyio
@pytest.mark.parametrize(("question", "sentence"), QUESTIONS_TO_TALK)
async def test_without_a_certain_fact_the_closest_sentences_are_quoted(question: str, sentence: str) -> None:
    found = await ask(TALK, question)
    assert (found.text, found.confidence, found.hedged, found.citations) == (None, None, False, ())
    assert found.closest[0].quote == found.closest[0].turn.text
    assert sentence in found.closest[0].quote
    _assert_cited(found, TALK)


@pytest.mark.anyio
async def test_the_closest_sentences_are_of_different_messages() -> None:
    lines = said("Ann: My canoe is red. My canoe is long. My canoe is old.", "Bob: Ann's canoe leaks.", "Ann: Canoe!")
    found = await ask(lines, "What colour is Ann's canoe?")
    assert len({one.turn.id for one in found.closest}) == len(found.closest) == 3


@pytest.mark.anyio
async def test_a_question_is_quoted_only_where_nothing_was_stated() -> None:
    asked = said("Ann: Where is the canoe?")
    found = await ask([*asked, *said("Bob: The canoe is in the shed.")], "Where is the canoe?")
    assert found.closest[0].quote == "The canoe is in the shed."
    assert "Where is the canoe?" not in {one.quote for one in found.closest}
    assert [one.quote for one in (await ask(asked, "Where is the canoe?")).closest] == ["Where is the canoe?"]


@pytest.mark.anyio
@pytest.mark.parametrize("question", ["", "?!", "the of and", "Would Ann adopt kittens again?"])
async def test_a_question_without_an_answer_gives_none(question: str) -> None:
    found = await ask(TALK, question)
    assert (found.text, found.citations) == (None, ())


@pytest.mark.anyio
@pytest.mark.parametrize(
    "question", ["Wann ging Anna klettern?", "安什么时候去攀岩?", "متى ذهبت آن؟", "\U0001f469‍\U0001f680?"]
)
async def test_a_question_in_another_language_causes_no_error(question: str) -> None:
    talk = said("Anna: Gestern war ich klettern.", "Bo: 安昨天去攀岩了。我们很高兴。", "Cem: ذهبت آن أمس.")
    _assert_cited(await ask(talk, question), talk)


@pytest.mark.anyio
async def test_an_empty_memory_abstains_and_quotes_nothing() -> None:
    found = await ask([], "Who is Ann?")
    assert (found.text, found.confidence, found.closest, found.recall.evidence) == (None, None, (), ())


SENTENCES = (
    'I we Ann Bob Paris went adopted yesterday in at the a two dogs . ! ? , - ( ) [ ] " because not never 1990 2001',
    "– last week Friday \n 安 。 Straße I'm 'cause to for and of \u200b \u0301 \U0001f600 year years since May",
)
WORDS = st.sampled_from([word for line in SENTENCES for word in line.split(" ")])
TEXTS = st.one_of(st.lists(WORDS, min_size=1, max_size=60).map(" ".join), st.text(min_size=1, max_size=200)).filter(
    lambda text: bool(text.strip()) and _encodable(text)
)
QUESTIONS = st.sampled_from(
    [
        "Who went to Paris?",
        "When did Ann adopt two dogs?",
        "Where did Bob go in 1990?",
        "How many dogs does Ann have?",
        "How long has Bob been in Paris?",
        "How often does Ann go?",
        "Why did Bob go to Paris?",
        "What did Ann adopt last week?",
        "Did Ann adopt two dogs?",
    ]
)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@settings(max_examples=60, deadline=None)
@given(
    items=st.lists(st.tuples(st.sampled_from(["Ann", "Bob"]), TEXTS), min_size=1, max_size=5),
    question=QUESTIONS,
    documents=st.booleans(),
)
def test_every_citation_and_quote_is_verbatim_in_its_turn(
    items: list[tuple[str, str]], question: str, documents: bool
) -> None:
    stored = [
        NewItem(text, ref=str(number), speaker=None if documents else speaker, said_at=parse("2023-05-08")[0])
        for number, (speaker, text) in enumerate(items)
    ]
    found = anyio.run(partial(ask, stored, question, "document" if documents else "message", read=True))
    _assert_cited(found, stored)


def _assert_cited(found: AnswerResult, stored: list[NewItem]) -> None:
    texts = {item.text for item in stored}
    assert (found.text is None) == (not found.citations)
    assert (found.text is None) == (found.confidence is None)
    assert not found.hedged
    assert len(found.closest) <= 3
    assert found.text is None or not found.closest
    known = {evidence.id for evidence in found.recall.evidence}
    assert known.issuperset(citation.evidence_id for citation in found.citations)
    for source in (*found.closest, *(citation.source for citation in found.citations)):
        assert source.turn.text in texts
        assert 0 <= source.start < source.end <= len(source.turn.text)
