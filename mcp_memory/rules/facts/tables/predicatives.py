"""The relations of adjectives and nouns after "be": "allergic to", "a fan of", "the capital of".

Each line reads *words | prepositions | relation | tail*. A relation that begins with ``<`` runs from the tail to the
subject.
"""

from __future__ import annotations

from functools import cache

ADJECTIVES = """
allergic          | to          | allergic_to   | liked
intolerant        | to          | allergic_to   | liked
married           | to          | married_to    | person
engaged           | to          | engaged_to    | person
interested        | in          | interested_in | liked
keen              | on          | likes         | liked
fond              | of          | likes         | liked
crazy             | about       | likes         | liked
obsessed          | with        | likes         | liked
passionate        | about       | interested_in | liked
hooked            | on          | likes         | liked
addicted          | to          | likes         | liked
scared            | of          | afraid_of     | liked
afraid            | of          | afraid_of     | liked
terrified         | of          | afraid_of     | liked
good great brilliant excellent | at | good_at     | liked
bad terrible awful hopeless rubbish lousy | at | bad_at | liked
fluent            | in          | speaks        | language
native            | to          | located_in    | name
originally        | from        | comes_from    | place
together          | with        | dating        | name
friends           | with        | friend_of     | person
related           | to          | related_to    | person
responsible       | for         | responsible_for | thing
employed          | by at with  | works_at      | org
enrolled          | in at       | enrolled      | thing
home              | to          | location_of   | name
part              | of          | part_of       | thing
in charge         | of          | leads         | thing
in love           | with        | loves         | person
"""

NOUNS = """
member            | of          | member_of     | org
fan lover enthusiast | of       | likes         | liked
founder co-founder | of         | founded       | thing
owner             | of          | owns          | thing
author writer     | of          | wrote         | name
inventor creator designer architect | of | created | thing
director          | of          | leads         | name
capital           | of          | capital_of    | name
friend            | of with     | friend_of     | person
resident inhabitant | of        | lives_in      | place
citizen           | of          | nationality   | name
native            | of          | comes_from    | place
part branch division | of       | part_of       | thing
subsidiary        | of          | owned_by      | name
colleague         | of          | colleague_of  | person
son daughter child | of         | child_of      | person
mother father parent | of       | parent_of     | person
brother sister sibling | of     | sibling_of    | person
wife husband spouse widow | of  | married_to    | person
student pupil     | at          | studies_at    | org
symptom           | of          | symptom_of    | thing
cause             | of          | causes        | thing
home              | of          | location_of   | name
"""

POSSESSED = """
name              | named            | name
hometown          | comes_from       | place
birthplace        | born_in          | place
birthday          | born_on          | time
job profession occupation | works_as | role
employer workplace | works_at        | org
email             | email            | any
number phone      | phone            | any
language tongue   | speaks           | language
nationality       | nationality      | any
capital           | <capital_of      | name
members           | <member_of       | name
major             | studies          | thing
hobby hobbies     | likes            | liked
alma mater        | studies_at       | org
"""
"""Relations of "X's … is Y": the noun, the relation from X to Y, and the kind of Y."""


Line = tuple[tuple[str, ...], tuple[str, ...], str, str]
"""The words, the prepositions that may follow, the relation, and the kind of the tail."""


@cache
def lines(text: str) -> tuple[Line, ...]:
    """Return the lines of a table, split into their columns."""
    rows = (tuple(cell.strip() for cell in line.split("|")) for line in text.strip().splitlines())
    return tuple((tuple(words.split()), tuple(slots.split()), relation, tail) for words, slots, relation, tail in rows)


ADJECTIVE_WORDS = frozenset(word for words, *_ in lines(ADJECTIVES) for word in words)
"""Every single word of the table of adjectives."""
