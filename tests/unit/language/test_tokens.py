"""Words, stems and entities of texts in any script, and ROUGE-L (DESIGN W11)."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.domain.turns import Turn
from mcp_memory.language.tokens import STOP_WORDS, count_tokens, mentions, rouge_l, stem, stems, words


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


@pytest.mark.parametrize("forms", ["speak spoke spoken speaks", "marry wedding married", "favourite favorites"])
def test_forms_of_one_word_have_one_stem(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1
    assert stem("the") == "the"


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


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        ("I saw Bob.", ("Ann", "Bob")),
        ("Hi Ann, it is Ann!", ("Ann",)),
        ("It opened on Friday, in January.", ("Ann",)),
        ("Rex ran away in April and came back May 3.", ("Ann", "Rex")),
        ("April met Bob in April.", ("Ann", "April", "Bob")),
        ("I read Black Friday.", ("Ann", "Black Friday")),
    ],
)
def test_a_message_mentions_its_speaker_and_names_but_no_times(sentence: str, named: tuple[str, ...]) -> None:
    turn = Turn("t", "x", "s", "1", "message", sentence, "Ann", None, None, 0, 0, 0, 0)
    assert mentions(turn, sentence) == named


def test_a_sentence_of_a_document_mentions_its_title() -> None:
    told = Turn("t", "x", "s", "1", "document", "It opened.", None, None, "The Blue Mill (theatre)", 0, 0, 0, 0)
    assert mentions(told, "It opened. Ann Lee ran it.") == ("blue mill", "Ann Lee")
