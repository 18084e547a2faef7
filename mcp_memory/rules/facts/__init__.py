"""Extract facts from English text with rules: words, phrases, clauses, and rows that tell what a clause states.

A sentence is split into words (``words.py``), and their classes are those of ``grammar.py``. Verb groups
(``verb_groups.py``), noun phrases and lists of them (``noun_phrases.py``) and what depends on a verb
(``complements.py``) make up its clauses (``clauses.py``). The rows of the relation table (``rows.py``) tell which
relation a verb with its preposition, or a noun behind "is", states; ``statements.py`` matches clauses against them.
Beside them stand ``copulas.py`` (classes, roles, ages), ``phrases.py`` (what a phrase states by itself),
``appointments.py`` (dates of things) and ``introductions.py`` (names of speakers). What no row knows is nothing. For
each claim three questions are decided separately: its subject (``discourse.py``), whether it is stated at all
(``modality.py``) and its interval (``validity.py``); ``claims.py`` then makes assertions of it.
"""
