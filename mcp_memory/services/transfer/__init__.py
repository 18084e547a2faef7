"""Export and import: what was said and stated, as a file of JSON lines, and back; and files of other programs.

own.py        a store as the lines of an export, and an export as records
foreign/      the files of other programs as records
kinds.py      which of these a file is
importing.py  every record is checked; then they are stored as writes are
"""
