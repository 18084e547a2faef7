"""Reading facts out of text by rules: words, phrases, clauses, and tables that say what a clause means.

A sentence is cut into words (``words.py``), those into clauses with a subject, a verb and what depends on it
(``clauses.py``); tables (``tables/``) name the relation that a verb with its preposition stands for; who is meant
(``subjects.py``), how surely (``modality.py``) and when (``when.py``) are decided for each clause by itself.
"""
