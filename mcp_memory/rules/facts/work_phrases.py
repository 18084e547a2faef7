"""The pieces of a note about work: its parts between commas, the thing that a part is about, and what it doubts.

Notes have no grammar to speak of ("staging: port 8081, owner Ilka"), so that each part between commas, dashes and
brackets is matched by its form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from mcp_memory.domain.times import StatedTime
from mcp_memory.language.iso import MONTHS, WEEKDAYS
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.verbs import inflection

WorkEffect = Literal["state", "begin", "end", "event", "planned"]
SURE, HEDGED = 0.95, 0.65
GUESSED = 0.5
"""Factor of the confidence of a reason: fewer than half of those read were those of the decision before them."""


@dataclass(frozen=True, slots=True)
class WorkFact:
    """A fact that a part of a sentence states.

    Attributes:
        head: what it is about.
        relation: its name.
        tail: its value.
        start: first character of the stating words within the text.
        end: first character after them.
        effect: ``state`` holds, ``begin`` from the time of the part on, ``end`` is denied from then on, ``event``.
        confidence: in (0, 1].
    """

    head: str
    relation: str
    tail: str
    start: int
    end: int
    effect: WorkEffect = "state"
    confidence: float = SURE


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a sentence between commas, dashes or brackets.

    Attributes:
        text: without words that only lead in.
        start: the start of it, in characters of the text.
        topic: what stands before a colon ("billing: …"), or "".
        sure: confidence of what it states; 0 for a question, wish, condition or proposal.
        work: whether its message is about work by its words.
    """

    text: str
    start: int
    topic: str
    sure: float
    work: bool = True

    @property
    def end(self) -> int:
        """First character after it."""
        return self.start + len(self.text)


_BREAK = re.compile(
    r"[,;](?=\s)|\s[-–—]{1,2}\s|\s\((?=\S)|\)(?=[\s.,;:!?]|$)|[.!?](?=\s|$)|\n|\s(?=(?:and|but)(?:\s(?!\d)|,))"
    r"|\s(?=so\s(?:we|[iI])\s)|[•]"
    r"|\s?->\s(?=Fix)",
)
_LEAD = re.compile(
    r"(?:[-*•>]\s|\(?\d{1,2}[.)]\s|(?:btw|fyi|actually|also|ok(?:ay)?|so|and|but|well|note(?: to self)?|remember"
    r"|reminder"
    r"|heads[ -]up|update|info|for the record|just|oh|hey|hi|hello|morning|from now on|as of now|now|currently"
    r"|anyway|then"
    r"|plus|ps|tl;?dr|done|sorry|correction|yes|no(?=[,:!.])|yeah|yep|nope|great|thanks|thx|good|cool|nice|right"
    r"|turns out|it turns out"
    r"|by the way|decision|decided|quick one|all|everyone|team|folks|unrelated|forgot|to be clear|so far"
    r"|in the end|finally"
    r"|guys|that|for now|agreed|settled|confirmed|important)\b[,:!.]?\s)",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"(?P<topic>[A-Za-z][\w./@-]{0,30}(?:\s[\w./@-]{1,30}){0,2}):\s(?=\S)")
_NO_TOPIC = word_set(
    "update news question ps note reminder remember edit fact tip warning verdict result conclusion plan todo"
    " problem answer"
    " next fix cause decisions decision example e.g. notes proposal idea goal issue title subject context"
    " background rumour"
    " http https action items agenda"
)
_UNSURE = re.compile(
    r"\b(?:would|wouldn['’]t|could|couldn['’]t|should|shouldn['’]t|might|(?-i:may)|maybe|perhaps|if|unless"
    r"|hopefully|hope|wish"
    r"|let['’]?s|lets|propos(?:e|al|ing)|suggest\w*|what\sabout|how\sabout|thinking\s(?:of|about)|consider(?:ing)?"
    r"|want\w*"
    r"|going\sto|gonna|plan(?:ning|ned)?\sto|need(?:s|ed)?\sto|trying\sto|e\.g\.?|for\sexample|for\sinstance"
    r"|supposed\sto"
    r"|i['’]d|we['’]d|you['’]d|they['’]d|imagine|in\stheory|can\s(?:we|i|you|someone|somebody)|(?:do|does"
    r"|did)\s(?:we|i|you|it)|is\sit"
    r"|please|pls|rumou?r|rather|ideally|feel\sfree|why|who|whether|when|what|how|which|where|aim\w*|target\w*"
    r"|goal|wants"
    r"|like\sto|love\sto|promised|wrongly|falsely|mistakenly|incorrectly|sounds\slike|instead\sof\sthe\splanned|tried|or)\b",
    re.IGNORECASE,
)
_ASKED_BACK = re.compile(
    r",?\s(?:right|correct|no|yes|true|(?:is|are|was|were|do|does|did|has|have)n['’]t\s\w+)\s?\?", re.IGNORECASE
)
"""What makes a question of the part before it: "the port is 80, right?"."""
SUPPOSED = re.compile(
    r"(?:the\s|our\s|my\s)?(?:draft|proposed|proposal|assumption|assumed|hypothesis|hypothetical|expected|desired|wanted"
    r"|option|variant|alternative|suggestion|suggested|idea)\b",
    re.IGNORECASE,
)
"""What opens a part that only supposes or proposes: "proposed limit: 5 MB", "option A: use NATS"."""
_TAKEN_BACK = re.compile(
    r"\W{1,3}(?:correction\b|(?:scratch|strike)\sthat\b|no,?\swait\b|or\srather\b|(?:no|wait|sorry),|i\smean\b|wrong\b)",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:i\s(?:think|guess|believe|suppose|assume)|probably|afaik|iirc|apparently|supposedly|roughly|ish"
    r"|not\ssure|around"
    r"|about\s\d|~)\b|~\d",
    re.IGNORECASE,
)
_DOUBT_OPENING = re.compile(r"(?:i\s(?:think|guess|believe|suppose|assume)|probably|afaik|iirc|apparently)\b,?\s", re.I)


def parts(text: str, start: int, end: int, times: Sequence[StatedTime] = (), *, work: bool = True) -> Iterator[Part]:
    """Yield the parts of a sentence in order, with the topic that they share.

    Args:
        text: the text of the turn.
        start: first character of the sentence.
        end: first character after it.
        work: whether the text is about work by its words.
        times: stated in it; one at the start of a part is skipped ("from 1 May …").
    """
    topic, index = "", start
    for match in [*_BREAK.finditer(text, start, end), None]:
        stop = match.start() if match else end
        mark = match[0].strip() if match else ""
        first, inner = _skip_lead(text, index, stop, times), text[index:stop]
        if match:
            index = match.end()
        piece = text[first:stop].rstrip()
        if not piece:
            continue
        asked = mark == "?" or piece.endswith("?") or _ASKED_BACK.match(text, stop, end)
        sure = 0.0 if asked or _UNSURE.search(inner) or _TAKEN_BACK.match(text, stop, end) else SURE
        if sure and _DOUBT.search(inner):
            sure = HEDGED
        if opening := _DOUBT_OPENING.match(piece):
            first, piece = first + opening.end(), piece[opening.end() :]
        if SUPPOSED.match(piece):
            sure = 0.0
        yield Part(piece, first, topic, sure, work)
        if (colon := _TOPIC.match(piece)) and colon["topic"].lower() not in _NO_TOPIC and thing(colon["topic"]):
            topic = thing(colon["topic"])
            inner_start = _skip_lead(text, first + colon.end(), first + len(piece))
            yield Part(text[inner_start : first + len(piece)], inner_start, topic, sure, work)
        elif mark in (".", "!", "?"):
            topic = ""


def _skip_lead(text: str, start: int, stop: int, times: Sequence[StatedTime] = ()) -> int:
    while start < stop and text[start].isspace():
        start += 1
    while (match := _LEAD.match(text, start, stop)) and match.end() < stop:
        start = match.end()
        while start < stop and text[start].isspace():
            start += 1
    for time in times:
        if (
            time.end < stop
            and not text[start : time.start]
            .strip(" ,")
            .lower()
            .removesuffix("from")
            .removesuffix("since")
            .removesuffix("on")
            .removesuffix("as of")
            .strip()
            and start <= time.start
        ):
            return _skip_lead(text, time.end + text[time.end : stop].startswith(","), stop)
    return start


_DETERMINER = re.compile(
    r"(?:the|our|a|an|this|my|all(?:\sof)?(?:\sour|\sthe)?|its|their|new|some)\s(?=\S)", re.IGNORECASE
)
_NO_THING = (
    closed.AUXILIARIES
    | closed.WH
    | closed.CONDITIONS
    | (closed.SUBORDINATORS - {"as"})
    | (closed.EMPTY - word_set("half time times kind sort one rest all each every"))
    | closed.NEGATIONS
    | word_set(
        "i we you he she it they me us him them i'm we're you're it's that's there's i've we've let's there here"
        " just so"
        " my your his her their mine yours ok yes no please thanks hi hello hey see look check read use run set get got"
        " make made find found think know want need try tried keep kept put take took go goes went come came give gave"
        " tell told ask asked say said says saw seen looks seems feels means stays remains happens happened"
        " thinks thought believes believed claims claimed"
        " look at fix add adds added only already still also even then or using"
    )
)
_ACTS = frozenset(("check", "run", "set", "fix"))
"""Verbs that name a thing as the last of its words, "health check"."""
_TIME_WORDS = frozenset(name.lower() for name in (*MONTHS, *WEEKDAYS)) | word_set(
    "today tomorrow yesterday now tonight"
)
_NO_LAST = closed.PREPOSITIONS | closed.CONJUNCTIONS | _TIME_WORDS
_RELEASE = re.compile(r"v?\d+(?:\.\d+){1,3}")
_WORD = re.compile(r"[^\s]+")


def thing(text: str) -> str:
    """Return the name of the thing that a phrase of up to seven words describes, without its article, or "".

    A phrase with a pronoun, a verb of everyday talk, a question word or a negation describes none.
    """
    text = text.strip().strip("\"'`*_").rstrip(",.:")
    while match := _DETERMINER.match(text):
        text = text[match.end() :]
    if text.lower() in closed.DETERMINERS:
        return ""
    if _RELEASE.fullmatch(text):
        return text
    words = [word.strip("`*\"'“”").lower() for word in _WORD.findall(text)]
    named = words[:-1] if len(words) > 1 and words[-1] in _ACTS else words
    if not 0 < len(words) <= 7 or any(word in _NO_THING or word.endswith(("n't", "n’t")) for word in named):
        return ""
    first = inflection(words[0])
    if (
        first is not None
        and len(words) > 1
        and "participle" in first.forms
        and words[1] in closed.PREPOSITIONS | {"the", "a", "our", "my"}
    ):
        return ""  # "published on our index"
    if words[-1] in _NO_LAST or words[0] in closed.PREPOSITIONS:
        return ""
    if (
        not any(letter.isalpha() for letter in text)
        or len(text) > 70
        or re.search(r"[{}=<>;()\[\]$\\|]", text.replace("->", ""))
    ):
        return ""
    return text.replace("`", "")


HEAD = r"(?P<head>[\w`./@#<>'’&+-]{1,40}(?:\s[\w`./@#>'’&+-]{1,40}){0,6}?)"
IS = r"(?:\s(?:is|are|will\sbe|stays(?:\sat)?|remains)|['’]s(?:\sbeen)?|\s(?:has|have)\sbeen|\s?[:=]|\s?(?:->|→))"
NOW = (
    r"(?:\s(?:now|currently|still|set\sto|set\sat|at|about|around|only|exactly|back\sto|always|roughly|actually|just))*"
)
REST = (
    r"(?P<rest>\s(?:now|again|everywhere|instead|each|max|min|at\sthe\smoment|(?:in|for|on|at|since|by|per|because|so"
    r"|as|until|with|behind|last|this|next|yesterday|today"
    r"|still|from|,|after|before|when)\b.{0,80}))?"
)
PRONOUNS = word_set("it that this he she they i we you")
PLAIN_VERBS = word_set(
    "listen implement add create ensure optimize handle provide write edit open click put save show start stop"
)


def owned(head: str, part: Part, speaker: str) -> str:
    """Return a thing with its owner and its topic: "my rent" is the speaker's; "billing: timeout is …" billing's."""
    name = thing(head)
    if not name or name.lower() in PRONOUNS:
        return ""
    if re.match(r"my\s", head, re.I):
        return f"{speaker}'s {name}"
    return (
        f"{part.topic} {name}"
        if part.topic
        and part.topic.lower() not in name.lower()
        and not part.text.lower().startswith(part.topic.lower())
        else name
    )


def fact_of(part: Part, head: str, relation: str, tail: str, effect: str = "state") -> WorkFact:
    """Return a fact that a part states."""
    return WorkFact(head, relation, tail, part.start, part.end, effect, part.sure)  # type: ignore[arg-type]  # a WorkEffect


def unquoted(text: str) -> str:
    """Return a value without back-ticks."""
    return text.strip("`").strip()
