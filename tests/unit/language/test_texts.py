"""Words, stems and names of texts in any script, the title of a document, and ROUGE-L (DESIGN W11).

``texts.jsonl`` has a text in each line, perhaps the ``title`` of a document, and what is read in it, by the names of
`READINGS`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_memory.domain.spelling import readable
from mcp_memory.domain.turns import Turn
from mcp_memory.language.tokens import (
    HEAD_LENGTH,
    STOP_WORDS,
    count_tokens,
    head,
    mentions,
    names,
    rouge_l,
    short,
    stem,
    stems,
    words,
)

_FILE = Path(__file__).with_name("texts.jsonl")
LINES: list[dict[str, Any]] = [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]


def mentioned(text: str, title: str | None) -> list[str]:
    """Return what the last sentence of a document mentions, or a message of Ann."""
    kind, speaker = ("document", None) if title else ("message", "Ann")
    turn = Turn("t", "x", "s", "1", kind, text, speaker, None, title, 0, 0, 0, 0)  # type: ignore[arg-type]
    return list(mentions(turn, text))


READINGS: dict[str, Callable[[str, str | None], Any]] = {
    "names": lambda text, _: list(names(text)),
    "head": lambda text, title: " ".join(head(title, text)),
    "short": lambda text, title: " ".join(short(title, text.split())),
    "words": lambda text, _: words(text),
    "stems": lambda text, _: stems(text),
    "mentions": mentioned,
}


@pytest.mark.parametrize("line", LINES, ids=[f"{line['text']} {[*line][-1]}" for line in LINES])
def test_this_is_read_in_a_text(line: dict[str, Any]) -> None:
    said = {name: line[name] for name in line if name in READINGS}
    assert {name: READINGS[name](line["text"], line.get("title")) for name in said} == said


@example("A\u00ad0", None)
@given(st.text(max_size=80), st.one_of(st.none(), st.text(max_size=40)))
def test_any_text_has_words_names_and_a_title_or_none(text: str, title: str | None) -> None:
    assert all(name in readable(text) for name in names(text))
    assert len(head(title, text)) <= HEAD_LENGTH
    assert stems(text) == stems(text)
    assert all(word and not word.isspace() for word in words(text))
    assert bool(text.strip()) == bool(count_tokens(text))


@pytest.mark.parametrize(
    ("query", "text"),
    [("北京", "我住在北京。"), ("狗", "他有一只狗吗"), ("กรุงเทพ", "มาจากกรุงเทพ")],
)
def test_a_word_without_spaces_around_it_is_found(query: str, text: str) -> None:
    assert set(words(query)) <= set(words(text))


def test_stop_words_are_words_as_they_are() -> None:
    assert all(words(word) == [word] for word in STOP_WORDS)
    assert stem("the") == "the"


def test_threads_stem_alike() -> None:
    text = "running runners were happily considering organizations " * 200
    with ThreadPoolExecutor(4) as pool:
        assert len({tuple(found) for found in pool.map(stems, [text] * 16)}) == 1


@pytest.mark.parametrize("forms", ["speak spoke spoken speaks", "marry wedding married", "favourite favorites"])
def test_forms_of_one_word_have_one_stem(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("one", "other", "likeness"),
    [
        ("where does alice live now", "where does alice work now", 0.8),
        ("when did alice move to paris", "when did bob move to rome", 0.6667),
        ("a b", "b a", 0.5),
        ("a", "", 0.0),
    ],
)
def test_rouge_by_hand(one: str, other: str, likeness: float) -> None:
    assert rouge_l(one.split(), other.split()) == pytest.approx(likeness, abs=5e-5)
    assert rouge_l(other.split(), one.split()) == rouge_l(one.split(), other.split())
