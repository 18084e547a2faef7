"""A small share of the hostile files: each is read or refused in words, within its time and memory."""

import pytest
from soak.hostile_files import FORMATS, read_case, soak


@pytest.mark.skipif(
    "not __import__('sys').platform.startswith('linux')", reason="limits of a process are measured there"
)
def test_hostile_files_are_read_or_refused_in_words() -> None:
    outcomes, wrong = soak(0, 20 * len(FORMATS), report=lambda _line: None)
    assert wrong == []
    assert all(outcome.peak < 500 for outcome in outcomes.values())
    assert all(outcome.ends.total() == 20 for outcome in outcomes.values())


def test_a_sample_of_each_format_is_read(tmp_path) -> None:
    unchanged = type("Unchanged", (), {"random": lambda _self: 0.99, "choice": lambda _self, of: of[0],
                                       "randrange": lambda _self, *of: of[-1] - 1})  # fmt: skip
    for number, (name, (make, read)) in enumerate(FORMATS.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert read(make(unchanged(), folder)), name  # type: ignore[arg-type]
    assert read_case(0, tmp_path) in ("read", "empty", "refused")
