"""The store in LanceDB: append-only tables, one transaction for each call, and one number that is the snapshot.

A writer takes the write lock, refreshes to the last commit, sweeps rows of a higher number (left by a writer that died
between its first row and its commit), appends its rows with the next number, writes the commit row, and releases the
lock. Rows with vectors are made before the lock is taken, and the view takes rows in after it was released. A row is
visible if and only if its number is at most that of the last commit. LanceDB has no transaction over several tables;
these rules make one, and a process may be killed at any point of it.

    store.py        the port: read, write, rebuild, check
    transaction.py  sweep uncommitted rows, append a batch, and the commit row that makes it visible
    refresh.py      from new commits and rows to a view that has them
    schema.py       table names, the commit row, the format, columns to write
    rows.py         values to rows of the tables and back, and which rows can be right
    commits.py      the last commits, and the rows that they added; the log, for an export
    mapped.py       the vectors of a large store: their files, and how a view maps them
    saved_view.py   the view of a large store in a file, from which the next process begins
    columns.py      what these conversions share where they read; rows that cannot be right
    tables.py       LanceDB's own calls
    place.py        where a store is, a folder or object storage, and its locks
    noted.py        a note beside the configuration that a place holds a store, and the store's id
    journal.py      newest commits in a file beside the tables, until a later commit takes them into the tables
    lock.py         one writer at a time on this machine; which processes have the store open
    copies.py       a second copy of the log and of the newest commit, by which repair.py mends what is damaged
    damage.py       notice that committed rows are gone
    examine.py      the one look that says what is damaged, for status, doctor and refused writes
    rights.py       the owner and the rights of what is written again, and whether others could change a store
    bucket.py       objects beside the tables of a store on object storage, likewise
    bucket_journal.py, bucket_lock.py, bucket_refresh.py
    compaction.py   merge small files and remove superseded rows, in the background; when derived tables are made again
    reread.py       read all texts again for facts with a newer extractor, while the store is in use
    rebuild.py      make every derived table again from the log, beside the old ones, and the beliefs from the lessons
    forget.py       rewrite every table without what is to be forgotten: the log's one exception
    forgetter.py    forget in one store, and finish what a process that died had begun
    forgotten.py    what was forgotten, without content, what is being forgotten now, and what may be taken back
    places.py       where else the program wrote something of a store
    elsewhere.py    how a forget reaches these places
    backups.py      a whole store in one file, and back; when such files are made
    moving.py       restore a store, and move it
    arrival.py      how such a store takes its place, in a step that nothing can cut in two
    own_files.py    which files of a store's folder are its own: only these are removed or written over
    data_files.py   files that a full disk has cut short, and sums by which a changed one is noticed
    check.py        the store's status, and what doctor checks
    settings.py     its settings
"""
