"""What people earn, pay, owe and have saved, and their blood pressure, as they tell it in chats."""

import pytest
from reading import facts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I earn 1,640 after tax.", ["Maria earns 1,640 after tax"]),
        ("I take home about 1,980 a month.", ["Maria earns about 1,980 a month"]),
        ("They pay me 2,400 a month.", ["Maria earns 2,400 a month"]),
        ("Olga's paying us 300 a month.", ["Olga pays 300 a month"]),
        ("pay's 2,150 a month before tax", ["Maria earns 2,150 a month before tax"]),
        ("rent's 740 a month", ["Maria's rent set_to 740 a month"]),
        ("We owe 6,400 on the car still.", ["Maria owes 6,400 on the car"]),
        ("Savings are at 1,750 now.", ["Maria's savings set_to 1,750"]),
        ("My blood pressure was 152 over 96 at the surgery.", ["Maria's blood pressure set_to 152 over 96"]),
        ("I get 9 a month at the moment.", []),
        ("I don't earn 3,000 a month.", []),
        ("I could earn 3,000 a month there.", []),
        ("I owe you one.", []),
        ("I get 30 emails a day.", []),
    ],
)
def test_amounts_of_somebody(text: str, expected: list[str]) -> None:
    assert facts(text) == expected
