"""LanceDB: tables that are only ever appended to, one transaction for each call, one number that is the snapshot.

A writer takes the store's lock, refreshes to the last commit, sweeps rows of a higher number (a writer died between
its first row and its commit), appends its rows with the next number, writes the commit row, and releases. Rows are made
before the lock is taken, and the view takes them in after it was given back. A row is visible if and only if its number
is at most that of the last commit. LanceDB has no transaction over several tables; this is one, and a process may be
killed anywhere in it.

    store.py        the port: reading, writing, rebuilding
    condition.py    what is known of a store without reading its rows
    lock.py         one writer at a time on this machine; who has the store open
    names.py        what the tables are called
    connection.py   the tables, opened when first needed, and the words for what goes wrong with them
    tables.py       LanceDB's own calls on them: reading, appending, merging
    mend.py         what a full disk does to a table, and how it is put right
    schemas.py      columns, and what is written becoming rows
    rows.py         rows becoming what was written, bad ones left out: commits and turns
    pieces.py       segments and sentences, likewise
    assertions.py   what was asserted, likewise
    lessons.py      what judges said of episodes, likewise
    beliefs.py      what that taught, likewise
    points.py       memory points, likewise
    aliases.py      names that the memory took for one entity's, likewise
    questions.py    questions that facts answer, likewise
    jobs.py         how far texts were read by a language model, likewise
    columns.py      what is wrong with many rows at once, whole columns at a time
    transaction.py  the rows of a batch, and the commit row that makes them visible
    sweep.py        what a dead writer left
    refresh.py      from the commits and rows that are newer than a view to a view that has them
    compaction.py   merging the small files that appending leaves, and dropping what counts no more, in the background
    rebuild.py      every derived table anew from the log, beside the old ones
    relearning.py   and what the lessons teach
    check.py        what doctor asks
"""
