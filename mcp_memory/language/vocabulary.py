"""Word lists that several rooms share: kinship words, and the names of countries with their demonyms.

The names of months, weekdays and seasons are in ``iso.py``, the words for them in ``expressions.py``.
"""

from __future__ import annotations


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


EVERYDAY_KINSHIP = {
    "mother": ("mother", "mom", "mum"),
    "father": ("father", "dad"),
    "grandmother": ("grandmother", "grandma", "granny"),
    "grandfather": ("grandfather", "grandpa"),
    "aunt": ("aunt", "auntie"),
}
"""The words with which queries ask for a relative, by the plainest of them; each is in `RELATIVES`, too."""


def kinship_words(*relations: str) -> frozenset[str]:
    """Return the kinship words that express one of these relations, as the table writes them."""
    return frozenset(word for word, (relation, _) in RELATIVES.items() if relation in relations)


COUNTRIES = """
afghanistan: afghan*
albania: albanian*
algeria: algerian*
andorra: andorran
angola: angolan
argentina: argentine, argentinian*
armenia: armenian*
australia: australian*
austria: austrian*
azerbaijan: azerbaijani
bahamas: bahamian
bahrain: bahraini
bangladesh: bangladeshi*
barbados: barbadian
belarus: belarusian
belgium: belgian*
belize: belizean
benin: beninese
bhutan: bhutanese
bolivia: bolivian
bosnia and herzegovina, bosnia: bosnian*
botswana: motswana
brazil: brazilian*
brunei: bruneian
bulgaria: bulgarian*
burkina faso: burkinabé
burundi: burundian
cambodia: cambodian
cameroon: cameroonian
canada: canadian*
cape verde: cape verdean
central african republic
chad: chadian
chile: chilean*
china, prc: chinese*
colombia: colombian*
costa rica: costa rican
croatia: croatian*
cuba: cuban*
cyprus: cypriot
czech republic, czechia: czech*
democratic republic of the congo, dr congo
denmark: danish*
djibouti: djiboutian
dominican republic
east timor: timorese
ecuador: ecuadorian
egypt: egyptian*
el salvador: salvadoran
equatorial guinea
eritrea: eritrean
estonia: estonian*
eswatini, swaziland: swazi
ethiopia: ethiopian*
fiji: fijian
finland: finnish*
france: french*
gabon: gabonese
gambia: gambian
georgia: georgian*
germany: german*
ghana: ghanaian*
greece: greek*
guatemala: guatemalan
guyana: guyanese
haiti: haitian
honduras: honduran
hungary: hungarian*
iceland: icelandic*
india: indian*
indonesia: indonesian*
iran: iranian*, persian
iraq: iraqi*
ireland: irish*
israel: israeli*
italy: italian*
ivory coast, côte d'ivoire: ivorian
jamaica: jamaican
japan: japanese*
jordan: jordanian*
kazakhstan: kazakh, kazakhstani
kenya: kenyan*
kosovo: kosovan
kuwait: kuwaiti
kyrgyzstan: kyrgyz
laos: laotian
latvia: latvian*
lebanon: lebanese*
lesotho
liberia: liberian
libya: libyan
liechtenstein
lithuania: lithuanian*
luxembourg: luxembourgish
madagascar: malagasy
malawi: malawian
malaysia: malaysian*
maldives: maldivian
mali: malian
malta: maltese
mauritania: mauritanian
mauritius: mauritian
mexico: mexican*
moldova: moldovan
monaco: monégasque
mongolia: mongolian
montenegro: montenegrin
morocco: moroccan*
mozambique: mozambican
myanmar, burma: burmese
namibia: namibian
nepal: nepalese, nepali*
netherlands: dutch*
new zealand: new zealander
nicaragua: nicaraguan
niger: nigerien
nigeria: nigerian*
north korea: north korean
north macedonia, republic of macedonia: macedonian
norway: norwegian*
oman: omani
pakistan: pakistani*
palestine: palestinian
panama: panamanian
papua new guinea
paraguay: paraguayan
peru: peruvian*
philippines: filipino*, philippine
poland: polish*
portugal: portuguese*
qatar: qatari
romania: romanian*
russia, russian federation: russian*
rwanda: rwandan
samoa: samoan
saudi arabia: saudi, saudi arabian
senegal: senegalese
serbia: serbian*
seychelles
sierra leone: sierra leonean
singapore: singaporean*
slovakia: slovak*
slovenia: slovene, slovenian
somalia: somali*
south africa: south african
south korea: south korean
south sudan: south sudanese
spain: spanish*
sri lanka: sri lankan
sudan: sudanese
suriname: surinamese
sweden: swedish*
switzerland: swiss*
syria: syrian*
taiwan: taiwanese
tajikistan: tajik
tanzania: tanzanian
thailand: thai*
togo: togolese
tonga: tongan
trinidad and tobago: trinidadian
tunisia: tunisian*
turkey: turkish*
turkmenistan: turkmen
uganda: ugandan
ukraine: ukrainian*
united arab emirates, uae: emirati
united kingdom, uk, u k, great britain, britain: british*
united states, us, u s, usa, u s a, united states of america: american*
uruguay: uruguayan
uzbekistan: uzbek
vanuatu
vatican city
venezuela: venezuelan*
vietnam: vietnamese*
yemen: yemeni
zambia: zambian
zimbabwe: zimbabwean
"""
"""The sovereign states of today: *name, other names: demonyms*, one country a line.

``*`` marks the frequent demonyms, which are recognised in every sentence (`COMMON_DEMONYMS`)."""

FORMER_COUNTRIES = """
england: english* | united kingdom
scotland: scottish* | united kingdom
wales: welsh* | united kingdom
cornwall: cornish | united kingdom
northern ireland: northern irish | united kingdom, ireland
hong kong | china
puerto rico: puerto rican | united states
faroe islands: faroese | denmark
greenland: greenlandic | denmark
catalonia: catalan | spain
basque country: basque | spain, france
flanders: flemish | belgium
bavaria: bavarian | germany
prussia: prussian | germany, poland, russia
west germany: west german | germany
east germany: east german | germany
bohemia: bohemian | czech republic
czechoslovakia: czechoslovak | czech republic, slovakia
austria-hungary: austro-hungarian | austria, hungary, czech republic, slovakia, croatia, slovenia, romania, poland, italy
yugoslavia: yugoslav | serbia, croatia, slovenia, bosnia and herzegovina, montenegro, north macedonia, kosovo
soviet union, ussr: soviet | russia, ukraine, belarus, georgia, armenia, azerbaijan, kazakhstan, kyrgyzstan, uzbekistan, turkmenistan, tajikistan, moldova, latvia, lithuania, estonia
ottoman empire: ottoman | turkey, greece, bulgaria, serbia, north macedonia, albania, syria, lebanon, iraq, egypt, israel, palestine
bengal: bengali | india, bangladesh
tibet: tibetan | china
"""  # noqa: E501 - one country a line
"""Parts of countries, and countries that no longer exist, in the same form.

Behind ``|`` are the countries of today that they are a part of, or that were a part of them."""

_DEMONYMS = [
    word.strip()
    for line in (COUNTRIES + FORMER_COUNTRIES).splitlines()
    for word in line.partition(":")[2].partition("|")[0].split(",")
    if word.strip()
]
DEMONYMS = frozenset(word.removesuffix("*") for word in _DEMONYMS)
"""What the people of all these countries are called, "danish", "south korean"."""
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
ASKING = frozenset((
    "list", "enumerate", "name", "tell", "show", "give", "describe", "remind", "everything", "anything", "something",
    "far", "long", "often", "much", "many", "ever", "all", "every", "each", "exactly", "total", "different", "specific",
    "mention", "mentioned", "say", "said", "walk", "suggest", "recommend", "happened", "together", "besides", "course",
    "across", "throughout", "conversation", "conversations", "sessions", "discussions", "aspects", "various", "several",
    "days", "day", "weeks", "week", "months", "month", "years", "year", "hours", "passed", "elapsed", "lie", "lies",
    "kind", "kinds", "type", "types", "sort", "way", "ways", "reason", "reasons", "status", "fact", "facts", "thing",
    "things", "item", "items", "terms", "term", "example", "examples", "result", "results", "individuals", "general",
    "common", "typical", "overall", "entire", "another", "multiple", "first", "second", "last", "previous",
    "upcoming", "current", "currently", "recent", "recently", "soon", "finally", "clearly", "according", "regarding",
    "towards", "behind", "due", "based", "considered", "considering", "consider", "use", "used", "uses", "using",
    "previously", "take", "takes", "took", "go", "goes", "going", "went", "see", "seen", "find", "found", "start",
    "started", "become", "became", "becoming", "decide", "decided", "receive", "received", "receiving", "set",
    "back", "away", "think", "thinks", "choose", "choosing", "participate", "participated", "participating", "attend",
    "attended", "discussed", "discussing", "represent", "various", "good", "influence", "share", "shared",
    "situation", "situations", "detail", "details", "info", "information", "latest", "newest", "news", "update",
    "updates", "remember", "recall", "know", "known", "nowadays", "presently", "anyway", "stand", "stands", "ahead",
    "come", "comes", "came", "coming", "plan", "plans", "planned", "planning", "arranged", "arrangement",
    "arrangements", "idea", "ideas", "name", "names", "named", "called", "date", "dates", "held", "occur", "occurred",
    "place", "places", "especially", "generally", "apply", "applies", "matter", "matters", "topic", "topics", "story",
    "involve", "involved",
))  # fmt: skip
"""Words that only ask, and words that say so little that a text may answer without them."""
