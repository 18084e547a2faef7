"""Times without a number; everything is said on Monday 8 May 2023."""

import pytest
from reading import intervals


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We went kayaking with the twins a few weeks ago.", "went kayaking with the twins 2023-05-01 2023-05-02"),
        ("Got the tattoo a few years ago, it says hope.", "got the tattoo 2022-05-08 2022-05-09"),
        ("When I was younger, my dad and I travelled to Norway.", "Norway 2022-05-08 2022-05-09"),
        ("I visited Rome last May. I visited Lyon as a kid.", "Lyon 2022-05-08 2022-05-09"),
        ("I painted a fence yesterday, and some weeks ago I adopted a cat.", "cat 2023-05-01 2023-05-02"),
        ("I met Olga a few years ago and I visited Rome.", "Rome 2023-05-08 2023-05-09"),
        ("I painted a fence. A few weeks ago I was ill.", "painted a fence 2023-05-08 2023-05-09"),
    ],
)
def test_an_event_lies_before_a_vague_time(text: str, expected: str) -> None:
    assert expected in intervals(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I've been into chess since I was a kid.", "chess … …"),
        ("I've always been passionate about bees.", "bees … …"),
        ("I've used Vim for years.", "Vim … …"),
        ("I have played the cello my whole life.", "cello … …"),
        ("I love chess.", "chess 2023-05-08 …"),
        ('I loved "Winter Lanes" by Odd Moe.', "Winter Lanes … …"),
        ('I used to love "Winter Lanes".', "Winter Lanes … 2023-05-08"),
    ],
)
def test_a_long_state_did_not_begin_with_the_telling(text: str, expected: str) -> None:
    assert expected in intervals(text)
