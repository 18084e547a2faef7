"""What evidence lacks of a question's words, as a reply says it (`lacking`).

Recall counts every content word of a question that no candidate contains. Some of these are nothing that evidence could
say: words that only ask ("list", "how old", "right now"). Of others another form stands there ("bought" for "buy",
"quiz" for "quizzes", ``language/forms.py``), or a fact says them in other words: who "moved to Porto" lives there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import relations
from mcp_memory.language.forms import bases
from mcp_memory.language.tokens import STOP_WORDS, stems, words
from mcp_memory.search.words import WordIndex
from mcp_memory.view.space import Space

LONGEST = 1_000
"""Characters of a question that are read."""
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
_ASKING_PHRASE = re.compile(
    r"\bright (?:now|away)\b|\b(?:at|for) the (?:moment|present|minute|time being)\b|\bthese days\b|\bgoing on\b"
    r"|\bhow (?:old|tall|big|large|heavy|deep|wide|high|fast|expensive|soon|early|late|well|bad|serious|sure)\b"
    r"|\bwhat(?:['’]s| is| was) wrong\b|\b(?:take|takes|took|taking) part\b|\blooks? like\b|\bif any\b"
    r"|\b(?:lie|lies|lying) ahead\b|\bsort of\b",
    re.IGNORECASE,
)
"""Turns of phrase that only ask."""


_ABBREVIATION = re.compile(r"\b(?:[^\W\d_]\.){2,}")
FILLERS = tuple(frozenset(words.split()) for words in (
    "der die das den dem des ein eine einen einem einer eines und oder aber ich du er sie es wir ihr mein"
    " meine meinen dein deine sein seine seinen ihre ihren ist sind war waren hat haben hatte hatten wird"
    " werden wurde wo wer was wann wie warum welche welcher welches welchen wen wem nicht kein keine von vom zu"
    " zum zur mit für auf aus bei nach im in am an um über als auch noch mir mich dir dich ihm ihn uns viel"
    " viele",
    "le la les un une des du de et ou où mais je tu il elle nous vous ils elles mon ma mes ton ta tes son sa"
    " ses est sont était a ont avait qui que quoi quand comment pourquoi quel quelle quels quelles ne pas à au"
    " aux avec pour sur dans",
    "el la los las un una y o pero yo él ella mi mis tu tus su sus es son era está están ha han había quién"
    " quien que qué cuándo cuando cuántos cómo como dónde donde cuál no de del a al con para por en sobre",
    "il lo la gli le un uno una e ed ma io tu lui lei noi mio mia suo sua è sono era ha hanno aveva chi che"
    " cosa quando come dove perché quale quanti non di del della a al con per in su",
    "o a os as um uma e ou mas eu ele ela meu minha seu sua é são era está tem quem que quando como onde qual"
    " quantos não de do da com para por em no na",
    "de het een en of maar ik jij je hij zij wij mijn zijn haar is was waren heeft had wie wat wanneer hoe"
    " waar waarom welke niet geen van naar met voor op uit bij hoeveel",
))  # fmt: skip
"""Words without content of German, French, Spanish, Italian, Portuguese and Dutch."""


def fillers(question: str) -> frozenset[str]:
    """Return what of a question says too little to be missing.

    These are the words without content of the languages of which it has more such words than English ones, and the
    letters of its abbreviations ("U.S."), which a text may spell out.
    """
    said = set(question.casefold().replace("?", " ").replace("¿", " ").replace("'", " ").split())
    letters = {letter for one in _ABBREVIATION.findall(question) for letter in one.casefold().split(".")}
    return frozenset(letters).union(*(one for one in FILLERS if len(one & said) > len(STOP_WORDS & said)))


def lacking(space: Space, rows: Sequence[int], uncovered: Sequence[str], question: str) -> list[str]:
    """Return the words that evidence could have said and does not.

    Args:
        space: the space of the evidence.
        rows: the rows of its segments.
        uncovered: words of the question that none of them contains.
        question: the question whose turns of phrase only ask.
    """
    asking = set(words(" ".join(_ASKING_PHRASE.findall(question[:LONGEST])))) if uncovered else set()
    left = [word for word in uncovered if word.casefold() not in ASKING and word.casefold() not in asking]
    return without_other_forms(left, [space.text(space.segments[row]) for row in rows])


def without_other_forms(missing: Sequence[str], texts: Iterable[str]) -> list[str]:
    """Return the words of which no text has another form: not "quizzes" where one tells of a quiz."""
    if not missing:
        return []
    said: dict[str, set[str]] = {}
    for word in {word for text in texts for word in words(text)}:
        said.setdefault(word[0], set()).add(word)

    def stands(word: str) -> bool:
        found = bases(word)
        near = (other for letter in {form[0] for form in found} for other in said.get(letter, ()))
        return any(other[:2] in {form[:2] for form in found} and not found.isdisjoint(bases(other)) for other in near)

    return [word for word in missing if not (known := words(word)) or not all(map(stands, known))]


NEAR = 1
"""Segments before and after one that tells of the thing asked about in which its number may stand: replies."""
_MEASURES = (
    "price cost costs fee fees salary rent wage wages weight size height length number code pin password address email"
    " budget temperature capacity amount total"
)
_ASKS_NUMBER = re.compile(
    r"\bhow (?:much|many)\b|\bwhat (?:did|does|do|will|would)\b[^?]*\b(?:cost|pay|earn|weigh|charge)\b"
    rf"|^\W*what(?:['’]s| is| was| are| were) (?:the|my|our|his|her|their|\S+['’]s?) (?:\w+ )?"
    rf"(?P<measure>{'|'.join(_MEASURES.split())})\b",
    re.IGNORECASE,
)
_NUMBER_WORD = re.compile(
    r"[\d@]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|once"
    r"|twice|half|couple|several|both|no|none|nothing|free|many|few|some|all)\b",
    re.IGNORECASE,
)


def lacks_number(space: Space, query: Query, rows: Sequence[int]) -> bool:
    """Return whether a question asks for a number, and none stands where the evidence tells of the thing asked about.

    A number of another thing is none: "the bandsaw was 310" does not say what the bicycle cost. The name of what is
    measured counts as well ("the password is the name of our street").

    Args:
        space: of the evidence, which is talk.
        query: understood.
        rows: of the segments of the best evidence.
    """
    asked = _ASKS_NUMBER.search(query.text[:LONGEST])
    if asked is None:
        return False
    aside = stems(f"{_MEASURES} much many pay earn weigh charge {' '.join(query.speakers)}")
    about = [stem for stem in query.stems if stem not in aside]
    index, found = space.index(WordIndex), np.array(rows, dtype=np.intp)
    holds = np.logical_or.reduce([index.contains(found, stem) for stem in about]) if about else np.zeros(0)
    telling = found[holds.astype(np.bool_)]
    if not len(telling):
        return False
    measure = bases((asked["measure"] or "").casefold())
    known = set(words(query.text))

    def gives(row: int) -> bool:
        session = space.segment_turn[row].session
        if not any(abs(row - one) <= NEAR and space.segment_turn[one].session == session for one in telling.tolist()):
            return False
        text = space.text(space.segments[row])
        said = any(match[0].casefold() not in known for match in _NUMBER_WORD.finditer(text))
        return said or any(not measure.isdisjoint(bases(word)) for word in words(text))

    return not any(map(gives, rows))


def stated_by_facts(space: Space, query: Query, rows: Sequence[int], uncovered: Sequence[str]) -> frozenset[str]:
    """Return the words that ask for a relation of which the evidence states a fact, "live" where somebody moved.

    Args:
        space: the space of the evidence.
        query: where it asks about one speaker, only facts about that speaker count.
        rows: the rows of the segments that are looked at.
        uncovered: words of the question that none of them contains.
    """
    asking = {word: {*stems(word)} & _asking_stems().keys() for word in uncovered}
    if not any(asking.values()):
        return frozenset()
    person = query.speakers[0].casefold() if len(query.speakers) == 1 else None
    stated = {
        fact.relation
        for row in rows
        for fact in space.facts.assertions_in(space.segments[row].turn_id)
        if not fact.negated and (person is None or fact.head.casefold() == person)
    }
    return frozenset(word for word, found in asking.items() if any(_asking_stems()[stem] & stated for stem in found))


@cache
def _asking_stems() -> dict[str, frozenset[str]]:
    """Return the relations that each word asks for, by its stem."""
    found: dict[str, set[str]] = {}
    for relation in relations():
        for word in relation.asked:
            for stem in stems(word):
                found.setdefault(stem, set()).add(relation.name)
    return {stem: frozenset(names) for stem, names in found.items()}
