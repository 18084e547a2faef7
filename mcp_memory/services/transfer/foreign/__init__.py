"""Import what other programs have exported: chats, memories and notes.

``foreign/kinds.py`` recognises a file by its content and lists the readers. A reader (``foreign/chats.py``,
``foreign/memories.py``, ``foreign/plain_files.py``) yields the records of a file one by one, so that a file may be
larger than the memory. ``foreign/importing.py`` checks all of them first and then stores them as writes do.
Ids are those of the other program, so importing again stores nothing twice.
"""
