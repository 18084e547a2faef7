"""Events without a relation of their own: what somebody did, as a whole phrase, "took a dog grooming course".

Only what a person did is kept: a clause in the past that is asserted and positive, with a person as its subject, a verb
of action and a complement that means something by itself. The phrase goes from the verb to the end of its clause,
without times and adverbs. A phrase that cannot be read to its end is left out rather than cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from mcp_memory.domain.relations import DID
from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.claims import Claim
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.noun_phrases import OMITTED, NounPhrase
from mcp_memory.rules.facts.tables import closed, nouns
from mcp_memory.rules.facts.tables.nouns import PETS
from mcp_memory.rules.facts.tails import is_companion_s, is_cut_list, purpose_ends
from mcp_memory.rules.facts.undergone import (
    CONFIDENCE,
    OWN,
    deeds_alone,
    habits_ended,
    is_announced,
    undergone_claims,
)
from mcp_memory.rules.facts.verbs import inflect, inflection

LONGEST = 20
"""Words of a phrase."""
_SILENT = word_set(
    "accept add admire affect agree allow amaze announce answer appear appreciate argue ask assume be become"
    " begin believe bet blame bond boost bore bring call capture care catch cause change chat check cherish chill"
    " choose claim close come comment concern connect consider continue cost crack cry deal decide deem"
    " demonstrate deny depend describe deserve die disagree discuss do doubt dream drink eat email embody embrace"
    " enable encourage end enjoy excuse expect experience explain explore express face fall fascinate feature feel"
    " figure find fit focus force forget fuel gain get give go grant ground grow guess handle hang happen hate"
    " have heal hear help hit hold hope hug hurt imagine impress improve include increase insist inspire intend"
    " interest involve joke keep kill know last laugh lead learn leave let lie lighten like listen live look love make"
    " manage mark matter mean mention mesmerise mesmerize message mind miss motivate need note notice offer"
    " overcome overwhelm owe pay pick plan please point pour prefer promise prove provide pump push put question"
    " rain reach read ring realise realize recommend reduce reflect refuse regard relate relax rely remain remember"
    " return remind reply report represent require respect respond rest reveal rock savor savour say scare see seem"
    " serve set share show signify sit sleep smell smile sneeze snow sound spark stand start state stay stop strike"
    " struggle stumble suggest suit support suppose surprise symbolise symbolize take talk taste tell tend text"
    " thank think thrill throw touch treasure trust try turn understand unplug unwind use value visualise"
    " visualize wait wake want warm watch wish wonder work worry"
)
"""Verbs that tell nothing to keep: of thought, speech, feeling, being and having, and those with too many meanings."""
_TELL_WITH_A_DATE = word_set("fall give hit lose meet miss pay read teach watch")
"""Verbs of `_SILENT` that tell an event where its time is said: "fell off a ladder last week"."""
_LIGHT = {
    "take": word_set("course class classes lesson lessons exam test trip tour cruise workshop photo photos"
                     " photograph photographs boat ferry train bus"),
    "go": word_set("camping hiking fishing skiing swimming climbing kayaking surfing sailing cycling shopping"
                   " snorkeling snorkelling diving canoeing bowling dancing skating snowboarding rafting"
                    " biking riding hunting birdwatching stargazing"),
    "give": word_set("birth speech talk lecture presentation concert"),
    "make": word_set("reservation appointment"),
    "have": word_set("twins puppies kittens"
                     " surgery operation baby appointment interview procedure attack stroke accident crash fall"
                     " miscarriage biopsy scan mri x-ray check-up checkup transplant breakdown concussion c-section"
                     " jab vaccine vaccination booster lesson"),
    "get": word_set("tattoo piercing promotion raise passport licence license certificate certification degree diploma"
                    " haircut vaccine vaccination scholarship visa glasses braces keys offer stitches jab loan mortgage"
                    " grant permit job"),
    "start": word_set("job class school university college kindergarten nursery degree internship apprenticeship"
                      " placement chemo chemotherapy therapy physio training treatment course lessons classes"),
    "begin": word_set("degree internship apprenticeship placement chemo chemotherapy therapy training treatment lessons"
                      " classes"),
    "hurt": word_set("back knee ankle shoulder wrist neck foot leg arm elbow hip finger thumb toe"),
    "put": word_set("deposit offer fence roof"),
    "find": word_set("bug leak job flat apartment house room internship apprenticeship nanny lump"),
    "leave": word_set("job home church"),
    "set": word_set("record"),
    "lead": word_set("workshop tour hike class expedition"),
    "see": word_set("doctor dentist specialist therapist vet neurologist surgeon gp consultant physio midwife dr"
                    " optician solicitor lawyer accountant counsellor concert musical play show film movie exhibition"
                    " shower eclipse aurora comet whales dolphins"),
    "do": word_set("event race marathon triathlon piece painting workshop performance course tour show gig exam test"),
}  # fmt: skip
"""Verbs that mean something with these objects only."""
_OUTINGS = word_set("hike walk run jog ride swim stroll trek ramble safari cruise climb paddle")
"""What people go on or go for, in the singular."""
_PHRASAL = frozenset((
    ("give", "up"), ("take", "up"), ("take", "on"), ("set", "up"), ("pick", "up"), ("turn", "down"), ("call", "off"),
    ("take", "over"), ("take", "apart"), ("put", "up"), ("put", "in"), ("pay", "off"), ("have", "out"), ("get", "into"),
    ("put", "for"), ("turn", "off"),
))  # fmt: skip
"""Verbs of `_SILENT` that mean something with these prepositions."""
_HABITS = word_set("always often usually sometimes never regularly frequently occasionally rarely seldom") | {
    "all the time", "every day", "every week", "every weekend", "every year", "every month", "every evening",
    "every morning", "every night", "every summer", "every winter", "all my life", "all his life", "all her life",
    "for years", "for ages", "every time",
}  # fmt: skip
"""Adverbs of what is no single event."""
_CLAUSE_ENDS = re.compile(
    r"\s*(?:$|[.,;:!?()\[\]\"“”*—–-]|[^\w\s]|(?:and|but|so|or|because|cause|since|when|while|before|after|until|till|which"
    r"|tho|btw|lol|lmao|haha|tbh|who|where|that|as|then|to|though|although|last|this|every|yesterday|today|in|on|at|during|again|already|together"
    r"|recently|lately|too|once|twice|ago|back|for|it|I|we|he|she|by|with|just|now|here|there|instead|both|all|using|covering|including|containing|\w+ed\sby)\b)",
    re.IGNORECASE,
)
"""What may follow a phrase that has been read to its end."""
_SOME_TIME = re.compile(
    r"\s(?:a|an|the|last|two|three|four|five|six|few|couple|some|many|several|of)(?:\s(?:few|couple|of|past|last))*"
    r"\s(?:minutes?|hours?|days?|nights?|weeks?|months?|years?)(?:\s(?:ago|back|before))?$"
)
"""A time at the end of a phrase that no expression of time matches: "a few weeks (ago)"."""
_WORD = re.compile(r"[\w'’-]+$")
_POINTING = word_set("it this that these those them they there here one ones him her you your something anything"
                     " everything everyone someone thing things stuff what i we he she")  # fmt: skip


def did_claims(clause: Clause, text: str) -> Iterator[Claim]:
    """Yield what a clause says that somebody did.

    Args:
        clause: the clause of a message; no row of the relation table fits it.
        text: the text of the whole turn.
    """
    verb = clause.verb
    is_action = is_announced(clause, text) or (
        verb.tense in ("past", "perfect") and not (verb.unreal or verb.used_to or verb.progressive)
    )
    is_action = is_action and not (verb.negated or verb.passive or clause.confidence < 1)
    yield from undergone_claims(clause, text)
    if verb.phase == "end" and is_action:
        yield from habits_ended(clause, text)
        return
    is_action = is_action and not clause.adverbs & _HABITS
    if not is_action or clause.parsed or len(clause.subject) > 2:
        return
    if all(slot.preposition and _is_date(slot.nouns[0]) for slot in clause.slots):
        yield from deeds_alone(clause)
        return
    if not all(kinds.is_human(subject) for subject in clause.subject) or not _tells_something(clause, text):
        return
    before = text[max(0, clause.start - 60) : clause.start]
    if _GUESS.search(before) or _LINKED.search(before):
        return
    if clause.slots[0].preposition and clause.subject[0].common != OMITTED and _RELATIVE.search(before):
        return
    phrase = next(filter(None, (_phrase(clause, text, end) for end in _ends(clause, text))), "")
    if clause.subject[0].common == OMITTED and "-" in phrase.split(" ")[0]:
        return  # "Self-employed carpenter": no verb
    if phrase and not _is_participle(clause, phrase):
        for subject in clause.subject:
            yield Claim(subject, DID, phrase, "event", None, clause.end, False, CONFIDENCE)


def _is_participle(clause: Clause, phrase: str) -> bool:
    """Return whether a phrase may be a participle before its noun: "carved oak", "guaranteed income"."""
    told = clause.subject[0].pronoun and clause.subject[0].common != OMITTED and clause.times
    if told or any(map(str.isdigit, phrase)):
        return False  # "I donated blood on Monday", "tagged v0.8.0"
    obj = clause.slots[0]
    noun = obj.nouns[0]
    bare = not (obj.preposition or noun.determiner or noun.owner or noun.named or noun.plural or noun.quoted)
    return bare and len(phrase.split()) == 2 and clause.verb.lemma not in _LIGHT


def whole_deeds(clause: Clause, claims: Sequence[Claim], text: str) -> Iterator[Claim]:
    """Yield claims, with the whole phrase in place of a bare thing that somebody visited or attended.

    "Had a picnic with friends from church" and "took the kids to the museum" say more than that somebody attended a
    picnic or visited a museum, and a thing without a name leads to nothing else. What has a name stays a relation.

    Args:
        clause: the clause of a message.
        claims: the claims of the clause.
        text: the text of the whole turn.
    """
    verb = clause.verb
    bare = [claim for claim in claims if _is_bare_visit(claim)]
    done = verb.tense in ("past", "perfect") and not (verb.negated or verb.unreal or verb.passive or verb.progressive)
    phrase = ""
    if bare and done and verb.phase != "end" and clause.confidence >= 1 and clause.slots and not clause.parsed:
        phrase = next(filter(None, (_phrase(clause, text, end) for end in _ends(clause, text))), "")
    for claim in claims:
        if not phrase or claim not in bare:
            yield claim
        elif claim.head in clause.subject:  # "went to a concert with Ann" is told of the subject only
            yield replace(claim, relation=DID, tail=phrase, confidence=CONFIDENCE)


def _is_bare_visit(claim: Claim) -> bool:
    tail = claim.tail
    return (
        claim.relation in ("attended", "visited") and isinstance(tail, NounPhrase) and not (tail.named or tail.quoted)
    )


def _tells_something(clause: Clause, text: str) -> bool:
    """Return whether the verb is an action and one of its phrases means something by itself."""
    lemma, phrases = clause.verb.lemma, [noun for slot in clause.slots for noun in slot.nouns]
    if (told := _is_outing(clause)) is not None:
        return told
    if lemma == "go" and clause.slots[0].preposition in ("on", "for"):
        outing = clause.slots[0].nouns[0]
        return outing.head in _OUTINGS and outing.determiner in ("a", "an", "our", "") and not outing.uncertain
    if lemma == "run" and "out" in clause.particles:
        return False  # "ran out of milk"
    if lemma == "meet" and not clause.slots[0].preposition and phrases[0].named and kinds.is_human(phrases[0]):
        return clause.slots[-1].preposition in ("at", "through") and not phrases[-1].pronoun
    if lemma == "give" and clause.particles == ("birth",):
        return True
    if lemma == "do" and clause.times and phrases[0].name and not clause.slots[0].preposition and not clause.particles:
        return phrases[0].determiner in ("the", "")  # "I'm doing the Cleveland Way in May"
    if lemma in _LIGHT and not clause.particles and (lemma, clause.slots[0].preposition) not in _PHRASAL:
        first = clause.slots[0].nouns[0]
        if clause.slots[0].preposition or not {first.head, *first.text.lower().split()} & _LIGHT[lemma]:
            return False
        return not any(noun.uncertain or noun.pronoun for noun in phrases)
    if lemma == "pay" and not clause.slots[0].preposition and any(map(str.isdecimal, phrases[0].text)):
        return any(slot.preposition == "for" and _is_informative(slot.nouns[0], own=False) for slot in clause.slots)
    apart = _APART.match(text, clause.slots[0].end)  # "picked the car up"
    phrasal = (lemma, clause.slots[0].preposition or (apart[1] if apart else "")) in _PHRASAL
    dated = bool(clause.times) and lemma in _TELL_WITH_A_DATE
    if (lemma in _SILENT and not (phrasal or dated)) or clause.verb.phase == "begin" or len(lemma) < 3:
        return False
    if any(noun.uncertain for noun in phrases):
        return False
    obj = clause.slots[0]
    if (lemma, obj.preposition) in _JOBS and obj.nouns[0].head == "job":
        return obj.nouns[0].determiner != "this"
    if not obj.preposition and " " not in obj.nouns[0].text and kinds.ends_in_number_word(obj.nouns[0]):
        return False  # "ordered six"
    own = not clause.subject[0].pronoun or clause.subject[0].pronoun in ("he", "she")
    if not obj.preposition and not all(_is_informative(noun, own) for noun in obj.nouns):
        return False
    return any(_is_informative(noun, own) for noun in phrases)


_JOBS = frozenset((("lose", ""), ("quit", ""), ("apply", "for")))
_GOOD_TIMES = word_set("time blast fun ball")
_TRIPS = word_set("trip tour cruise expedition retreat safari pilgrimage")


def _is_outing(clause: Clause) -> bool | None:
    """Return whether a verb of little meaning tells where somebody was, or of help; None for any other verb.

    Examples: "had a blast at the jazz festival", "took the kids fishing", "went on a sailing trip".
    """
    lemma, first, behind = clause.verb.lemma, clause.slots[0], clause.slots[1:]
    noun = first.nouns[0]
    if lemma == "volunteer":
        return not (noun.pronoun or noun.uncertain)
    if lemma == "go" and first.preposition == "on" and noun.head in _TRIPS:
        return noun.determiner in ("a", "an", "another", "our", "my") and " " in noun.text and not noun.uncertain
    if first.preposition or not behind or len(first.nouns) > 1:
        return None
    after = behind[0].nouns[0]
    if lemma == "have" and noun.head in _GOOD_TIMES:
        venue = after.head in nouns.EVENTS | nouns.VENUES or kinds.fits(after, "trip")
        return venue and behind[0].preposition in ("at", "on") and after.head != noun.head
    being = kinds.is_human(noun) or noun.head.removesuffix("s") in RELATIVES.keys() | PETS
    if lemma == "take" and being and (noun.owner or noun.determiner == "the"):
        return not behind[0].preposition and after.text.lower() in _LIGHT["go"]
    if lemma == "help" and not behind[0].preposition:
        verb = inflection(noun.text.lower())
        return verb is not None and "plain" in verb.forms and _is_informative(after, own=False)
    return None


def _is_informative(noun: NounPhrase, own: bool) -> bool:
    """Return whether a phrase means something; ``own``: "her" of a woman who is the subject is taken for her own."""
    if own and noun.owner and noun.owner.pronoun in ("he", "she"):
        noun = replace(noun, owner=None, determiner="the")
    if noun.named and noun.head == "half":
        return True  # "the Leeds half", a race
    if noun.pronoun or not kinds.fits(noun, "thing") or not kinds.is_clear(noun, "thing"):
        return False
    first = noun.text.split()[0]
    if noun.head in ("loads", "tons", "plenty", "heaps"):
        return False
    return not (first.endswith("ing") and " " in noun.text and not noun.determiner and not noun.owner)


_ADJUNCTS = word_set("on in at with from for by during near after before like around along without")
_NEED_MORE = word_set("spend put place base turn trade swap exchange compare mistake confuse replace switch")
"""Verbs whose object alone says something else than with what stands behind it."""
_GUESS = re.compile(
    r"\b(?:think|guess|suppose|believe|suspect|assume|maybe|perhaps|probably|might\sbe|may\sbe|could\sbe)\b[^.;!?\n]{0,30}"
    r"\b(?:because|cause|since|that)\s*$",
    re.IGNORECASE,
)
"""What makes a reason a guess: "I think it's because I …"."""
_RELATIVE = re.compile(
    r"(?<=[a-z]\s)(?<!\bin\s)(?<!\bon\s)(?<!\bat\s)(?:that|those|the|these|some|an?|my|your)\s"
    r"(?:(?!(?:and|or|but|so|when|while|because|since|as|if|that|before|after|then|even|also|just|until|where|who)\s)"
    r"[a-z][\w'’-]*\s){1,3}(?<!day\s)(?<!time\s)(?<!week\s)(?<!weekend\s)(?<!month\s)(?<!year\s)(?<!morning\s)(?<!evening\s)(?<!night\s)$",
    re.IGNORECASE,
)
"""A phrase before a clause that is its object: "took those things I baked" to the fair."""
_LINKED = re.compile(
    r"\b(?:stay(?:s|ed|ing)?|remain(?:s|ed|ing)?|keep(?:s|ing)?|kept|feel(?:s|ing)?|felt|seem(?:s|ed)?|look(?:s|ed)?)"
    r"(?:\s\w{2,20},?\s(?:and|but)|\s\w{2,20},)?\s*$",
    re.IGNORECASE,
)
"""Verbs before a participle that tells a state, "I'll stay focused on …"."""
_USING = re.compile(
    r"\s+using\s(?:(?:the|an?|my|our)\s)?[\w`][\w`.+-]*(?:\s[\w`][\w`.+-]*){0,4}?(?=[.,;!?\n]|\s(?:and|but|so)\b|\s*$)"
)
"""What something was done with, where it does not read as a phrase: "using the class in back-ticks"."""


_APART = re.compile(r"\s(back|away|down|out|off|up|in|apart)(?=\s*(?:$|[.,;!?])|\s(?:on|this|last|yesterday|today)\b)")
"""A particle behind the object of its verb, which belongs to the phrase: "tore the old fence down on Sunday"."""


def _ends(clause: Clause, text: str) -> Iterator[int]:
    """Yield where the phrase may end: with its clause, or before what can only be understood from the talk around it.

    "I sprained my wrist on those stairs" tells of the wrist: an object is whole without what follows.
    What it was done for belongs to it, "built a ramp to reach the attic".
    """
    yield from purpose_ends(text, clause.end, clause.end + 160)
    if by_means := _USING.match(text, clause.end, clause.end + 80):
        yield by_means.end()
    yield clause.end
    if clause.slots[0].preposition or clause.verb.lemma in _NEED_MORE:
        return
    for before, slot in reversed([*pairwise(clause.slots)]):
        if slot.preposition not in _ADJUNCTS and not _is_date(slot.nouns[0]):
            return
        yield before.end


def _phrase(clause: Clause, text: str, end: int) -> str:
    """Return the words from the verb to ``end`` in the past tense; "" if they are no whole phrase."""
    main = _WORD.search(text, 0, clause.verb.end)
    obj = clause.slots[0]
    apart = _APART.match(text, obj.end) if not obj.preposition else None
    end = obj.end if apart else end
    if any(is_cut_list(slot, text) for slot in clause.slots if slot.end == end):
        return ""
    if main is None or end <= clause.verb.end or not (apart or _CLAUSE_ENDS.match(text, end)):
        return ""
    form = inflection(main[0].lower())
    past = main[0].lower()
    if form is None or "past" not in form.forms or clause.verb.tense == "perfect":
        past = inflect(clause.verb.lemma, "past")
    rest, position = [], clause.verb.end
    dates = [(slot.nouns[0].start, slot.end) for slot in clause.slots if slot.preposition and _is_date(slot.nouns[0])]
    dates += [(time.start, time.end) for time in clause.times]
    for first, last in sorted(span for span in dates if span[0] >= position):
        if last <= end and first >= position:
            rest.append(_without_preposition(text[position:first]))
            position = last
    rest.append(text[position:end])
    words = re.sub(r"(?:\s*,)*\s*([,.])", r"\1", " ".join(" ".join(rest).split())).strip(" ,-–—").split(" ")
    if words and (spoken := _SOME_TIME.search(" ".join(words))):
        words = " ".join(words)[: spoken.start()].split(" ")
    speakers = clause.subject[0].pronoun in ("i", "we") or clause.subject[-1].pronoun in ("i", "we", "me")
    own = OWN if speakers else {}
    kept = [
        own.get(word.lower(), word)
        for before, word in pairwise(["", *words])
        if word.lower() not in _ADVERBS or before.lower() in closed.OWNERS.keys() | {"the", "a"}
    ]
    if (
        not kept
        or not kept[0]
        or len(kept) >= LONGEST
        or any(char in _CODE.sub("", " ".join(kept)) for char in '?!"():;\n')
    ):
        return ""
    theirs = {"her", "his"} if not speakers or is_companion_s(clause.slots) else set[str]()
    if {word.lower().strip(",.") for word in kept} & ((_POINTING | {"me", "us", "his"}) - theirs):
        return ""
    if kept[-1].lower() in closed.PREPOSITIONS | closed.CONJUNCTIONS | closed.DETERMINERS | {"their"}:
        return ""
    return " ".join((past, *kept, *(apart.groups() if apart else ())))


_CODE = re.compile(r"`[^`\n]{1,60}`")
_ADVERBS = closed.ADVERBS - word_set("home abroad together alone")


def _is_date(noun: NounPhrase) -> bool:
    """Return whether a phrase is a time that is no expression of `stated_times`: "the end of September"."""
    age = noun.text.isdecimal() and not noun.determiner  # "had a stroke at 61"
    if noun.determiner == "this" and noun.head in ("morning", "afternoon", "evening"):
        return True
    return age or kinds.is_calendar(noun) or (noun.of is not None and kinds.is_calendar(noun.of))


def _without_preposition(text: str) -> str:
    """Return a text without the preposition that stood before a time: "ran a race on" (Sunday)."""
    return re.sub(r"\s(?:on|in|at|since|during|around|from|by|until|of|for|this|the)\s*$", " ", text)
