"""Export and import: all that was said and asserted, as a file of JSON lines, and back.

records.py    the file: a stored value as a line, and a line as a value
exporting.py  the log as lines
importing.py  every line is checked; then derive, embed and commit, in the order of recording
renaming.py   the ids of derived rows in another space
"""
