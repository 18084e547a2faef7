"""The store: a log, which is the truth, and tables in LanceDB, which are made of it; one number is the snapshot.

A writer takes the write lock, refreshes to the last commit, and puts its rows into the log with the next number: that
is the commit. In the background the tables take over what is in the log; one that is wrong is made again.

    store.py       the port: read, write, rebuild, forget
    log.py         an object for each commit, and segments of their lines; objects.py: in a folder or a bucket
    rows.py        the format: the kinds of rows, the commit, values to rows and back
    tables.py      the tables in LanceDB; compaction.py fills them from the log, and merges small files
    refresh.py     from new commits and rows to a view that has them; saved_view.py: a large one in a file
    damage.py      what is damaged, in words, and the store's status
    rebuild.py     make tables again from the log, beside the old ones, and the beliefs from its lessons
    forget.py      replace log and tables by others without what is forgotten, of which a book keeps hashes
    backups.py     a whole store in one file, and back from it
    place.py       where a store is, a note that it is there, and which files are its own; lock.py: who has it open
"""
