"""The closed word classes of English (pronouns, determiners, auxiliaries …): they mark where phrases begin and end."""

from __future__ import annotations

from mcp_memory.language.vocabulary import word_set

FIRST = word_set("i we me us myself ourselves")
SECOND = word_set("you u yourself ya")
THIRD = word_set("he she him her himself herself they them it itself one")
NOMINATIVE = word_set("i we you he she they it u")
OBJECTIVE = word_set("me us you him her them it myself ourselves yourself himself herself themselves itself")
"""Pronouns; "you" and "it" are both."""
EMPTY = word_set(
    "this that these those there here something someone somebody anything anyone everything everyone nothing"
    " nobody none everybody all both each some any one ones other others another such much many more most less"
    " few little lot lots plenty bit stuff things thing way ways what whatever who whom which whose where when"
    " why how mine ours yours hers theirs two three half rest same kind sort time times"
)
"""Words whose referent only the context gives; never an entity by themselves."""
EVERYBODY = word_set("everyone everybody everything anyone anybody anything all nobody nothing none")
"""What "but" excepts somebody from: "everyone but Tom"."""
OWNERS = {
    "my": "i",
    "our": "i",
    "your": "you",
    "his": "he",
    "her": "she",
    "their": "they",
    "its": "it",
}
DETERMINERS = word_set(
    "a an the this that these those some any no every each another both several many few most all such quite"
)
ARTICLES = word_set("a an the")
BE = word_set("am is are was were be been being 's 'm 're")
HAVE = word_set("have has had having 've")
DO = word_set("do does did")
MODALS = word_set("would could should might may must will shall can ought 'll 'd wo ca")
AUXILIARIES = BE | HAVE | DO | MODALS
NEGATIONS = word_set("not n't never neither nor hardly barely scarcely")
PREPOSITIONS = word_set(
    "in on at to from of for with by about into onto near outside inside behind above below under over"
    " between among during through across along around against towards toward off out without within beyond"
    " beside besides via per as like than until till since up down before after despite except unlike amid"
    " upon"
)
CONJUNCTIONS = word_set("and or but so yet & plus nor")
CONDITIONS = word_set("if unless whether suppose supposing provided lest")
SUBORDINATORS = word_set(
    "because cause since when while whenever although though where whereas so until till after before once as"
    " that who which whom whose why how what than cuz coz"
)
RELATIVE = word_set("who which that where whose")
WH = word_set("what who whom whose which when where why how")
STOPS = word_set(', ; : . ! ? ( ) [ ] … — – " “ ” « » / | * # ~ > <')
ADVERBS = word_set(
    "altogether now then again already also too just only even still always often sometimes usually never really very"
    " quite actually basically literally honestly finally recently lately currently originally eventually soon"
    " later once twice together alone online everywhere somewhere anywhere elsewhere today tonight yesterday"
    " tomorrow anymore formerly previously briefly permanently professionally fully mostly mainly largely"
    " partly nearly almost roughly certainly definitely surely indeed simply initially subsequently afterwards"
    " meanwhile however therefore moreover furthermore instead though anyway else ever well back home abroad"
    " away ago there here so right proudly happily sadly luckily unfortunately obviously clearly apparently"
    " probably perhaps maybe possibly supposedly reportedly allegedly long longer far officially technically"
    " personally seriously totally absolutely completely somehow daily weekly monthly part-time full-time ok"
    " okay lol haha please yeah yes yep no nope oh wow ah hey hi hello thanks thank sorry btw fyi nowadays"
    " rather pretty super freshly newly jointly shortly first early late whole-heartedly secretly quietly"
    " regularly frequently occasionally rarely seldom especially particularly exactly truly deeply better best"
    " kinda sorta legally mum's ps"
) - word_set("best better mum's home")
"""Words for how, when or how certainly; a clause reads the same without them."""
RUMOURS = word_set("apparently reportedly allegedly supposedly rumour rumor rumours rumors rumoured rumored")
LIGHT_GERUNDS = word_set(
    "making taking doing spending getting having being seeing keeping giving putting going trying using"
)
ADVERBIAL_PHRASES = (
    "it turns out that", "it turns out", "turns out that", "turns out",
    "at the moment", "right now", "these days", "for good", "for a living", "so far", "as well", "of course",
    "by the way", "to be honest", "in fact", "at last", "at first", "for now", "a lot", "no longer", "any more",
    "at least", "at all", "for sure", "once again", "all the time", "every day", "every week", "every weekend",
    "every year", "every month", "every evening", "every morning", "every night", "every summer", "every winter",
    "full time", "part time", "on and off", "time flies", "kind of", "sort of", "after all", "all my life",
    "all his life", "all her life", "for life", "from scratch", "for years", "for ages", "in general", "you know",
    "as a kid", "as a child", "back then", "by then", "since then", "from time to time", "now and then", "up to date",
    "of all time", "in total", "one day", "some day", "the other day", "long ago", "in person", "for fun", "for free",
    "at work", "in bed", "at once", "by hand", "by heart", "on purpose", "as usual", "in the end", "at the time",
    "at that time", "the most", "best of all", "more than anything", "very much", "so much", "too much", "ever since",
    "for the first time", "for a while", "a while", "a bit", "a little", "every time", "even though",
    "as far as i know",
    "to this day", "as of now", "of late", "over and over", "year round", "with all my heart",
)  # fmt: skip
"""Runs of words that act as one adverb."""
