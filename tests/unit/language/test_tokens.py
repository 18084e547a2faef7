"""Words and stems of texts in any script."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.language.tokens import STOP_WORDS, count_tokens, stems, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Katherine's dog isn’t O'Brien's", ["katherine", "dog", "isn't", "o'brien"]),
        ("l'amour d'Artagnan", ["amour", "artagnan"]),
        ("Straße, GRÖẞE, Bücher", ["strasse", "grosse", "bucher"]),
        ("مُحَمَّد كتـــاب", ["محمد", "كتاب"]),
        ("ｆｕｌｌ ｗｉｄｔｈ", ["full", "width"]),
        ("دِلّی", ["دلی"]),
        ("दिल्ली में", ["दिल्ली", "में"]),
        ("İstanbul", ["istanbul"]),
        ("e\u0301te\u0301 été", ["ete", "ete"]),
        ("a_b 2023-05-07", ["a", "b", "2023", "05", "07"]),
        ("🎉 …", ["🎉"]),
        ("👍🏽 ✈️ 👩‍🚀", ["👍", "✈", "👩", "🚀"]),
        ("йод が", ["йод", "が"]),
    ],
)
def test_words_are_folded_for_comparison(text: str, found: list[str]) -> None:
    assert words(text) == found


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("北京", "我住在北京。"),
        ("狗", "他有一只狗吗"),
        ("서울", "서울에서 왔다"),
        ("東京", "東京に住んでいます"),
        ("กรุงเทพ", "มาจากกรุงเทพ"),
    ],
)
def test_a_word_without_spaces_around_it_is_found(query: str, text: str) -> None:
    assert set(words(query)) <= set(words(text))


def test_stems_leave_out_stop_words_and_keep_the_month_of_may() -> None:
    assert stems("She was running in May") == ["run", "may"]
    assert all(words(word) == [word] for word in STOP_WORDS)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_has_words_and_a_size(text: str) -> None:
    assert stems(text) == stems(text)
    assert all(word and not word.isspace() for word in words(text))
    assert bool(text.strip()) == bool(count_tokens(text))


def test_threads_stem_alike() -> None:
    text = "running runners were happily considering organizations " * 200
    with ThreadPoolExecutor(4) as pool:
        assert len({tuple(found) for found in pool.map(stems, [text] * 16)}) == 1
