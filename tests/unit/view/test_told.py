"""Words that tell what was said: names of any length, in every script, and no parts of other words."""

from __future__ import annotations

import pytest

from mcp_memory.view.told import holds, telling_words, without_words_of

NAMES = [
    ("I saw Bo yesterday.", "Who is bo?", "We flew to Boston."),
    ("Al and I met.", "AL's house", "All of it is alike."),
    ("我昨天见了李明。", "李明是谁？", "李先生明天来。"),
    ("我见了明。", "明 是谁", "明天见。"),
    ("田中さんに会った", "田中", "中田さん"),
    ("저는 이준을 만났다", "이준", "준이"),
    ("ฉันพบแดง", "แดง", "แกง"),
    ("Я видел Яо.", "яо", "Ялта"),
    ("मैं रवि से मिला", "रवि", "रविवार"),
    ("قابلت عز", "عز", "عزيز"),
    ("My number is 42.", "42?", "420 or 142"),
    ("I met Zoë.", "zoe", "zoetrope"),
    ("I met \uff22\uff4f.", "Bo", "Bob"),
    ("I met B\u200bo.", "bo", "Bob"),
]


@pytest.mark.parametrize(("said", "found", "other"), NAMES)
def test_a_name_is_found_whatever_its_length_and_script_and_takes_no_other_word_along(
    said: str, found: str, other: str
) -> None:
    """Where another text has that word."""
    own = frozenset(without_words_of(telling_words(said), other))
    assert holds(own, found)
    assert not holds(own, other)


def test_fillers_and_the_commonest_words_tell_nothing() -> None:
    assert telling_words("So it is; he was in de la al, and we met Jo.") == {"met", "jo"}
