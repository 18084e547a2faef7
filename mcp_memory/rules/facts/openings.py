"""Read the openings of encyclopaedia articles by their fixed form: "X (4 May 1950 – 3 June 2001) was a Danish poet".

Such openings state more than their clauses: dates in the bracket behind the name, nationality, year and class behind
"is", credits in participles, places in a chain of commas. A later sentence is read in the same way if it goes on about
the subject with "he", "she", "it", "the film" and the like. Paths through documents (REAL §3.3) follow these facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, FOREVER, StatedTime
from mcp_memory.domain.turns import Turn
from mcp_memory.language.iso import years
from mcp_memory.language.stated import stated_times
from mcp_memory.language.vocabulary import DEMONYMS, word_set
from mcp_memory.rules.facts.claims import make_assertion
from mcp_memory.rules.facts.modality import PLAIN
from mcp_memory.rules.facts.tables import nouns
from mcp_memory.rules.facts.validity import Validity

SENTENCES = 5
"""Sentences of a document that are read."""
LONGEST = 1_000
"""Characters of a sentence that are read."""
_CREDITS = {
    **dict.fromkeys(("directed", "co-directed"), "directed_by"),
    **dict.fromkeys(("written", "co-written", "penned", "authored", "scripted"), "written_by"),
    **dict.fromkeys(("produced", "co-produced"), "produced_by"),
    **dict.fromkeys(("composed", "scored"), "composed_by"),
    **dict.fromkeys(("performed", "sung", "recorded"), "performed_by"),
    **dict.fromkeys(("published", "distributed", "released", "issued"), "published_by"),
    **dict.fromkeys(("founded", "co-founded", "established", "formed"), "founded_by"),
    "created": "created_by",
}
"""Participles before "by", and the relation of a work or a company to its maker."""
_PARTS = {
    **dict.fromkeys(("music", "score", "soundtrack", "songs"), "composed_by"),
    **dict.fromkeys(("screenplay", "script", "story", "libretto", "lyrics"), "written_by"),
    **dict.fromkeys(("film", "movie", "series"), "directed_by"),
    **dict.fromkeys(("novel", "book", "play", "poem", "stories"), "written_by"),
    **dict.fromkeys(("song", "single", "album", "ep"), "performed_by"),
    **dict.fromkeys(("opera", "symphony", "concerto", "ballet"), "composed_by"),
    **dict.fromkeys(("painting", "sculpture"), "created_by"),
}
"""Works and parts of works before "by"."""
_OFFICE = re.compile(r"\sof\s(?:the\s)?[^\W\d_a-z]")
_KIN = {
    **dict.fromkeys(("son", "daughter", "child"), "child_of"),
    **dict.fromkeys(("mother", "father"), "parent_of"),
    **dict.fromkeys(("brother", "sister"), "sibling_of"),
    **dict.fromkeys(("wife", "husband", "widow", "consort"), "married_to"),
}
_WORKS = nouns.WORKS | _PARTS.keys() | nouns.ARTICLE_WORKS
_PEOPLE = nouns.ROLES | nouns.ARTICLE_PEOPLE
_BODIES = nouns.COMPANIES | nouns.CLUBS | nouns.SCHOOLS | word_set("duo label airline channel network brand")
_PLACES = nouns.PLACES | nouns.ARTICLE_PLACES
_UPPER = r"(?:[^\W\d_a-z](?:\.|(?!\w))|(?:St|Dr|Jr|Sr)\.|[^\W\d_a-z][\w'’-]*\w)"
_PARTICLE = re.compile(r"of|the|de|del|della|di|da|du|la|le|von|van|der|den|al|bin|ibn|y|e|and|a|an|in|or|to|for|on")
_PARTICLES = r"(?:(?:of|the|de|del|della|di|da|du|la|le|von|van|der|den|al|bin|ibn|y|e)\s){0,2}"
_STYLE = r",\s(?:\d\d?\w\w\s)?(?:Duke|Duchess|Count|Countess|Earl|King|Queen|Prince|Princess|Baron|Marquess|Lord)"
_NAME = re.compile(rf"{_UPPER}(?:(?:{_STYLE})?\s{_PARTICLES}{_UPPER}){{0,7}}")
_BEFORE_NAME = re.compile(r"(?:(?:the|an?|in|(?!\w+(?:ing|ed|en)\b)[a-z-]{3,20})\s){0,4}")
_AND = re.compile(r",\s(?:and\s)?|\s(?:and|&)\s")
_BRACKET = re.compile(r"\([^()]{0,300}\)")
_COPULA = re.compile(r"[ ,](?:is|was|are|were)\s(?:(?:an?|the|one of the)\s)?")
_PREDICATE = re.compile(
    r"(?:(?!by|from|in|of|for|who|whom|whose|which|that|based|set|located|situated|with|at|on|to|about|where|released"
    r"|published|produced|made|featuring|starring|directed|written|known|born|currently|as|performed|recorded|created"
    r"|founded|established|developed|composed|best|is|was|active|during|between|since|serving|playing)"
    r"[\w'’./-]+(?:,?\s|(?=[,.;])))+"
)
_YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")
_BY = re.compile(
    rf"\b(?P<verbs>(?:{'|'.join(_CREDITS)})(?:(?:,\s(?:and\s)?|\sand\s|\s&\s)[a-z-]{{3,12}}){{0,3}})\sby\s"
)
_PART_BY = re.compile(rf"\b(?P<part>{'|'.join(_PARTS)})\s(?:(?:was|is)\s)?(?:composed\s|written\s)?by\s")
_STARS = re.compile(r"\b(?:starring|featuring|stars|starred)\s(?:an\sensemble\scast\sof\s)?")
_NESTED = re.compile(
    r"\b(?:sequel|prequel|adaptation|remake|version|inspired|based|spin-off|adapted|cover)\s[^,]{0,80}$"
)
_OUT = re.compile(
    r"\b(?P<what>released|published|premiered|aired|founded|established|formed)\s(?:\w+\s){0,3}?(?:on|in)\s"
)
_BORN = re.compile(r"\b[Bb]orn\b(?:\s(?:in|at|on)\s|\s|,\s)")
_RELATIVE = re.compile(rf"\b(?P<kin>{'|'.join(_KIN)})\sof\s")
_ALSO = re.compile(r"\b(?:known\s(?:professionally\s|simply\s)?as|nicknamed|née|né|aka)\s[\"“]?")
_CLASSES = ("is_a", "works_as")
_GOES_ON = re.compile(
    r"(?:(?P<person>He|She|Born)|It|The\s(?:film|song|album|novel|book|series|company|band|club|music))\s(?=[a-z])"
)
_DASH = re.compile(r"\s?[–—−]\s?|\s-\s|\bdied\b|†")


class _Fact(NamedTuple):
    relation: str
    start: int
    end: int
    time: StatedTime | None = None


def merge_openings(
    turn: Turn, sentences: Sequence[tuple[int, int]], times: Sequence[Sequence[StatedTime]], read: list[Assertion]
) -> list[Assertion]:
    """Return the assertions of the general rules together with those of the opening, without duplicates.

    Args:
        turn: the document, or a message, which has no opening.
        sentences: spans of its sentences, in characters.
        times: the stated times of each sentence.
        read: the assertions of the general rules.
    """
    stated = {_key(one.head, one.relation, one.tail): one for one in opening_assertions(turn, sentences, times)}
    classes = [(one.sentence, one.tail) for one in stated.values() if one.relation in _CLASSES]

    def is_new(one: Assertion) -> bool:
        inverse = relations().get(one.relation).inverse or ""
        if {_key(one.head, one.relation, one.tail), _key(one.tail, inverse, one.head)} & stated.keys():
            return False
        known = any(sentence == one.sentence and tail in one.tail for sentence, tail in classes)
        return not (one.relation in _CLASSES and known)  # "1958 comedy film" holds "comedy film"

    return [*stated.values(), *(one for one in read if one.negated or is_new(one))]


def opening_assertions(
    turn: Turn, sentences: Sequence[tuple[int, int]], times: Sequence[Sequence[StatedTime]]
) -> list[Assertion]:
    """Return the assertions of the opening of a document; none for a message, or where it does not open with its title.

    Args:
        turn: the document.
        sentences: spans of its sentences, in characters.
        times: the stated times of each sentence.
    """
    if turn.kind != "document" or not turn.title or not sentences:
        return []
    about = " ".join(_BRACKET.sub("", turn.title).split(": ")[0].split())
    found = (_assertion(turn, about, index, fact) for index, fact in _facts(turn.text, about, sentences, times))
    return [one for one in found if one is not None]


def _key(head: str, relation: str, tail: str) -> tuple[str, str, str]:
    return entity_key(head), relation, entity_key(tail)


def _assertion(turn: Turn, about: str, index: int, fact: _Fact) -> Assertion | None:
    tail, time = " ".join(turn.text[fact.start : fact.end].split()), fact.time
    if not tail or entity_key(about) == entity_key(tail):
        return None
    since = time.since if time else BEGINNING if turn.local_said_at is None else turn.local_time
    until = time.until if time and relations().get(fact.relation).event else FOREVER
    triple, validity = (about, fact.relation, tail), Validity(since, until, time is not None)
    return make_assertion(turn, index, (fact.start, fact.end), triple, validity, "TEMPORAL" if time else "FACT", PLAIN)


def _facts(
    whole: str, about: str, sentences: Sequence[tuple[int, int]], times: Sequence[Sequence[StatedTime]]
) -> Iterator[tuple[int, _Fact]]:
    """Yield the facts of the first sentences, each with the index of its sentence."""
    start, end = sentences[0]
    end = min(end, start + LONGEST)
    text = _BRACKET.sub(lambda found: " " * len(found[0]), whole[: sentences[:SENTENCES][-1][1]])
    copula = _COPULA.search(text, start, min(end, start + 400))
    stop = copula.start() if copula else end
    name = text[start:stop].split(",")[0].split("   ")[0].strip(' "“”')
    known = {*entity_key(about).split()}
    if not {word for word in known if len(word) > 2} & {*entity_key(name).split()} or not _is_name(name, known):
        return
    after = start + text[start:stop].index(name) + len(name)
    what = _PREDICATE.match(text, copula.end(), end) if copula else None
    kind, classes = _classes(text, what) if what else ("", [])
    brackets = [one for one in _BRACKET.finditer(whole, after, stop + 1) if _YEAR.search(one[0])]
    born = any(_BORN.search(one[0]) for one in brackets) or _RELATIVE.search(text, stop, min(end, stop + 60))
    person = kind == "person" or bool(not kind and born)
    found = list(_life(whole, brackets[0].start() + 1, brackets[0].end() - 1)) if brackets and person else []
    if person and len(entity_key(name)) > len(entity_key(about)):
        found.append(_Fact("also_known_as", after - len(name), after))
    for also in _ALSO.finditer(whole, after, stop):
        found += _named("also_known_as", whole, also.end(), stop)
    if what is not None and kind:
        found += _predicate(text, what, kind, classes)
    yield from ((0, fact) for fact in found)
    for index, (start, end) in enumerate(sentences[:SENTENCES]):
        goes_on = _GOES_ON.match(text, start, end) if index else None
        if not index or (goes_on and bool(goes_on["person"]) == person):
            last = min(end, start + LONGEST)
            first = after if not index else start
            read = _person(text, first, last, times[index]) if person else _thing(text, first, last, times[index], kind)
            yield from ((index, fact) for fact in read)


def _is_name(written: str, known: set[str]) -> bool:
    """Return whether the words before the verb are a name: capitalised, of the title, or particles between them."""
    words = written.split()
    return all(
        not word[0].islower() or word.lower().strip(".,") in known or _PARTICLE.fullmatch(word) for word in words
    )


def _classes(text: str, what: re.Match[str]) -> tuple[str, list[tuple[int, int]]]:
    """Return the kind of a predicate by its first known noun, and the spans of its classes: "poet and critic"."""
    kind, spans, first = "", list[tuple[int, int]](), what.start()
    for part in re.finditer(r"[^,]+?(?=,\s|\sand\s|\s?$|/)", what[0].rstrip(" .")):
        words = part[0].lower().removeprefix(" and").split()
        head = next((one for word in words[:-4:-1] if (one := _kind(word.rpartition("-")[2]))), "")
        if not head or (kind and head != kind):
            continue
        kind, end = head, what.start() + part.end()
        if "," in text[first:end]:  # "folk hero, soldier": nobody knows the first of them
            first = what.start() + part.start()
        begins = [n for n in re.finditer(r"[\w'’./-]+", text[first:end]) if not _is_before_class(n[0])]
        if begins:
            spans.append((first + begins[0].start(), end))
        first = end
    return kind, spans


def _is_before_class(word: str) -> bool:
    return word.lower() in DEMONYMS or word in ("and", "former", "retired", "late") or bool(_YEAR.fullmatch(word))


def _kind(word: str) -> str:
    kinds = (("work", _WORKS), ("person", _PEOPLE), ("place", _PLACES), ("body", _BODIES))
    if (kind := next((kind for kind, words in kinds if word in words), "")) or not word.endswith(nouns.ROLE_ENDINGS):
        return kind
    return "person"


def _predicate(text: str, what: re.Match[str], kind: str, classes: Sequence[tuple[int, int]]) -> Iterator[_Fact]:
    """Yield classes, nationalities and the year of "is a 1958 American comedy film"."""
    for number, (start, end) in enumerate(classes[:4]):
        if kind != "person" or not _OFFICE.match(text, end):  # the general rules read "Bishop of Harn" whole
            yield _Fact("works_as" if kind == "person" and not number else "is_a", start, end)
    for word in re.finditer(r"(?:South\s|North\s|New\s)?[^\W\d_a-z]\w+", what[0]):
        if word[0].lower() in DEMONYMS and kind != "place":
            relation = "nationality" if kind == "person" else "comes_from"
            yield _Fact(relation, what.start() + word.start(), what.start() + word.end())
    if kind == "work" and (year := _YEAR.match(what[0])):
        since, until = years(int(year[0]))
        start, end = what.start(), what.start() + 4
        yield _Fact("released_on", start, end, StatedTime(start, end, since, until, "year", False))


def _life(text: str, start: int, end: int) -> Iterator[_Fact]:
    """Yield birth and death from a bracket: "(born 4 May 1950, Ottenau – 3 June 2001)"."""
    dash = _DASH.search(text, start, end)
    sides = [("born", start, dash.start() if dash else end), *([("died", dash.end(), end)] if dash else [])]
    start += text[start] == " "
    if not (dash or _BORN.search(text, start, end)):
        return
    for what, first, last in sides:
        time = next((one for one in stated_times(text, None, first, last) if not one.relative), None)
        if time is None or not _YEAR.search(text, time.start, time.end):
            continue
        circa = re.search(r"\b(?:c\.|ca\.|circa)\s?$", text[first : time.start])
        yield _Fact(f"{what}_on", first + circa.start() if circa else time.start, time.end, time)
        lead = re.compile(r"(?:\sin\s|,\s(?:in\s)?)").match(text, time.end, last)
        for place in _named(f"{what}_in", text, lead.end(), last, most=1) if lead else ():
            yield place._replace(time=time)


def _person(text: str, start: int, end: int, times: Sequence[StatedTime]) -> Iterator[_Fact]:
    """Yield birth and relatives from a sentence about a person."""
    if born := _BORN.search(text, start, min(end, start + 80)):
        time = next((one for one in times if one.start <= born.end() + 3 and one.end > born.end()), None)
        if time is not None and not time.relative:
            yield _Fact("born_on", time.start, time.end, time)
        place = re.compile(r"(?:\s(?:in|at)\s|,\s)").match(text, time.end, end) if time else None
        if place or born[0].endswith((" in ", " at ")):
            yield from _named("born_in", text, place.end() if place else born.end(), end, most=1)
    told = set[str]()
    for kin in _RELATIVE.finditer(text, start, end):
        relation = _KIN[kin["kin"]]
        if relation not in told:
            told.add(relation)
            yield from _named(relation, text, kin.end(), end, most=2)


def _thing(text: str, start: int, end: int, times: Sequence[StatedTime], kind: str) -> Iterator[_Fact]:
    """Yield the makers and the date of a work, the founders and the founding of anything else."""
    for by in _BY.finditer(text, start, end):
        made = [_CREDITS[word] for word in re.findall(r"[a-z-]+", by["verbs"]) if word in _CREDITS]
        for relation in made if not _NESTED.search(text, start, by.start()) else ():
            if (relation == "founded_by") == (kind not in ("work", "")):
                yield from _named(relation, text, by.end(), end)
    if kind == "work":
        for part in _PART_BY.finditer(text, start, end):
            if not _NESTED.search(text, start, part.start()):
                yield from _named(_PARTS[part["part"]], text, part.end(), end)
        if stars := _STARS.search(text, start, end):
            yield from _named("stars", text, stars.end(), end, most=12)
    out = _OUT.search(text, start, end)
    time = next((one for one in times if out and one.start - 4 <= out.end() <= one.end), None)
    if out and time and not time.relative:
        founded = out["what"] in ("founded", "established", "formed")
        if founded == (kind != "work"):
            yield _Fact("founded_on" if founded else "released_on", time.start, time.end, time)


def _named(relation: str, text: str, start: int, end: int, most: int = 5) -> Iterator[_Fact]:
    """Yield the names of a list behind a word, "the Danish poet Ada Moor, Tom Gale and others" has two."""
    for _ in range(2 * most):
        lead = _BEFORE_NAME.match(text, start, end)
        name = _NAME.match(text, lead.end() if lead else start, end)
        if name is None or not most:
            return
        behind = text[name.end() : name.end() + 2]
        if name[0].lower() in DEMONYMS and behind[:1] in (" ", "-") and behind[1:].islower():
            start = name.end() + 1  # "the Danish poet": the name comes later
            continue
        yield _Fact(relation, *name.span())
        following, most = _AND.match(text, name.end(), end), most - 1
        if following is None:
            return
        start = following.end()
