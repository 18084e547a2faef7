"""Cues: which words of a sentence it is found by, and which cues match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.domain.turns import Turn
from mcp_memory.reconstruct.graph import JOINT, MOST_CUES, cue_similarity, cues_of, key_of


def turn(text: str, speaker: str | None = "Ann", kind: str = "message", title: str | None = None) -> Turn:
    return Turn("t", "x", "s", "1", kind, text, speaker, None, title, 0, 0, 0, 0)  # type: ignore[arg-type]


def test_the_speaker_comes_first_then_names_then_the_content_words() -> None:
    text = "We saw Bob Lee at the old harbour in 2019."
    found = cues_of(turn(text), text)
    assert [cue.written for cue in found] == ["Ann", "Bob Lee", "saw", "old", "harbour"]
    assert [cue.name for cue in found] == [True, True, False, False, False]
    assert [cue.written for cue in found if cue.follows] == ["harbour"]


def test_a_sentence_has_at_most_thirty_cues() -> None:
    text = " ".join(f"word{n}x" for n in range(40))
    assert len(cues_of(turn(text), text)) == MOST_CUES == 30


TEXTS = st.text(alphabet=st.sampled_from("abCD eE’'-,.中文カタ日ＴeßéİǅαΩ١ \u0301\u0651ﬁ12"), max_size=120)


@given(TEXTS, st.sampled_from(["Ann", None]))
def test_every_cue_is_in_the_sentence_or_is_its_speaker(text: str, speaker: str | None) -> None:
    """DESIGN I37."""
    found = cues_of(turn(text, speaker), text)
    for cue in found:
        assert cue.key
        assert cue.written == speaker or cue.written.casefold() in text.casefold()
    assert len({cue.key for cue in found}) <= MOST_CUES


@pytest.mark.parametrize(
    ("asked", "known", "index"),
    [("video game tournament", "video game", 2 / 3), ("red car", "blue car", 0.0), ("Lee", "Ann Lee", JOINT)],
)
def test_cues_match_by_equality_containment_or_jaccard_index(asked: str, known: str, index: float) -> None:
    """DESIGN W16."""
    assert cue_similarity(key_of(asked), key_of(known)) == pytest.approx(index)


def test_the_spellings_of_one_thing_share_a_key() -> None:
    assert key_of("the Paintings") == key_of("painting")
    assert key_of("Dr. Patel's") == key_of("patel")
    assert key_of("The Who") == "who"
    assert key_of("?!") == ""
