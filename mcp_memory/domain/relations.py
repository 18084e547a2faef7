"""The registry of relations: cardinality, event or state, inverse, wording, how each is said; verbs and their forms.

``resources/relations.toml`` holds one table for each relation. The rows of ``said`` are read where facts are read from
text (``rules/facts/rows.py``). Its cardinality, one value at a time (single) or several (multi), decides how versions
are folded (REAL §3.2). Counterfactual navigation uses inverse, symmetric, implies and antonym (REAL §3.4, DESIGN D37).
A relation outside the registry has *unknown* cardinality: it behaves as multi until the assertions suggest otherwise
(``domain/facts.py``).

The tables of verbs recognise verbs where facts are read, and inflect a relation that the registry does not have, of
which only the name is known.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from mcp_memory.heap import text_cache
from mcp_memory.texts import resource

Cardinality = Literal["single", "multi", "unknown"]
RelationKind = Literal["state", "event"]
DID = "did"
"""The relation of what happened and has no relation of its own; its tail is the whole phrase, "took a course"."""
DATED = frozenset(("scheduled_for", "due_on", "starts_on", "ends_on"))
"""The relations whose tail is a date; what is said as "next week" is given in the words of the calendar."""
EntityType = Literal["person", "organisation", "place", "time", "number", "thing"]

_PARTS = re.compile(r"[\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Relation:
    """A kind of fact.

    Attributes:
        name: in lower case, words joined by ``_``.
        label: wording between head and tail, "lives in".
        cardinality: number of values at one time.
        kind: a state lasts ("lives in"), an event happens at a time ("visited").
        inverse: relation that states the same from tail to head.
        symmetric: whether it is its own inverse.
        implies: relations that it makes likely between the same entities.
        antonym: relation that it excludes.
        passing: whether a value is right only when it is told, as an age is: it is never certain.
        last_told: whether of several values the one told last counts, whatever their times ("the meeting is moved to
            the 5th"), and not the one that starts last.
        head: usual type of its head, or None.
        tail: usual type of its tail, or None.
        asked: words by which a question asks for it, in their base form.
        question: question for its tail, "Where does {head} live?"; may be empty.
        said: the rows of how it is said, see ``rules/facts/rows.py``.
        third_person: wording "meets" for a label that is a bare verb, "meet"; otherwise empty.
    """

    name: str
    label: str
    cardinality: Cardinality = "unknown"
    kind: RelationKind = "state"
    inverse: str | None = None
    symmetric: bool = False
    implies: tuple[str, ...] = ()
    antonym: str | None = None
    passing: bool = False
    last_told: bool = False
    head: EntityType | None = None
    tail: EntityType | None = None
    asked: tuple[str, ...] = ()
    question: str = ""
    said: tuple[str, ...] = ()
    third_person: str = ""

    @property
    def event(self) -> bool:
        """Whether it happens at a time rather than lasting."""
        return self.kind == "event"


class Registry:
    """Known relations, found by any of their names."""

    def __init__(self, text: str) -> None:
        """Read the registry from TOML.

        Raises:
            ValueError: the text is not TOML, or a table is not a relation.
        """
        self._known: dict[str, Relation] = {}
        self._names: dict[str, str] = {}
        for name, table in tomllib.loads(text).items():
            also = table.pop("also", [])
            try:
                known = Relation(
                    name, table.pop("label", name.replace("_", " ")), **{k: _frozen(v) for k, v in table.items()}
                )
            except TypeError as error:
                raise ValueError(f"relation {name!r}: {error}") from error
            self._known[name] = known
            for other in (name, *also):
                if self._names.setdefault(other, name) != name:
                    raise ValueError(f"relation name {other!r} stands for both {self._names[other]!r} and {name!r}")

    def __iter__(self) -> Iterator[Relation]:
        return iter(self._known.values())

    def name(self, written: str) -> str:
        """Return the canonical name of a relation written in any form: "livesIn", "Lives in", "resides_in"."""
        plain = "_".join(part for part in _PARTS.split(_HUMP.sub("_", unicodedata.normalize("NFKC", written))) if part)
        plain = plain.casefold()
        return self._names.get(plain, plain)

    def get(self, name: str) -> Relation:
        """Return a relation by its name; outside the registry its cardinality is unknown.

        Names that start with ``favourite_`` or ``current_`` are single.
        """
        return self._known.get(name) or _unlisted_relation(name)


@cache
def relations() -> Registry:
    """Return the registry that ships with the project."""
    return Registry(resource("relations.toml"))


def is_told_of_things(name: str) -> bool:
    """Return whether a relation is mostly told of things by their common nouns: "the rate limit", "the check-up"."""
    return name == "uses" or relations().get(name).head == "thing"


@text_cache(4_096)
def _unlisted_relation(name: str) -> Relation:
    label = name.replace("_", " ")
    if name.startswith(("favourite_", "current_")):
        return Relation(name, f"has as {label}", "single", asked=tuple(label.split()))
    words = label.split()
    wording = " ".join((third_person(words[0]), *words[1:])) if begins_with_verb(words) else ""
    return Relation(name, label, asked=tuple(words), third_person=wording)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


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
    " lecture manufacture open participate perform photograph plant publish purchase qualify record recruit rejoin"
    " renovate repair reside resign restore retrain step suffer swap trade translate"
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
    return bool(words) and words[0] in _plain_forms() and (len(words) == 1 or words[-1] in _BEHIND)


@cache
def _plain_forms() -> frozenset[str]:
    irregular = irregular_verbs()
    past = {past for plain, past, _ in irregular if past != plain}
    verbs = {*COMMON.split(), *FURTHER.split(), *(entry[0] for entry in irregular)}
    return frozenset(verbs - past)  # "found" is mostly of "find"
