"""The properties of synthetic text that the bench relies on."""

import re
from collections import Counter
from datetime import UTC, datetime
from itertools import islice
from math import log

import numpy as np
import pytest
from bench.synthetic import KINDS, Corpus, corpus, growing, prose

from mcp_memory.domain.requests import NewItem


def _items(text: Corpus) -> dict[str, NewItem]:
    return {str(item.ref): item for collection in text.collections for item in collection.items}


@pytest.mark.parametrize("seed", range(5))
def test_the_same_seed_gives_the_same_text_and_another_seed_another(seed):
    assert corpus(seed, 500, 30) == corpus(seed, 500, 30)
    assert corpus(seed, 500, 30) != corpus(seed + 1, 500, 30)


@pytest.mark.parametrize("sentences", [60, 61, 99, 1_000, 3_333])
def test_a_corpus_has_exactly_the_given_number_of_sentences(sentences):
    texts = [item.text for item in _items(corpus(3, sentences, 0)).values()]
    assert sum(len(re.findall(r"[.?](?: |$)", text)) for text in texts) == sentences


def test_refs_are_unique_and_every_gold_ref_exists():
    text = corpus(1, 3_000, 90)
    refs = [item.ref for collection in text.collections for item in collection.items]
    assert len(refs) == len(set(refs))
    assert {question.gold for question in text.questions} <= set(refs)


def test_there_is_a_third_of_each_kind_of_question():
    assert Counter(question.kind for question in corpus(1, 3_000, 90).questions) == dict.fromkeys(KINDS, 30)


@pytest.mark.parametrize("seed", range(5))
def test_degrees_are_zipf_like(seed):
    text = corpus(seed, 20_000, 0)
    words = Counter(word for item in _items(text).values() for word in re.findall(r"\w+", item.text))
    own = 3  # sentences of its own documents that name a place
    ranks = range(1, 60)
    degrees = [words[text.heads[rank - 1]] - own for rank in ranks]
    slope = np.polyfit([log(rank) for rank in ranks], [log(degree) for degree in degrees], 1)[0]
    assert -1.2 < slope < -0.8


@pytest.mark.parametrize("seed", range(5))
def test_a_two_hop_question_names_an_item_that_names_the_head_of_the_answer(seed):
    text = corpus(seed, 2_000, 90)
    items = _items(text)
    for question in text.questions:
        if question.kind == "two-hop":
            head = str(items[question.gold].title)
            named = set(re.findall(r"\b[A-Z]\w+", question.text)) - {"What"}
            assert head not in named
            assert any(
                head in item.text and named & {*re.findall(r"\w+", item.text), item.title, item.speaker}
                for ref, item in items.items()
                if ref != question.gold
            )


@pytest.mark.parametrize("seed", range(5))
def test_the_date_of_a_time_question_lies_in_the_time_of_its_item_and_of_no_other(seed):
    text = corpus(seed, 2_000, 90)
    items = _items(text)
    led = re.compile(r"From \w+ (\d+) to \w+ (\d+) (\w+) was led by")
    spans = {ref: (m[3], int(m[1]), int(m[2])) for ref, item in items.items() if (m := led.match(item.text))}
    asked = [
        (m[1], int(m[2]), q.gold) for q in text.questions if (m := re.fullmatch(r"Who led (\w+) in (\d+)\?", q.text))
    ]
    assert asked
    for head, year, gold in asked:
        covering = [ref for ref, (name, since, until) in spans.items() if name == head and since <= year <= until]
        assert covering == [gold]


@pytest.mark.parametrize("seed", range(5))
def test_the_last_move_before_a_date_states_where_a_person_lived_then(seed):
    text = corpus(seed, 4_000, 1_000)
    items = _items(text)
    moves = [item for item in items.values() if item.text.startswith("I moved to")]
    asked = [
        (m[1], datetime.strptime(m[2], "%d %B %Y").replace(tzinfo=UTC), question.gold)
        for question in text.questions
        if (m := re.fullmatch(r"Where did (\w+) live on (.*)\?", question.text))
    ]
    assert asked
    for person, day, gold in asked:
        own = [item for item in moves if item.speaker == person and (item.said_at or 0) <= day.timestamp() * 1_000]
        assert max(own, key=lambda item: item.said_at or 0).ref == gold


def test_messages_of_a_session_are_in_order_of_time():
    for collection in corpus(1, 2_000, 0).collections:
        times = [item.said_at for item in collection.items if item.said_at is not None]
        assert times == sorted(times)
        assert (collection.kind == "message") == bool(times)


def test_prose_has_the_given_number_of_sentences_without_repeats():
    sentences = re.findall(r"[^.?]+[.?]", prose(1, 400))
    assert len(sentences) == 400
    assert len(set(sentences)) > 395


def test_a_memory_that_grows_gets_new_refs_and_questions_about_them():
    refs: list[str] = []
    for text in islice(growing(3, 600, 9), 3):
        items = _items(text)
        assert sum(len(re.findall(r"[.?](?: |$)", item.text)) for item in items.values()) == 600
        refs += items
        assert {question.gold for question in text.questions} <= set(refs)
        assert len(text.questions) == 9
    assert len(refs) == len(set(refs))
