"""Countries, by every word that texts have for them: "Denmark" and "Danish" are one, "English" is of "British".

General knowledge, small and English: sovereign states of today with what their people are called, the states of the
U.S., which texts name without the country, and some that are parts of others or are no more. A name that may as well
mean a town, a person or another country is left out: "Georgia".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from mcp_memory.domain.entities import entity_key


@dataclass(frozen=True, slots=True)
class Country:
    """A country, or a land that is part of one or was several.

    Attributes:
        name: in lower case.
        within: the countries of today that it is of, or that were of it; itself where it is one.
    """

    name: str
    within: frozenset[str]

    def same(self, other: Country) -> bool | None:
        """Return whether both are one country; None where one is a part of the other or both are of a third."""
        if self.name == other.name:
            return True
        return False if self.within.isdisjoint(other.within) else None


def country(written: str) -> Country | None:
    """Return the country that a word or a name means, "Danish" or "the Kingdom of Denmark"; None for anything else."""
    key = entity_key(written)
    for opening in ("kingdom of ", "republic of ", "islamic republic of ", "people's republic of "):
        if key not in _named() and key.startswith(opening):
            key = key.removeprefix(opening)
    return _named().get(key)


@cache
def _named() -> dict[str, Country]:
    found: dict[str, Country] = {}
    for line in _TODAY.strip().splitlines():
        name, *others = (one.strip() for one in line.split(","))
        found |= dict.fromkeys(filter(None, (name, *others)), Country(name, frozenset((name,))))
    for name in _STATES:
        found[name] = found["united states"]
    for line in _OTHERS.strip().splitlines():
        called, _, wholes = line.partition("|")
        name, *others = (one.strip() for one in called.split(","))
        within = frozenset(one.strip() for one in wholes.split(","))
        found |= dict.fromkeys((name, *others), Country(name, within))
    return {key: one for key, one in found.items() if key not in _UNCLEAR}


_UNCLEAR = frozenset(("georgia", "guinea", "congo", "congolese", "guinean", "korea", "korean", "dominican"))
_TODAY = """
afghanistan, afghan
albania, albanian
algeria, algerian
andorra, andorran
angola, angolan
argentina, argentine, argentinian
armenia, armenian
australia, australian
austria, austrian
azerbaijan, azerbaijani
bahamas, bahamian
bahrain, bahraini
bangladesh, bangladeshi
barbados, barbadian
belarus, belarusian
belgium, belgian
belize, belizean
benin, beninese
bhutan, bhutanese
bolivia, bolivian
bosnia and herzegovina, bosnia, bosnian
botswana, motswana
brazil, brazilian
brunei, bruneian
bulgaria, bulgarian
burkina faso, burkinabé
burundi, burundian
cambodia, cambodian
cameroon, cameroonian
canada, canadian
cape verde, cape verdean
central african republic
chad, chadian
chile, chilean
china, chinese, prc
colombia, colombian
costa rica, costa rican
croatia, croatian
cuba, cuban
cyprus, cypriot
czech republic, czechia, czech
democratic republic of the congo, dr congo
denmark, danish
djibouti, djiboutian
dominican republic
east timor, timorese
ecuador, ecuadorian
egypt, egyptian
el salvador, salvadoran
equatorial guinea
eritrea, eritrean
estonia, estonian
eswatini, swaziland, swazi
ethiopia, ethiopian
fiji, fijian
finland, finnish
france, french
gabon, gabonese
gambia, gambian
georgia, georgian
germany, german
ghana, ghanaian
greece, greek
guatemala, guatemalan
guyana, guyanese
haiti, haitian
honduras, honduran
hungary, hungarian
iceland, icelandic
india, indian
indonesia, indonesian
iran, iranian, persian
iraq, iraqi
ireland, irish
israel, israeli
italy, italian
ivory coast, ivorian, côte d'ivoire
jamaica, jamaican
japan, japanese
jordan, jordanian
kazakhstan, kazakh, kazakhstani
kenya, kenyan
kosovo, kosovan
kuwait, kuwaiti
kyrgyzstan, kyrgyz
laos, laotian
latvia, latvian
lebanon, lebanese
lesotho
liberia, liberian
libya, libyan
liechtenstein
lithuania, lithuanian
luxembourg, luxembourgish
madagascar, malagasy
malawi, malawian
malaysia, malaysian
maldives, maldivian
mali, malian
malta, maltese
mauritania, mauritanian
mauritius, mauritian
mexico, mexican
moldova, moldovan
monaco, monégasque
mongolia, mongolian
montenegro, montenegrin
morocco, moroccan
mozambique, mozambican
myanmar, burma, burmese
namibia, namibian
nepal, nepalese, nepali
netherlands, dutch
new zealand, new zealander
nicaragua, nicaraguan
niger, nigerien
nigeria, nigerian
north korea, north korean
north macedonia, republic of macedonia, macedonian
norway, norwegian
oman, omani
pakistan, pakistani
palestine, palestinian
panama, panamanian
papua new guinea
paraguay, paraguayan
peru, peruvian
philippines, filipino, philippine
poland, polish
portugal, portuguese
qatar, qatari
romania, romanian
russia, russian, russian federation
rwanda, rwandan
samoa, samoan
saudi arabia, saudi, saudi arabian
senegal, senegalese
serbia, serbian
seychelles
sierra leone, sierra leonean
singapore, singaporean
slovakia, slovak
slovenia, slovene, slovenian
somalia, somali
south africa, south african
south korea, south korean
south sudan, south sudanese
spain, spanish
sri lanka, sri lankan
sudan, sudanese
suriname, surinamese
sweden, swedish
switzerland, swiss
syria, syrian
taiwan, taiwanese
tajikistan, tajik
tanzania, tanzanian
thailand, thai
togo, togolese
tonga, tongan
trinidad and tobago, trinidadian
tunisia, tunisian
turkey, turkish
turkmenistan, turkmen
uganda, ugandan
ukraine, ukrainian
united arab emirates, uae, emirati
united kingdom, british, uk, u k, great britain, britain
united states, american, us, u s, usa, u s a, united states of america
uruguay, uruguayan
uzbekistan, uzbek
vanuatu
vatican city
venezuela, venezuelan
vietnam, vietnamese
yemen, yemeni
zambia, zambian
zimbabwe, zimbabwean
"""
"""A country and its other names, one a line."""
_STATES = (
    "alabama", "alaska", "arizona", "arkansas", "california", "colorado", "connecticut", "florida", "hawaii", "idaho",
    "illinois", "indiana", "iowa", "kansas", "kentucky", "louisiana", "maine", "maryland", "massachusetts", "michigan",
    "minnesota", "mississippi", "missouri", "montana", "nebraska", "nevada", "new hampshire", "new jersey",
    "new mexico", "new york", "new york city", "north carolina", "north dakota", "ohio", "oklahoma", "oregon",
    "pennsylvania", "rhode island", "south carolina", "south dakota", "tennessee", "texas", "utah", "vermont",
    "virginia", "west virginia", "wisconsin", "wyoming",
)  # fmt: skip
_OTHERS = """
england, english | united kingdom
scotland, scottish | united kingdom
wales, welsh | united kingdom
cornwall, cornish | united kingdom
northern ireland, northern irish | united kingdom, ireland
hong kong | china
puerto rico, puerto rican | united states
faroe islands, faroese | denmark
greenland, greenlandic | denmark
catalonia, catalan | spain
basque country, basque | spain, france
flanders, flemish | belgium
bavaria, bavarian | germany
prussia, prussian | germany, poland, russia
west germany, west german | germany
east germany, east german | germany
bohemia, bohemian | czech republic
czechoslovakia, czechoslovak | czech republic, slovakia
austria-hungary, austro-hungarian | austria, hungary, czech republic, slovakia, croatia, slovenia, romania, poland, italy
yugoslavia, yugoslav | serbia, croatia, slovenia, bosnia and herzegovina, montenegro, north macedonia, kosovo
soviet union, soviet, ussr | russia, ukraine, belarus, georgia, armenia, azerbaijan, kazakhstan, kyrgyzstan, uzbekistan, turkmenistan, tajikistan, moldova, latvia, lithuania, estonia
ottoman empire, ottoman | turkey, greece, bulgaria, serbia, north macedonia, albania, syria, lebanon, iraq, egypt, israel, palestine
bengal, bengali | india, bangladesh
tibet, tibetan | china
"""  # noqa: E501 - a land a line
"""A land and its other names, then the countries of today that it is of or was of."""
