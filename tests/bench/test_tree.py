"""Synthetic trees: only the chain of steps leads to the leaf."""

import re
from collections import Counter

import pytest
from bench.tree import FORMS, LEAVES, QUESTIONS, STEPS, Tree, tree

from mcp_memory.language.tokens import stems

EACH = [(seed, depth, form) for seed in range(3) for depth in (1, 5) for form in FORMS]


def _texts(grown: Tree) -> dict[str, str]:
    return {str(item.ref): item.text for item in grown.items}


def _named(grown: Tree, text: str) -> set[str]:
    """Return the refs of the memories that a text names."""
    return {ref for ref, name in grown.names.items() if re.search(rf"\b{name}\b", text, re.IGNORECASE)}


def test_the_same_seed_gives_the_same_tree_and_another_seed_another():
    assert tree(1, 5, "message") == tree(1, 5, "message")
    assert tree(1, 5, "message").items != tree(2, 5, "message").items


@pytest.mark.parametrize("made", EACH)
def test_the_tree_is_complete_and_its_remarks_name_nothing_of_it(made):
    grown = tree(*made)
    assert len(grown.names) == len(set(grown.names.values())) == 2 ** (grown.depth + 1) - 1
    remarks = [text for ref, text in _texts(grown).items() if ref not in grown.names]
    assert len(remarks) >= len(grown.names) / 4
    assert not any(_named(grown, text) for text in remarks)


@pytest.mark.parametrize("made", EACH)
def test_each_memory_names_itself_and_the_next_step_and_a_leaf_only_itself(made):
    grown = tree(*made)
    texts = _texts(grown)
    for ref, following in zip(grown.way, grown.way[1:], strict=False):
        assert _named(grown, texts[ref]) == {ref, following}
    assert _named(grown, texts[grown.leaf]) == {grown.leaf}
    counts = Counter(len(_named(grown, texts[ref])) for ref in grown.names)
    assert counts == {2: 2**grown.depth - 1, 1: 2**grown.depth}
    assert max(Counter(one for ref in grown.names for one in _named(grown, texts[ref]) - {ref}).values()) == 1


@pytest.mark.parametrize("made", EACH)
def test_a_question_names_only_the_root_and_shares_no_word_with_the_leaf(made):
    grown = tree(*made)
    assert len(grown.questions) == len(QUESTIONS)
    for question in grown.questions:
        assert _named(grown, question) == {grown.way[0]}
        assert not set(stems(question)) & set(stems(_texts(grown)[grown.leaf]))


def test_questions_share_no_word_with_any_wording_of_a_memory():
    asked = {stem for wording in QUESTIONS for stem in stems(wording.format(root=""))}
    for wording in (*STEPS, *LEAVES):
        assert not asked & set(stems(re.sub(r"{\w+}", "", wording)))


def test_a_title_names_what_its_document_is_about():
    for form in FORMS:
        grown = tree(0, 3, form)
        titles = {item.ref: item.title for item in grown.items if item.title}
        assert {ref: title.casefold() for ref, title in titles.items()} == (
            {ref: name.casefold() for ref, name in grown.names.items()} if form == "titled" else {}
        )
