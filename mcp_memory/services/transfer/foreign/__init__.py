"""Readers of what other programs have exported: chats, memories and notes.

``kinds.py`` beside this package recognises a file by its content. A reader (``chats.py``, ``memories.py``,
``plain_files.py``) yields the records of a file one by one, so that a file may be larger than the memory. Ids are those
of the other program, so importing again stores nothing twice.
"""
