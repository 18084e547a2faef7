"""Read the answer to a question as a statement: "Where do you live?" and "In Lyon, since May" say "I live in Lyon".

The question is the last sentence of the message before, by somebody else; the answer is the first sentence of this one,
if it has no clause of its own. Both become one plain sentence in the words of who answers, and that is read like any
other. A question of another form, or an answer that is a clause, yields nothing: clauses are read by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mcp_memory.domain.turns import Turn
from mcp_memory.language.segments import split
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts.clause_reader import read_clauses
from mcp_memory.rules.facts.verbs import inflect, inflection
from mcp_memory.rules.facts.words import split_words

LONGEST_QUESTION, LONGEST_ANSWER = 160, 90
"""Characters; longer ones are no plain question, and no short answer."""
_TAIL = 600
"""Characters at the end of the message before in which its question is looked for."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A question and its answer as one statement.

    Attributes:
        text: the statement, in the words of who answers.
        sentence: index of the sentence that answers.
    """

    text: str
    sentence: int


def answered(turn: Turn, before: Sequence[Turn], sentences: Sequence[tuple[int, int]]) -> Answered | None:
    """Return what a message says by answering the question of the message before; None if it does not.

    Args:
        turn: the turn that may answer.
        before: the last messages before it.
        sentences: the sentences of the turn, as spans in characters.
    """
    if not before or (before[-1].speaker or before[-1].role) == (turn.speaker or turn.role):
        return None
    question = _question(before[-1].text[-_TAIL:])
    for index, (start, end) in enumerate(sentences[:2]) if question else ():
        said = turn.text[start:end].strip()
        if index == 0 and len(sentences) > 1 and _GREETING.fullmatch(said):
            continue
        text = _statement(question, said)
        return Answered(text, index) if text else None
    return None


_GREETING = re.compile(
    r"(?:hey|hi|hello|thanks?|thank you|haha|lol|wow|oh|aw+|good question)\b[^.!?]{0,25}[.!]*", re.IGNORECASE
)
_LEAD = re.compile(
    r"^(?:(?:thanks?|thank you|hey|hi|oh|ah|well|um+|uh|hm+|haha|so|ok(?:ay)?)\b(?:\s[A-Z][a-z]+)?\s?[,!.–—-]+\s*)+",
    re.IGNORECASE,
)
_LEAD_OF_QUESTION = re.compile(
    r"^(?:(?:and|so|but|btw|by the way|oh|anyway|ok|okay|wait|well|hey|just curious|out of curiosity)\b,?\s+)+", re.I
)
_YES = re.compile(
    r"(?:yes|yeah|yep|yup|yea|sure (?:do|am|did|have)|(?:yes,? )?(?:I|we|she|he) (?:do|does|did|am|is|are|have|has)"
    r"|correct|exactly|that['’]s right|indeed)\b[,.!]*\s*"
    r"(?:(?:I|we|she|he) (?:do|does|did|am|is|are|have|has)\b[,.!]*\s*)?",
    re.IGNORECASE,
)
_TIME = re.compile(r"(?:since|for|until|from|in|on|last|next|yesterday|today|tomorrow|this)\b[^,;.!?]{2,40}$", re.I)
_NO_VALUE = re.compile(
    r"(?:no|not|never|none|nothing|nowhere|maybe|perhaps|probably|i|we|he|she|it|they|there|that|this|what|why|how|same"
    r"|depends|dunno|anything|somewhere|something|just|still|soon|later|hopefully|good|great|fine|both|all|you|let)\b",
    re.IGNORECASE,
)
_REST = re.compile(
    r"(?:[,;:(–—]|\s-)\s*(?:(?:mostly|mainly|just|only|easily|definitely)\s*)?(?:$|but|and|which|where|who|so|because|I|we|he|she|it|they|you|that|why|how)\b.*"
)
_NAMED = re.compile(r"^(?:(?:he|she|it)(?:['’]s| is)(?: called)? |(?:his|her|its) name(?:['’]s| is) )", re.IGNORECASE)
_OWNERS = {"you": "I", "your": "my", "yours": "mine", "yourself": "myself", "my": "your", "i": "you", "me": "you"}


def _question(text: str) -> str:
    """Return the question that a text ends with, without its question mark; "" if it ends with none."""
    spans = split(text.rstrip())
    last = text[slice(*spans[-1])].strip() if spans else ""
    last = re.sub(r"[?!]+$", "?", last)
    if not last.endswith("?") or last.count("?") > 1 or len(last) > LONGEST_QUESTION:
        return ""
    return _LEAD_OF_QUESTION.sub("", last[:-1].strip(), count=1)


def _statement(question: str, said: str) -> str:
    """Return question and answer as one sentence, "" if they are of no known form."""
    said = _LEAD.sub("", said, count=1).rstrip(" .!")
    if not said or len(said) > LONGEST_ANSWER or said.endswith("?"):
        return ""
    if (yes := _YES.match(said)) is not None:
        confirmed = _confirmed(question)
        rest = said[yes.end() :].strip(" ,.!")
        if not confirmed or (rest and not _TIME.match(rest)):
            return ""
        return f"{confirmed} {rest}".strip() + "."
    if question.endswith((" called", " name")):
        said = _NAMED.sub("", said)
    said = _REST.sub("", said).strip(" ,")
    if not said or _NO_VALUE.match(said) or inflection(said.split()[0].lower()) or _has_clause(said):
        return ""
    if _PLAIN_START.match(said):
        said = said[0].lower() + said[1:]
    for form, compose in _FORMS:
        if (match := form.fullmatch(question)) is not None:
            composed = compose(match, said)
            return composed + "." if composed else ""
    return ""


def _has_clause(said: str) -> bool:
    return bool(read_clauses(split_words(said, 0, len(said), ()), talk=False))


_WHO = r"(?P<who>you|(?:your|the) (?:[a-z]+ )?[a-z]+(?: [A-Z]\w+)?|he|she|[A-Z]\w+)"
_NOW = r"(?: (?:now|currently|these days|at the moment|nowadays|right now|anyway|again))?"
_NUMBER = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
_PLAIN_START = re.compile(
    rf"(?:in|at|near|on|outside|from|by|close|around|since|for|about|an?|the|my|our|some|both|{_NUMBER})\s",
    re.IGNORECASE,
)
"""What is not the first word of a name at the start of an answer."""
_BARE = re.compile(r"(?:in|at|near|on|outside|from|by|close|around)\s", re.IGNORECASE)


def _own(text: str) -> str:
    """Return words of a question as who answers says them: "your sister" is "my sister"."""
    return " ".join(_OWNERS.get(word.lower(), word) for word in text.split())


def _be(who: str) -> str:
    return "am" if who.lower() == "you" else "is"


def _verb(who: str, lemma: str, auxiliary: str) -> str:
    """Return a verb as it stands without its auxiliary, "did you move": "moved"; "" if it is no verb."""
    found = inflection(lemma)
    if found is None or "plain" not in found.forms:
        return ""
    if auxiliary.lower() == "did":
        return inflect(found.lemma, "past")
    return inflect(found.lemma, "plain" if who.lower() == "you" else "third")


def _home(match: re.Match[str], said: str) -> str:
    verb = _verb(match["who"], match["verb"], match["aux"])
    place = said if _BARE.match(said) else f"{'from' if match['verb'] == 'come' else 'in'} {said}"
    return f"{_own(match['who'])} {verb} {place}" if said[:1].isupper() or _BARE.match(said) else ""


def _from(match: re.Match[str], said: str) -> str:
    how = "from" if match["how"] in ("from", "originally from") else f"{match['how']} in"
    place = re.sub(r"^(?:from|in|at)\s", "", said, flags=re.IGNORECASE)
    return f"{_own(match['who'])} {_be(match['who'])} {how} {place}" if place[:1].isupper() else ""


def _date(match: re.Match[str], said: str) -> str:
    return f"{_own(match['what']).capitalize()} is {said}" if _DATED.search(said) else ""


def _deed_day(match: re.Match[str], said: str) -> str:
    verb = _verb(match["who"], match["verb"], match["aux"])
    rest = _own(match["rest"] or "")
    return f"{_own(match['who'])} {verb} {rest} {said}".replace("  ", " ") if verb and _DATED.search(said) else ""


def _doing_day(match: re.Match[str], said: str) -> str:
    told = f"{_own(match['who'])} {_be(match['who'])} {_own(match['rest'])} {said}"
    return told if _DATED.search(said) else ""


def _allergy(match: re.Match[str], said: str) -> str:
    return f"{_own(match['who'])} {_be(match['who'])} {match['what']} {said[0].lower()}{said[1:]}"


def _name(match: re.Match[str], said: str) -> str:
    named = (match["of"] or match["named"]) and re.fullmatch(r"[A-Z]\w+(?: [A-Z]\w+)?(?: and [A-Z]\w+)?", said)
    return f"{_own(match['who'])} is called {said}" if named else ""


def _age(match: re.Match[str], said: str) -> str:
    years = re.match(rf"(?:about |nearly |almost )?(\d{{1,2}}|{_NUMBER})\b(?! (?:months|weeks))", said, re.IGNORECASE)
    return f"{_own(match['who'])} {_be(match['who'])} {years[1].lower()} years old" if years else ""


def _job(match: re.Match[str], said: str) -> str:
    return f"{_own(match['who'])} {_be(match['who'])} {said}" if re.match(r"(?:an?|the) ", said) else ""


def _relative(match: re.Match[str], said: str) -> str:
    return f"{match['who']} is {said}" if re.match(r"(?:my|our) ", said, re.IGNORECASE) else ""


def _since(match: re.Match[str], said: str) -> str:
    span = re.match(r"(?:since |for |about |almost |nearly |over )*(.*)", said, re.IGNORECASE)
    if span is None or not _DATED.search(said):
        return ""
    how = "since" if said.lower().startswith("since") else "for"
    return f"I have {match['what']} {how} {span[1]}"


def _object(match: re.Match[str], said: str) -> str:
    verb = _verb(match["who"], match["verb"], match["aux"])
    return f"{_own(match['who'])} {verb} {said}"


def _amount(match: re.Match[str], said: str) -> str:
    if re.match(r"(?:about |around |only |just )?[€$£]?\d", said) is None:
        return ""
    what = _own(match["what"])
    return f"I pay {said} for {what}" if match.groupdict().get("paid") else f"{what} is {said}"


def _own_thing(match: re.Match[str], said: str) -> str:
    named = said[:1].isupper() or said[:1].isdecimal() or match["what"].startswith(("favourite ", "favorite "))
    return f"my {match['what']} is {said}" if named else ""


def _possessions(match: re.Match[str], said: str) -> str:
    if match["what"].lower() == "allergies":
        return f"I am allergic to {re.sub('^(?:just|only) ', '', said)}" if said[:1].islower() else ""
    return f"I have {said}" if re.match(rf"(?:an?|{_NUMBER}|\d) ", said) else ""


def _went(match: re.Match[str], said: str) -> str:
    verb, place = _verb(match["who"], match["verb"], "did"), re.sub(r"^(?:to|in|at)\s", "", said)
    how = "in" if match["verb"].lower().startswith(("stud", "grow", "work", "live", "stay")) else "to"
    return (
        f"{_own(match['who'])} {verb} {match['up'] or ''} {how} {place}".replace("  ", " ")
        if place[:1].isupper()
        else ""
    )


def _did_to(match: re.Match[str], said: str) -> str:
    return f"{_own(match['who'])} {_verb(match['who'], match['verb'], 'did')} {said}"


def _doing(match: re.Match[str], said: str) -> str:
    return f"{_own(match['who'])} {_be(match['who'])} {match['verb']} {said}"


def _used(match: re.Match[str], said: str) -> str:
    tool = said.split(",")[0]
    return f"we use {tool} for {match['what']}" if tool[:1].isupper() else ""


def _owner(match: re.Match[str], said: str) -> str:
    who = re.match(r"(?:(?P<me>me)\b|(?P<name>[A-Z][\w-]+)\b)(?=$|,| (?:does|is|has|took|for now))", said)
    if who is None or match["how"] not in ("has", "takes", "does"):
        return f"Owner of {match['what']}: {'me' if who['me'] else who['name']}" if who else ""
    return f"I have {match['what']}" if who["me"] else f"{who['name']} {match['how']} {match['what']}"


_DATED = re.compile(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|tomorrow"
    r"|next|years?|months?|weeks?|last",
    re.IGNORECASE,
)
_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], str], str]], ...] = tuple(
    (re.compile(form, re.IGNORECASE), compose)
    for form, compose in (
        (rf"where (?P<aux>do|does|did) {_WHO} (?P<verb>live|work|study|come)(?: from)?{_NOW}", _home),
        (rf"where(?: are| is|['’]s|['’]re) {_WHO} (?P<how>(?:originally )?from|based|living|working){_NOW}", _from),
        (
            rf"when(?: are| is|['’]s|['’]re) (?!the ){_WHO} "
            r"(?P<rest>(?!wedding|meeting|training|hearing|reading|viewing|evening)[a-z]{2,}ing(?: [^,;]{1,40})?)",
            _doing_day,
        ),
        (r"when(?:['’]s| is) (?P<what>(?:your|the) [a-z][a-z ]{2,30})", _date),
        (rf"when (?P<aux>do|does|did) {_WHO} (?P<verb>[a-z]+)(?P<rest> [^,;]{{1,40}})?", _deed_day),
        (rf"what(?: are| is|['’]s|['’]re) {_WHO} (?P<what>(?:allergic|intolerant) to)", _allergy),
        (r"who(?:['’]s| is) your (?P<what>(?!favou?rite)[a-z]+(?: [a-z]+)?)", _own_thing),
        (rf"what(?:['’]s| is) your (?P<what>(?!.*\b(?:name|called)\b)[a-z]+(?: [a-z]+)?){_NOW}", _own_thing),
        (rf"what(?:['’]s| is) (?P<of>the name of )?{_WHO}(?<! called)(?P<named>['’]s name| called)?", _name),
        (r"(?:do you have|have you got|got|you got) any (?P<what>pets|kids|children|siblings|allergies)", _possessions),
        (rf"how much(?:['’]s| is| are) (?P<what>your (?:[a-z]+ )?[a-z]+){_NOW}", _amount),
        (rf"how much do (?P<paid>you pay) for (?P<what>(?:your|the) (?:[a-z]+ )?[a-z]+){_NOW}", _amount),
        (rf"where did {_WHO} (?P<verb>go|move|study|grow|travel|fly|live|stay)(?P<up> up)?"
         r"(?: (?:on holiday|to|before))?", _went),
        (rf"what did {_WHO} (?P<verb>buy|order|adopt|study|sell|win)", _did_to),
        (rf"what(?: are| is|['’]s|['’]re) {_WHO} (?P<verb>studying|learning|training for|allergic to){_NOW}", _doing),
        (
            r"what (?:are|do|will|should) we (?:doing|using|use|do|running|run) (?:for|as) "
            r"(?P<what>(?:the |our )?[a-z]+(?: [a-z]+)?)",
            _used,
        ),
        (
            r"who(?:['’]s| is)? (?P<how>has|owns|takes|does|handles|owning|on|looks after|looking after|takes care of"
            r"|responsible for) (?P<what>the [a-z][a-z -]{2,40})",
            _owner,
        ),
        (rf"how old (?:is|are) {_WHO}{_NOW}", _age),
        (rf"what (?:do|does) {_WHO} do(?: for (?:a living|work))?{_NOW}", _job),
        (r"who(?:['’]s| is) (?P<who>[A-Z]\w+)", _relative),
        (r"(?:how long|since when) have you (?P<what>(?:been |had |lived |worked |known |played )[^,;]{0,60})", _since),
        (
            rf"(?:what|which)(?: [a-z]+){{0,3}} (?P<aux>do|does) {_WHO} "
            r"(?P<verb>play|speak|drive|use|study|teach|have|own|take|ride)",
            _object,
        ),
    )
)  # fmt: skip
_POLAR = re.compile(
    rf"(?P<aux>do|does|did|are|is|have|has|were|was) {_WHO} (?P<rest>[^,;]{{3,80}})", re.IGNORECASE
)  # fmt: skip
_UNTOLD = word_set(
    "think feel want like need remember know mean mind believe see hear ever enjoy have plan hope any anything up ok"
    " okay sure ready going excited happy able free proud serious there it that this them him her"
)
"""Words of polar questions whose "yes" tells nothing to keep, or that point at something."""


def _confirmed(question: str) -> str:
    """Return the statement that "yes" to a question makes, "" if it is of no known form."""
    match = _POLAR.fullmatch(question)
    if match is None or not _UNTOLD.isdisjoint(match["rest"].lower().split()) or " or " in match["rest"]:
        return ""
    who, auxiliary, (first, *others) = match["who"], match["aux"].lower(), match["rest"].split()
    if auxiliary in ("do", "does", "did"):
        still = ["still"] if first == "still" else []
        first, others = (others[0], others[1:]) if still and others else (first, others)
        verb = _verb(who, first, auxiliary)
        return " ".join((_own(who), *still, verb, _own(" ".join(others)))).strip() if verb and others else ""
    being = _be(who) if auxiliary in ("are", "is") else auxiliary
    return f"{_own(who)} {being} {_own(match['rest'])}"
