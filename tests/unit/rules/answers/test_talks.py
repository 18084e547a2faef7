"""What is answered after messages, and from facts: right, or not at all, and all of it verbatim (DESIGN I38).

``talks.jsonl`` has messages (``lines``, or the name of a ``talk``), perhaps ``facts`` of a caller, a question, and its
``answer`` (null for none) or what an answer ``holds`` if there is one; ``closest`` are the sentences that are quoted
instead, ``first`` the first of them. The messages go through the whole write and read path, and every fact that is
read out of them counts as certain (unless ``read`` is false): so what is tested is what answers make of facts.
``facts.jsonl`` has facts (`known_facts.space_of`) with the answers to questions about them; those under
``right_or_none`` may be missing.
"""

from dataclasses import replace
from functools import partial

import anyio
import known_facts
import pytest
from beside import table_beside
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.services.learning_memory import answered, memory, said

from mcp_memory.domain.requests import NewFact, NewItem, WriteRequest
from mcp_memory.language.iso import parse

LINES, FACTS = table_beside(__file__, "talks.jsonl"), table_beside(__file__, "facts.jsonl")
TALKS = {line["talk"]: line["lines"] for line in LINES if "talk" in line}
ASKED = [line for line in LINES if "question" in line]
OF_FACTS = [(one["facts"], question, answer) for one in FACTS for question, answer in one["answers"].items()]
RIGHT_OR_NONE = [
    (one["facts"], question, answer) for one in FACTS for question, answer in one.get("right_or_none", {}).items()
]


def stated(head, relation, tail, since=None, confidence=1.0):
    return NewFact(head, relation, tail, parse(since)[0] if since else None, confidence=confidence)


async def ask(items, question, kind="message", facts=(), read=True, **asked):
    """Return the answer of a memory that holds the items and the facts, and nothing else."""
    one = memory(read=read)
    await one.write(WriteRequest("default", "talk", kind if items else "statement", tuple(items), tuple(facts)))
    return await answered(one, question, **asked)


async def answer_of(line):
    """Return what is answered after messages; those of "user" have that role and no speaker."""
    items = said(*(TALKS[line["lines"]] if isinstance(line["lines"], str) else line["lines"]))
    items = [replace(one, role="user", speaker=None) if one.speaker == "user" else one for one in items]
    facts = [stated(*fact) for fact in line.get("facts", ())]
    as_of = parse(line["as_of"])[0] if "as_of" in line else None
    found = await ask(items, line["question"], facts=facts, read=line.get("read", True), as_of=as_of)
    if not facts:
        assert_verbatim(found, items)
    return found


def assert_verbatim(found, stored):
    texts = {item.text for item in stored}
    assert (found.text is None) == (not found.citations)
    assert (found.text is None) == (found.confidence is None)
    assert found.hedged == (", as told on " in (found.text or ""))
    assert len(found.closest) <= 3
    assert found.text is None or not found.closest
    known = {evidence.id for evidence in found.recall.evidence}
    assert known.issuperset(citation.evidence_id for citation in found.citations)
    for source in (*found.closest, *(citation.source for citation in found.citations)):
        assert source.turn.text in texts
        assert 0 <= source.start < source.end <= len(source.turn.text)


@pytest.mark.parametrize("line", ASKED, ids=[f"{line['lines']} {line['question']}"[-90:] for line in ASKED])
async def test_what_was_told_is_answered_rightly_or_not(line):
    found = await answer_of(line)
    if "answer" in line:
        assert found.text == line["answer"]
    else:
        assert line["holds"] in (found.text or line["holds"])
    assert any(line.get("warning", "") in warning for warning in found.recall.warnings or [""])
    for name, kept in (
        ("closest", [one.quote for one in found.closest]),
        ("first", next((one.quote for one in found.closest), None)),
        ("conflicts", list(found.recall.conflicts)),
        ("warnings", list(found.recall.warnings)),
    ):
        assert kept == line.get(name, kept)


async def test_a_good_part_of_what_was_told_plainly_is_answered():
    told = [line for line in ASKED if "holds" in line]
    texts = [(await answer_of(line)).text for line in told]
    assert sum(text is not None for text in texts) >= len(told) / 4


@pytest.mark.parametrize(("facts", "question", "answer"), OF_FACTS)
def test_facts_answer_by_their_validity_or_not(facts, question, answer):
    found = known_facts.ask(facts, question)
    assert (found.text if found else None) == answer
    assert not found or (found.citations and not found.hedged)


@pytest.mark.parametrize(("facts", "question", "answer"), RIGHT_OR_NONE)
def test_the_only_relative_is_not_taken_for_one_of_another_kind(facts, question, answer):
    found = known_facts.ask(facts, question)
    assert found is None or found.text == answer


SENTENCES = (
    'I we Ann Bob Paris went adopted yesterday in at the a two dogs . ! ? , - ( ) [ ] " because not never 1990 2001',
    "– last week Friday \n 安 。 Straße I'm 'cause to for and of \u200b \u0301 \U0001f600 year years since May",
)
WORDS = st.sampled_from([word for line in SENTENCES for word in line.split(" ")])
TEXTS = st.one_of(
    st.lists(WORDS, min_size=1, max_size=60).map(" ".join),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200),
).filter(str.strip)
QUESTIONS = [line["question"] for line in ASKED if line["lines"] == "notes"]


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(["Ann", "Bob"]), TEXTS), min_size=1, max_size=5),
    st.sampled_from(QUESTIONS),
    st.booleans(),
)
def test_every_citation_and_quote_is_verbatim_in_its_turn(items, question, documents):
    stored = [
        NewItem(text, ref=str(number), speaker=None if documents else speaker, said_at=parse("2023-05-08")[0])
        for number, (speaker, text) in enumerate(items)
    ]
    found = anyio.run(partial(ask, stored, question, "document" if documents else "message"))
    assert_verbatim(found, stored)
