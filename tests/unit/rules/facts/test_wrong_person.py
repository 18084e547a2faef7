"""A fact is told of whom its sentence tells it of: a pronoun before a name, a thing of others, a note."""

import pytest
from reading import facts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She's a greyhound and I share her with my neighbour Mr Finn.", ["Maria neighbour_of Mr Finn"]),
        (
            "My son is Kai, he's 14, and there's my wife Lin. Her birthday is 19 November.",
            ["Maria married_to Lin", "Maria parent_of Kai", "Maria's son age 14", "Lin born_on 19 November"],
        ),
        ("My cousin Bertil sent photos, he is a cook.", ["Maria cousin_of Bertil", "Bertil works_as cook"]),
        ("My brother sold my bike.", ["not Maria owns bike", "Maria's brother sold bike"]),
        ("I sold my bike.", ["not Maria owns bike", "Maria sold bike"]),
        ("ok my thing: I've left the choir.", ["not Maria member_of choir"]),
        ("storage: starting with MariaDB 11", []),
        ("weighed in: 81.5", []),
        ("fine by me but i'm off 13–17", []),
        ("The man who hired my sister works at Lumen Glass.", []),
        ("The woman who bought my bike lives in Salo.", []),
        ("I like the girl whose mum works at Lumen Glass.", []),
        ("Everybody but Bertil lives in Salo.", []),
        ("I saw Lin with a man. He is a cook.", []),
        ("I saw Bertil's wife. She works at Lumen Glass.", ["Bertil's wife works_at Lumen Glass"]),
        ("Living in Salo is dear.", []),
        ("I have 20 kids in my class, and I have Lin's dog this week.", []),
        ("I have a rental car and a house in mind.", []),
        ("I began yoga at the Lumen studio last week.", ["Maria started yoga"]),
        ("I started a new job at Lumen Glass.", ["Maria works_at Lumen Glass"]),
    ],
)
def test_nothing_is_told_of_the_wrong_head(text, expected):
    assert facts(text) == expected
