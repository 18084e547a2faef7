"""Verbs and nouns that the open relations leave out, because a fact with them would say nothing."""

from __future__ import annotations

from mcp_memory.rules.facts.tables import word_set

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
"""Verbs that the verb table reads with the objects that fit them; with others they are figures of speech."""
HABITS = word_set("eat drink smoke drive speak play wear")
"""What one is said not to do as a matter of habit."""
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
