"""Export and import: all that was said and asserted, as a file of JSON lines, and back.

format.py     the file: its first and last line, times, and the checked fields of one line
records.py    a stored value as a line, and a line as a value
exporting.py  the log as lines, or as a folder of Markdown
checking.py   the first pass of an import: every line is checked before anything is stored
importing.py  the second pass: derive, embed and commit, in the order of recording
renaming.py   the ids of derived rows in another space
"""
