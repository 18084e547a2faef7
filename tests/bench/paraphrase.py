"""Paraphrase questions by rules, without a language model, to measure whether lessons carry over to other wordings.

The opening of a question is replaced, clauses change places, "Ann's dog" becomes "the dog of Ann" or the
reverse, and everyday words are replaced by synonyms (`synonyms`). Names (capitalised words, and what stands between two
of them and belongs to them), quotations and numbers stay as they are. The result depends on the question and the seed
only. English only: a question in another language stays as it is.

Two measures say how far a paraphrase differs from its question: the share of the question's words, names left out,
whose lemma the paraphrase lacks (`changed`), and ROUGE-L of the two (Lin 2004, F measure with beta = 1).

**Openings**: "When did Ann go?" becomes "On what date was it that Ann went?". Each rule reads a whole question, in
lower case, whose names are single characters of the private use area, and offers other openings. A verb is inflected
only if it certainly is the verb: after a name or a pronoun, and if the tables of verbs have it. Otherwise "did" stays
in its place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from bench.inflected import inflect
from bench.synonyms import DETERMINERS, agents, replace_synonyms

from mcp_memory.language.tokens import stems
from mcp_memory.rules.facts.grammar import inflection

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


ENOUGH = 0.3
"""Least share of changed words, names left out, for a question to count as paraphrased."""
DRAWS = 12
"""Wordings that are tried for one question; the first with enough changes is taken, else the one with the most."""

# ruff: noqa: SIM905 - a list of words is read as words
_OPENERS = frozenset(
    "what which who whom whose when where why how is are was were do does did has have had can could will would should"
    " in on at for from to of by with during after before since until under the a an if according besides while as"
    " what's who's where's name tell and or through between upon my his her their its our your he she they it i"
    " both out about around over among within approximately".split()
)
_CAPITAL = r"[^\W\d_a-z][^\s,;:?!\"“”]*(?<!'s)(?<!’s)(?<!')"
_NUMBER = r"[^\s,;:?!\"“”]*\d[^\s,;:?!\"“”]*"
_LINK = r"(?:of|the|and|de|da|del|des|la|le|von|van|der|den|du|di|in|on|for|to|at|a|with|by|from|as|&|'s)"
_FIXED = re.compile(r"\"[^\"]+\"|“[^”]+”|‘[^’]+’|(?<!\w)'[^']+'(?!\w)|" + rf"(?<!\w)(?:{_CAPITAL}|{_NUMBER})")
_NO_RELATIVE = frozenset(
    "so it such case true fact idea say reason time way day date year moment and or than as if of in at by from with"
    " about for on to".split()
)
_END = re.compile(r"\s*[?.!]+\s*$")


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """The paraphrase of a question.

    Attributes:
        text: the paraphrase.
        changed: share of the question's words, names left out, that the paraphrase lacks, in [0, 1].
    """

    text: str
    changed: float

    @property
    def enough(self) -> bool:
        """Whether it differs enough from the question to count as another wording."""
        return self.changed >= ENOUGH


def paraphrase(question: str, seed: int = 0) -> Paraphrase:
    """Return a paraphrase of the question; the seed determines it."""
    drawn: list[Paraphrase] = []
    for draw in range(DRAWS):
        text = _draw(question, Random(f"{seed}/{draw}/{question}"))
        drawn.append(Paraphrase(text, changed(question, text)))
        if drawn[-1].enough:
            break
    return max(drawn, key=lambda each: each.changed)


def changed(question: str, text: str) -> float:
    """Return the share of the question's words, names left out, whose lemma the text lacks, in [0, 1]."""
    have = {_lemma(word) for word in _words(text)}
    plain = [word for i, word in enumerate(_words(question)) if not _is_name(word, first=i == 0)]
    return sum(_lemma(word) not in have for word in plain) / len(plain) if plain else 0.0


def _draw(question: str, rng: Random) -> str:
    hidden, names = _hide_names(_END.sub("", question.strip()).replace("’s ", "'s "))
    text = _swap_possessives(_swap_relatives(_swap_agents(_reopen(hidden, rng), rng)))
    text = " ".join(replace_synonyms(text.split(), rng))
    asks = re.search(r"(?:^|, )(?:please |tell me |give me |name whoever )", text) is None
    for place, name in reversed(list(enumerate(names))):
        text = text.replace(chr(0xE000 + place), name)
    return text[:1].upper() + text[1:] + ("?" if asks else ".")


def _hide_names(text: str) -> tuple[str, list[str]]:
    """Return the text in lower case, each name, quotation and number replaced by one character, and the originals."""
    names: list[str] = []

    def hide(found: re.Match[str]) -> str:
        word = found[0]
        if found.start() == 0 and word.lower() in _OPENERS:
            return word.lower()
        names.append(word)
        return chr(0xE000 + len(names) - 1)

    def join(found: re.Match[str]) -> str:
        names.append(found[0])
        return chr(0xE000 + len(names) - 1)

    text = _FIXED.sub(hide, text)
    return re.sub(rf"{NAME}(?:(?:'s)?(?: {_LINK}){{0,3}} {NAME})+", join, text), names


def _reopen(text: str, rng: Random) -> str:
    """Replace the opening; a final clause of time may move to the front, if it can only belong to the main clause."""
    found = re.fullmatch(r"([^,]+?),? ((?:after|before|during|while|when|since) [^,]+)", text)
    if not found or re.search(r"\b(?:who|which|that|whose|and|or|if)\b", found[1].partition(" ")[2]):
        return replace_opening(text, rng)
    return f"{found[2]}, {replace_opening(found[1], rng)}" if rng.random() < 0.6 else replace_opening(text, rng)


def _swap_relatives(text: str) -> str:
    """Swap relative pronouns: "the person who" and "the person that", "the city that" and "the city which"."""
    text = re.sub(r"(?<=[a-z]) (who) (?=[a-z])", " @that ", text)

    def which(found: re.Match[str]) -> str:
        return found[0] if inflection(found[1]) or found[1] in _NO_RELATIVE else f"{found[1]} which"

    text = re.sub(r"\b([a-z]+) that\b", which, text).replace("@that", "that")
    return re.sub(
        r"\b(place|city|town|country|state|county|region|area|continent|year|school) where\b", r"\1 in which", text
    )


def _swap_agents(text: str, rng: Random) -> str:
    """Replace an agent noun by its action: "the author of X" becomes "the person who wrote X"."""
    nouns = "|".join(agents())
    for pattern in (
        rf"\bthe (?P<who>{nouns}) of (?=(?:[a-z]+ ){{0,2}}{NAME}(?!'))",
        rf"(?P<name>{NAME})'s? (?P<who>{nouns})\b(?!')",
    ):
        if (found := re.search(pattern, text)) and rng.random() < 0.75:
            deed = rng.choice(agents()[found["who"]])
            name = f" {found['name']}" if "name" in found.groupdict() else " "
            return text[: found.start()] + deed + name + text[found.end() :]
    return text


_OF = (
    "mother father parents wife husband son daughter brother sister sibling siblings child children grandfather"
    " grandmother uncle aunt cousin spouse nationality birthplace hometown director author writer composer performer"
    " singer producer publisher founder designer creator owner capital population mayor president headquarters employer"
    " birthday career job dog cat pet house home reaction attitude opinion hobby hobbies plan plans goal goals"
    " screenwriter editor manager coach manufacturer developer"
).split()


def _swap_possessives(text: str) -> str:
    """Swap "Ann's dog" and "the dog of Ann", for nouns that allow both and names that nothing follows."""
    nouns = "|".join(_OF)
    if found := re.search(rf"\bthe ({nouns}) of (?:the )?({NAME})(?!'|\w| (?:and|or|of|in|,))", text):
        return f"{text[: found.start()]}{found[2]}'s {found[1]}{text[found.end() :]}"
    if found := re.search(rf"(?<!of )({NAME})'s? ({nouns})\b(?!'| (?:and|or|of)\b)", text):
        return f"{text[: found.start()]}the {found[2]} of {found[1]}{text[found.end() :]}"
    return text


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text)


def _is_name(word: str, *, first: bool) -> bool:
    if any(letter.isdigit() for letter in word):
        return True
    return word[0].isupper() and not (first and word.lower() in _OPENERS)


def _lemma(word: str) -> str:
    """Return the lemma of a word, so that "went" instead of "go" is no change."""
    folded = word.lower()
    if folded in ("is", "are", "was", "were", "be", "been", "being", "am"):
        return "be"
    if folded in ("does", "did", "done"):
        return "do"
    read = inflection(folded)
    found = stems(read.lemma if read else folded.removesuffix("'s"))
    return found[0] if found else folded
