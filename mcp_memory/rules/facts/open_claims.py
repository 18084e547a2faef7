"""Claims whose relation no table has: the verb itself is the relation, "I passed my driving test".

Open information extraction in the manner of ReVerb (Fader, Soderland & Etzioni 2011, §3): a relation is a verb, or a
verb with its preposition, and its tail the phrase directly behind. Precision comes from what is excluded: verbs without
a meaning of their own or about thoughts, tails without a meaning of their own, everything hypothetical, and subjects
without a referent.
"""

from __future__ import annotations

from collections.abc import Iterator

from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.claims import Claim
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.complements import Slot
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.tables import closed, nouns
from mcp_memory.rules.facts.verbs import Effect, inflection

SILENT = word_set(
    "be have get do make take give go come put let keep seem look feel think know want need mean say tell ask talk"
    " hear try hope wish like love enjoy hate believe guess suppose assume expect imagine remember forget realise"
    " realize notice find matter happen start begin stop continue end become appear sound smell taste cost depend"
    " deserve owe fit last remain stay stand sit lie wait care worry mind agree disagree decide consider wonder doubt"
    " understand recommend suggest promise mention discuss describe explain show help thank hug bring send hold turn"
    " set fall run call allow enable cause force lead leave hit catch throw face reach share spend bet appreciate"
    " admire respect value feature involve require include concern inspire motivate encourage support remind push"
    " improve increase reduce change affect create provide offer offering use work live see watch plan prepare focus"
    " capture express reflect represent add deal handle manage hang chat laugh smile cry wake dream blame excuse miss"
    " lighten fuel ground boost thrill please surprise amaze touch strike warm cherish embrace treasure savour savor"
    " explore experience relate connect bond heal overcome embody symbolize symbolise signify demonstrate suit bring"
    " mark grant believe prove regard deem accept refuse deny claim report state announce reveal note point"
    " argue insist hope joke celebrate spark tend intend check figure rock kill bore scare crack rain snow sneeze"
    " trust rely overwhelm mesmerize mesmerise impress question visualize visualise fascinate"
)
"""Verbs without a meaning of their own, of thinking and saying, and those whose object is mostly a figure of speech."""
GOVERNING = word_set("see teach play lead run open bear")
"""Verbs that the verb table covers with the objects that fit; other objects are figures of speech."""
HABITS = word_set("eat drink smoke drive speak play wear")
"""Verbs whose negation in the present states a habit."""
PARTICLES = word_set("up down off out over away in up_to")
"""Prepositions that belong to the verb before them: "handed in my notice"."""
ABSTRACT = word_set(
    "fun trouble joy happiness peace courage strength effort interest success beauty nature balance comfort passion"
    " inspiration creativity energy power growth culture knowledge skill skills emotion emotions experience"
    " experiences challenge challenges opportunity opportunities event events idea ideas insight insights value values"
    " choice choices decision decisions change changes success mood spirit spirits soul bodies body moments memories"
    " weather view views vibe vibes smile smiles laugh laughs tears passion gear steps limits barriers boundaries"
    " potential importance purpose meaning truth justice equality acceptance respect kindness care stress risk"
    " risks results result difference differences atmosphere scene scenery scenes light darkness hope faith belief"
    " beliefs bar note ropes ice deal deals pressure message messages story stories lesson lessons tip tips info"
    " information details detail topic topics lives game games bullet nerves barrel luck wonders magic bucket ball"
    " boat track shape ground charge lead role line lines control cause causes interests issues needs kind side sides"
    " touch sleep compliments compliment wishes wish presence page pages ambitions me-time last latest total first"
    " second third fourth female male matter share refusal"
    " class deep breath post question questions answer answers self selves voice voices bunch gap gaps mark sights"
)
"""Nouns that need the rest of a conversation to mean anything, or that idioms are made of."""
ABSTRACT_ENDINGS = ("ness", "ship", "ity", "ism", "ance", "ence", "hood", "ful", "thing", "body", "one")


def open_claims(clause: Clause) -> Iterator[Claim]:
    """Yield the claims of a clause that no table covers, with its verb as the relation."""
    verb = clause.verb
    if verb.unreal or verb.lemma in SILENT or verb.phase == "end" or len(verb.lemma) < 3 or not clause.slots:
        return
    subjects = [subject for subject in clause.subject if _is_identified(subject)]
    if not subjects or (verb.negated and not _denies_habit(clause)):
        return
    if verb.passive:
        yield from _passive_claims(clause, subjects)
        return
    effect: Effect = "event" if verb.tense != "present" else "state"
    for relation, noun, slot in _tails(clause):
        for subject in subjects:
            yield Claim(subject, relation, noun, effect, noun.times or None, slot.end)


def _is_identified(subject: NounPhrase) -> bool:
    """Return whether a subject refers to a person or thing that has a name in this text."""
    if subject.uncertain or subject.pronoun in closed.SECOND | {"that", "this", "there", "one"}:
        return False
    has_name = bool(subject.pronoun or subject.named or subject.name)
    described = subject.owner is not None and (kinds.is_kin(subject) or subject.head in nouns.PETS | nouns.ROLES)
    is_empty = subject.head in closed.EMPTY | nouns.VAGUE
    return (has_name or described or subject.determiner == "the") and not is_empty


def _denies_habit(clause: Clause) -> bool:
    """Return whether the clause denies a habit: "doesn't eat pork"."""
    verb = clause.verb
    if verb.lemma not in HABITS or verb.tense != "present" or verb.progressive or clause.slots[0].preposition:
        return False
    return not clause.slots[0].nouns[0].determiner


def _tails(clause: Clause) -> Iterator[tuple[str, NounPhrase, Slot]]:
    verb, slot = clause.verb, clause.slots[0]
    particle = "".join(f"_{word}" for word in clause.particles)
    if not slot.preposition:
        if verb.lemma in GOVERNING or (len(clause.slots) > 1 and not clause.slots[1].preposition):
            return  # "paid me two pounds": it is not clear which of the two is the tail
        for noun in slot.nouns:
            if _is_informative(noun, clause):
                yield verb.lemma + particle, noun, slot
        return
    for noun in slot.nouns:
        fits = kinds.fits(noun, "name") or (slot.preposition in PARTICLES and _is_informative(noun, clause))
        if fits and noun.determiner not in ("this", "that", "these", "those"):
            yield f"{verb.lemma}{particle}_{slot.preposition}", noun, slot


def _passive_claims(clause: Clause, subjects: list[NounPhrase]) -> Iterator[Claim]:
    """Yield the claims of a passive: "operated by the university", "twinned with Altona"."""
    for slot in sorted(clause.slots, key=lambda slot: slot.preposition != "by"):
        by = slot.preposition == "by" and all(_is_informative(noun, clause) for noun in slot.nouns)
        if slot.preposition and slot.preposition not in ("by", "with", "for", "to", "after", "under", "in", "at"):
            continue
        opening = inflection(slot.nouns[0].text.split()[0])
        if slot.preposition == "to" and opening and "plain" in opening.forms:
            continue  # "founded to strengthen …"
        if not by and not (slot.preposition and all(kinds.fits(noun, "name") for noun in slot.nouns)):
            continue
        effect: Effect = "state" if clause.verb.tense == "present" else "event"
        relation = f"{clause.verb.surface or clause.verb.lemma}_{slot.preposition}"
        for noun in slot.nouns if by else slot.nouns[:1]:
            for subject in subjects:
                yield Claim(subject, relation, noun, effect, None, slot.end)
        return


def _is_informative(noun: NounPhrase, clause: Clause) -> bool:
    """Return whether a phrase has a meaning of its own."""
    if not kinds.fits(noun, "thing") or noun.head in ABSTRACT or noun.text.endswith("ing"):
        return False
    if noun.head.endswith(ABSTRACT_ENDINGS) and not noun.named:
        return False
    first = noun.text.split()[0]
    if " " not in noun.text and noun.text.endswith(("ly", "th")) and noun.text.islower() and noun.text != "cloth":
        return False  # "followed closely", "finished sixth"
    if noun.owner and (noun.owner.pronoun in ("you", "they", "it") or noun.owner.uncertain):
        return False
    if first.endswith("ing") and " " in noun.text and not noun.determiner and not noun.owner:
        return False  # "… and looking for investors": a second verb
    if noun.owner and noun.owner.owner and first.endswith("ing"):
        return False
    if noun.named or noun.quoted:
        return True
    if clause.verb.tense == "present" and not clause.verb.progressive:
        return noun.determiner not in ("a", "an", "this", "that", "any", "some")
    return True
