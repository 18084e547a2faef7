"""Word lists that several rooms share: kinship words, and the names of countries with their demonyms.

The countries are in ``resources/countries.toml``; the names of months, weekdays and seasons are in ``iso.py``, the
words for them in ``expressions.py``.
"""

from __future__ import annotations

import tomllib

from mcp_memory.texts import resource


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text that lists them, separated by spaces."""
    return frozenset(words.split())


_KINSHIP = """
mother mom mum mama mommy mummy ma               | child_of       | she
father dad papa daddy dada pa                    | child_of       | he
parent parents                                   | child_of       | they
sister stepsister half-sister                    | sibling_of     | she
brother stepbrother half-brother bro             | sibling_of     | he
sibling siblings twin sisters brothers           | sibling_of     | they
daughter stepdaughter                            | parent_of      | she
son stepson                                      | parent_of      | he
eldest youngest firstborn                        | parent_of      | they
child children kid kids baby toddler sons daughters boys girls twins boy girl | parent_of | they
wife                                             | married_to     | she
husband hubby                                    | married_to     | he
spouse                                           | married_to     | they
fiancée                                          | engaged_to     | she
fiancé                                           | engaged_to     | he
fiance                                           | engaged_to     | they
fiancee                                          | engaged_to     | she
girlfriend gf                                    | dating         | she
boyfriend bf                                     | dating         | he
partner                                          | dating         | they
friend bestie buddy pal mate friends             | friend_of      | they
colleague coworker co-worker workmate teammate colleagues | colleague_of | they
neighbour neighbor neighbours neighbors          | neighbour_of   | they
roommate flatmate housemate                      | lives_with     | they
cousin cousins                                   | cousin_of      | they
aunt auntie                                      | niece_or_nephew_of | she
uncle                                            | niece_or_nephew_of | he
niece                                            | <niece_or_nephew_of | she
nephew                                           | <niece_or_nephew_of | he
grandmother grandma granny nana gran             | grandchild_of  | she
grandfather grandpa grandad granddad             | grandchild_of  | he
grandparents                                     | (grandparents) | they
grandson                                         | grandparent_of | he
granddaughter                                    | grandparent_of | she
grandchild grandchildren                         | grandparent_of | they
mother-in-law                                    | has_mother_in_law | she
father-in-law                                    | has_father_in_law | he
sister-in-law                                    | has_sister_in_law | she
brother-in-law                                   | has_brother_in_law | he
in-laws family                                   | (family)       | they
boss manager supervisor                          | has_boss       | they
teacher mentor coach tutor                       | (teacher)      | they
doctor therapist dentist landlord assistant student nanny | (person) | they
ex ex-wife ex-husband ex-girlfriend ex-boyfriend | ex_of          | they
"""
"""Each line is *words | relation | pronoun*: "my sister Anna" gives (I, sibling_of, Anna), and "she" then means Anna.

A relation that begins with ``<`` runs from the relative to the owner. One in brackets is no relation of the registry:
the word only names the person ("Maria's teacher").""" ""


def _kinship() -> dict[str, tuple[str, str]]:
    rows = (tuple(cell.strip() for cell in line.split("|")) for line in _KINSHIP.strip().splitlines())
    return {word: (relation, pronoun) for words, relation, pronoun in rows for word in words.split()}


RELATIVES = _kinship()
"""For each kinship word: the relation to the relative, and the pronoun that refers to the relative."""


def kinship_words(*relations: str) -> frozenset[str]:
    """Return the kinship words that express one of these relations, as the table writes them."""
    return frozenset(word for word, (relation, _) in RELATIVES.items() if relation in relations)


_COUNTRIES = tomllib.loads(resource("countries.toml"))
COUNTRIES = frozenset(_COUNTRIES["today"])
"""The sovereign states of today."""
_DEMONYMS = [word for kind in _COUNTRIES.values() for words in kind.values() for word in words.split(", ") if word]
DEMONYMS = frozenset(word.removesuffix("*") for word in _DEMONYMS)
"""What the people of all countries are called, of former ones and parts too, "danish", "south korean", "welsh"."""
COMMON_DEMONYMS = frozenset(word.removesuffix("*") for word in _DEMONYMS if word.endswith("*")) | {"korean"}
"""The more frequent demonyms; with "korean", which means either of two countries."""


GREETINGS = word_set(
    """
hi hello hey hiya howdy yo greetings bye goodbye farewell cheers thanks thank thx congrats congratulations welcome
wow whoa woah ooh aw aww awww ha haha hahaha lol omg gosh yay hooray yup yep yeah yes nope cool great awesome amazing
nice lovely fantastic wonderful excellent brilliant incredible fabulous terrific neat sweet absolutely definitely
totally exactly indeed certainly agreed alright understood appreciate luck worries anytime pleasure glad
"""
)
"""Words of which small talk has at least one: a greeting, a thanks or praise."""
SMALL_TALK = GREETINGS.union(
    word_set(
        """
please sorry ah oh eh uh um hm hmm mm mhm nah sure super perfect good fine impressive inspiring exciting interesting
fun happy proud pleased excited thrilled course right true agree enough sounds sound looks look seems seem care soon
later take catch talk see ya chat speak stay touch hear hearing heard wait keep going go way think thought know
appreciated support supporting help mean means lot like much problem hope enjoy best wish wishes forward looking let
i'm you're it's that's what's we'll i'll guys buddy friend mate man dude pal bro kind always too truly pretty god
job well done day
"""
    )
)
"""Words of which all of small talk consists, beside stop words and names."""
ASKING = word_set(
    """
list enumerate name tell show give describe remind everything anything something far long often much many ever all
every each exactly total different specific mention mentioned say said walk suggest recommend happened together besides
course across throughout conversation conversations sessions discussions aspects various several days day weeks week
months month years year hours passed elapsed lie lies kind kinds type types sort way ways reason reasons status fact
facts thing things item items terms term example examples result results individuals general common typical overall
entire another multiple first second last previous upcoming current currently recent recently soon finally clearly
according regarding towards behind due based considered considering consider use used uses using previously take takes
took go goes going went see seen find found start started become became becoming decide decided receive received
receiving set back away think thinks choose choosing participate participated participating attend attended discussed
discussing represent good influence share shared situation situations detail details info information latest newest
news update updates remember recall know known nowadays presently anyway stand stands ahead come comes came coming plan
plans planned planning arranged arrangement arrangements idea ideas names named called date dates held occur occurred
place places especially generally apply applies matter matters topic topics story involve involved
"""
)
"""Words that only ask, and words that say so little that a text may answer without them."""
