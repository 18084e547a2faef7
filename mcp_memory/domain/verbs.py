"""Tables of verbs and their forms.

The extraction of facts uses them to recognise verbs, and the rendering of facts uses them to inflect a relation that
the registry does not have, of which only the name is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

_IRREGULAR = """
be was been | become became become | begin began begun | bear bore born | break broke broken | breed bred bred
bring brought brought | build built built | buy bought bought | catch caught caught | choose chose chosen
come came come | cost cost cost | cut cut cut | deal dealt dealt | do did done | draw drew drawn | drink drank drunk
drive drove driven | eat ate eaten | fall fell fallen | feel felt felt | fight fought fought | find found found
flee fled fled | fly flew flown | forget forgot forgotten | get got gotten | give gave given | go went gone
grow grew grown | have had had | hear heard heard | hide hid hidden | hit hit hit | hold held held | keep kept kept
knit knitted knitted | know knew known | lead led led | learn learned learned | leave left left | lend lent lent
let let let | lie lay lain | lose lost lost | make made made | mean meant meant | meet met met | move moved moved
pay paid paid | put put put | quit quit quit | read read read | ride rode ridden | rise rose risen | run ran run
say said said | see saw seen | sell sold sold | send sent sent | set set set | sew sewed sewn | shoot shot shot
show showed shown | sing sang sung | sit sat sat | sleep slept slept | speak spoke spoken | spend spent spent
split split split | stand stood stood | steal stole stolen | swim swam swum | take took taken | teach taught taught
tell told told | think thought thought | understand understood understood | wake woke woken | wear wore worn
wed wed wed | win won won | write wrote written | throw threw thrown | bind bound bound | wind wound wound
tear tore torn | undergo underwent undergone | shake shook shaken | dig dug dug | withdraw withdrew withdrawn
freeze froze frozen | sink sank sunk | oversleep overslept overslept | lay laid laid | hurt hurt hurt
ring rang rung | shut shut shut
spread spread spread
"""
"""Plain form, past, participle."""
SECOND_FORMS = {"learnt": "learn", "were": "be", "divorced": "divorce"}
COMMON = (
    "accept add admit agree allow announce appear apply arrive ask award base believe belong bet blame bloom"
    " borrow call cancel care celebrate change chat check clean climb close cry collapse complain confirm"
    " consider continue cover create cross cycle dance decide decline defeat delay describe destroy diagnose"
    " die discuss doubt dream dress earn elect encourage end expect explain explore fail figure fill finish"
    " fix follow forgive gain garden give graduate guess happen hate help hike hire hope hug imagine"
    " improve injure introduce invite jog join joke jump kill kiss laugh land last lean like listen look"
    " locate love manage matter mention mind miss need name notice offer order own park pass pick plan"
    " practice prepare present promise promote pull push rain realise realize recall receive recommend refuse"
    " release relax remain remember remind remove rent report represent require rescue rest retire return"
    " reveal ruin save scare seem separate serve share shop sign skate ski smell smile smoke sneeze snow sound"
    " start stay stop struggle suggest supply support suppose surprise survive suspect switch talk taste thank"
    " tie tour touch train travel treat trust try turn use visit volunteer vote wait walk want warn wash watch"
    " whisper wish wonder work worry yell commute date shift transfer employ appoint situate headquarter"
    " marry engage raise relocate settle emigrate immigrate hail originate sponsor succeed house contain claim"
    " estimate state argue assume insist rumour swear enrol major study attend coach chair head govern score"
    " exercise exhibit play live stroll crave quit prefer tend intend bake paint cook sail surf swim dislike"
    " detest loathe enjoy adore hang"
)
"""Further regular verbs, so that a clause is recognised whatever its verb."""
FURTHER = (
    "acquire act adopt border brew cause collect compete compose consist crochet design direct discover divorce drop"
    " enroll establish excavate export fire found freelance illustrate import include inherit intern invent launch"
    " lecture manufacture open participate photograph plant publish purchase qualify record recruit rejoin renovate"
    " repair reside resign restore retrain step suffer swap trade translate"
)
"""Verbs that only the ``said`` rows of ``resources/relations.toml`` use."""
_BEHIND = frozenset(
    """
    about above across after against along among around as at away back before behind beside between beyond by down for
    from in inside into near off on onto out outside over past through to together toward towards under up upon with
    within without
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words that may follow a verb and belong to it."""


def irregular_verbs() -> list[tuple[str, str, str]]:
    """Return the plain form, past and participle of each irregular verb."""
    entries = (entry.split() for line in _IRREGULAR.splitlines() for entry in line.split("|") if entry.strip())
    return [(plain, past, participle) for plain, past, participle in entries]


def third_person(verb: str) -> str:
    """Return the third person of a verb in its plain form: "meet" gives "meets"."""
    if verb in ("have", "be"):
        return "has" if verb == "have" else "is"
    if verb.endswith("y") and verb[-2:-1] not in tuple("aeiou"):
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


def begins_with_verb(words: Sequence[str]) -> bool:
    """Return whether words are a verb in its plain form, alone or with a preposition at the end.

    Otherwise the first word may be a noun, as in "work email" and "head of".
    """
    return bool(words) and words[0] in _known_forms().plain and (len(words) == 1 or words[-1] in _BEHIND)


def is_finite(word: str) -> bool:
    """Return whether a word is a known verb in its third person or its past."""
    return word in _known_forms().finite


class _Forms(NamedTuple):
    plain: frozenset[str]
    finite: frozenset[str]


@cache
def _known_forms() -> _Forms:
    irregular = irregular_verbs()
    regular = [*COMMON.split(), *FURTHER.split()]
    past = {past for plain, past, _ in irregular if past != plain}
    plain = {*regular, *(entry[0] for entry in irregular)} - past  # "found" is mostly of "find"
    thirds = (third_person(verb) for verb in plain)
    pasts = (verb + "d" if verb.endswith("e") else verb + "ed" for verb in regular if not verb.endswith("y"))
    finite = {*thirds, *past, *pasts, *SECOND_FORMS, "is", "was", "has", "studied", "married"}
    return _Forms(frozenset(plain), frozenset(finite))
