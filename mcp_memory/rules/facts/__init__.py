"""Extract facts from English text with rules: words, phrases, clauses, and tables of what a clause means.

A sentence is split into words (``words.py``). Verb groups (``verb_groups.py``), noun phrases (``noun_phrases.py``),
lists of them (``coordination.py``) and what depends on a verb (``complements.py``) make up its clauses
(``clause_reader.py``). The tables (``tables/``) give the relation that a verb with its preposition, or a noun after
"is", stands for. The claims of a clause come from ``verb_claims.py``, ``copula_claims.py`` and ``open_claims.py``,
those of a phrase from ``phrase_claims.py``. For each claim three questions are decided separately: its subject
(``discourse.py``), its certainty (``modality.py``) and its interval (``validity.py``); ``claims.py`` then makes
assertions of it. The first sentences of encyclopaedia articles are also read by their fixed form (``openings.py``).
"""
