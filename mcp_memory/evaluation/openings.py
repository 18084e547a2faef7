"""Replace the opening of a question: "When did Ann go?" becomes "On what date was it that Ann went?".

Each rule reads a whole question, in lower case, whose names are single characters of the private use area
(`paraphrase`), and offers other openings. A verb is inflected only if it certainly is the verb: after a name or a
pronoun, and if the tables of verbs have it. Otherwise "did" stays in its place.
"""

from __future__ import annotations

import re
from random import Random

from mcp_memory.evaluation.synonyms import DETERMINERS
from mcp_memory.rules.facts.verbs import inflect, inflection

Match = re.Match[str]
NAME = "[\ue000-\uf8ff]"
SUBJECT = rf"{NAME}(?:'s? (?!(?:and|or|favou?rite|first|new|old|own|last|main)\b)[a-z]+)?|he|she|they|i|you|we"
ADVERB = r"(?:(?P<adverb>ever|first|originally|recently|initially|finally|usually|often|both) )?"
DO = rf"(?P<do>did|does|do) (?P<who>{SUBJECT}) {ADVERB}(?P<verb>[a-z]+)\b(?P<rest>.*)"
BE = rf"(?P<be>is|was|are|were|has|have|had|will|would|could|can) (?P<who>{SUBJECT}) (?P<rest>.+)"
_AUXILIARY = "is|are|was|were|has|have|had|will|would|can|could|does|do|did|should|might|may"
NOUN = rf"(?:(?!(?:{_AUXILIARY})\b)[a-z]+)(?: (?!(?:{_AUXILIARY})\b)[a-z]+){{0,3}}"
# For questions whose subject and verb are known; {c} is "ann went home".
CLAUSES: tuple[tuple[str, str], ...] = (
    ("when", "on what date was it that {c}|at which point in time was it that {c}|tell me the date on which {c}"),
    ("where", "in which place was it that {c}|tell me the place in which {c}|at which location was it that {c}"),
    ("why", "what was the reason that {c}|for what reason was it that {c}|tell me the reason for which {c}"),
    ("what|which thing", "tell me the thing that {c}|could you say which thing {c}"),
    ("how", "in what way was it that {c}|tell me the way in which {c}"),
    ("how long", "for what length of time was it that {c}|tell me the length of time for which {c}"),
    ("how often", "with what frequency was it that {c}|tell me the frequency with which {c}"),
    (rf"(?:what|which) (?P<noun>{NOUN})", "tell me the {noun} that {c}|could you name the {noun} that {c}"),
    (rf"how many (?P<noun>{NOUN})", "tell me the number of {noun} that {c}|what is the number of {noun} that {c}"),
    (rf"(?P<in>in|on|at|for|to|from) (?:what|which) (?P<noun>{NOUN})", "tell me the {noun} {in} which {c}"),
)

# For any other question: only the opening.
PLAIN: tuple[tuple[str, str], ...] = (
    (
        r"when (?:is|was) (?=the (?:inception|beginning|end|death|birth|formation|start|founding|opening)\b)",
        "tell me the date of |what is the date of ",
    ),
    (
        r"who (?:is|was) (?=the [a-z]|@'s\b|his\b|her\b)",
        "tell me the identity of |give me the name of |could you name ",
    ),
    (r"who (?:are|were) (?=the\b|@'s\b)", "tell me the names of |could you name "),
    (r"who (?=did |does |do )", "which person or group "),
    (r"who (?=(?:is|are|was|were) )", "which person or group "),
    (r"whom? (?=\w+)", "tell me the name of whoever |name whoever "),
    (
        r"what's |what (?:is|was|are|were) (?=(?:the [a-z]|@'s|his\b|her\b|their\b|its\b))",
        "tell me |could you tell me |please state ",
    ),
    (r"(?:what|which) year (?=\w)", "in which year |during what year "),
    (r"in (?:what|which) year (?=\w)", "in which calendar year |during what year "),
    (r"when (?=\w)", "at what time |on what date |at which point in time "),
    (r"where (?=(?:did|does|do|is|was|are|were|has|have) (?!.* (?:from|to)$))", "in which place |at which location "),
    (r"where (?=.* (?:from|to)$)", "which place "),
    (r"why (?=\w)", "for what reason "),
    (r"how many (?=\w)", "what number of "),
    (r"how much (?=\w)", "what amount of "),
    (r"how old (?=\w)", "what age "),
    (r"how often (?=\w)", "with what frequency "),
    (r"how long (?=(?:did|does|do|has|have|had|was|were) )", "for what length of time "),
    (r"how (?=(?:did|does|do|is|are|was|were|has|have|can|could) )", "in what way "),
    (r"what (?=(?:did|does|do) )", "which thing "),
    (rf"what (?!(?:{_AUXILIARY})\b)(?=[a-z]+ )", "which "),
    (rf"which (?!(?:{_AUXILIARY})\b)(?=[a-z]+ )", "what "),
    (r"what (?=(?:is|was|are|were) (?!@))", "tell me what "),
    (r"(?P<p>in|on|at|for|to|from|of|by|with) (?:what) (?=[a-z]+ )", "{p} which "),
    (r"(?P<p>in|on|at|for|to|from|of|by|with) (?:which) (?=[a-z]+ )", "{p} what "),
)


def replace_opening(question: str, rng: Random) -> str:
    """Return the question with another opening, without a final mark; unchanged if no rule matches it."""
    for rule in (_reopen_feeling, _reopen_yes_no, _reopen_clause, _reopen_choice, _reopen_plain):
        if found := rule(question, rng):
            return found
    return question


def _reopen_clause(question: str, rng: Random) -> str | None:
    for asked, ways in CLAUSES:
        if (found := re.fullmatch(rf"(?:{asked}) {DO}", question)) and (clause := _statement_of_do(found)):
            named, past = found, found["do"] == "did"
        elif found := re.fullmatch(
            rf"(?:{asked}) (?P<do>did|does) (?P<rest>(?:the|his|her|their|its|a|an) .+)", question
        ):
            named, past = found, found["do"] == "did"
            if (clause := _statement(found["rest"].split(), past=past)) is None:
                continue
        elif found := re.fullmatch(rf"(?:{asked}) {BE}", question):
            if not re.match(
                r"(?:[a-z]+ly |also |already |still )?[a-z]+(?:ing|ed|en|ne)\b|born\b|been\b|able\b|be\b", found["rest"]
            ):
                continue
            named, past, clause = found, False, f"{found['who']} {found['be']} {found['rest']}"
        else:
            continue
        way = rng.choice(ways.split("|"))
        if not past:
            way = way.replace("was it that", "is it that").replace("was the", "is the")
        return way.format(c=clause, **_noun_groups(named))
    return None


def _statement(words: list[str], *, past: bool) -> str | None:
    """Return the statement of a clause with a longer subject; None unless exactly one of its words can be the verb.

    Args:
        words: subject, plain verb and the rest.
        past: whether the question has "did"; otherwise it has "does".
    """
    places = []
    for i, word in enumerate(words[1:], 1):
        read = inflection(word)
        if read is not None and read.lemma == word and "plain" in read.forms and words[i - 1] not in DETERMINERS:
            places.append(i)
    if len(places) != 1 or places[0] < 2 or words[places[0] - 1] in ("and", "or", "to", "who", "that", "which"):
        return None
    place = places[0]
    return " ".join((*words[:place], inflect(words[place], "past" if past else "third"), *words[place + 1 :]))


def _statement_of_do(found: Match) -> str | None:
    """Return the statement of a question with "do"; None if its verb is unknown."""
    verb, do = found["verb"], found["do"]
    read = inflection(verb)
    if verb not in ("have", "do", "be") and (read is None or "plain" not in read.forms):
        return None
    plural = found["who"] in ("they", "i", "you", "we") or do == "do"
    inflected = inflect(verb, "past" if do == "did" else "plain" if plural else "third")
    adverb = f"{found['adverb']} " if found["adverb"] else ""
    return f"{found['who']} {adverb}{inflected}{found['rest']}"


def _reopen_feeling(question: str, rng: Random) -> str | None:
    if not (found := re.fullmatch(rf"how (?P<do>did|does|do) (?P<who>{SUBJECT}) feel\b(?P<rest>.*)", question)):
        return None
    have = inflect("have", "past" if found["do"] == "did" else "third" if found["do"] == "does" else "plain")
    way = rng.choice(("tell me the feelings that {who} {have}{rest}", "which emotions {do} {who} have{rest}"))
    return way.format(have=have, **found.groupdict())


def _reopen_yes_no(question: str, rng: Random) -> str | None:
    """Put a yes-or-no question into the word order of a statement, if its subject is unambiguous."""
    both = rf"{NAME}(?: (?:and|or) {NAME})?|he|she|they"
    way = rng.choice(("is it true that {c}", "is it the case that {c}", "would it be right to say that {c}"))
    if found := re.fullmatch(rf"(?P<be>is|was|are|were|has|have|had|will|can) (?P<who>{both}) (?P<rest>.+)", question):
        return way.format(c=f"{found['who']} {found['be']} {found['rest']}")
    if (found := re.fullmatch(DO, question)) and (clause := _statement_of_do(found)):
        return way.format(c=clause)
    return None


def _reopen_choice(question: str, rng: Random) -> str | None:
    """Move the two alternatives to the front: "Of A and B, which is older?"."""
    found = re.fullmatch(rf"(?P<ask>(?:which|who|what|whose)\b[^,]*), (?P<a>{NAME}),? or (?P<b>{NAME})", question)
    if not found:
        return None
    ask = _reopen_plain(found["ask"], rng) or found["ask"]
    if ask.split()[0] not in ("which", "what", "who"):
        ask = found["ask"]
    front = rng.choice(("of {a} and {b}", "out of {a} and {b}", "if you compare {a} with {b}"))
    return f"{front.format(**found.groupdict())}, {ask}"


_HANGING = re.compile(r" (?:of|after|in|from|for|to|with|by|as|called|on|at|named|known|about|like|instance of .*)$")


def _reopen_plain(question: str, rng: Random) -> str | None:
    for asked, ways in PLAIN:
        found = re.match(asked.replace("@", NAME), question)
        if not found or (found[0] in ("what ", "which ") and _finite(question.split()[1])):
            continue
        if not (_HANGING.search(question) and re.match(r"wh(?:o|at) (?:is|was|are|were) |what's ", found[0])):
            way = rng.choice(ways.split("|"))
            return way.format(**found.groupdict()) + question[found.end() :]
    return None


def _finite(word: str) -> bool:
    read = inflection(word)
    return read is not None and bool(read.forms & {"past", "third"})


def _noun_groups(found: Match) -> dict[str, str]:
    return {name: text for name, text in found.groupdict().items() if name in ("noun", "in") and text}
