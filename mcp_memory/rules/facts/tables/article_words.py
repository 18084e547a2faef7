"""Words in the openings of encyclopaedia articles: classes of things, credits, relatives, nationalities."""

from __future__ import annotations

from mcp_memory.language.vocabulary import DEMONYMS, word_set

SCREEN = word_set(
    "film films movie feature biopic documentary drama thriller western melodrama serial series sitcom miniseries"
    " telenovela episode short noir cartoon anime special pilot remake sequel prequel programme program show soap"
)
MUSIC = word_set("song single album ep track recording soundtrack mixtape hymn anthem lullaby ballad instrumental")
WRITTEN = word_set(
    "novel novella book play poem story stories memoir autobiography biography essay anthology comic manga trilogy"
    " comedy tragedy farce fable treatise novelette webcomic screenplay textbook"
)
COMPOSED = word_set("opera operetta symphony concerto sonata oratorio cantata ballet musical overture requiem")
SEEN = word_set("painting sculpture statue fresco engraving mural triptych lithograph drawing etching")
GAMES = word_set("game videogame")
WORKS = SCREEN | MUSIC | WRITTEN | COMPOSED | SEEN | GAMES

PLACES = word_set(
    "village town city municipality hamlet commune settlement suburb neighbourhood neighborhood district county"
    " parish township region province locality community river stream creek tributary lake mountain hill island"
    " valley bay peak volcano glacier park street square avenue road bridge castle palace tower church cathedral"
    " mosque temple monastery abbey house building hotel stadium arena airport station cemetery lighthouse fort"
    " canal dam reservoir forest beach bay cape peninsula strait borough ward oblast raion prefecture department"
    " canton state country territory archipelago waterfall cave quarter area site mansion villa hall theatre theater"
    " museum library observatory zoo garden gardens farm railway line highway motorway route tunnel port harbour"
)
BODIES = word_set(
    "company firm club team band group duo trio quartet quintet orchestra choir ensemble school college university"
    " academy institute hospital organisation organization party union association society league federation"
    " newspaper magazine journal publisher label studio brewery bank airline manufacturer broadcaster channel network"
    " corporation agency charity foundation church order regiment squadron battalion brand retailer conglomerate"
    " cooperative institution brigade division ministry"
)
PEOPLE = word_set(
    "player racer rider runner jumper swimmer boxer wrestler cyclist golfer cricketer skier skater rower sprinter"
    " gymnast fencer weightlifter canoeist judoka archer nobleman noblewoman peer aristocrat duke duchess count"
    " countess prince princess baron baroness earl marquess margrave landgrave lord lady ruler sultan emir shah khan"
    " caliph imam tsar chieftain knight saint martyr monk theologian activist feminist revolutionary critic historian"
    " filmmaker screenwriter playwright lyricist rapper personality presenter broadcaster host comedian impresario"
    " businessman businesswoman industrialist magnate philanthropist socialite dramatist essayist satirist cartoonist"
    " astrologer orientalist egyptologist jurist barrister statesman stateswoman parliamentarian suffragist officer"
    " admiral brigadier colonel major lieutenant aviator grandmaster cosmonaut instrumentalist arranger vocalist"
    " percussionist flautist harpist impressionist printmaker muralist potter ceramist engraver luthier stuntman"
    " mountaineer navigator conquistador pirate outlaw gangster murderer criminal spy courtier lexicographer man woman"
)
EVENTS = word_set("war battle siege campaign revolt rebellion uprising expedition treaty dynasty era period election")

CREDITS = """
directed                                          | directed_by
written penned authored scripted co-written co-wrote | written_by
produced co-produced                              | produced_by
composed scored                                   | composed_by
performed sung recorded                           | performed_by
published distributed released issued             | published_by
founded established co-founded formed             | founded_by
created                                           | created_by
starring featuring                                | stars
"""
"""Participles that name a maker: each line reads *words | relation*."""

PARTS = """
music score soundtrack songs                      | composed_by
screenplay script story libretto lyrics           | written_by
"""
"""Parts of a work that "by" follows, and the relation of the whole to their maker."""

NESTING = word_set("sequel prequel adaptation remake version inspired based spin-off follow-up adapted cover")
"""Words behind which another work is mentioned, whose credits are not those of the first."""

KIN = {
    **dict.fromkeys(("son", "daughter", "child"), "child_of"),
    **dict.fromkeys(("mother", "father"), "parent_of"),
    **dict.fromkeys(("brother", "sister", "sibling"), "sibling_of"),
    **dict.fromkeys(("wife", "husband", "spouse", "widow", "widower", "consort"), "married_to"),
}
"""What an opening calls somebody's relative, and the relation from the subject to that somebody."""

STYLES = word_set(
    "duke duchess count countess king queen emperor empress earl marquess marquis baron baroness prince princess"
    " elector landgrave margrave lord lady viscount viscountess jr sr jr. sr. tsar sultan khan dauphin"
)
"""Words that follow a comma and still belong to the name: "Otto II, Duke of Harn"."""

NATIONALITIES = frozenset(word for word in DEMONYMS if " " not in word) - word_set(
    "austro-hungarian bhutanese bruneian burkinabé burundian chadian djiboutian eritrean greenlandic maldivian"
    " monégasque motswana nigerien philippine timorese togolese"
) | word_set("byzantine congolese dominican guinean hawaiian korean u.s. us")
"""Demonyms of one word that openings are read with, and some that belong to no single country."""
HALVES = word_set("south north east west northern southern new puerto sri saudi costa hong")
"""First words of nationalities and countries: "South Korean", "New Zealand"."""


def relations(table: str) -> dict[str, str]:
    """Return the relation of each word of a table of *words | relation*."""
    rows = (line.split("|") for line in table.strip().splitlines())
    return {word: relation.strip() for words, relation in rows for word in words.split()}
