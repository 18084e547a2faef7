"""The store: a log, which is the truth, and tables in LanceDB, which are made of it; one number is the snapshot.

A writer takes the write lock, refreshes to the last commit, puts its rows into the log with the next number, and
releases the lock. That is the commit: a process may be killed at any point of it. Vectors of texts are made before the
lock is taken, and the view takes rows in after it was released. In the background the tables take over what is in the
log; whatever is wrong with one of them, it is made again.

    store.py       the port: read, write, rebuild, forget
    log.py         an object for each commit, and segments of their lines; objects.py: in a folder or a bucket
    rows.py        the format: the kinds of rows, the commit, values to rows and back
    tables.py      the tables in LanceDB
    refresh.py     from new commits and rows to a view that has them
    saved_view.py  the view of a large store in a file, from which the next process begins
    damage.py      what is damaged, in words, and the store's status
    compaction.py  fill the tables from the log, merge small files, in the background
    rebuild.py     make tables again from the log, beside the old ones, and the beliefs from its lessons
    forget.py      replace log and tables by others without what is forgotten, of which a book keeps hashes
    backups.py     a whole store in one file, and back from it
    place.py       where a store is, a folder or object storage, a note that it is there, and which files are its own
    lock.py        its locks, and who has it open
"""
